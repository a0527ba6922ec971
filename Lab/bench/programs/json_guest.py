"""A guest of json_host.py, which shows each received state.

    json_guest.py ADDRESS PEER PSM

Standard input: `vote SONG`.
"""

import json
import socket
import sys
import threading

import l2cap
from output import tell


def show(line: socket.socket) -> None:
    for message in l2cap.messages(line):
        state = json.loads(message)
        tell("state", bytes=len(message), votes={one["id"]: one["votes"] for one in state["queue"] if one["votes"]})
    tell("lost")


def main(address: str, peer: str, psm: int) -> None:
    line = l2cap.dial(address, peer, psm)
    tell("connected")
    threading.Thread(target=show, args=(line,), daemon=True).start()
    for command in sys.stdin:
        verb, song = command.split()
        if verb == "vote":
            l2cap.send(line, json.dumps({"type": "vote", "song": song, "user": address}).encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3], 0))
