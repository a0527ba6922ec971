# SPDX-License-Identifier: Apache-2.0
"""An invitation as text, by docs/protocol.md, "Invitations"."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass

from .proof import Secret
from .wire import Malformed

VERSION = 1
HOST, NAME, SECRET, CHECK = 16, 8, 16, 4


@dataclass(frozen=True)
class Invitation:
    host: bytes
    name: bytes
    secret: bytes
    service: str

    @classmethod
    def read(cls, text: str) -> Invitation:
        """Reads a text or a link."""
        found = re.search(r"(?:invitation=|roadmesh:)([A-Za-z0-9_-]+)", text)
        if not found:
            raise Malformed("no invitation")
        code = found[1]
        data = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
        body, check = data[:-CHECK], data[-CHECK:]
        if body[:1] != bytes((VERSION,)) or hashlib.sha256(body).digest()[:CHECK] != check:
            raise Malformed("another version, or not the whole of it")
        rest = body[1:]
        return cls(
            rest[:HOST],
            rest[HOST : HOST + NAME],
            rest[HOST + NAME : HOST + NAME + SECRET],
            rest[HOST + NAME + SECRET :].decode("ascii"),
        )

    @property
    def text(self) -> str:
        body = bytes((VERSION,)) + self.host + self.name + self.secret + self.service.encode("ascii")
        data = body + hashlib.sha256(body).digest()[:CHECK]
        return "roadmesh:" + base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    @property
    def proof(self) -> Secret:
        return Secret(self.secret, self.name, self.host)
