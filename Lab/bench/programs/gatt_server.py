"""A head unit as a GATT server on bluetoothd's D-Bus interface: a state to read and to subscribe to, and votes to write.

gatt_server.py ADAPTER NAME SONGS
"""

import asyncio
import json
import sys
import time
from typing import Annotated, Any

from advertise import Advertiser, system_bus
from dbus_fast import PropertyAccess, Variant
from dbus_fast.annotations import DBusBool, DBusBytes, DBusDict, DBusObjectPath, DBusSignature, DBusStr
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property
from gatt_service import LAST, SERVICE, SINK, STATE, VOTE
from output import tell

ROOT = "/bench"
SERVICE_PATH = f"{ROOT}/service0"

Flags = Annotated[list[str], DBusSignature("as")]


class Service(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.bluez.GattService1")

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> DBusStr:
        return SERVICE

    @dbus_property(access=PropertyAccess.READ)
    def Primary(self) -> DBusBool:
        return True


class Characteristic(ServiceInterface):
    def __init__(self, uuid: str, flags: list[str]) -> None:
        super().__init__("org.bluez.GattCharacteristic1")
        self._uuid = uuid
        self._flags = flags

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> DBusStr:
        return self._uuid

    @dbus_property(access=PropertyAccess.READ)
    def Service(self) -> DBusObjectPath:
        return SERVICE_PATH

    @dbus_property(access=PropertyAccess.READ)
    def Flags(self) -> Flags:
        return self._flags


class State(Characteristic):
    """The playing song and the votes of each song as JSON, since a GATT value has at most 512 bytes."""

    def __init__(self, songs: int) -> None:
        super().__init__(STATE, ["read", "notify"])
        self._votes = {f"s{number}": 0 for number in range(1, songs + 1)}
        self._notifying = False

    @property
    def _value(self) -> bytes:
        return json.dumps(self._votes, separators=(",", ":")).encode()

    def vote(self, song: str) -> None:
        self._votes[song] = self._votes.get(song, 0) + 1
        if self._notifying:
            self.emit_properties_changed({"Value": self._value})

    @dbus_property(access=PropertyAccess.READ)
    def Value(self) -> DBusBytes:
        return self._value

    @dbus_method()
    def ReadValue(self, options: DBusDict) -> DBusBytes:
        offset = options.get("offset")
        return self._value[offset.value if offset else 0 :]

    @dbus_method()
    def StartNotify(self) -> None:
        self._notifying = True

    @dbus_method()
    def StopNotify(self) -> None:
        self._notifying = False


class Vote(Characteristic):
    def __init__(self, state: State) -> None:
        super().__init__(VOTE, ["write"])
        self._state = state

    @dbus_method()
    def WriteValue(self, value: DBusBytes, options: DBusDict) -> None:
        song = bytes(value).decode()
        self._state.vote(song)
        tell("voted", song=song)


class Sink(Characteristic):
    """Counts written values, from the first to the last."""

    def __init__(self) -> None:
        super().__init__(SINK, ["write", "write-without-response"])
        self._began = 0.0
        self._bytes = 0

    @dbus_method()
    def WriteValue(self, value: DBusBytes, options: DBusDict) -> None:
        if not self._began:
            self._began = time.monotonic()
        else:
            self._bytes += len(value)
        if value[0] == LAST:
            tell("counted", bytes=self._bytes, seconds=time.monotonic() - self._began)
            self._began, self._bytes = 0.0, 0


async def serve(adapter: str, name: str, songs: int) -> None:
    bus = await system_bus()
    state = State(songs)
    interfaces: list[tuple[str, Any]] = [
        (SERVICE_PATH, Service()),
        (f"{SERVICE_PATH}/char0", state),
        (f"{SERVICE_PATH}/char1", Vote(state)),
        (f"{SERVICE_PATH}/char2", Sink()),
    ]
    for path, interface in interfaces:
        bus.export(path, interface)
    node = f"/org/bluez/{adapter}"
    proxy: Any = bus.get_proxy_object("org.bluez", node, await bus.introspect("org.bluez", node))
    no_options: dict[str, Variant] = {}
    await proxy.get_interface("org.bluez.GattManager1").call_register_application(ROOT, no_options)
    await Advertiser(bus, adapter, name, SERVICE).start()
    tell("ready")
    await bus.wait_for_disconnect()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], int(sys.argv[3])))
