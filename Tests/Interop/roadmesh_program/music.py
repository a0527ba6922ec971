# SPDX-License-Identifier: Apache-2.0
"""Music files for tests, with tags: a tone, or silence."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

RATE = 8_000


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def _text(text: str) -> bytes:
    return text.encode() + b"\0"


def _id3(title: str, artist: str, picture: bytes) -> bytes:
    """A tag in ID3 2.3."""
    bodies = {b"TIT2": b"\0" + title.encode(), b"TPE1": b"\0" + artist.encode(), b"APIC": b"\0image/png\0\3\0" + picture}
    frames = b"".join(name + struct.pack(">IH", len(body), 0) + body for name, body in bodies.items())
    size = bytes(len(frames) >> shift & 127 for shift in (21, 14, 7, 0))
    return b"ID3\3\0\0" + size + frames


def wav(path: Path, seconds: float, title: str = "", artist: str = "", album: str = "", picture: bytes = b"") -> None:
    """A WAV of silence with the tags of RIFF's INFO list, and a cover where one is given."""
    tags = [(b"INAM", title), (b"IART", artist), (b"IPRD", album)]
    info = b"".join(_chunk(name, _text(text)) for name, text in tags if text)
    audio = bytes(2 * int(RATE * seconds))
    chunks = _chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, RATE, 2 * RATE, 2, 16))
    chunks += (_chunk(b"LIST", b"INFO" + info) if info else b"") + _chunk(b"data", audio)
    chunks += _chunk(b"id3 ", _id3(title, artist, picture)) if picture else b""
    path.write_bytes(_chunk(b"RIFF", b"WAVE" + chunks))


def flac_without_sound(path: Path, seconds: int) -> None:
    """The file that an interrupted copy leaves: a header with a length, and no sound."""
    samples = RATE * seconds
    packed = (RATE << 44) | (0 << 41) | (15 << 36) | samples
    block = struct.pack(">HH", 4096, 4096) + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    path.write_bytes(b"fLaC" + bytes([0x80]) + len(block).to_bytes(3, "big") + block)


def encoded(path: Path, seconds: float, codec: str, *options: str, level: float = 0.5) -> None:
    """A tone that mpv encodes."""
    tone = f"av://lavfi:aevalsrc=exprs={level}*sin(880*PI*t):d={seconds}:s=44100"
    command = ["mpv", "--no-config", "--really-quiet", "--no-video", tone, f"--oac={codec}", *options]
    # A pipe cannot be written again at its start, so the header stays as it was.
    done = subprocess.run([*command, "--o=-"], stdout=subprocess.PIPE, check=True, timeout=60)
    path.write_bytes(done.stdout)


def piped_flac(path: Path, seconds: float) -> None:
    """A FLAC that was written to a pipe: its header does not say how long it is."""
    encoded(path, seconds, "flac", "--of=flac")
