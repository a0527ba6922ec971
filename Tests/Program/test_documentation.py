# SPDX-License-Identifier: Apache-2.0
"""The documents name only links, files, tests and options that exist, and the reference has every option of the
program.

Tests/DocumentationTests compares the rest of the reference: commands, events, fields, exit codes and limits."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from roadmesh_program.document_names import Complaints, wrong_files, wrong_links, wrong_tests
from roadmesh_program.documents import ROOT, SPAN, Page, Row, files, pages, source


def told(complaints: Complaints) -> None:
    found = list(complaints)
    assert not found, "\n" + "\n".join(found)


# Options.

OPTION = re.compile(r"(?<![\w\-/])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
# Options of programs that are not part of the repository and that it does not run, each with its program.
FOREIGN = {"--symbol-ordering-file": "ld.lld"}
COMMAND_LINE = re.compile(r"(?:^|[\s;&|(\"])(?:\./scripts/)?(?:roadmesh|(?=fieldtest )) *(.*)")

Commands = dict[str, dict[str, Any]]


def described(command: dict[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """A command and its subcommands, as they are typed after `roadmesh`."""
    yield above, command
    for each in command.get("subcommands", []):
        if each["commandName"] != "help":
            yield from described(each, f"{above} {each['commandName']}".strip())


@pytest.fixture(scope="module")
def commands(output: Callable[[str], str]) -> Commands:
    return dict(described(json.loads(output("--experimental-dump-help"))["command"]))


def options(command: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The options of a command by their long names."""
    shown = [one for one in command.get("arguments", []) if one["shouldDisplay"] and one["kind"] != "positional"]
    return {
        f"--{name['name']}": one
        for one in shown
        for name in one["names"]
        if name["kind"] == "long" and name["name"] not in ("help", "version")
    }


def named(commands: Commands, words: list[str]) -> str:
    """The command at the start of a line's words."""
    path = ""
    for word in words:
        longer = f"{path} {word}".strip()
        if longer not in commands:
            break
        path = longer
    return path


def own(commands: Commands, path: str) -> set[str]:
    """The options of a command and of its subcommands: a line may name a subcommand with other words in between."""
    below = [each for name, each in commands.items() if not path or name == path or name.startswith(f"{path} ")]
    return {"--help", "--version"}.union(*(options(each) for each in below))


@cache
def elsewhere() -> frozenset[str]:
    """The options of other programs that this repository contains or runs."""
    found: set[str] = {"--generate-completion-script", "--experimental-dump-help"}
    for file in files():
        folder, ending = file.split("/")[0], Path(file).suffix
        if folder not in ("scripts", "Lab", "Sources", "Tests", "Benchmarks", "Fuzz", "CBlueZ", ".ci", "docs"):
            continue
        if ending not in ("", ".py", ".sh", ".swift", ".toml", ".service", ".c") or not (ROOT / file).is_file():
            continue
        if file.startswith("Tests/Program/test_documentation"):
            continue
        text = source(file)
        found.update(OPTION.findall(re.sub(r"^\s*(?://|#(?! scripts/)).*$", "", text, flags=re.M)))
        if file.startswith("Sources/mesh-simulator/"):
            declared = re.findall(r"@(?:Option|Flag)\b(?:(?!\bvar\b).)*\bvar (\w+)", text, re.S)
            found.update("--" + re.sub(r"([A-Z])", r"-\1", name).lower() for name in declared)
    return frozenset(found)


def is_foreign(line: str, commands: Commands) -> bool:
    """Whether a line runs a program that is not ours, such as git."""
    first, _, rest = line.partition(" ")
    ours = {"roadmesh", "sudo", "env", "exec", "mesh-simulator", "$", ">", *(path.split(" ")[0] for path in commands)}
    is_program = re.fullmatch(r"[a-z][a-z0-9\-]*", first) and first not in ours
    return bool(is_program and rest and not re.search(r"roadmesh|mesh-simulator|scripts/", rest))


def wrong_options(page: Page, commands: Commands) -> Complaints:
    every = own(commands, "")
    prose = [(number, SPAN.sub("", line)) for number, line, is_block in page.lines if not is_block]
    typed = [(code.line, code.text) for code in page.code() if not is_foreign(code.text, commands)]
    for number, text in [*prose, *typed]:
        for option in OPTION.findall(text):
            if option not in every and option not in elsewhere() and option not in FOREIGN:
                yield f"{page.path}:{number} names the option {option}, which no program of this repository has."
    for code in page.code():
        about = code.text if COMMAND_LINE.search(code.text) or not code.subject else f"{code.subject} {code.text}"
        if not (line := COMMAND_LINE.search(about)):
            continue
        path = named(commands, line[1].split())
        for option in OPTION.findall(line[1].split(" | ")[0]) if path else []:
            if option not in own(commands, path):
                yield f"{page.path}:{code.line} names {option}, which roadmesh {path} does not have."


REFERENCE = "docs/reference.md"
TYPED_AT_A_SHELL = ("docs/using.md", REFERENCE, "docs/dashboard.md", "docs/fieldtest.md")


def wrong_option_tables(page: Page, commands: Commands) -> Complaints:
    """Checks tables of options: names, values, defaults, and the commands that have them."""
    every = {(option, path) for path, command in commands.items() for option in options(command)}
    for row in page.rows():
        if row.head[0] != "option":
            continue
        for option, value in documented(row):
            has = {path for name, path in every if name == option}
            meant = on(row["on"], commands) if "on" in row.head else has
            if not has:
                yield f"{page.path}:{row.line} documents {option}, which roadmesh does not have."
            for path in sorted(meant - has):
                yield f"{page.path}:{row.line} documents {option}, which roadmesh {path} does not have."
            alike = [options(commands[path])[option] for path in sorted(meant & has)]
            # Two options may share a name. The row's value shows which option is meant.
            fitting = [one for one in alike if is_of(one, value, whole="on" in row.head)]
            if alike and (not fitting or ("on" in row.head and fitting != alike)):
                yield f"{page.path}:{row.line} has {option} {value}; in the program it is {option} {taken(alike[0])}."
            default = next((one["defaultValue"] for one in fitting if one.get("defaultValue")), None)
            if default and one_is_flag(fitting) is False and "default" in row.head and default not in row["default"]:
                yield f"{page.path}:{row.line} gives {option} the default {row['default']}, which is {default}."


def undocumented_options(page: Page, commands: Commands) -> Complaints:
    """Options of the program that the table of all options lacks."""
    rows = [row for row in page.rows("Options") if row.head[0] == "option" and "on" in row.head]
    told = {
        (option, value, path) for row in rows for option, value in documented(row) for path in on(row["on"], commands)
    }
    for path, command in commands.items():
        for option, one in options(command).items():
            if (option, taken(one), path) not in told:
                words = f"{option} {taken(one)}".strip()
                yield f'{page.path}: the table in "Options" lacks {words} of roadmesh {path}.'


def documented(row: Row) -> Iterator[tuple[str, str]]:
    """The options of a row, each with its value."""
    for span in re.findall(r"`([^`]+)`", row.cells[0]):
        option, _, value = span.partition(" ")
        if option.startswith("--"):
            yield option, value.lower()


def taken(option: dict[str, Any]) -> str:
    """The value of an option, as the table writes it."""
    if option["kind"] == "flag":
        return ""
    value: str = "|".join(option.get("allValues", [])) or option["valueName"]
    return value.lower().replace("-or-", "|")


def is_of(option: dict[str, Any], value: str, whole: bool) -> bool:
    """Whether an option accepts this value: as its full list of values, or as a part of them."""
    return taken(option) == value if whole else set(value.split("|")) <= set(taken(option).split("|"))


def one_is_flag(alike: list[dict[str, Any]]) -> bool:
    return any(one["kind"] == "flag" for one in alike)


def on(cell: str, commands: Commands) -> set[str]:
    """The commands that a cell names, and their subcommands. `fieldtest record host` has all options of `host`."""
    found: set[str] = set()
    for name in re.split(r"[,()]+\s*", cell.replace("`", "")):
        name = name.strip()
        below = {
            path
            for path, command in commands.items()
            if name and (path == name or path.startswith(f"{name} ")) and not command.get("subcommands")
        }
        assert below or not name, f'the column "on" names {name}, which is not a command'
        found |= below | {path for path in commands if path == f"fieldtest record {name}"}
    return found


@pytest.mark.parametrize("path", pages())
def test_each_link_leads_to_a_file_or_heading(path: str) -> None:
    told(wrong_links(pages()[path]))


@pytest.mark.parametrize("path", pages())
def test_each_file_that_a_document_names_exists(path: str) -> None:
    told(wrong_files(pages()[path]))


@pytest.mark.parametrize("path", pages())
def test_each_test_that_a_document_names_exists(path: str) -> None:
    told(wrong_tests(pages()[path]))


@pytest.mark.parametrize("path", pages())
def test_each_option_that_a_document_names_exists(path: str, commands: Commands) -> None:
    told(wrong_options(pages()[path], commands))


@pytest.mark.parametrize("path", TYPED_AT_A_SHELL)
def test_each_table_of_options_agrees_with_the_program(path: str, commands: Commands) -> None:
    told(wrong_option_tables(pages()[path], commands))


def test_the_reference_has_every_option_of_the_program(commands: Commands) -> None:
    told(undocumented_options(pages()[REFERENCE], commands))


def reference(*arguments: str | Path, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    line = [root / "scripts/reference", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def test_the_generated_part_of_the_reference_is_up_to_date(binary: Path) -> None:
    done = reference("--check", binary)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_an_outdated_reference_is_found_and_repaired(binary: Path, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/reference", tmp_path / "scripts")
    page = tmp_path / REFERENCE
    page.parent.mkdir()
    right = pages()[REFERENCE]
    page.write_text(right.changed("| `--seconds N` | scan | `5` |", "| `--seconds N` | scan | `6` |").text)
    done = reference("--check", binary, root=tmp_path)
    assert (done.returncode, done.stderr) == (1, f"{REFERENCE} is out of date: run scripts/reference\n")
    assert reference(binary, root=tmp_path).returncode == 0
    assert page.read_text() == right.text


def radios(*arguments: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    line = [root / "scripts/radios", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def test_the_table_of_radios_is_made_of_the_submitted_results() -> None:
    done = radios("--check")
    assert done.returncode == 0, done.stderr


def test_a_new_result_of_a_radio_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/radios", tmp_path / "scripts")
    shutil.copytree(ROOT / "docs/radios", tmp_path / "docs/radios")
    page = tmp_path / "docs/radios.md"
    shutil.copy(ROOT / "docs/radios.md", page)
    first = next((tmp_path / "docs/radios").glob("*.json"))
    result = json.loads(first.read_text())
    result["caller"]["usb"] = "0a12:0001"
    result["distance"] = 2.5
    (tmp_path / "docs/radios/a-dongle.json").write_text(json.dumps(result))
    done = radios("--check", root=tmp_path)
    assert (done.returncode, done.stderr) == (1, "docs/radios.md is out of date: run scripts/radios\n")
    assert radios(root=tmp_path).returncode == 0
    assert "| [USB 0a12:0001 to emulated](radios/a-dongle.json) |" in page.read_text()
    assert "| 2.5 |" in page.read_text()


# Planted errors prove that these checks find errors.

EXAMPLE = """# A page

[a link](reference.md#options), `scripts/test`, `PlantedErrorTests`,
`Tests/Program/test_documentation.py: test_a_planted_option_is_found`
`Tests/DocumentationTests/PlantedErrorTests.swift: "Each kind of error is found, with its document and line"`
`roadmesh guest Ana --relay`
"""

# The check, the right text, the wrong text that replaces it, and the complaint of the check.
PLANTS = [
    (wrong_links, "reference.md#", "use.md#", "links to use.md#options; there is no file use.md next to it."),
    (wrong_links, "#options", "#choices", "links to reference.md#choices; no heading has the anchor #choices."),
    (
        wrong_files,
        "scripts/test`",
        "scripts/tests`",
        "names the file scripts/tests, which the repository does not have.",
    ),
    (wrong_files, "mentation.py", "mented.py", "Program/test_documented.py, which the repository does not have."),
    (wrong_tests, "`PlantedErrorTests`", "`ErrorTests`", "names the tests ErrorTests, which are not in Tests or Fuzz."),
    (wrong_tests, "planted_option", "lost_option", "the test test_a_lost_option_is_found, which no file of tests has."),
    (wrong_tests, "test_documentation.py", "test_shell.py", "which Tests/Program/test_shell.py does not have."),
    (wrong_tests, "document and line", "line", "which Tests/DocumentationTests/PlantedErrorTests.swift does not have."),
]


@pytest.mark.parametrize(("check", "right", "wrong", "complaint"), PLANTS)
def test_a_planted_link_file_or_test_is_found(
    check: Callable[[Page], Complaints], right: str, wrong: str, complaint: str
) -> None:
    page = Page("docs/page.md", EXAMPLE)
    assert list(check(page)) == []
    found = list(check(page.changed(right, wrong)))
    assert any(each.startswith("docs/page.md:") and each.endswith(complaint) for each in found), found


OPTION_PLANTS = [
    ("| `--relay` | guest |", "| `--relays` | guest |", "documents --relays, which roadmesh does not have."),
    ("| `--relay` | guest |", "| `--relays` | guest |", 'the table in "Options" lacks --relay of roadmesh guest.'),
    ("| `--relay` | guest |", "| `--relay` | host |", "documents --relay, which roadmesh host does not have."),
    (
        "| `--seconds N` | scan | `5` |",
        "| `--seconds N` | scan | `6` |",
        "gives --seconds the default `6`, which is 5.",
    ),
    ("| `--air DIR` |", "| `--air FILE` |", "has --air file; in the program it is --air dir."),
]


@pytest.mark.parametrize(("right", "wrong", "complaint"), OPTION_PLANTS)
def test_a_planted_option_is_found(right: str, wrong: str, complaint: str, commands: Commands) -> None:
    page = pages()[REFERENCE].changed(right, wrong)
    found = [*wrong_option_tables(page, commands), *undocumented_options(page, commands)]
    assert any(each.startswith(f"{REFERENCE}:") and each.endswith(complaint) for each in found), found


def test_an_option_that_only_a_document_has_is_found(commands: Commands) -> None:
    page = Page("docs/page.md", EXAMPLE)
    assert list(wrong_options(page, commands)) == []
    assert list(wrong_options(page.changed("--relay", "--web-guests"), commands)) == [
        "docs/page.md:6 names --web-guests, which roadmesh guest does not have."
    ]
    planted = "--" + "no-such-option"
    assert f"docs/page.md:6 names the option {planted}, which no program of this repository has." in list(
        wrong_options(page.changed("--relay", planted), commands)
    )


# Manual pages.


def test_each_manual_page_has_an_example(commands: Commands) -> None:
    for path in commands:
        line = f"roadmesh {path}".strip()
        page = subprocess.check_output(
            [ROOT / "scripts/packaging/manual-page", line.replace(" ", "-")], input=".Sh AUTHORS\n", text=True
        )
        shown = re.findall(r"^\.Dl (.*)$", page, re.MULTILINE)
        assert any(line in example for example in shown), f"The manual page of {line} has the examples {shown}."


# Exit codes.


def exit_codes() -> list[tuple[int, str]]:
    """The examples in the table of exit codes that are command lines."""
    rows = [row for row in pages()[REFERENCE].rows("Exit codes") if row.head[0] == "exit code"]
    lines = [(int(row["exit code"]), re.fullmatch(r"`roadmesh ([^`]+)`", row["example"])) for row in rows]
    return [(code, line[1]) for code, line in lines if line]


@pytest.mark.parametrize(("code", "line"), exit_codes())
def test_each_example_of_an_exit_code_ends_with_it(
    code: int, line: str, binary: Path, air: Path, tmp_path: Path
) -> None:
    environment = dict(os.environ, XDG_RUNTIME_DIR=str(air), XDG_STATE_HOME=str(tmp_path / "state"))
    done = subprocess.run(
        [binary, *line.split()], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=60
    )
    told = f"{REFERENCE} gives {line} the exit code {code}; it is {done.returncode}: {done.stderr}"
    assert done.returncode == code, told
