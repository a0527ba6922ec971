# SPDX-License-Identifier: Apache-2.0
"""Covers over the air, by docs/protocol.md: a guest requests the program's covers, and the program requests a
host's."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from roadmesh_peer import democracy_dj
from roadmesh_peer.covers import COVER_BYTES, COVER_PIECE, CoverPiece, CoverRequest, cover_request
from roadmesh_peer.document import STATE
from roadmesh_peer.guest import Guest
from roadmesh_peer.hosting import HostTalk, Updates
from roadmesh_peer.noise_link import Key
from roadmesh_peer.virtual_air import HostRadio
from roadmesh_peer.wire import Hello
from roadmesh_program.covers import noise
from roadmesh_program.fixtures import MakeGuest, Start
from roadmesh_program.program import Program
from roadmesh_program.songs import song_of

# Time for loading and scaling on a busy machine, in seconds.
MADE = 60.0


@pytest.fixture
def pictures() -> Iterator[str]:
    """A server of covers on this machine. It has only /large.png."""
    large = noise(600)

    class Shelf(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/large.png"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(large) if found else 0))
            self.end_headers()
            if found:
                self.wfile.write(large)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Shelf)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def host(start: Start, tmp_path: Path, pictures: str) -> Program:
    """The program with songs: n0 plays and has a cover, n1 has none, and n9 is far down the queue."""
    songs = [song_of(number) for number in range(12)]
    songs[0]["albumArtURL"] = f"{pictures}/large.png"
    songs[9]["albumArtURL"] = f"{pictures}/large.png"
    path = tmp_path / "songs.json"
    path.write_text(json.dumps(songs))
    program = start("host", "Dad's Car", "car", "--library", str(path))
    program.expect("artwork", songID="n0", timeout=MADE)
    return program


def ask(guest: Guest, song: str, version: int = 0, start: int = 0) -> CoverPiece:
    count = len(guest.view.pieces)
    guest.send_latest(cover_request(song, version, start))
    guest.until(lambda: len(guest.view.pieces) > count, "a piece", MADE)
    return guest.view.pieces[-1]


def test_a_guest_gets_the_cover_of_what_plays_piece_by_piece(host: Program, make_guest: MakeGuest) -> None:
    ana = make_guest("Ana")
    ana.join()
    first = ask(ana, "n0")
    assert first.start == 0 and first.version and len(first.data) == COVER_PIECE < first.total <= COVER_BYTES
    picture = first.data
    while len(picture) < first.total:
        if len(picture) == COVER_PIECE:
            ana.vote("n2")
        piece = ask(ana, "n0", first.version, len(picture))
        assert (piece.version, piece.start, piece.total) == (first.version, len(picture), first.total)
        picture += piece.data
    assert picture[:3] == b"\xff\xd8\xff" and picture[-2:] == b"\xff\xd9"
    ana.until_shown("n2")
    # A request for another version than the host's starts at the beginning, and so does one past the end.
    assert ask(ana, "n0", first.version ^ 1, COVER_PIECE) == first
    assert ask(ana, "n0", first.version, first.total) == first


def test_songs_without_a_cover_and_songs_far_down_the_queue_have_none(host: Program, make_guest: MakeGuest) -> None:
    ana = make_guest("Ana")
    ana.join()
    for song in ("n1", "n9", "nobody's"):
        assert ask(ana, song) == CoverPiece(song, 0, 0, 0, b"")


PICTURE = b"\xff\xd8\xff" + bytes(range(256)) * 11


def piece(asked: CoverRequest, picture: bytes = PICTURE, version: int = 7) -> bytes:
    start = asked.start if asked.version == version else 0
    return bytes(CoverPiece(asked.song, version, start, len(picture), picture[start : start + COVER_PIECE]))


@pytest.fixture
def car(air: Path) -> Iterator[HostRadio]:
    radio = HostRadio(air, "car", "Dad's Car")
    yield radio
    radio.close()


def let_in(car: HostRadio, key: Key) -> tuple[HostTalk, Updates]:
    talk = HostTalk(car.accept(key.identifier), key)
    talk.let_in(Hello(0xCA4, "Dad's Car"))
    updates = Updates(talk)
    updates.send(democracy_dj.snapshot(STATE))
    return talk, updates


def test_the_program_shows_what_it_has_got(start: Start, car: HostRadio, tmp_path: Path) -> None:
    bob, key = start("guest", "Bob", "bob"), Key()
    talk, updates = let_in(car, key)
    asked = talk.hear_cover_request()
    assert asked == CoverRequest(STATE.now_playing.song.id, 0, 0)
    updates.send(piece(asked))
    # After the tunnel, the pieces that have arrived are used.
    assert talk.hear_cover_request() == CoverRequest(asked.song, 7, COVER_PIECE)
    talk.channel.close()
    talk, updates = let_in(car, key)
    again = talk.hear_cover_request()
    assert again == CoverRequest(asked.song, 7, COVER_PIECE)
    updates.send(piece(again))
    updates.send(piece(talk.hear_cover_request()))
    shown = bob.expect("artwork", songID=asked.song)
    assert Path(shown["path"]).read_bytes() == PICTURE
    assert Path(shown["path"]).parent == tmp_path / "bob" / "covers"
    assert talk.hear_cover_request().song == "s6", "then what comes next"


@pytest.mark.long
def test_a_host_that_sends_rubbish_is_asked_less_and_less(start: Start, car: HostRadio) -> None:
    bob = start("guest", "Bob", "bob")
    talk, updates = let_in(car, Key())
    asked = talk.hear_cover_request()
    # The data is not a picture, from its first byte on.
    updates.send(piece(asked, b"#EXTM3U"))
    assert talk.hear_cover_request().song == "s6"
    updates.send(bytes(CoverPiece("s6", 1, 0, 9_000, b"a")))
    for version in range(2, 10):
        asked = talk.hear_cover_request()
        if asked.song != "s6" or version > 4:
            break
        updates.send(bytes(CoverPiece("s6", version, 0, 9_000, b"a")))
    # The guest works as before.
    updates.send(democracy_dj.snapshot(dataclasses.replace(STATE, revision=STATE.revision + 1)))
    bob.expect("snapshot", revision=STATE.revision + 1)
    assert not bob.seen("artwork")
