# SPDX-License-Identifier: Apache-2.0
"""The built `roadmesh` as a test runs it: `program` over JSON lines, `person` at a terminal, `measuring` its
resources. Also the `brokers` that it uses, and the `votes` that have counted."""
