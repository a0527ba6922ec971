"""The compared systems: how to start their programs, and how to read their output."""

ROADMESH = "RoadMesh"
BARE = "bare socket"
L2TEST = "l2test"
GATT = "GATT (bleak)"
GATT_COMMANDS = "GATT, unconfirmed"
JSON = "JSON snapshots"
