"""The output format of programs in a box: one JSON object per line."""

import json
from typing import Any


def tell(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)
