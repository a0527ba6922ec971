"""The settings of a machine, and the extent of a run."""

from __future__ import annotations

from dataclasses import dataclass

# bluetoothd's defaults for the kernel: advertising every 20 to 30 ms, connection intervals of 7.5 ms.
TUNED_MAIN_CONF = """[LE]
MinAdvertisementInterval=32
MaxAdvertisementInterval=48
MinConnectionInterval=6
MaxConnectionInterval=6
"""

FAST_INTERVAL_UNITS = 6

# A user who is not root and has no capability.
ORDINARY_USER = 1000


@dataclass(frozen=True)
class Setting:
    name: str
    title: str
    bluetoothd: tuple[str, ...]
    main_conf: str | None
    """None for Debian's own main.conf, unchanged."""
    uid: int | None
    """The user who runs RoadMesh. The other systems run as root, since a user could do all that they do."""

    @property
    def for_everybody(self) -> bool:
        """Whether the setting also changes the other systems, which do not use the capability."""
        return self.uid is not None or self.main_conf is not None

    @property
    def capable(self) -> bool:
        return self.uid is None


INSTALLED = Setting("installed", "as installed", (), None, ORDINARY_USER)
CAPABILITY = Setting("capability", "with the capability", (), None, None)
TUNED = Setting("tuned", "all tuning", ("-E", "--noplugin=vcp"), TUNED_MAIN_CONF, None)

SETTINGS = (INSTALLED, CAPABILITY, TUNED)


@dataclass(frozen=True)
class Effort:
    """How many values to measure of each quantity."""

    starts: int
    gaps: int
    """The number of gaps in each block."""
    blocks: int
    gatt_starts: int
    gatt_gaps: int
    votes: int
    crowds: tuple[int, ...]
    counted_votes: int
    json_votes: int
    idle_seconds: float
    rounds: int
    """How many floods of the largest size, idle times and cost measurements of votes."""
    flood_seconds: float
    """The duration of a flood by the theory of the air. At least a few messages are sent."""
    sdus: tuple[int, ...]
    messages: tuple[int, ...]


FULL = Effort(
    starts=6, gaps=4, blocks=2, gatt_starts=4, gatt_gaps=5, votes=12, crowds=(1, 8, 16), counted_votes=12, json_votes=8,
    idle_seconds=5, rounds=2, flood_seconds=2, sdus=(64, 245, 492, 1233, 2221), messages=(1024, 8192, 65535),
)  # fmt: skip

QUICK = Effort(
    starts=0, gaps=3, blocks=1, gatt_starts=0, gatt_gaps=3, votes=0, crowds=(), counted_votes=8, json_votes=4,
    idle_seconds=2, rounds=1, flood_seconds=1.5, sdus=(2221,), messages=(65535,),
)  # fmt: skip
