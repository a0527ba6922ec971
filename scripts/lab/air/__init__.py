"""The air: emulated Bluetooth LE controllers and what lies between them. Started as `python -m air`."""
