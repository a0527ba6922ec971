# SPDX-License-Identifier: Apache-2.0
"""An installed program on a virtual radio."""

pytest_plugins = ["roadmesh_program.measuring", "roadmesh_program.fixtures"]
