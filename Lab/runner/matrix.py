"""Runs selected tests of Tests/LabTests on every pair of a kernel and a bluetoothd, and tabulates the results."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAB_TESTS = ROOT / "Tests/LabTests"

# A few tests for each thing that people do. A name without brackets covers all parameters of a test.
TOPICS = {
    "start": ["test_joining.py::test_a_guest_that_is_there_first_joins_when_the_host_starts"],
    "joining": ["test_joining.py::test_a_guest_joins_the_host_in_reach_unasked_and_both_know_each_other"],
    "voting": [
        "test_voting.py::test_a_vote_moves_the_song_up_in_everybodys_queue",
        "test_voting.py::test_a_vote_is_queued_then_sent_then_confirmed_and_told_to_the_host_once",
    ],
    "reconnect": ["test_reconnect.py::test_usual"],
    "pairing": [
        "test_pairing.py::test_two_boxes_bond_when_both_people_see_the_same_digits",
        "test_pairing.py::test_a_bond_outlives_bluetoothd",
    ],
    "doctor": [
        "test_doctor.py::test_a_healthy_box_has_nothing",
        "test_doctor.py::test_a_second_adapter_that_hears_nothing",
    ],
    "phones": [
        "test_phones.py::test_a_phone_joins_votes_sees_the_queue_is_cut_and_comes_back",
        "test_phones.py::test_a_linux_box_with_bleak_joins_votes_is_cut_and_comes_back",
    ],
    "relays": ["test_relays.py::test_a_relay_works_with_every_kind_of_adapter"],
    "recovery": [
        "test_bluetoothd.py::test_everybody_is_back_after_bluetoothd_was_stopped_and_started",
        "test_bluetoothd.py::test_an_adapter_that_is_switched_off_and_on_again",
        "test_mending.py::test_votes_flow_again_within_five_seconds",
    ],
}

# Topics whose tests measure the air, so no other test runs at the same time.
ALONE = ("doctor",)

# A test that hangs is stopped after this many seconds. Then its pair continues.
TEST_LIMIT = 900

REASON_LENGTH = 240

# The message of Tests/LabTests/conftest.py.
CRASH = re.compile(r"\S+ in \S+ crashed with SIG[A-Z]+")

EX_FAILED = 1


@dataclass
class Cell:
    """One topic on one pair."""

    ran: set[str] = field(default_factory=set)
    """The tests that ran."""
    failures: dict[str, str] = field(default_factory=dict)
    """The reason of each test that failed."""

    def __str__(self) -> str:
        if len(self.failures) in (0, len(self.ran)):
            return "not run" if not self.ran else "fails" if self.failures else "works"
        return f"fails {len(self.failures)} of {len(self.ran)}"


@dataclass
class Pair:
    """A kernel, a bluetoothd, and the results."""

    kernel: str
    bluetoothd: str
    cells: dict[str, Cell] = field(default_factory=dict)
    unusable: str | None = None
    """The reason why no test could run."""
    measured: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.kernel} × {self.bluetoothd}"

    @property
    def works(self) -> bool:
        return self.unusable is None and all(str(cell) == "works" for cell in self.cells.values())


def run(pair: Pair, workers: int, folder: Path) -> None:
    """Builds the pair's kernel and bluetoothd, runs the tests and records the results."""
    environment = {**os.environ, "ROADMESH_LAB": "required"}
    environment |= {"ROADMESH_LAB_KERNEL": pair.kernel, "ROADMESH_LAB_BLUETOOTHD": pair.bluetoothd}
    radio_lab = ROOT / "scripts/radio-lab"
    built = subprocess.run([radio_lab, "build"], env=environment, stderr=subprocess.PIPE, text=True)
    if built.returncode != 0:
        pair.unusable = shortened((built.stderr.strip().splitlines() or ["it could not be built"])[-1])
        return
    together = [topic for topic in TOPICS if topic not in ALONE]
    for topics, count in ((together, workers), (ALONE, 0)):
        name = f"matrix-{pair.kernel}-{pair.bluetoothd}" + ("-alone" if topics == ALONE else "")
        results, log = folder / f"{name}.xml", folder / f"{name}.log"
        results.unlink(missing_ok=True)
        tests = [f"{LAB_TESTS}/{test}" for topic in topics for test in TOPICS[topic]]
        options = ["-n", str(count), "--dist", "loadfile", "--timeout", str(TEST_LIMIT)]
        options += ["--junitxml", str(results), "-o", "junit_family=xunit1"]
        with log.open("w") as output:
            subprocess.run([radio_lab, "test", *options, *tests], env=environment, stdout=output, stderr=output)
        if not results.exists():
            pair.unusable = f"the tests ended without a result; their output is {log}"
            return
        pair.cells |= {topic: cell for topic, cell in read(results).items() if topic in topics}
        pair.measured += measured(log.read_text(errors="replace"))
    pair.cells = {topic: pair.cells[topic] for topic in TOPICS}


def read(results: Path) -> dict[str, Cell]:
    """Reads the cell of each topic from pytest's result file."""
    cells = {topic: Cell() for topic in TOPICS}
    for case in xml.parse(results).iter("testcase"):
        test = f"{Path(case.get('file', '')).name}::{case.get('name', '')}"
        topic = next((one for one, tests in TOPICS.items() if test in tests or test.split("[")[0] in tests), None)
        if topic is None:
            continue
        if case.find("skipped") is not None:
            continue
        name = test.partition("::")[2]
        cells[topic].ran.add(name)
        for trouble in (one for one in case if one.tag in ("failure", "error")):
            # pytest lists a test twice if its fixtures fail as well. A crash explains the failure of the test.
            if name not in cells[topic].failures or CRASH.search(reason(trouble)):
                cells[topic].failures[name] = reason(trouble)
    return cells


def reason(trouble: xml.Element) -> str:
    """The reason in one line: the crash of a program; or the assertion, without the output that it shows, and a program's
    last error."""
    if crash := CRASH.search((trouble.get("message") or "") + (trouble.text or "")):
        return crash[0]
    lines = [line[1:].strip() for line in (trouble.text or "").splitlines() if line.startswith("E ")]
    lines = lines or (trouble.get("message") or "no reason was given").splitlines()
    said = next((line for line in lines if line and '{"' not in line), lines[0])
    errors = [line.partition(" err ")[2] for line in lines if " err " in line]
    return shortened(": ".join([said, *errors[-1:]]))


def shortened(text: str) -> str:
    return text if len(text) <= REASON_LENGTH else text[:REASON_LENGTH] + "…"


def measured(output: str) -> list[str]:
    """The lines of pytest's section of measurements."""
    lines = iter(output.splitlines())
    for line in lines:
        if line.strip("= ") == "measured":
            return list(_until_section(lines))
    return []


def _until_section(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("="):
            return
        yield line


def table(pairs: Sequence[Pair]) -> str:
    rows = [["kernel × bluetoothd", *TOPICS]]
    for pair in pairs:
        rows.append([str(pair), *(["not run"] * len(TOPICS) if pair.unusable else map(str, pair.cells.values()))])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines)


def reasons(pairs: Sequence[Pair]) -> str:
    """The reasons of failures: for each topic the first test that failed. Pairs with the same reason share a line."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.unusable:
            found.setdefault(pair.unusable, []).append(str(pair))
        for topic, cell in pair.cells.items():
            for test, why in list(cell.failures.items())[:1]:
                found.setdefault(f"{topic}, `{test}`: {why}", []).append(str(pair))
    return "\n".join(f"- {', '.join(who)}: {why}" for why, who in found.items())


def report(pairs: Sequence[Pair]) -> str:
    parts = [table(pairs)]
    if why := reasons(pairs):
        parts.append(why)
    parts += [f"{pair}:\n\n" + "\n".join(f"- {line}" for line in pair.measured) for pair in pairs if pair.measured]
    return "\n\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(prog="radio-lab matrix")
    parser.add_argument("--kernels", nargs="+", required=True, metavar="NAME")
    parser.add_argument("--bluetoothds", nargs="+", required=True, metavar="NAME")
    parser.add_argument("--workers", type=int, default=3, help="number of tests to run at a time")
    parser.add_argument("--output", type=Path, help="a folder for results and logs")
    arguments = parser.parse_args()
    folder = arguments.output or Path(tempfile.mkdtemp(prefix="matrix."))
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [Pair(kernel, bluetoothd) for kernel in arguments.kernels for bluetoothd in arguments.bluetoothds]
    for number, pair in enumerate(pairs, 1):
        began = time.monotonic()
        run(pair, arguments.workers, folder)
        outcome = pair.unusable or ", ".join(f"{topic} {cell}" for topic, cell in pair.cells.items())
        print(f"{number} of {len(pairs)}, {pair}, {time.monotonic() - began:.0f} s: {outcome}", file=sys.stderr)
        # Written after each pair, so that an interrupted run leaves the results so far.
        (folder / "matrix.md").write_text(report(pairs[:number]) + "\n")
    print(report(pairs))
    return 0 if all(pair.works for pair in pairs) else EX_FAILED


if __name__ == "__main__":
    sys.exit(main())
