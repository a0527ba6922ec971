"""Measures, stores the results, and renders them."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from runner import Lab, LabError
from runner.folder import cache
from runner.requirements import EX_UNAVAILABLE, missing

from . import machine
from .limits import unmeasured, verdicts
from .measurements import costs, goodput, start, voting, way_back
from .report import page, tails
from .results import Results
from .settings import FULL, INSTALLED, QUICK, SETTINGS, TUNED, Effort, Setting
from .stage import Stage
from .systems import bare

EX_INTERRUPTED = 130

Measure = Callable[[Stage, Results, Effort], None]

MEASUREMENTS: dict[str, Measure] = {
    "way-back": way_back.measure,
    "start": start.measure,
    "voting": voting.measure,
    "goodput": goodput.measure,
    "costs": costs.measure,
}

# RoadMesh and the bare socket take turns after this many gaps.
GAPS_PER_BLOCK = 10

# A long run repeats a measurement that failed, so that a box that did not boot does not cost an hour's figures.
TRIES = 2

# A quick run measures again if a ratio is out of bounds. The verdict uses the values of both rounds.
ROUNDS = 2


def measure(
    names: list[str], settings: list[Setting], effort: Effort, results: Results, keep: bool, tries: int = TRIES
) -> None:
    for setting in settings:
        for name in names:
            for attempt in range(1, tries + 1):
                began = time.monotonic()
                if _measure_once(name, setting, effort, results, keep, last=attempt == tries):
                    print(f"bench: {name}, {setting.title}: {time.monotonic() - began:.0f} s", file=sys.stderr)
                    break


def _measure_once(name: str, setting: Setting, effort: Effort, results: Results, keep: bool, last: bool) -> bool:
    lab = Lab(f"bench-{name}-{setting.name}", keep=keep, pinned=True)
    # Discards the values of a measurement that fails.
    made = Results({})
    failed = True
    try:
        MEASUREMENTS[name](Stage(lab, setting, bare.compile_into(lab.folder.path)), made, effort)
        failed = False
    except Exception as error:
        text = f"{name}, {setting.title}: {type(error).__name__}: {error}"
        print(f"bench: {text}", file=sys.stderr)
        if last:
            results.note(text.splitlines()[0])
    finally:
        if lab.close(failed):
            print(f"bench: the run's folder is {lab.folder.path}", file=sys.stderr)
    if not failed:
        results.include(made)
    return not failed


def quick(results: Results, keep: bool) -> int:
    """Measures only ratios of medians. A ratio out of bounds is measured again, and judged by all its values."""
    # With Debian's default settings a quick run measures only bleak.
    untuned = replace(QUICK, blocks=0)
    steps = [
        ("way-back", INSTALLED, untuned),
        ("way-back", TUNED, QUICK),
        ("voting", TUNED, QUICK),
        ("goodput", TUNED, QUICK),
    ]
    for attempt in range(1, ROUNDS + 1):
        for name, setting, effort in steps:
            measure([name], [setting], effort, results, keep, tries=1)
        broken = [one for one in verdicts(results, quick=True) if not one.met]
        if not broken:
            break
        steps = [step for step in steps if step[0] in {one.measurement for one in broken}]
        if attempt < ROUNDS:
            print("bench: measuring again, since these are out of bounds: " + "; ".join(map(str, broken)), file=sys.stderr)
    for one in verdicts(results, quick=True):
        print(one)
    absent = unmeasured(results)
    for limit in absent:
        print(f"NOT MEASURED: {limit.what}: see above, or scripts/bench --only {limit.measurement} --keep")
    return 1 if broken or absent else 0


def reconnects(gaps: int, results: Results, keep: bool) -> int:
    """Measures only reconnects, in the setting that all systems share, and prints their percentiles."""
    blocks = math.ceil(gaps / (GAPS_PER_BLOCK * way_back.MORE_BLOCKS))
    effort = replace(FULL, gaps=GAPS_PER_BLOCK, blocks=blocks, gatt_gaps=gaps)
    measure(["way-back"], [TUNED], effort, results, keep)
    print(tails.table(results, TUNED))
    faults = tails.faults(results, TUNED)
    for fault in faults:
        print(f"NOT MET: {fault}")
    return 1 if faults else 0


def publish(results: Results, target: Path) -> None:
    # scripts/bench installs matplotlib only for a run that draws.
    from .report.pictures import draw

    page.write(results, target, draw(results, target.parent / "pictures"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description="Compares RoadMesh with other ways that Linux offers.")
    parser.add_argument(
        "--quick", action="store_true", help="a few minutes: measure only ratios, and exit 1 if one is out of bounds"
    )
    parser.add_argument(
        "--reconnects", type=int, metavar="GAPS", help="measure only this many reconnects of each system, and their percentiles"
    )
    parser.add_argument("--only", action="append", choices=list(MEASUREMENTS), help="run only this one; may be repeated")
    parser.add_argument(
        "--setting", action="append", choices=[one.name for one in SETTINGS], help="measure only in this setting"
    )
    parser.add_argument(
        "--render", type=Path, metavar="FILE", help="render earlier results, without measuring"
    )
    parser.add_argument("--page", type=Path, help="the page to write (default: docs/benchmarks.md)")
    parser.add_argument("--keep", action="store_true", help="keep the lab's folders")
    arguments = parser.parse_args()
    target = arguments.page or Path(__file__).resolve().parents[2] / "docs/benchmarks.md"
    if arguments.render:
        publish(Results.load(arguments.render), target)
        return 0
    if reasons := missing():
        print("\n".join(reasons), file=sys.stderr)
        return EX_UNAVAILABLE
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    results = Results(machine.facts(Path(os.environ.get("ROADMESH_BINARY", ""))))
    file = cache().parent / "logs" / f"bench-{time.strftime('%Y%m%d-%H%M%S')}.json"
    try:
        if arguments.quick:
            return quick(results, arguments.keep)
        if arguments.reconnects:
            return reconnects(arguments.reconnects, results, arguments.keep)
        chosen = [one for one in SETTINGS if not arguments.setting or one.name in arguments.setting]
        measure(arguments.only or list(MEASUREMENTS), chosen, FULL, results, arguments.keep)
        results.facts["loadAtEnd"] = machine.load()
        if not arguments.only and not arguments.setting:
            publish(results, target)
        for one in verdicts(results):
            print(one)
        return 0
    except KeyboardInterrupt:
        return EX_INTERRUPTED
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        results.facts["loadAtEnd"] = machine.load()
        results.save(file)
        print(f"bench: the data is {file}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
