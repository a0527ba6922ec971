"""A stranger's GATT client, which behaves like a phone's system for an app: one link at a time."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from bumble import hci, l2cap
from bumble.core import UUID
from bumble.device import Connection, ConnectionParametersPreferences, Device, Peer
from bumble.gatt_client import CharacteristicProxy
from bumble.hci import HCI_ErrorCode as Error

Emit = Callable[..., None]

SUPERVISION_MILLISECONDS = 720
"""The supervision timeout of phones' links. (Apple's Accessory Design Guidelines allow 6 s, too slow for tests.)"""


def preferences(interval_milliseconds: float) -> dict[hci.Phy, ConnectionParametersPreferences]:
    interval = interval_milliseconds
    chosen = ConnectionParametersPreferences(interval, interval, supervision_timeout=SUPERVISION_MILLISECONDS)
    return {hci.Phy.LE_1M: chosen}


def keep_intervals(device: Device) -> None:
    """From now on refuses other parameters, at the link layer and over L2CAP, as phones refuse unsuitable ones."""
    host, manager = device.host, device.l2cap_channel_manager

    def refuse(event: hci.HCI_LE_Remote_Connection_Parameter_Request_Event) -> None:
        host.send_hci_packet(
            hci.HCI_LE_Remote_Connection_Parameter_Request_Negative_Reply_Command(
                connection_handle=event.connection_handle, reason=Error.UNACCEPTABLE_CONNECTION_PARAMETERS_ERROR
            )
        )

    def refuse_over_l2cap(
        connection: Connection, cid: int, request: l2cap.L2CAP_Connection_Parameter_Update_Request
    ) -> None:
        rejected = l2cap.L2CAP_CONNECTION_PARAMETERS_REJECTED_RESULT
        manager.send_control_frame(
            connection, cid, l2cap.L2CAP_Connection_Parameter_Update_Response(identifier=request.identifier, result=rejected)
        )

    host.on_hci_le_remote_connection_parameter_request_event = refuse  # type: ignore[method-assign]
    manager.on_l2cap_connection_parameter_update_request = refuse_over_l2cap  # type: ignore[method-assign]


class GattClient:
    """Operations of the control socket. UUIDs identify characteristics."""

    name: str
    device: Device
    _emit: Emit

    def _peer(self) -> Peer:
        connection = next(iter(self.device.connections.values()), None)
        if not connection:
            raise ConnectionError(f"{self.name} has no link")
        return Peer(connection)

    async def discover(self, service: str, mtu: int) -> dict[str, Any]:
        """Negotiates the MTU, and discovers the characteristics of a service. Returns both."""
        peer = self._peer()
        negotiated = await peer.request_mtu(mtu)
        found = await peer.discover_service(UUID(service))
        self._characteristics: dict[str, CharacteristicProxy[bytes]] = {}
        for one in found:
            for characteristic in await peer.discover_characteristics(service=one):
                await peer.discover_descriptors(characteristic)
                # The key is the UUID in the usual notation: most significant byte first, without hyphens.
                self._characteristics[bytes(characteristic.uuid)[::-1].hex()] = characteristic
        return {"mtu": negotiated, "characteristics": list(self._characteristics)}

    def _characteristic(self, uuid: str) -> CharacteristicProxy[bytes]:
        return self._characteristics[uuid.replace("-", "")]

    async def read(self, uuid: str) -> str:
        return base64.b64encode(await self._characteristic(uuid).read_value()).decode()

    async def subscribe(self, uuid: str) -> None:
        def notified(value: bytes) -> None:
            self._emit("notified", stranger=self.name, uuid=uuid, data=base64.b64encode(value).decode())

        await self._characteristic(uuid).subscribe(notified)

    async def unsubscribe(self, uuid: str) -> None:
        await self._characteristic(uuid).unsubscribe(force=True)

    async def write(self, uuid: str, data: str) -> None:
        """Writes without response."""
        await self._characteristic(uuid).write_value(base64.b64decode(data), with_response=False)
