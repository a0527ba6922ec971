# SPDX-License-Identifier: Apache-2.0
"""Replaces the dashboard's server, so that the page can be designed and tested without one.

As a program it shows one state: stand_in.py [PORT [STATE]]. It prints what the page posts.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from views import SONGS, STATES, View, item

PAGE = Path(__file__).parents[2] / "Sources/Dashboard/Page"
# The texts in other languages, which the page and the terminal share.
TEXTS = Path(__file__).parents[2] / "Sources/DemocracyDJ/Texts"

# The server's own header. `require-trusted-types-for` makes every use of innerHTML an error, in browsers that support
# it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}

PING = 5.0

# A picture in colours that the page does not use, so that it differs from a placeholder.
COVER = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><rect width="100" height="100" fill="#203a5c"/>'
    '<path d="M0 66h100v34H0z" fill="#10202f"/><circle cx="50" cy="50" r="19" fill="#f2a65a"/>'
    '<path d="M46 100l2.500-34h3L54 100z" fill="#f7e7c6"/></svg>'
)
CODE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8" shape-rendering="crispEdges"><rect width="8" height="8" '
    'fill="#fff"/><path d="M0 0h3v3H0zM5 0h3v3H5zM0 5h3v3H0zM4 4h1v1H4zM6 5h1v2H6zM4 6h1v2H4zM3 3h1v1H3z"/></svg>'
)

Command = dict[str, Any]


class StandIn:
    """A server on a free port of this machine. Posted commands are in `commands`, in order."""

    def __init__(self, view: View | None = None, port: int = 0) -> None:
        self.view: View | None = None
        self.commands: queue.Queue[Command] = queue.Queue()
        self.joined: queue.Queue[Command] = queue.Queue()
        self.searches: queue.Queue[str] = queue.Queue()
        self.connections: queue.Queue[float] = queue.Queue()
        # The answers to commands, joins and searches, if they differ from the usual ones.
        self.answers: dict[str, tuple[int, Command]] = {}
        self.after_joining: View | None = None
        self.reachable = True
        self.pings = True
        # With this, the view of an end is the last of its stream, as at the server. Without it a test can continue.
        self.ends_streams = False
        # With this, browsers may cache the page's files, as at the server. Without it each file is read again, for a
        # designer.
        self.keeps_files = False
        self.tag = '"1"'
        self._changed = threading.Condition()
        self._sent = 0
        self._version = 0
        self.show(view)
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        # The server checks every 20 ms whether it should end. `shutdown` waits for this check.
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def show(self, view: View | None) -> None:
        """Sends a view to all listeners."""
        with self._changed:
            self._version += 1
            self.view = None if view is None else {**view, "version": self._version}
            self._changed.notify_all()

    def cut(self) -> None:
        """The server is out of reach from now on."""
        with self._changed:
            self.reachable = False
            self._changed.notify_all()

    def mend(self) -> None:
        with self._changed:
            self.reachable = True
            self._changed.notify_all()

    def fall_silent(self) -> None:
        """The connection stays, and nothing comes over it any more: the effect of a dead zone on Wi-Fi."""
        with self._changed:
            self.pings = False
            self._changed.notify_all()

    def close(self) -> None:
        self.cut()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # The page's connections are usually idle.
            timeout = 30

            def log_message(self, format: str, *arguments: Any) -> None:
                del format, arguments

            def do_GET(self) -> None:
                stand_in._get(self)

            def do_POST(self) -> None:
                stand_in._post(self)

        return Handler

    def _get(self, request: BaseHTTPRequestHandler) -> None:
        if not self.reachable:
            request.close_connection = True
            return
        url = urlsplit(request.path)
        file = PAGE / ("index.html" if url.path == "/" else url.path[1:])
        if file.suffix == ".json":
            file = TEXTS / file.name
        if url.path == "/events":
            self._stream(request)
        elif url.path == "/api/search":
            self._search(request, {name: values[0] for name, values in parse_qs(url.query).items()})
        elif url.path.startswith("/art/"):
            _answer(request, 200, TYPES[".svg"], COVER.encode())
        elif url.path in ("/invitation.svg", "/wifi.svg"):
            _answer(request, 200, TYPES[".svg"], CODE.encode())
        elif file.parent in (PAGE, TEXTS) and file.is_file():
            kept = {"Cache-Control": "max-age=604800", "ETag": self.tag} if self.keeps_files else {}
            _answer(request, 200, TYPES[file.suffix], file.read_bytes(), kept)
        else:
            _json(request, 404, {"message": "There is nothing here."})

    def _search(self, request: BaseHTTPRequestHandler, fields: dict[str, str]) -> None:
        words, shelf, start = fields.get("q", ""), fields.get("shelf", "words"), int(fields.get("from", "0"))
        self.searches.put(" ".join([*([shelf] if shelf != "words" else []), words, *([f"from {start}"] if start else [])]))
        if "search" in self.answers:
            _json(request, *self.answers["search"])
            return
        _json(request, 200, _found(shelf, words, start))

    def _post(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        if not self.reachable:
            request.close_connection = True
        elif request.path == "/api/join":
            self.joined.put(body)
            if "join" in self.answers:
                _json(request, *self.answers["join"])
                return
            self.show(self.after_joining)
            _answer(request, 204)
        else:
            self.commands.put(body)
            if body["command"] in self.answers:
                _json(request, *self.answers[body["command"]])
                return
            _answer(request, 204)

    def _stream(self, request: BaseHTTPRequestHandler) -> None:
        if self.view is None:
            _json(request, 401, {"message": "Type your name to join."})
            return
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.send_header("Cache-Control", "no-store")
        request.send_header("Connection", "close")
        request.end_headers()
        request.close_connection = True
        self.connections.put(0)
        sent = -1
        try:
            while message := self._next_message(sent):
                text, sent = message
                if self.pings:
                    request.wfile.write(text.encode())
                    request.wfile.flush()
                if self.ends_streams and self.view and self.view["ended"]:
                    return
        except OSError:
            # The page has gone.
            return

    def _next_message(self, sent: int) -> tuple[str, int] | None:
        """The message after the sent view: a newer one, or a ping. Nothing at the end of the stream."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != sent or not self.reachable, PING)
            if not self.reachable or self.view is None:
                return None
            if self._version == sent:
                return ": ping\n\n", sent
            return f"event: view\ndata: {json.dumps(self.view)}\n\n", self._version


def _answer(
    request: BaseHTTPRequestHandler,
    status: int,
    kind: str | None = None,
    body: bytes = b"",
    more: dict[str, str] | None = None,
) -> None:
    request.send_response(status)
    request.send_header("Content-Security-Policy", POLICY)
    request.send_header("X-Content-Type-Options", "nosniff")
    for name, value in (more or {"Cache-Control": "no-store"}).items():
        request.send_header(name, value)
    if kind:
        request.send_header("Content-Type", kind)
    if status != 204:
        request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def _json(request: BaseHTTPRequestHandler, status: int, body: Command) -> None:
    _answer(request, status, "application/json", json.dumps(body).encode())


if __name__ == "__main__":
    port, state = [*sys.argv[1:], "8642", "host-playing"][:2] if len(sys.argv) != 2 else (sys.argv[1], "host-playing")
    stand_in = StandIn(STATES[state], int(port))
    print(f"{state} is on {stand_in.url}")
    while True:
        print(json.dumps(stand_in.commands.get()))


def _found(shelf: str, words: str, start: int) -> dict[str, Any]:
    """The library of a stand-in: the songs of the views, or 45 newest ones."""
    groups: list[dict[str, Any]] = []
    songs = [item(number) for number, _ in enumerate(SONGS)]
    looked_for = None
    if shelf == "words":
        fitting = [one for one in songs if words.lower() in f"{one['title']} {one['artist']}".lower()]
        if not fitting and words == "hedlights":
            looked_for, fitting = "headlights", [one for one in songs if one["title"] == "Headlights"]
        songs = fitting
    elif shelf == "newest":
        songs = [{**item(number % len(SONGS)), "id": f"new{number}", "title": f"New {number}"} for number in range(45)]
    elif shelf == "heard":
        songs = [{**item(1), "id": "old", "title": "Old Times"}]
    elif shelf == "artist":
        (artist,) = [one["artist"] for one in songs if one["id"] == words]
        songs = [one for one in songs if one["artist"] == artist]
    elif shelf in ("artists", "albums"):
        groups = [
            {"id": one["id"], "name": one["artist"], "artist": "" if shelf == "artists" else "Several", "songs": 3, "art": None}
            for one in songs
        ]
        songs = []
    keys = ("id", "title", "artist", "duration", "art")
    total = len(songs) + len(groups)
    page = [{key: song[key] for key in keys} for song in songs[start : start + 20]]
    artists: list[dict[str, Any]] = []
    albums: list[dict[str, Any]] = []
    if shelf == "words" and start == 0 and words == "haul":
        (one,) = songs
        artists = [{"id": one["id"], "name": one["artist"], "artist": "", "songs": 3, "art": None}]
        albums = [{"id": one["id"], "name": "Road Mix", "artist": one["artist"], "songs": 3, "art": None}]
    return {
        "songs": page,
        "groups": groups[start : start + 20],
        "artists": artists,
        "albums": albums,
        "total": total,
        "lookedFor": looked_for,
    }
