"""A guest as a GATT client on bleak: finds the server by name, reads the state, subscribes to it, and reconnects as fast
as it can.

    gatt_client.py ADAPTER NAME

Standard input: `vote SONG`; `flood SIZE COUNT` writes values without response;
`write SIZE COUNT` writes them with responses, as bleak does by default.
"""

import asyncio
import json
import sys

from bleak import BleakClient, BleakScanner
from bleak.backends.device import BLEDevice
from bleak.exc import BleakDeviceNotFoundError, BleakError
from gatt_service import COUNT, LAST, SINK, STATE, VOTE
from output import tell

# As long as bluetoothd's own attempt to connect may take, so that the client gives up no attempt during a gap.
CONNECT_SECONDS = 40.0


class Guest:
    def __init__(self, adapter: str, name: str) -> None:
        self._adapter = adapter
        self._name = name
        self._client: BleakClient | None = None

    async def run(self) -> None:
        device = await self._find()
        while True:
            try:
                await self._stay(device)
            except BleakDeviceNotFoundError:
                device = await self._find()
            except (BleakError, TimeoutError, EOFError) as error:
                tell("failed", reason=f"{type(error).__name__}: {error}")

    async def _find(self) -> BLEDevice:
        while True:
            found = await BleakScanner.find_device_by_name(self._name, bluez={"adapter": self._adapter})
            if found:
                return found

    async def _stay(self, device: BLEDevice) -> None:
        lost = asyncio.Event()
        client = BleakClient(device, lambda _: lost.set(), timeout=CONNECT_SECONDS, bluez={"adapter": self._adapter})
        tell("connecting")
        await client.connect()
        tell("connected")
        self._tell_state(await client.read_gatt_char(STATE))
        await client.start_notify(STATE, lambda _, value: self._tell_state(value))
        tell("listening")
        self._client = client
        await lost.wait()
        self._client = None
        tell("lost")

    @staticmethod
    def _tell_state(value: bytes | bytearray) -> None:
        tell("state", votes=json.loads(bytes(value)))

    async def obey(self, line: str) -> None:
        command, *arguments = line.split()
        if self._client is None:
            tell("failed", reason="not connected")
        elif command == "vote":
            await self._client.write_gatt_char(VOTE, arguments[0].encode(), response=True)
        elif command in ("flood", "write"):
            await self._flood(self._client, int(arguments[0]), int(arguments[1]), response=command == "write")

    @staticmethod
    async def _flood(client: BleakClient, size: int, count: int, response: bool) -> None:
        for number in range(count):
            kind = LAST if number == count - 1 else COUNT
            await client.write_gatt_char(SINK, bytes((kind,)) + bytes(size - 1), response=response)
        tell("flooded")


async def main(adapter: str, name: str) -> None:
    guest = Guest(adapter, name)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    staying = asyncio.create_task(guest.run())
    while line := await reader.readline():
        await guest.obey(line.decode())
    staying.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
