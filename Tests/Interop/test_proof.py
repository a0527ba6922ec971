# SPDX-License-Identifier: Apache-2.0
"""A PIN for joining: the independent peer at a real host, and as a host.

GUESSES=10000 makes strangers guess that often; it takes two minutes.
"""

from __future__ import annotations

import itertools
import os
import statistics
from pathlib import Path
from time import monotonic, time

import pytest
from roadmesh_peer import proof
from roadmesh_peer.guest import Guest, LinkEnded, Refused, Talk
from roadmesh_peer.hosting import HostTalk
from roadmesh_peer.noise_link import Key, Packet
from roadmesh_peer.ristretto import NoElement, decode
from roadmesh_peer.virtual_air import ChannelClosed, HostRadio, Radio
from roadmesh_peer.wire import PROOF_WANTED, Frame, Hello, Kind, Reason, app_start, goodbye, self_info
from roadmesh_program.fixtures import MakeGuest, Start, StartHost
from roadmesh_program.program import Program

PIN = "314159"
SECRET = proof.Secret(PIN.encode())
WRONG = proof.Secret(b"271828")
NAME = "Dad's Car"
GUESSES = int(os.environ.get("GUESSES", "1000"))


@pytest.fixture
def locked(start_host: StartHost) -> Program:
    """A host that asks for a PIN."""
    return start_host(20, "Mile", "--pin", PIN)


def told(guest: Guest, secret: proof.Secret | None = SECRET) -> Guest:
    guest.secret = secret
    return guest


def test_the_arithmetic_is_the_draft_s() -> None:
    """draft-irtf-cfrg-cpace, the vectors for ristretto255 with SHA-512."""
    h = bytes.fromhex
    ci, sid = h("0b415f696e69746961746f720b425f726573706f6e646572"), h("7e4b4791d6a8ef019b936c79fb7f2c57")
    scalar = int.from_bytes(h("da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"), "little")
    run = proof.Run(b"Password", ci, sid, is_initiator=True, scalar=scalar)
    assert run.share == h("d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157")
    key, _, _ = run.agree(h("3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258"), b"ADa", b"ADb")
    assert key == h(
        "b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd"
        "2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447"
    )
    with pytest.raises(NoElement):
        decode(h("2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c"))
    with pytest.raises(proof.BadShare):
        run.agree(bytes(32))


def test_who_knows_the_pin_is_in_and_is_never_asked_again(
    locked: Program, start_host: StartHost, make_guest: MakeGuest
) -> None:
    assert locked.seen("ready")[0]["pin"] == PIN
    ana = told(make_guest("Ana"))
    ana.join(NAME)
    ana.until(lambda: ana.view.state is not None, "the first snapshot")
    ana.vote("n7")
    ana.until_shown("n7")
    ana.leave()
    ana.secret = None
    joining = ana.join()
    assert [packet[0] for packet in joining.packets] == [Packet.IK_1, Packet.IK_2] and not joining.answer.proof
    ana.leave()
    locked.end()
    start_host(20, "Mile", "--pin", "auto")
    ana.join()
    ana.until_shown("n7")


def test_who_has_guessed_wrong_is_told_so_and_so_is_the_host(locked: Program, make_guest: MakeGuest) -> None:
    eve = told(make_guest("Eve"), WRONG)
    with pytest.raises(Refused) as refused:
        eve.join(NAME)
    assert refused.value.reason == Reason.WRONG_PROOF
    assert locked.expect("pinGuessed")["peer"]["name"] == "Eve"
    assert locked.expect_seen("notice", code="pinGuessed")
    eve.secret = None
    with pytest.raises(Refused) as asked:
        eve.join(NAME)
    assert asked.value.reason == Reason.CHALLENGE
    assert not locked.seen("peerConnected")
    told(eve).join(NAME)
    locked.expect("peerConnected")


def test_nobody_guesses_more_than_five_times_whoever_they_are(locked: Program, make_guest: MakeGuest) -> None:
    ana = told(make_guest("Ana"))
    ana.join(NAME)
    reasons = []
    for guess in range(8):
        with pytest.raises(Refused) as refused:
            told(make_guest(f"Eve {guess}"), WRONG).join(NAME)
        reasons.append(refused.value.reason)
    assert reasons == [Reason.WRONG_PROOF] * 5 + [Reason.TOO_MANY_GUESSES] * 3
    ana.vote("n3")
    ana.until_shown("n3")
    ana.leave()
    ana.join()


@pytest.mark.parametrize("share", [bytes(32), bytes([255] * 32), b"short"])
def test_a_share_that_is_no_element_ends_the_link_and_costs_no_guess(
    share: bytes, locked: Program, make_guest: MakeGuest, air: Path
) -> None:
    for number in range(8):
        radio = Radio(air, f"eve{number}")
        talk = Talk(radio.dial(radio.listen()), Key())
        talk.introduce(talk.greet(), bytes(app_start(Hello(1, "Eve"))))
        assert talk.hear_of(Kind.CHALLENGE) == bytes((proof.KIND, 1))
        talk.say(proof.frame(1, share))
        talk.closed()
    told(make_guest("Ana")).join(NAME)
    assert not locked.seen("pinGuessed")


def test_somebody_in_the_middle_learns_nothing_and_lets_nobody_in(locked: Program, air: Path, start: Start) -> None:
    """The guest dials a nearer attacker with the host's name. The attacker passes on the guest's packets and the
    answers."""
    eve, far = Key(), Radio(air, "eve-far")
    host = far.listen(NAME)
    near = HostRadio(air, "eve", "Eve's Car")
    bob = start("guest", "Bob", "bob", "--pin", PIN, "--host", "Eve's Car")
    to_guest = HostTalk(near.accept(eve.identifier, critical=PROOF_WANTED), eve)
    to_guest.meet()
    to_host = Talk(far.dial(host), eve)
    to_host.introduce(to_host.greet(), bytes(app_start(Hello(1, "Bob"))))
    to_guest.answer(Frame(Kind.CHALLENGE, to_host.hear_of(Kind.CHALLENGE)))
    to_host.say(Frame(Kind.PROOF, to_guest.hear_of(Kind.PROOF)))
    to_guest.say(Frame(Kind.CHALLENGE, to_host.hear_of(Kind.CHALLENGE)))
    to_host.say(Frame(Kind.PROOF, to_guest.hear_of(Kind.PROOF)))
    assert to_host.hear_of(Kind.REFUSAL) == bytes((Reason.WRONG_PROOF,))
    # The packets that it has seen do not prove it to the guest either.
    to_guest.say(self_info(Hello(7, "Eve's Car", proof=bytes((proof.KIND,)) + bytes(64))))
    assert bob.expect("notice", code="unprovenHost")
    assert not bob.seen("peerConnected") and not locked.seen("peerConnected")
    near.close()


def test_whoever_was_given_a_pin_joins_no_host_without_it_whatever_that_advertises(air: Path, start: Start) -> None:
    car, key = HostRadio(air, "car", NAME), Key()
    bob = start("guest", "Bob", "bob", "--pin", PIN)
    HostTalk(car.accept(key.identifier), key).let_in(Hello(7, NAME))
    assert bob.expect("notice", code="unprovenHost")
    bob.say("retry")
    talk = HostTalk(car.accept(key.identifier, critical=PROOF_WANTED), key)
    own = talk.challenge(SECRET, talk.meet())
    assert own
    talk.say(self_info(Hello(7, NAME, critical=PROOF_WANTED, proof=own)))
    bob.expect("connection", state="connected")
    talk.say(goodbye())
    talk.closed()
    # From now on the guest's key is enough, even after a restart.
    bob.end()
    bob = start("guest", "Bob", "bob", "--pin", "999999")
    talk = HostTalk(car.accept(key.identifier, critical=PROOF_WANTED), key)
    assert talk.let_in(Hello(7, NAME, critical=PROOF_WANTED)).known
    bob.expect("connection", state="connected")
    car.close()


def test_a_guest_with_a_pin_joins_a_host_without_one_if_its_person_says_so(start_host: StartHost, start: Start) -> None:
    start_host()
    bob = start("guest", "Bob", "bob", "--pin", PIN)
    notice = bob.expect("notice", code="unprovenHost")
    assert "pin off" in notice["suggestion"]
    bob.say("pin off")
    bob.expect("noticeCleared", code="unprovenHost")
    bob.expect("connection", state="connected")


def test_a_guest_asks_its_person_before_it_dials(locked: Program, start: Start, measured: list[str]) -> None:
    times = []
    for number in range(9):
        bob = start("guest", f"Bob {number}", f"bob{number}")
        bob.expect("notice", code="proofRequired")
        bob.expect_seen("connection", state="failed")
        typed = time()
        bob.say(f"pin {PIN}")
        bob.expect("connection", state="connected")
        times.append(bob.expect("snapshot")["at"] - typed)
    assert not locked.seen("pinGuessed")
    bob.say("pin 12")
    assert bob.expect("notice")["code"] == "noPIN"
    measured.append(
        f"from the last digit to the queue, on the virtual radio: {statistics.median(times) * 1e3:.0f} ms, at most "
        f"{max(times) * 1e3:.0f} ms"
    )
    assert statistics.median(times) <= 0.4


class Guessers:
    """Many identities that guess without pauses."""

    def __init__(self, air: Path, count: int) -> None:
        self._radio = Radio(air, "guessers")
        self._host = self._radio.listen(NAME)
        self._keys = itertools.cycle([Key() for _ in range(count)])
        self.answers: dict[str, int] = {}

    def guess(self) -> None:
        talk = Talk(self._radio.dial(self._host), next(self._keys))
        answer = "in"
        try:
            talk.join(lambda _: Hello(1, "Eve"), secret=WRONG)
        except Refused as refused:
            answer = Reason(refused.reason).name.lower()
        except (ChannelClosed, LinkEnded):
            answer = "closed"
        except Exception as error:
            answer = type(error).__name__
        finally:
            talk.channel.close()
        self.answers[answer] = self.answers.get(answer, 0) + 1


@pytest.mark.timeout(600)
@pytest.mark.long
def test_guesses_without_end_of_a_hundred_identities_disturb_nobody(
    locked: Program, start: Start, air: Path, measured: list[str]
) -> None:
    family = start("guest", "Ana", "ana", "--pin", PIN)
    family.expect("connection", state="connected")
    songs = itertools.cycle(range(1, 20))

    def vote_time() -> float:
        song = f"n{next(songs)}"
        began = monotonic()
        family.say(f"vote {song}")
        family.expect("vote", songID=song, state="confirmed")
        took = monotonic() - began
        family.say(f"unvote {song}")
        family.expect("vote", songID=song, state="confirmed")
        return took

    quiet = [vote_time() for _ in range(9)]
    guessers = Guessers(air, 100)
    loud = []
    began = monotonic()
    for number in range(GUESSES):
        guessers.guess()
        if number % (GUESSES // 20) == GUESSES // 40:
            loud.append(vote_time())
    took = monotonic() - began
    wrong = guessers.answers.get("wrong_proof", 0)
    measured.append(
        f"{GUESSES:,} guesses of 100 identities in {took:,.0f} s: {guessers.answers}; a vote took "
        f"{statistics.median(loud) * 1e3:.1f} ms, at most {max(loud) * 1e3:.1f} ms, and "
        f"{statistics.median(quiet) * 1e3:.1f} ms before"
    )
    assert "in" not in guessers.answers and wrong <= 5 + took / 200
    assert len(locked.seen("pinGuessed")) == wrong
    assert not family.seen("peerDisconnected") and not locked.seen("peerDisconnected")
    assert statistics.median(loud) <= statistics.median(quiet) + 0.05
