"""What is compared: how each system's programs are started, and what they show."""

ROADMESH = "RoadMesh"
BARE = "bare socket"
L2TEST = "l2test"
GATT = "GATT (bleak)"
GATT_COMMANDS = "GATT, unconfirmed"
JSON = "JSON snapshots"
