"""Runs the air: `python -m air --socket PATH --captures FOLDER --lines DESCRIPTOR [--seed N]`. Logs to standard
error."""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import logging
import os
import random
import signal
import socket
import sys
import time
from pathlib import Path

from .server import Server

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ends this process when the runner ends for any reason."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


def log(message: str) -> None:
    print(f"{time.monotonic():.6f} {message}", file=sys.stderr, flush=True)


async def run(arguments: argparse.Namespace) -> None:
    server = Server(arguments.captures, socket.socket(fileno=arguments.lines), log, arguments.seed)
    log(f"seed {arguments.seed}")
    # A garbage collection during an exchange would be a pause in the air. All objects so far live until the end.
    gc.collect()
    gc.freeze()
    await server.serve(arguments.socket)


def main() -> None:
    parser = argparse.ArgumentParser(prog="air")
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--captures", type=Path, required=True)
    parser.add_argument("--lines", type=int, required=True, help="a socket to receive serial lines over")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    die_with_parent()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")
    asyncio.run(run(arguments))


if __name__ == "__main__":
    main()
