"""The air: emulated Bluetooth LE controllers and the medium between them. Started as `python -m air`."""
