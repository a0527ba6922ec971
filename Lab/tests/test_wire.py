"""Tests of the agent's protocol: it loses and reorders nothing, and keeps its windows."""

from __future__ import annotations

import random

from box.wire import FROM_BOX_WINDOW, TO_BOX_WINDOW, Wire


def carry(sender: Wire, receiver: Wire, chances: random.Random, most: int) -> tuple[list[dict[str, object]], int]:
    """Carries a piece of the sendable bytes, of any size. Returns the completed objects, and the size."""
    data = sender.sendable()
    assert len(data) <= most
    piece = data[: chances.randint(0, len(data))]
    sender.sent(len(piece))
    return receiver.received(piece), len(piece)


def test_every_message_arrives_in_order_within_the_windows() -> None:
    for seed in range(20):
        chances = random.Random(seed)
        box, runner = Wire(FROM_BOX_WINDOW), Wire(TO_BOX_WINDOW)
        sent = [{"n": number, "pad": "z" * chances.choice([0, 10, 5000])} for number in range(200)]
        for message in sent:
            box.queue(message)
            runner.queue(message)
        at_runner: list[dict[str, object]] = []
        at_box: list[dict[str, object]] = []
        idle = 0
        while (len(at_runner), len(at_box)) != (200, 200) and idle < 1000:
            # Acknowledgements are sent in addition to a window, one for each 512 bytes of the other side.
            got, one = carry(box, runner, chances, FROM_BOX_WINDOW + TO_BOX_WINDOW // 512)
            at_runner += got
            got, other = carry(runner, box, chances, TO_BOX_WINDOW + FROM_BOX_WINDOW // 512)
            at_box += got
            idle = 0 if one + other else idle + 1
        assert at_runner == sent and at_box == sent


def test_without_acknowledgements_a_sender_stops_at_its_window() -> None:
    wire = Wire(FROM_BOX_WINDOW)
    wire.queue({"pad": "z" * 100_000})
    total = 0
    while data := wire.sendable():
        wire.sent(len(data))
        total += len(data)
    assert total == FROM_BOX_WINDOW
