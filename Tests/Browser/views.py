# SPDX-License-Identifier: Apache-2.0
"""Views as the dashboard's server sends them: every state of the page, and titles that try to break it."""

from __future__ import annotations

import itertools
from typing import Any

View = dict[str, Any]

HOST = {"id": "de9fa7c7840928eade3f1a1af1ed271b", "name": "Dad's Car"}
ANA = {"id": "fe404fb146464e08e49c7bd1d341170b", "name": "Ana"}
BOB = {"id": "25bcc33d513c5b9e31578f2780b5b70d", "name": "Bob"}
MIA = {"id": "277d85b3e1c1d0a4c2f6e8b9d7a5c3f1", "name": "Mia"}
ONE = {"id": "9b1f0c44a1b2c3d4e5f60718293a4b5c", "name": "Row 8"}
TWO = {"id": "51c0de77a1b2c3d4e5f60718293a4b5c", "name": "Row 16"}

SONGS = [
    ("Open Road", "The Milestones", 214),
    ("Headlights", "Long Haul", 203),
    ("Tunnel of Lights", "Night Drivers", 187),
    ("Windows Down", "Coastline", 198),
    ("Are We There Yet", "Backseat Choir", 161),
    ("Mountain Pass", "The Hairpins", 305),
    ("Last Exit Home (Live at the Harbour, With the Whole Choir and All of the Brass)", "Odometer", 242),
    ("Rest Stop Serenade", "Paper Maps", 229),
    ("Half a Tank", "The Milestones", 176),
]

LIBRARY = {
    "songs": 10_000,
    "scanned": None,
    "toScan": None,
    "playlists": ["Road Trip.m3u8", "lists/Quiet Evening.m3u"],
    "playlist": None,
}

# Titles that look like markup, change the text direction, are very long, or are invisible.
HOSTILE = {
    "script": "<img src=x onerror=\"document.title='broken into'\"><script>document.title='broken into'</script>",
    "entity": "Rock &amp; Roll &lt;b&gt;",
    "rtl": "\u05e9\u05d9\u05e8 \u05d4\u05d3\u05e8\u05da \u05d4\u05d0\u05e8\u05d5\u05db\u05d4",
    "override": "\u202eevil\u2066 title that turns the rest around",
    "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f697\U0001f4a8 \U0001f3b6",
    "long": "All the Way There and Back Again " * 312,
    "word": "R" * 10_000,
    "empty": "",
    "invisible": "\u200b\u2060 \u202e\u00ad",
    "zalgo": "Z" + "\u0335\u0321\u0353\u031b\u0357" * 60 + "algo",
    "lines": "One\nTwo\n\n\nThree\tFour",
    "url": "javascript:alert(1)//",
}


def item(number: int, votes: tuple[dict[str, str], ...] = (), asked: dict[str, str] = HOST, **more: Any) -> View:
    """A song of the queue. Further arguments replace the default values of fields."""
    title, artist, duration = SONGS[number % len(SONGS)]
    return {
        "id": f"s{number}",
        "title": title if number < len(SONGS) else f"{title} {number}",
        "artist": artist,
        "duration": duration,
        "art": None,
        "addedBy": asked["id"],
        "addedByName": asked["name"],
        "votes": len(votes),
        "voters": list(votes),
        "mine": False,
        "pinned": False,
        "wish": None,
        **more,
    }


def wish(kind: str, state: str, sentence: str | None = None, made: View | None = None) -> View:
    reason = "queueFull" if sentence else None
    return {"kind": kind, "state": state, "reason": reason, "sentence": sentence, "sentenceText": made}


def made(key: str, *values: str | int | View) -> View:
    """The parts of a sentence, so that it can be shown in another language."""
    return {"key": key, "values": list(values)}


def guest(person: dict[str, str], rssi: int | None, **more: Any) -> View:
    measured = {"rssi": rssi, "roundTrip": None if rssi is None else 40.0 - rssi / 10}
    place = {"hops": 0, "via": None, "carries": None}
    return {**person, **measured, "isWeb": False, "isMe": False, "isDriver": False, **place, **more}


identifiers = itertools.count(1)


def notice(code: str, message: str, **more: Any) -> View:
    return {
        "id": next(identifiers),
        "code": code,
        "message": message,
        "suggestion": None,
        "button": None,
        "critical": True,
        "dismissAfter": None,
        "kind": "banner",
        "messageText": None,
        "suggestionText": None,
        **more,
    }


def passing(code: str, message: str, suggestion: str | None = None, seconds: float = 5) -> View:
    return notice(code, message, suggestion=suggestion, critical=False, dismissAfter=seconds, kind="toast")


def lost(button: str | None = None) -> View:
    return notice(
        "connectionLost",
        "Connection to Dad's Car lost. Trying to reconnect." if button is None else "Dad's Car is still out of reach.",
        suggestion="You see the last known queue. Your votes are sent when the connection is back."
        if button is None
        else "You rejoin automatically when it is in range. Make sure Bluetooth is on, or retry now.",
        button=button,
        messageText=made(
            "Connection to {1} lost. Trying to reconnect." if button is None else "{1} is still out of reach.",
            HOST["name"],
        ),
    )


def base(**more: Any) -> View:
    return {
        "version": 1,
        "radio": "bluez",
        "attempt": 0,
        "isStale": False,
        "nowPlaying": None,
        "isPlaying": False,
        "elapsed": 0,
        "queue": [],
        "wishes": [],
        "guests": [],
        "moreGuests": 0,
        "hosts": [],
        "skip": {"allowed": False, "votes": 0, "needed": 0, "mine": False},
        "notices": [],
        "invitation": None,
        "library": None,
        "undo": None,
        "volume": None,
        "shuffle": None,
        "wanted": None,
        "canGoBack": None,
        "sound": None,
        "ended": None,
        **more,
    }


def host(**more: Any) -> View:
    web = "http://10.0.0.1:8080/join?token=b7k2m9qx4w"
    return base(
        **{
            "role": "host",
            "me": HOST,
            "host": HOST,
            "connection": "hosting",
            "invitation": {"name": HOST["name"], "pin": "4821", "url": web, "qr": "/invitation.svg"},
            "library": LIBRARY,
            "volume": 70,
            "shuffle": True,
            "canGoBack": True,
            "sound": True,
            "steers": True,
            **more,
        }
    )


def host_playing(**more: Any) -> View:
    return host(
        **{
            "nowPlaying": item(0, (ANA, BOB), MIA, art="/art/s0"),
            "isPlaying": True,
            "elapsed": 83.4,
            "queue": [
                item(1, (ANA, BOB, MIA), ANA),
                item(6, (MIA, BOB), BOB),
                item(2, (ANA,), art="/art/s2"),
                *(item(number) for number in (3, 4, 5, 7, 8)),
            ],
            "guests": [
                guest(ANA, -52),
                guest(BOB, -71),
                guest(MIA, None, isWeb=True),
                guest({"id": "9", "name": "Kim"}, -88),
            ],
            "skip": {"allowed": True, "votes": 1, "needed": 3, "mine": False},
            **more,
        }
    )


def behind(relay: dict[str, str], person: dict[str, str], hops: int, trip: float, **more: Any) -> View:
    """A guest that is joined through a relay: a host knows no signal of it."""
    return guest(person, None, via=relay, hops=hops, roundTrip=trip, **more)


def in_a_bus() -> list[View]:
    """Guests as a host knows them: two relays, one behind the other, and the guests in their rows."""
    return [
        guest(BOB, -58),
        guest(ONE, -71, carries=4),
        behind(ONE, MIA, 1, 62),
        behind(ONE, TWO, 1, 71, carries=2),
        behind(TWO, ANA, 2, 118),
        behind(TWO, {"id": "9", "name": "Kim"}, 2, 124),
        guest({"id": "10", "name": "Lea"}, None, isWeb=True, hops=None),
    ]


def host_with_relays(**more: Any) -> View:
    return host_playing(guests=in_a_bus(), **more)


def host_with_convoy() -> View:
    """Ten relays in a line, one behind a missing relay, and invalid names."""
    line = [{"id": f"{number:032x}", "name": f"Car {number}"} for number in range(10)]
    guests = [guest(line[0], -60, carries=9)]
    for hops, (relay, person) in enumerate(itertools.pairwise(line), start=1):
        guests.append(behind(relay, person, hops, 30.0 * hops, carries=9 - hops or None))
    strange = {"id": "666", "name": HOSTILE["script"]}
    guests += [
        {**behind(ONE, BOB, 3, 99), "via": {"id": "0badf00d" * 4, "name": None}},
        guest(strange, -80, carries=1),
        behind(strange, {"id": "668", "name": HOSTILE["word"]}, 1, 3),
    ]
    return host_playing(guests=guests)


def guest_view(**more: Any) -> View:
    return base(**{"role": "guest", "me": ANA, "host": HOST, "connection": "connected", "steers": False, **more})


def guest_connected(**more: Any) -> View:
    rejected = wish(
        "vote",
        "rejected",
        'Your vote for "Windows Down" does not count: the queue is full.',
        made(
            "Your vote for {1} does not count: {2}.", made('"{1}"', "Windows Down"), made("the queue is full")
        ),
    )
    return guest_view(
        **{
            "nowPlaying": item(0, (BOB,), MIA, art="/art/s0"),
            "isPlaying": True,
            "elapsed": 83.4,
            "queue": [
                item(1, (ANA, BOB, MIA), ANA, mine=True, wish=wish("vote", "confirmed")),
                item(6, (MIA, BOB), BOB, wish=wish("vote", "sent")),
                item(2, (MIA,), wish=wish("vote", "queued")),
                item(3, wish=rejected),
                *(item(number) for number in (4, 5, 7, 8)),
            ],
            "guests": [guest(ANA, -58, isMe=True), guest(BOB, -71), guest(MIA, None, isWeb=True)],
            "skip": {"allowed": True, "votes": 1, "needed": 3, "mine": False},
            **more,
        }
    )


def guest_driving(**more: Any) -> View:
    """A guest that is a co-host."""
    guests = [guest(ANA, -58, isMe=True, isDriver=True), guest(BOB, -71), guest(MIA, None, isWeb=True)]
    return guest_connected(steers=True, guests=guests, **more)


def guest_behind_relays(**more: Any) -> View:
    """A guest knows its own route, and not those of others."""
    unknown = {"hops": None}
    me = guest(ANA, -64, isMe=True, hops=2, via=TWO, roundTrip=118)
    others = [guest(person, None, **unknown) for person in (BOB, ONE, MIA)]
    return guest_connected(guests=[*others, guest(TWO, -64, hops=None), me], **more)


def relay_connected(**more: Any) -> View:
    """A guest that is a relay."""
    me = guest(ANA, -64, isMe=True, hops=1, via=ONE, roundTrip=70, carries=2)
    through_me = behind(ANA, MIA, 2, 30)
    return guest_connected(guests=[guest(ONE, -64, hops=None), me, {**through_me, "rssi": -55}], **more)


def guest_reconnecting(**more: Any) -> View:
    return guest_connected(
        **{
            "connection": "reconnecting",
            "attempt": 2,
            "isStale": True,
            "notices": [lost()],
            "wishes": [{"songID": "s40", "title": "The Long Way Round", **wish("suggest", "queued")}],
            **more,
        }
    )


def guest_refused(**more: Any) -> View:
    """Two suggestions too many: a notice of the node also reports the newest."""

    def refused(song: str, title: str) -> View:
        found = wish("suggest", "rejected", f"{title} is not queued.")
        return {"songID": song, "title": title, **found, "reason": "tooManySuggestions"}

    waiting = passing(
        "tooManySuggestions",
        "You already have 5 songs waiting.",
        "Suggest again when one of them has played.",
        seconds=600,
    ) | {"messageText": made("You already have {1} songs waiting.", 5)}
    return guest_connected(
        **{"wishes": [refused("s41", "Slow Lane"), refused("s40", "The Long Way Round")], "notices": [waiting], **more}
    )


def heard(host: dict[str, str], rssi: int | None, **more: Any) -> View:
    return {**host, "rssi": rssi, "hops": 0, "relays": [], **more}


def guest_choosing(**more: Any) -> View:
    return guest_view(
        **{
            "connection": "disconnected",
            "host": None,
            "hosts": [heard(HOST, -63), heard({"id": "51c0de", "name": "The Blue Van"}, -84)],
            **more,
        }
    )


def web_guest(**more: Any) -> View:
    return guest_connected(
        **{"role": "webGuest", "guests": [guest(ANA, None, isMe=True, isWeb=True), guest(BOB, -71)], **more}
    )


def hostile(role: str = "guest") -> View:
    """A queue of hostile titles."""
    queue = [
        item(
            number,
            (ANA,),
            id=name,
            title=text,
            artist=text,
            addedBy=name,
            addedByName=text,
            voters=[{"id": name, "name": text}],
        )
        for number, (name, text) in enumerate(HOSTILE.items())
    ]
    stranger = {"id": "666", "name": HOSTILE["script"]}
    fields = {
        "nowPlaying": {**queue[5], "id": "now", "duration": 0},
        "isPlaying": True,
        "queue": queue,
        "guests": [
            guest(stranger, -70),
            guest({"id": "667", "name": ""}, None),
            guest({"id": "668", "name": HOSTILE["word"]}, -95),
        ],
        "wishes": [{"songID": "w", "title": HOSTILE["override"], **wish("suggest", "rejected", HOSTILE["script"])}],
        "notices": [passing("hostile", HOSTILE["script"], HOSTILE["word"], seconds=600)],
    }
    return (
        host_playing(**fields)
        if role == "host"
        else guest_connected(**fields, host={"id": "1", "name": HOSTILE["word"]})
    )


def scanning() -> View:
    return host(library={**LIBRARY, "songs": 1_150, "scanned": 1_200, "toScan": 10_000, "playlists": []})


def radio_out() -> View:
    return host_playing(
        notices=[
            notice(
                "radioUnavailable",
                "There is no Bluetooth adapter.",
                button="Check Again",
                suggestion="Plug one in; RoadMesh uses it immediately.",
            ),
            notice(
                "storageFull",
                "The disk is full; nothing more can be saved.",
                kind="toast",
                suggestion="Make room: df -h shows which disk is full.",
            ),
            {
                **passing(
                    "notQueued",
                    '"s77" is not in the queue.',
                    "Name a song that waits; skip ends the one that plays.",
                    seconds=600,
                ),
                "messageText": made('"{1}" is not in the queue.', "s77"),
            },
        ]
    )


def many(songs: int, first: int = 0, **more: Any) -> View:
    """A long queue, with a different order for each `first`."""
    order = [(number * 7 + first) % songs for number in range(songs)]
    queue = [item(number, (ANA,) * ((first + number) % 5)) for number in dict.fromkeys(order)]
    return guest_connected(**{"queue": queue, "elapsed": 20 + first * 0.05, **more})


def inviting() -> View:
    """A host with a PIN on the car's Wi-Fi that has made invitations."""
    text = "roadmesh:AfNeVhYWCjC_PG55-nPFdtQAAQIDBAUGBxAREhMUFRYXGBkaGxwdHh9kZW1vY3JhY3ktZGoGrRpL"
    newest = {"text": text, "url": None, "until": 1_796_000_000, "once": True, "qr": "/invitation.svg"}
    door: View = {**host()["invitation"], "wifi": {"name": "The Millers' Car", "qr": "/wifi.svg"}}
    return host_playing(invitation={**door, "open": [newest, {**newest, "once": False}]})


STOPPED = "The host is off. The queue is saved."
KICKED = "The driver has kicked or banned you. Ask the driver to unban you, then retry."

STATES: dict[str, View | None] = {
    "host-playing": host_playing(),
    "host-paused": host_playing(isPlaying=False, skip={"allowed": False, "votes": 0, "needed": 0, "mine": False}),
    "host-empty": scanning(),
    "host-inviting": inviting(),
    "host-trouble": radio_out(),
    "host-silent": host_playing(sound=False, canGoBack=False),
    "host-hostile": hostile("host"),
    "host-relays": host_with_relays(),
    "host-convoy": host_with_convoy(),
    "guest-connected": guest_connected(),
    "guest-driving": guest_driving(),
    "guest-behind-relays": guest_behind_relays(),
    "guest-relaying": relay_connected(),
    "guest-reconnecting": guest_reconnecting(),
    "guest-retry": guest_reconnecting(notices=[lost("Retry")]),
    "guest-refused": guest_refused(),
    "guest-choosing": guest_choosing(),
    "guest-looking": guest_choosing(connection="connecting", hosts=[]),
    "guest-hostile": hostile(),
    "host-stopped": host_playing(ended=STOPPED),
    "guest-ended": guest_connected(ended="Dad's Car ended the session."),
    "web-kicked": web_guest(ended=KICKED),
    "web-guest": web_guest(),
    "web-guest-relays": web_guest(guests=[*in_a_bus(), guest({"id": "11", "name": "Ida"}, None, isMe=True, isWeb=True)]),
    # No guest has joined from this browser: the server answers 401.
    "web-joining": None,
}

# States that differ from one above in a part that only a picture shows.
PICTURED: dict[str, View | None] = {
    **STATES,
    "host-pinned": host_playing(
        queue=[item(3, pinned=True), item(1, (ANA, BOB, MIA), ANA), item(6, (MIA, BOB), BOB, pinned=True)],
        undo={"kind": "move", "title": "Windows Down", "name": None, "step": 1},
        bans=[{**BOB, "session": True, "until": None}, {**MIA, "session": False, "until": 1_796_000_000}],
    ),
    "host-stickless": host_playing(
        notices=[
            notice(
                "libraryMissing",
                "The music folder /media/stick is missing, so its songs cannot play.",
                suggestion="Plug the stick in, or check the path; its songs return automatically.",
                kind="toast",
            )
        ]
    ),
    "guest-pinned": guest_connected(queue=[item(3, pinned=True), item(1, (ANA, BOB, MIA), ANA, mine=True), item(4)]),
    "guest-wanted": guest_choosing(
        connection="connecting",
        wanted="Nowhere",
        notices=[
            notice(
                "hostNotFound",
                "Nowhere was not found.",
                suggestion="Make sure that it is on and in range. The search continues.",
                button="Retry",
            )
        ],
    ),
    "guest-pin": guest_choosing(
        hosts=[heard(HOST, -63)],
        notices=[
            notice("proofRequired", "The host asks for a PIN. Its screen shows the six digits."),
            passing("wrongPIN", "That is not the host's PIN."),
        ],
    ),
    "guest-no-host": guest_choosing(hosts=[], knownHosts=[HOST]),
}
