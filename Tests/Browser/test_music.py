# SPDX-License-Identifier: Apache-2.0
"""A head unit that plays a folder of music, with the real mpv and the real playerctl."""

from __future__ import annotations

import http.client
import os
import re
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from urllib.parse import quote, urlparse

import pytest
from conftest import Open
from playwright.sync_api import expect
from ride import Node, Ride
from roadmesh_program import music
from roadmesh_program.measuring import resident

SONGS = 10_000
SEARCHES = ["song", "artist 7", "son 42", "ütl", "album 3 song", "s", "zzz", "song 9999", "ART", "outlaw"]
SEARCH_LIMIT = 20.0
SLIP_LIMIT = 500.0
MEMORY_LIMIT = 96 * 1024

# mpv plays without sound, in real time.
SILENTLY = ("--audio-device", "null/", "--no-shuffle")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "music"
    made.mkdir()
    return made


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A session bus, as on a desktop."""
    with subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address"], stdout=subprocess.PIPE, text=True
    ) as bus:
        assert bus.stdout
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus.stdout.readline().strip())
        yield
        bus.terminate()


def playerctl(*arguments: str) -> str:
    done = subprocess.run(["playerctl", "--player=roadmesh", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def mpvs(parent: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(parent), "mpv"], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def test_songs_follow_one_another_and_the_page_shows_each(ride: Ride, open_page: Open, folder: Path) -> None:
    for number in (1, 2, 3):
        music.wav(folder / f"{number}.wav", 2.0, f"Song {number}", "The Silent")
    host = ride.host("--library", str(folder), *SILENTLY)
    page = open_page(host)
    for number in (1, 2, 3):
        expect(page.locator("#playing")).to_contain_text(f"Song {number}")
        host.program.expect("playback", timeout=10)


def test_a_song_that_cannot_be_played_is_skipped_and_its_voters_are_told(
    ride: Ride, open_page: Open, folder: Path
) -> None:
    music.wav(folder / "first.wav", 60.0, "First", "A")
    music.wav(folder / "third.wav", 60.0, "Third", "C")
    music.flac_without_sound(folder / "Z - Broken.flac", 60)
    host = ride.host("--library", str(folder), *SILENTLY)
    ana = ride.guest("Ana")
    ana.program.say("search broken")
    broken = ana.program.expect("searchResults")["songs"][0]["id"]
    ana.program.say(f"suggest {broken}")
    ana.program.expect("suggestion", state="confirmed")
    driver, page = open_page(host), open_page(ana, "phone")
    driver.get_by_role("button", name="Skip").click()
    expect(page.locator(".toast")).to_contain_text("cannot be played")
    expect(driver.locator(".toast")).to_contain_text('"Broken" cannot be played.')
    expect(driver.locator("#playing")).not_to_contain_text("Broken")
    ana.program.expect("notice", code="cannotBePlayed")


def test_a_player_that_dies_goes_on_where_it_was(ride: Ride, folder: Path, measured: list[str]) -> None:
    music.wav(folder / "long.wav", 60.0, "Long", "A")
    host = ride.host("--library", str(folder), *SILENTLY)
    host.program.expect("playback", isPlaying=True)
    deadline = monotonic() + 10
    while not mpvs(host.program.pid) and monotonic() < deadline:
        pass
    (before,) = mpvs(host.program.pid)
    died = monotonic()
    os.kill(before, 9)
    while mpvs(host.program.pid) in ([], [before]):
        assert monotonic() < died + 10
    measured.append(f"mpv killed: another one runs after {(monotonic() - died) * 1_000:.0f} ms")
    assert host.program.seen("playback")[-1]["songID"] == host.program.seen("playback")[0]["songID"]


def test_media_keys_pause_and_skip(ride: Ride, open_page: Open, folder: Path, desktop: None) -> None:
    for number in (1, 2):
        music.wav(folder / f"{number}.wav", 60.0, f"Song {number}", "The Silent")
    host = ride.host("--library", str(folder), *SILENTLY)
    page = open_page(host)
    page.get_by_role("button", name="Pause").wait_for()
    wait_for("Playing", "status")
    assert playerctl("metadata", "title") == "Song 1"
    playerctl("pause")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    wait_for("Paused", "status")
    playerctl("next")
    expect(page.locator("#playing")).to_contain_text("Song 2")
    playerctl("previous")
    expect(page.locator("#playing")).to_contain_text("Song 1")
    playerctl("volume", "0.4")
    expect(page.get_by_role("slider", name="Volume")).to_have_value("40")
    page.get_by_role("slider", name="Volume").fill("65")
    wait_for("0.650000", "volume")
    playerctl("next")
    expect(page.locator("#playing")).to_contain_text("Song 2")
    wait_for("Song 2", "metadata", "title")


def test_the_driver_chooses_a_playlist_goes_on_in_a_song_and_plays_an_artist(
    ride: Ride, open_page: Open, folder: Path
) -> None:
    for number in range(1, 6):
        music.wav(folder / f"{number}.wav", 60.0, f"Song {number}", "The Silent")
    (folder / "lists").mkdir()
    (folder / "lists/Quiet Evening.m3u").write_text("../4.wav\n../2.wav\n")
    host = ride.host("--library", str(folder), *SILENTLY)
    page = open_page(host)
    expect(page.locator("#playing")).to_contain_text("Song 1")
    page.get_by_role("slider", name="Place in the song").fill("40")
    # mpv continues from there.
    host.program.expect("playback", fits=lambda one: one["elapsed"] >= 40 and one["isPlaying"])
    expect(page.locator(".times span").first).to_have_text(re.compile("^0:4[1-9]$"))
    page.get_by_role("tab", name="Add").click()
    page.get_by_role("button", name="While the queue is empty: All songs").click()
    page.get_by_role("button", name="Quiet Evening").click()
    expect(page.get_by_role("button", name="While the queue is empty: Quiet Evening")).to_be_visible()
    for title in ("Song 4", "Song 2"):
        page.get_by_role("button", name="Skip").click()
        expect(page.locator("#playing")).to_contain_text(title)
    page.get_by_role("button", name="Artists").click()
    page.get_by_role("button", name="The Silent").click()
    page.get_by_role("button", name="Play all").click()
    page.get_by_role("button", name="Play now").click()
    expect(page.locator("#playing")).to_contain_text("Song 1")
    page.get_by_role("tab", name="Up next").click()
    expect(page.locator("#panel-queue li.song")).to_have_count(3)


def test_a_playlist_plays_where_nobody_asks_and_all_of_the_folder_is_browsed(
    ride: Ride, open_page: Open, folder: Path
) -> None:
    for number in range(1, 6):
        music.wav(folder / f"{number}.wav", 60.0, f"Song {number}", "The Silent")
    (folder / "drive.m3u").write_text("#EXTM3U\n4.wav\nhttp://radio.example/live\n./2.wav\n")
    host = ride.host("--library", str(folder / "drive.m3u"), *SILENTLY)
    ana = ride.guest("Ana")
    page, anas = open_page(host), open_page(ana, "phone")
    for title in ("Song 4", "Song 2", "Song 4"):
        expect(page.locator("#playing")).to_contain_text(title)
        page.get_by_role("button", name="Skip").click()
    page.get_by_role("tab", name="Add").click()
    page.get_by_role("searchbox").fill("sogn 5")
    expect(page.locator("#panel-search > .hint")).to_contain_text("1 song found for “song 5”.")
    page.get_by_role("button", name="Played").click()
    page.get_by_role("button", name="Play Song 4 again").click()
    expect(page.locator("#panel-queue li.song")).to_have_count(1)
    anas.get_by_role("tab", name="Search").click()
    anas.get_by_role("button", name="Artists").click()
    anas.get_by_role("button", name="The Silent").click()
    expect(anas.locator("#panel-search > .hint")).to_have_text("The Silent: 5 songs.")
    anas.get_by_role("button", name="Suggest Song 1").click()
    expect(page.locator("#panel-queue li.song")).to_have_count(2)


def test_without_a_device_every_screen_says_no_sound_until_there_is_one(
    ride: Ride, open_page: Open, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = tmp_path / "asound.conf"
    devices.write_text("")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(devices))
    for number in (1, 2):
        music.wav(folder / f"{number}.wav", 60.0, f"Song {number}", "The Silent")
    host = ride.host("--library", str(folder), "--audio-device", "alsa/car", "--no-shuffle")
    ana = ride.guest("Ana")
    pages = [open_page(host), open_page(ana, "phone")]
    for page in pages:
        expect(page.locator("#playing-heading")).to_have_text("No sound", timeout=20_000)
        expect(page.locator(".times span").first).to_have_text("0:00")
    assert ana.program.expect("snapshot", sound=False)["isPlaying"] is False
    host.program.expect("playback", sound=False, isPlaying=True)
    devices.write_text("pcm.car { type null }")
    host.program.expect("playback", sound=True, timeout=20)
    ana.program.expect("snapshot", sound=True)
    for page in pages:
        expect(page.locator("#playing-heading")).to_have_text("Now playing")


def wait_for(said: str, *asked: str) -> None:
    deadline = monotonic() + 10
    while playerctl(*asked) != said:
        assert monotonic() < deadline, f"playerctl {asked} never said {said}"


def test_odd_tags_are_shown_as_text(ride: Ride, open_page: Open, folder: Path) -> None:
    titles = ["<img src=x onerror=alert(1)>", "שיר בעברית", "🎸🔥 Riff", "x" * 10_000, "&amp; <b>not bold</b>"]
    for number, title in enumerate(titles):
        music.wav(folder / f"{number}.wav", 60.0, title, f"Artist {number} <script>")
    music.wav(folder / "no tags at all.wav", 60.0)
    host = ride.host("--library", str(folder), *SILENTLY)
    ana = ride.guest("<b>Ana</b> 🎸")
    driver = open_page(host)
    for song in host_songs(host):
        ana.program.say(f"suggest {song}")
    expect(driver.locator("li.song")).to_have_count(len(titles))
    shown = " ".join([*driver.locator("li.song").all_inner_texts(), driver.locator("#playing").inner_text()])
    for title in (*titles[:3], titles[4], "no tags at all", "Artist 1 <script>"):
        assert title in shown
    assert "x" * 100 in shown
    assert "x" * 200 not in shown
    assert driver.locator("#dashboard img[src=x], #dashboard script, #dashboard b:has-text('not bold')").count() == 0
    driver.get_by_role("tab", name="Guests").click()
    expect(driver.locator("#lists")).to_contain_text("<b>Ana</b> 🎸")


def host_songs(host: Node) -> list[str]:
    found: list[str] = []
    for word in ("artist", "no", "unknown"):
        found += [song["id"] for song in asked(host, word)[1] if song["id"] not in found]
    return found


def asked(node: Node, words: str, connection: http.client.HTTPConnection | None = None) -> tuple[float, list[dict[str, str]]]:
    import json

    place = urlparse(node.url)
    connection = connection or http.client.HTTPConnection(place.netloc)
    began = monotonic()
    connection.request("GET", f"/api/search?q={quote(words)}")
    answer = connection.getresponse()
    body = answer.read()
    took = (monotonic() - began) * 1_000
    assert answer.status == 200, body
    return took, json.loads(body)["songs"]


def test_ten_thousand_songs(ride: Ride, folder: Path, measured: list[str]) -> None:
    for number in range(SONGS):
        if number % 100 == 0:
            (folder / f"{number // 100:03}").mkdir()
        place = folder / f"{number // 100:03}" / f"{number:05}.wav"
        music.wav(place, 0.5, f"Song {number} Ûtlaw", f"Artist {number % 97}", f"Album {number % 31}")
    began = monotonic()
    host = ride.host("--library", str(folder), *SILENTLY)
    ready = monotonic() - began
    host.program.expect("library", songs=SONGS, timeout=300)
    first = monotonic() - began
    place = urlparse(host.url)
    connection = http.client.HTTPConnection(place.netloc)
    took = []
    for number in range(20):
        for words in SEARCHES:
            while True:
                try:
                    took.append(asked(host, words, connection)[0])
                    break
                except AssertionError:  # Searches exceed a person's rate: try again.
                    pass
            if number and len(took) > 60:
                break
    memory = resident(host.program.pid)
    host.program.end()

    began = monotonic()
    again = ride.start("host", "Dad's Car", "--library", str(folder), *SILENTLY, address=host.address)
    repeated = monotonic() - began
    assert len(asked(again, "harbour")[1]) == 0
    assert len(asked(again, "utlaw 77")[1]) > 0
    # A typing error requires a check of every word of the songs.
    slip, forgiven = asked(again, "utlwa 77")
    assert len(forgiven) > 0
    measured.append(
        f"{SONGS} songs: on the air after {ready:.1f} s, all read after {first:.1f} s; a repeated start {repeated:.2f} s; "
        f"a search {statistics.median(took):.1f} ms ({max(took):.1f} at most, over HTTP, n={len(took)}), with a slip {slip:.1f}; "
        f"the host takes {memory} KiB, {resident(again.program.pid)} after the repeated start; limit {MEMORY_LIMIT}"
    )
    assert statistics.median(took) < SEARCH_LIMIT
    assert slip < SLIP_LIMIT
    assert memory < MEMORY_LIMIT
