# SPDX-License-Identifier: Apache-2.0
"""Access to a broker, and proof of its identity: TLS, certificates, passwords. The real program at Debian's
mosquitto."""

from __future__ import annotations

import datetime
import ipaddress
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from roadmesh_program.brokers import Broker, free_ports, installed, wait
from roadmesh_program.fixtures import Place, Start, StartHost
from roadmesh_program.program import Program

SETTINGS = """listener {port} 127.0.0.1
persistence false
log_dest stderr
user root
"""
TOLD = 30.0

Certificate = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


class Authority:
    """A certificate authority."""

    def __init__(self, folder: Path, name: str, valid: tuple[int, int] = (-1, 2)) -> None:
        """The authority's certificates are valid between these two days, counted from now."""
        self._folder = folder
        self._valid = valid
        self._own = self._signed(name, None)
        self.file = self._write(f"{name}.pem", self._own[0].public_bytes(serialization.Encoding.PEM))

    def vouches(self, name: str, address: str = "127.0.0.1") -> tuple[Path, Path]:
        """Issues a certificate and its key."""
        certificate, key = self._signed(name, self._own, address)
        plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return (
            self._write(f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM)),
            self._write(f"{name}.key", key.private_bytes(*plain)),
        )

    def _write(self, name: str, data: bytes) -> Path:
        path = self._folder / name
        path.write_bytes(data)
        return path

    def _signed(self, name: str, by: Certificate | None, address: str = "127.0.0.1") -> Certificate:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(by[0].subject if by else subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + datetime.timedelta(days=self._valid[0]))
            .not_valid_after(now + datetime.timedelta(days=self._valid[1]))
            .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
        )
        if by:
            where = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
            builder = builder.add_extension(where, critical=False)
        return builder.sign(by[1] if by else key, hashes.SHA256()), key


StartBroker = Callable[..., Broker]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@pytest.fixture
def start_broker(tmp_path: Path) -> Iterator[StartBroker]:
    """Starts mosquitto with these settings."""
    started: list[Broker] = []

    def start(*settings: str) -> Broker:
        [port] = free_ports(1)
        config = tmp_path / f"mosquitto{port}.conf"
        config.write_text(SETTINGS.format(port=port) + "\n".join(settings) + "\n")
        log = tmp_path / f"mosquitto{port}.log"
        broker = Broker([installed("mosquitto"), "-c", str(config)], port, log)
        broker.begin()
        wait(lambda: "running" in log.read_text(), "mosquitto")
        started.append(broker)
        return broker

    yield start
    for broker in started:
        broker.kill()


def with_tls(authority: Authority, address: str = "127.0.0.1") -> list[str]:
    certificate, key = authority.vouches("broker", address)
    return [f"cafile {authority.file}", f"certfile {certificate}", f"keyfile {key}"]


def host_at(start_host: StartHost, url: str, *arguments: object) -> Program:
    return start_host(3, "Mile", "--broker", url, *(str(one) for one in arguments))


def secure(broker: Broker) -> str:
    return f"mqtts://127.0.0.1:{broker.port}"


def test_a_broker_that_proves_who_it_is_is_used(
    start_host: StartHost, start_broker: StartBroker, authority: Authority
) -> None:
    broker = start_broker("allow_anonymous true", *with_tls(authority))
    host = host_at(start_host, secure(broker), "--broker-ca", authority.file)
    host.expect("broker", state="connected", timeout=TOLD)


def test_one_that_the_system_does_not_know_is_not_and_people_are_told_why(
    start_host: StartHost, start_broker: StartBroker, authority: Authority
) -> None:
    broker = start_broker("allow_anonymous true", *with_tls(authority))
    notice = host_at(start_host, secure(broker)).expect("notice", code="brokerUntrusted", timeout=TOLD)
    assert "certificate verify failed" in notice["message"], notice


def test_one_with_somebody_elses_certificate_is_not(
    start_host: StartHost, start_broker: StartBroker, authority: Authority
) -> None:
    broker = start_broker("allow_anonymous true", *with_tls(authority, "192.0.2.1"))
    host = host_at(start_host, secure(broker), "--broker-ca", authority.file)
    host.expect("notice", code="brokerUntrusted", timeout=TOLD)


def test_a_device_proves_itself_with_a_certificate(
    start_host: StartHost, start_broker: StartBroker, authority: Authority
) -> None:
    broker = start_broker("require_certificate true", "use_identity_as_username true", *with_tls(authority))
    certificate, key = authority.vouches("car")
    files = ("--broker-ca", authority.file, "--broker-certificate", certificate, "--broker-key", key)
    host = host_at(start_host, secure(broker), *files)
    host.expect("broker", state="connected", timeout=TOLD)


@pytest.mark.long
def test_without_one_it_is_not_let_in(
    start_host: StartHost, start_broker: StartBroker, authority: Authority
) -> None:
    broker = start_broker("require_certificate true", *with_tls(authority))
    host = host_at(start_host, secure(broker), "--broker-ca", authority.file)
    notice = host.expect("notice", timeout=TOLD)
    assert notice["code"] in ("brokerUntrusted", "brokerUnreachable"), notice


@pytest.fixture
def with_password(start_broker: StartBroker, tmp_path: Path) -> Broker:
    """A broker with a password for Ana. The password has characters that must be escaped in a URL."""
    passwords = tmp_path / "passwords"
    subprocess.run([installed("mosquitto_passwd"), "-c", "-b", passwords, "ana", "p@ss:word/1"], check=True)
    return start_broker("allow_anonymous false", f"password_file {passwords}")


def lists(start_broker: StartBroker, tmp_path: Path, *lines: str) -> tuple[Broker, Path]:
    """A broker with an access list."""
    file = tmp_path / "access"
    file.write_text("\n".join(lines) + "\n")
    return start_broker("allow_anonymous true", f"acl_file {file}"), file


@pytest.mark.parametrize(
    ("lines", "topic"),
    [
        pytest.param(["topic write roadmesh/#"], "roadmesh/to/", id="no read"),
        *(
            pytest.param(lines, topic, id=name, marks=pytest.mark.long)
            for name, lines, topic in [
                ("no write", ["topic read roadmesh/#"], "roadmesh/to/"),
                ("another prefix", ["topic readwrite other/#"], "roadmesh/to/"),
                ("no read of calls", ["topic readwrite roadmesh/here/#", "topic write roadmesh/to/#"], "roadmesh/to/"),
                ("no write of hosts", ["topic readwrite roadmesh/to/#", "topic read roadmesh/here/#"], "roadmesh/here/"),
                ("no read of hosts", ["topic readwrite roadmesh/to/#", "topic write roadmesh/here/#"], "roadmesh/here/"),
            ]
        ),
    ],
)
def test_a_broker_that_accepts_a_device_and_delivers_nothing_is_told(
    start_host: StartHost, start_broker: StartBroker, tmp_path: Path, lines: list[str], topic: str
) -> None:
    broker, file = lists(start_broker, tmp_path, *lines)
    host = host_at(start_host, f"mqtt://127.0.0.1:{broker.port}")
    notice = host.expect("notice", code="brokerSilent", timeout=TOLD)
    assert topic in notice["message"] and "ACL" in notice["suggestion"], notice
    host.expect_seen("broker", state="silent")
    # The problem ends as soon as the list is right, without a restart.
    file.write_text("topic readwrite roadmesh/#\n")
    broker.reload()
    host.expect("broker", state="connected", timeout=120)
    host.expect("noticeCleared", code="brokerSilent")


@pytest.mark.long
def test_a_guest_is_told_that_the_broker_delivers_nothing(
    start: Start, start_broker: StartBroker, tmp_path: Path
) -> None:
    broker, _ = lists(start_broker, tmp_path, "topic write roadmesh/#")
    ana = start("guest", "Ana", "ana", "--broker", f"mqtt://127.0.0.1:{broker.port}")
    ana.expect("notice", code="brokerSilent", timeout=TOLD)
    assert not ana.seen("broker", state="connected")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("valid", "is_named"),
    [((1, 30), True), ((365, 3_650), True), ((-30, -1), True), ((-1, 2), False)],
    ids=["from tomorrow on", "from next year on", "until yesterday", "now"],
)
def test_a_certificate_that_is_not_valid_at_this_time_names_the_clock(
    start_host: StartHost, start_broker: StartBroker, tmp_path: Path, valid: tuple[int, int], is_named: bool
) -> None:
    """To a device with a wrong clock a valid certificate looks like the certificates of this test."""
    authority = Authority(tmp_path, "authority", valid)
    broker = start_broker("allow_anonymous true", *with_tls(authority))
    host = host_at(start_host, secure(broker), "--broker-ca", authority.file)
    if not is_named:
        host.expect("broker", state="connected", timeout=TOLD)
        return
    notice = host.expect("notice", code="brokerClock", timeout=TOLD)
    today = datetime.datetime.now(datetime.UTC).date()
    assert str(today) in notice["message"] and "timedatectl" in notice["suggestion"], notice


@pytest.mark.parametrize("how", ["in the environment", "in a file", "in the URL"])
def test_the_password_is_taken_from_where_it_is(
    start_host: StartHost, with_password: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    place = f"127.0.0.1:{with_password.port}"
    file = tmp_path / "password"
    file.write_text("p@ss:word/1\n")
    if how == "in the environment":
        monkeypatch.setenv("ROADMESH_BROKER_PASSWORD", "p@ss:word/1")
    url = f"mqtt://ana:p%40ss%3Aword%2F1@{place}" if how == "in the URL" else f"mqtt://ana@{place}"
    host = host_at(start_host, url, *(("--broker-password", file) if how == "in a file" else ()))
    host.expect("broker", state="connected", timeout=TOLD)


def test_who_is_not_known_is_told_so_at_once_and_the_music_goes_on(
    start_host: StartHost, with_password: Broker
) -> None:
    host = host_at(start_host, f"mqtt://ana:wrong@127.0.0.1:{with_password.port}")
    notice = host.expect("notice", code="brokerRefused", timeout=5)
    assert "--broker" in notice["suggestion"]
    host.say("skip")
    host.expect("snapshot", lambda one: one["nowPlaying"]["id"] == "n1")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--broker", "mqtt://ana:secret@broker.example.org"], "use mqtts://"),
        (["--broker", "broker.example.org"], "is not a broker's address"),
        (["--broker", "mqtts://x", "--broker-key", "/dev/null"], "go together"),
        (["--broker-ca", "/dev/null"], "--broker, which names it"),
        (["--broker", "mqtts://x", "--broker-ca", "/nowhere"], "There is no file /nowhere"),
        (["--broker", "mqtts://x", "--require-bond"], "has no bonds"),
    ],
)
def test_what_cannot_be_is_said_before_the_node_starts(
    binary: Path, place: Place, arguments: list[str], says: str
) -> None:
    command = [binary, "host", "Car", *place("car"), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    assert ended.returncode in (64, 65) and says in ended.stderr, ended.stderr
    assert "secret" not in ended.stderr
