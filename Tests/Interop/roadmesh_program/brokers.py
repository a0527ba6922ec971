# SPDX-License-Identifier: Apache-2.0
"""MQTT brokers and nodes at them, as fixtures. A pytest plugin. The lab has the brokers themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from roadmesh_peer.broker_nodes import BrokerNodes
from roadmesh_peer.hostile_broker import HostileBroker
from roadmesh_peer.net import Net
from runner import LabError, brokers
from runner.brokers import Broker, Cluster, Mosquitto, free_ports, wait

__all__ = ["Broker", "Cluster", "free_ports", "installed", "wait"]


def installed(name: str) -> str:
    """A broker's path. Without it the test is skipped, or fails on a machine that must run every test."""
    try:
        return brokers.installed(name)
    except LabError as missing:
        if os.environ.get("ROADMESH_LAB") == "required":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Broker]:
    installed("mosquitto")
    broker = Mosquitto(tmp_path)
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture
def spare_mosquitto(tmp_path: Path) -> Iterator[Broker]:
    """A second broker, which is not started yet."""
    installed("mosquitto")
    broker = Mosquitto(tmp_path, "spare")
    yield broker
    broker.kill()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    installed("nats-server")
    made = Cluster(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.kill()


@pytest.fixture
def hostile() -> Iterator[HostileBroker]:
    """Correct until a test makes it misbehave."""
    made = HostileBroker()
    yield made
    made.close()


@pytest.fixture
def nodes() -> Iterator[BrokerNodes]:
    """Python nodes, which run while the test waits for one of them."""
    made = BrokerNodes(Net(real=True))
    yield made
    made.close()


@pytest.fixture
def nodes_beside(nodes: BrokerNodes) -> Iterator[BrokerNodes]:
    """Python nodes that run on their own."""
    with nodes.net.beside():
        yield nodes
