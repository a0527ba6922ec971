# SPDX-License-Identifier: Apache-2.0
"""The built program on a virtual radio, without a peer that was written from docs/protocol.md."""

pytest_plugins = ["roadmesh_program.measuring", "roadmesh_program.fixtures"]
