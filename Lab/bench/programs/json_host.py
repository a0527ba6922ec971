"""A head unit like a typical app: sends its full state as JSON for each vote and to each new guest.

json_host.py ADAPTER ADDRESS PSM SONGS
"""

import asyncio
import json
import queue
import socket
import sys
import threading
from typing import Any

import l2cap
from advertise import Advertiser, system_bus
from output import tell

SERVICE = "6b1d0011-3f0e-4c8e-9d7a-2b5f6c7d8e9f"


def song(number: int) -> dict[str, Any]:
    return {
        "id": f"s{number}",
        "title": f"Take Me Home, Road Number {number}",
        "artist": "The Milestones",
        "artUrl": f"https://covers.example.org/albums/{number:08x}/front-500.jpg",
        "votes": 0,
    }


class Host:
    def __init__(self, songs: int) -> None:
        self._songs = {one["id"]: one for one in map(song, range(1, songs + 1))}
        self._guests: list[queue.Queue[bytes]] = []
        self._lock = threading.Lock()

    def serve(self, guest: socket.socket) -> None:
        outbox: queue.Queue[bytes] = queue.Queue()
        with self._lock:
            self._guests.append(outbox)
            outbox.put(self._state())
        threading.Thread(target=self._send, args=(guest, outbox), daemon=True).start()
        try:
            for message in l2cap.messages(guest):
                self._vote(json.loads(message))
        except OSError:
            pass
        with self._lock:
            self._guests.remove(outbox)

    @staticmethod
    def _send(guest: socket.socket, outbox: "queue.Queue[bytes]") -> None:
        try:
            while True:
                l2cap.send(guest, outbox.get())
        except OSError:
            pass

    def _vote(self, vote: dict[str, Any]) -> None:
        with self._lock:
            self._songs[vote["song"]]["votes"] += 1
            state = self._state()
            for outbox in self._guests:
                outbox.put(state)
        tell("voted", song=vote["song"])

    def _state(self) -> bytes:
        queued = sorted(self._songs.values(), key=lambda one: -one["votes"])
        return json.dumps({"type": "state", "queue": queued}).encode()


async def main(adapter: str, address: str, psm: int, songs: int) -> None:
    host = Host(songs)
    loop = asyncio.get_running_loop()
    advertiser = Advertiser(await system_bus(), adapter, "JSON Car", SERVICE)
    await advertiser.start()
    listener = l2cap.listen(address, psm)
    tell("ready")
    while True:
        guest = await loop.run_in_executor(None, l2cap.accept, listener)
        threading.Thread(target=host.serve, args=(guest,), daemon=True).start()
        tell("accepted")
        # The connection has ended the advertisement.
        await advertiser.again()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3], 0), int(sys.argv[4])))
