# SPDX-License-Identifier: Apache-2.0
"""This implementation writes the exchange in docs/protocol.md byte by byte."""

from __future__ import annotations

from roadmesh_peer import document, exchange


def test_the_documents_exchange_is_the_one_that_is_said_here() -> None:
    assert document.text() == exchange.written(document.text()), "exchange.py --write puts it there"


def test_no_line_of_it_is_too_long_to_read() -> None:
    assert max(map(len, exchange.section().splitlines())) <= 120
