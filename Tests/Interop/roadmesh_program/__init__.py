# SPDX-License-Identifier: Apache-2.0
"""The built `roadmesh` as a test runs it: `program` over JSON lines, `person` at a terminal, `measuring` its needs; and
the `brokers` at which it meets others, and the `votes` that have counted there."""
