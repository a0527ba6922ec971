"""An advertisement by bluetoothd, as in its documentation. Used by the programs in this folder."""

from typing import Annotated, Any

from dbus_fast import BusType, PropertyAccess, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.annotations import DBusSignature, DBusStr
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property

PATH = "/bench/advertisement"

Strings = Annotated[list[str], DBusSignature("as")]


class Advertisement(ServiceInterface):
    def __init__(self, name: str, uuid: str) -> None:
        super().__init__("org.bluez.LEAdvertisement1")
        self._name = name
        self._uuid = uuid

    @dbus_method()
    def Release(self) -> None:
        pass

    @dbus_property(access=PropertyAccess.READ)
    def Type(self) -> DBusStr:
        return "peripheral"

    @dbus_property(access=PropertyAccess.READ)
    def ServiceUUIDs(self) -> Strings:
        return [self._uuid]

    @dbus_property(access=PropertyAccess.READ)
    def LocalName(self) -> DBusStr:
        return self._name


class Advertiser:
    """Registers the advertisement, and registers it again after a connection has ended it."""

    def __init__(self, bus: MessageBus, adapter: str, name: str, uuid: str) -> None:
        self._bus = bus
        self._adapter = adapter
        self._advertisement = Advertisement(name, uuid)
        self._path = ""
        self._registrations = 0

    async def start(self) -> None:
        node = f"/org/bluez/{self._adapter}"
        introspection = await self._bus.introspect("org.bluez", node)
        proxy: Any = self._bus.get_proxy_object("org.bluez", node, introspection)
        self._manager = proxy.get_interface("org.bluez.LEAdvertisingManager1")
        await self._register()

    async def again(self) -> None:
        await self._manager.call_unregister_advertisement(self._path)
        self._bus.unexport(self._path)
        await self._register()

    async def _register(self) -> None:
        # A new path each time, because bluetoothd may not have released the previous one.
        self._registrations += 1
        self._path = f"{PATH}{self._registrations}"
        self._bus.export(self._path, self._advertisement)
        options: dict[str, Variant] = {}
        await self._manager.call_register_advertisement(self._path, options)


async def system_bus() -> MessageBus:
    return await MessageBus(bus_type=BusType.SYSTEM).connect()
