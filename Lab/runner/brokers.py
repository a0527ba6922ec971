"""MQTT brokers on this machine: Debian's mosquitto, and a cluster of three nats-servers. For tests and measurements."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .errors import LabError

# A cluster elects its leaders within seconds, or in some ten seconds on a busy machine.
READY = 60.0

MOSQUITTO = """listener {port} 127.0.0.1
allow_anonymous true
persistence false
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


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def installed(name: str) -> str:
    # Daemons are in folders that only root has in its search path.
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/bin")
    if path is None:
        raise LabError(f"this needs the package {name}: apt install {name}")
    return path


def listens(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    return False


def wait(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + READY
    while not holds():
        if time.monotonic() > deadline:
            raise LabError(f"{what} has not come up within {READY:g} s")
        time.sleep(0.05)


class Server:
    """A process that can be killed and restarted."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._command = command
        self._log = log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def kill(self) -> None:
        """Kills the process with SIGKILL, as a power cut would."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def resident(self) -> int:
        """Resident memory in bytes."""
        assert self.process
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))

    def processor(self) -> float:
        """Seconds of processor time since its start."""
        assert self.process
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100


class Mosquitto(Server):
    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        settings = folder / "mosquitto.conf"
        settings.write_text(MOSQUITTO.format(port=self.port))
        super().__init__([installed("mosquitto"), "-c", str(settings)], folder / "mosquitto.log")

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    @property
    def ports(self) -> list[int]:
        return [self.port]

    def start(self) -> None:
        super().start()
        wait(lambda: listens(self.port), "mosquitto")


class NatsCluster:
    """A cluster of three servers. A client may connect to any of them."""

    def __init__(self, folder: Path) -> None:
        routes = [free_port() for _ in range(3)]
        self._http = [free_port() for _ in range(3)]
        self.ports = [free_port() for _ in range(3)]
        self.servers: list[Server] = []
        for number in range(3):
            settings = folder / f"nats{number}.conf"
            settings.write_text(
                NATS.format(
                    number=number,
                    client=free_port(),
                    http=self._http[number],
                    folder=folder,
                    mqtt=self.ports[number],
                    route=routes[number],
                    routes=", ".join(f"nats-route://127.0.0.1:{route}" for route in routes),
                )
            )
            self.servers.append(Server([installed("nats-server"), "-c", str(settings)], folder / f"nats{number}.log"))

    def start(self) -> None:
        for server in self.servers:
            server.start()
        wait(self._has_leader, "the cluster")

    def leads_sessions(self, number: int) -> bool:
        """Whether this server leads the raft group of the MQTT sessions."""
        url = f"http://127.0.0.1:{self._http[number]}/jsz?accounts=1&streams=1"
        with urllib.request.urlopen(url, timeout=5) as answer:
            told = json.load(answer)
        streams = [one for account in told.get("account_details", []) for one in account.get("stream_detail", [])]
        return any(one["name"] == "$MQTT_sess" and one.get("cluster", {}).get("leader") == f"n{number}" for one in streams)

    def _has_leader(self) -> bool:
        with suppress(OSError, ValueError):
            for port in self._http:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1) as answer:
                    if json.load(answer).get("status") != "ok":
                        return False
            return all(listens(port) for port in self.ports)
        return False

    def kill(self) -> None:
        for server in self.servers:
            server.kill()

    def stop(self, number: int) -> None:
        """Stops one of the servers with SIGSTOP, so that it hangs."""
        process = self.servers[number].process
        assert process
        process.send_signal(signal.SIGSTOP)

    def resident(self) -> int:
        return sum(server.resident() for server in self.servers if server.process)

    def processor(self) -> float:
        return sum(server.processor() for server in self.servers if server.process)
