"""Constants of the GATT server and client."""

SERVICE = "6b1d0001-3f0e-4c8e-9d7a-2b5f6c7d8e9f"
STATE = "6b1d0002-3f0e-4c8e-9d7a-2b5f6c7d8e9f"
VOTE = "6b1d0003-3f0e-4c8e-9d7a-2b5f6c7d8e9f"
SINK = "6b1d0004-3f0e-4c8e-9d7a-2b5f6c7d8e9f"

# The first byte of a value written to the sink.
COUNT, LAST = 2, 3
