"""The Python commands of scripts/radio-lab."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from . import Lab, LabError, NotExpected
from .requirements import EX_UNAVAILABLE, missing
from .shell import shell

EX_USAGE = 64
EX_FAILED = 1
EX_INTERRUPTED = 130


def check() -> int:
    reasons = missing()
    if not reasons:
        print("This machine can run the radio lab.")
        return 0
    print("This machine cannot run the radio lab yet:")
    for reason in reasons:
        print(f"- {reason}")
    return EX_UNAVAILABLE


def load(path: Path) -> Callable[[Lab], None]:
    specification = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    assert specification and specification.loader
    module: ModuleType = importlib.util.module_from_spec(specification)
    # A scenario may import modules of its own folder.
    sys.path.insert(0, str(path.parent))
    specification.loader.exec_module(module)
    scenario = getattr(module, "scenario", None)
    if not callable(scenario) or len(inspect.signature(scenario).parameters) != 1:
        raise LabError(f"{path} has no function scenario(lab)")
    return scenario  # type: ignore[no-any-return]


def run_once(path: Path, scenario: Callable[[Lab], None], arguments: argparse.Namespace) -> bool:
    started = time.monotonic()
    lab = Lab(path.stem, binary=arguments.binary, keep=arguments.keep, seed=arguments.seed)
    failed = True
    try:
        scenario(lab)
        failed = False
    except (LabError, NotExpected, AssertionError) as error:
        print(where(error, path), file=sys.stderr)
        print(error, file=sys.stderr)
    except Exception:
        traceback.print_exc()
    finally:
        failed = failed or bool(lab.deaths)
        if failed:
            print("\n".join(lab.oddities()), end="\n", file=sys.stderr)
        kept = lab.close(failed)
        outcome = "failed" if failed else "passed"
        print(f"{path.stem}: {outcome} in {time.monotonic() - started:.1f} s")
        if kept:
            print(f"the run's folder: {lab.folder.path}")
    return not failed


def where(error: BaseException, path: Path) -> str:
    """The line of the scenario that failed, without the lab's own frames."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if Path(one.filename) == path]
    return "\n".join(f"{path.name}:{one.lineno}: {one.line}" for one in frames)


def run(arguments: argparse.Namespace) -> int:
    for path in arguments.scenario:
        if not path.exists():
            print(f"there is no {path}", file=sys.stderr)
            return EX_USAGE
    failures = 0
    for path in (one.resolve() for one in arguments.scenario):
        scenario = load(path)
        for _ in range(arguments.repeat):
            failures += not run_once(path, scenario, arguments)
    if arguments.repeat * len(arguments.scenario) > 1:
        print(f"{failures} of {arguments.repeat * len(arguments.scenario)} runs failed")
    return EX_FAILED if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="radio-lab")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    for name in ("run", "shell"):
        command = commands.add_parser(name)
        command.add_argument("--binary", type=Path, help="the roadmesh to test; default: ROADMESH_BINARY")
        command.add_argument("--keep", action="store_true", help="keep the run's folder even if the run passes")
        command.add_argument("--seed", type=int, help="seed of the air's random delays and losses")
        if name == "run":
            command.add_argument("scenario", type=Path, nargs="+")
            command.add_argument("--repeat", type=int, default=1, metavar="N")
    arguments = parser.parse_args()
    if arguments.command == "check":
        return check()
    if reasons := missing():
        print("\n".join(reasons), file=sys.stderr)
        return EX_UNAVAILABLE
    # SIGTERM cleans up as Ctrl-C does. After a SIGKILL the kernel cleans up.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run(arguments) if arguments.command == "run" else shell(arguments)
    except KeyboardInterrupt:
        return EX_INTERRUPTED
    except LabError as error:
        print(error, file=sys.stderr)
        return EX_FAILED


if __name__ == "__main__":
    sys.exit(main())
