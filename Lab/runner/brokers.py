"""MQTT brokers on this machine: Debian's mosquitto, and a cluster of three nats-servers. For tests and measurements."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from paho.mqtt.client import Client, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion

from .errors import LabError, NotExpected

# A cluster elects its leaders within seconds, or in some ten seconds on a busy machine.
READY = 60.0
LOOK_AGAIN = 0.05
# Below the ports that the kernel assigns to outgoing connections.
PORTS = range(12_000, 32_000)

MOSQUITTO = """listener {port} 127.0.0.1
allow_anonymous true
persistence false
log_dest stderr
set_tcp_nodelay true
max_connections -1
user root
"""

NATS = """server_name: n{number}
listen: 127.0.0.1:{client}
http: 127.0.0.1:{http}
jetstream {{ store_dir: "{folder}/n{number}" }}
mqtt {{ listen: 127.0.0.1:{mqtt}, consumer_replicas: 3 }}
cluster {{
  name: cars
  listen: 127.0.0.1:{route}
  routes: [{routes}]
}}
"""


def installed(name: str) -> str:
    """A broker's path. A daemon's folder is only in root's search path."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if path is None:
        raise LabError(f"this needs the package {name}: apt install {name}")
    return path


def free_ports(count: int) -> list[int]:
    """Ports that are free at present."""
    found: list[int] = []
    while len(found) < count:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in found:
                found.append(port)
    return found


def wait(holds: Callable[[], bool], what: str, timeout: float = READY) -> None:
    deadline = monotonic() + timeout
    while not holds():
        if monotonic() >= deadline:
            raise NotExpected(f"{what} did not come about within {timeout:g} s")
        sleep(LOOK_AGAIN)


def takes_clients(port: int) -> bool:
    """Whether a client gets a connection, and a subscription of the kind that nodes use."""
    return answers(port, "probe/+", lambda granted, _: granted)


def has_retained(port: int, topic: str) -> bool:
    """Whether a new subscriber receives a message that was retained before."""
    return answers(port, topic, lambda _, came: came)


def answers(port: int, topic: str, enough: Callable[[bool, bool], bool], patience: float = 5.0) -> bool:
    """Subscribes, and calls `enough` with two facts: whether the broker agreed, and whether a message has come."""
    granted: list[object] = []
    came: list[object] = []

    def subscribe(*_: object) -> None:
        client.subscribe(topic, 1)

    client = Client(CallbackAPIVersion.VERSION2, client_id=f"probe{port}", protocol=MQTTv311)
    client.on_connect = subscribe
    client.on_subscribe = lambda *about: granted.extend(one for one in about[3] if not one.is_failure)
    client.on_message = lambda *about: came.append(about[2])
    try:
        client.connect("127.0.0.1", port)
    except OSError:
        return False
    deadline = monotonic() + patience
    while not (is_enough := enough(bool(granted), bool(came))) and monotonic() < deadline and client.loop(0.1) == 0:
        pass
    client.disconnect()
    return is_enough


class Broker:
    """A broker in a process, which always uses the same port."""

    def __init__(self, command: list[str], port: int, log: Path) -> None:
        self._command = command
        self._log = log
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    @property
    def ports(self) -> list[int]:
        return [self.port]

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def begin(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def start(self) -> None:
        self.begin()
        wait(self._is_up, self._command[0])

    def _is_up(self) -> bool:
        assert self._process and self._process.poll() is None, self._log.read_text()
        return takes_clients(self.port)

    def reload(self) -> None:
        """Makes the broker read its settings again."""
        self._send(signal.SIGHUP)

    def _send(self, number: signal.Signals) -> None:
        assert self._process
        self._process.send_signal(number)

    def kill(self) -> None:
        """Like a power cut: the broker sends nothing more."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        self.kill()
        self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """The broker keeps its connections and does nothing."""
        self._send(signal.SIGSTOP)
        try:
            yield
        finally:
            self._send(signal.SIGCONT)

    def resident(self) -> int:
        """Resident memory in bytes."""
        assert self._process
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))

    def processor(self) -> float:
        """Seconds of processor time since its start."""
        assert self._process
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100


class Mosquitto(Broker):
    """Debian's mosquitto, with its files in `folder`."""

    def __init__(self, folder: Path, name: str = "mosquitto") -> None:
        [port] = free_ports(1)
        config = folder / f"{name}.conf"
        config.write_text(MOSQUITTO.format(port=port))
        super().__init__([installed("mosquitto"), "-c", str(config)], port, folder / f"{name}.log")


class Cluster:
    """Three nats-servers that store messages together. Nodes may connect to any of them.

    A client that subscribes while a message is retained at another server may never receive it. A server that was
    killed may deliver retained messages without their topics (nats-server 2.9), which ends each connection again. A
    test waits for the former, and does not kill the broker of a node that looks for others.
    """

    def __init__(self, folder: Path) -> None:
        ports = [free_ports(4) for _ in range(3)]
        routes = ", ".join(f"nats://127.0.0.1:{route}" for *_, route in ports)
        program = installed("nats-server")
        self._http = [http for _, http, _, _ in ports]
        self.brokers: list[Broker] = []
        for number, (client, http, mqtt, route) in enumerate(ports):
            config = folder / f"n{number}.conf"
            named = dict(number=number, client=client, http=http, mqtt=mqtt, route=route)
            config.write_text(NATS.format(**named, routes=routes, folder=folder))
            self.brokers.append(Broker([program, "-c", str(config)], mqtt, folder / f"n{number}.log"))

    @property
    def ports(self) -> list[int]:
        return [broker.port for broker in self.brokers]

    def start(self) -> None:
        for broker in self.brokers:
            broker.begin()
        wait(self._is_up, "a cluster of nats-servers")
        for broker in self.brokers:
            wait(lambda port=broker.port: takes_clients(port), f"the broker at {broker.url}")  # type: ignore[misc]

    def until_told(self, topic: str) -> None:
        """Waits until all servers have a message that was published at one of them. They synchronise when they are
        idle."""
        for broker in self.brokers:
            wait(lambda port=broker.port: has_retained(port, topic), f"{topic} at {broker.url}")  # type: ignore[misc]

    def leads_sessions(self, number: int) -> bool:
        """Whether this server leads the raft group of the MQTT sessions."""
        told = self._asked(self._http[number], "jsz?accounts=1&streams=1")
        streams = [one for account in told.get("account_details", []) for one in account.get("stream_detail", [])]
        sessions = [one for one in streams if one["name"] == "$MQTT_sess"]
        return any(one.get("cluster", {}).get("leader") == f"n{number}" for one in sessions)

    def _is_up(self) -> bool:
        with suppress(OSError, ValueError):
            return all(self._asked(http, "jsz").get("meta_cluster", {}).get("leader") for http in self._http)
        return False

    @staticmethod
    def _asked(port: int, what: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{what}", timeout=5) as answer:
            told: dict[str, Any] = json.load(answer)
            return told

    def kill(self) -> None:
        for broker in self.brokers:
            broker.kill()

    def resident(self) -> int:
        return sum(broker.resident() for broker in self.brokers if broker.is_running)

    def processor(self) -> float:
        return sum(broker.processor() for broker in self.brokers if broker.is_running)
