# SPDX-License-Identifier: Apache-2.0
"""The texts for people, found in the sources: those that a language's table must have."""

from __future__ import annotations

import json
import re
from pathlib import Path

from stand_in import PAGE, TEXTS

LANGUAGES = ("de", "fr", "es")

Table = dict[str, str]


def table(language: str) -> Table:
    found: Table = json.loads((TEXTS / f"{language}.json").read_text())
    return found


def page_texts() -> set[str]:
    """Every text of the page's scripts: t`…`, plural(n, "…", "…"), around("…"), and the texts of buttons."""
    found: set[str] = set()
    for script in sorted(PAGE.glob("*.js")):
        lines = script.read_text().split("\n")
        code = "\n".join(line for line in lines if not line.strip().startswith(("//", "*", "/*")))
        found |= set(_tagged(code))
        for one, many in re.findall(r'plural\([^"]*?"([^"]+)",\s*"([^"]+)"', code):
            found |= {one, many}
        found |= set(re.findall(r'around\("([^"]+)"\)', code))
        if script.name == "commands.js":
            found |= set(re.findall(r'"([A-Z][^"/]+)"', code))
    return found


def _tagged(code: str) -> list[str]:
    """The templates of t`…`, with {1}, {2}, … for the values."""
    found = []
    for start in re.finditer(r"(?<![\w.])t`", code):
        text, at, count = "", start.end(), 0
        while code[at] != "`":
            if code.startswith("${", at):
                count, at = count + 1, _end(code, at + 2)
                text += f"{{{count}}}"
            else:
                text, at = text + code[at], at + 1
        found.append(text)
    return found


def _end(code: str, at: int) -> int:
    """The position after the brace that closes the one at `at`."""
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        at += 1
    return at


# The program's texts for people: files in which every literal is one, and files in which a function marks such texts.
SENTENCES = ("DemocracyDJ/Notices",)
SAID = ("TerminalUI/Sentences.swift", "TerminalUI/Screen.swift", "TerminalUI/ViewText.swift", "TerminalUI/Panel.swift")


def program_texts() -> set[str]:
    """Every sentence of the program in the person's language."""
    found: set[str] = set()
    for source in _sources(SENTENCES):
        found |= {text for text in literals(source.read_text()) if " " in text.strip()}
    for source in _sources(SAID):
        code = source.read_text()
        for start in re.finditer(r"\bsay\(", code):
            argument = code[start.end() : _close(code, start.end())]
            if not argument.lstrip().startswith("_"):
                # Every branch of a choice is a text. Strings that are only compared contain no words.
                found |= {text for text in literals(argument) if re.search(r"[A-Za-z]{3}", text)}
    # These are command words, which are not translated.
    return found - {"add", "suggest"}


def all_literals() -> set[str]:
    """Every literal of the program, and every text of the page."""
    sources = [path for path in (repository() / "Sources").rglob("*.swift") if ".pb." not in path.name]
    return {text for source in sources for text in literals(source.read_text())} | page_texts()


def _sources(names: tuple[str, ...]) -> list[Path]:
    paths = [repository() / "Sources" / name for name in names]
    return [source for path in paths for source in (sorted(path.glob("*.swift")) if path.is_dir() else [path])]


def _close(code: str, at: int) -> int:
    """The parenthesis that closes what is open at `at`."""
    depth = 1
    while depth:
        if code[at] == '"':
            _, at, _ = _literal(code, at + 1, 0)
            continue
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    return at - 1


def literals(code: str) -> list[str]:
    """The literals of Swift, with {1}, {2}, … for the values. Literals that a + joins are one."""
    code = re.sub(r"^\s*///?.*$", "", code, flags=re.MULTILINE)
    found: list[str] = []
    at, end, count = 0, -1, 0
    while (at := code.find('"', at)) >= 0:
        is_joined = end >= 0 and code[end:at].strip() == "+"
        text, at, count = _literal(code, at + 1, count if is_joined else 0)
        found[-1:] = [found[-1] + text] if is_joined else [*found[-1:], text]
        end = at
    return found


def _literal(code: str, at: int, count: int) -> tuple[str, int, int]:
    """The literal that begins at `at`: its text, its end, and its number of values."""
    text = ""
    while code[at] != '"':
        if code.startswith("\\(", at):
            count, at = count + 1, _close(code, at + 2) + 1
            text += f"{{{count}}}"
        else:
            at += code[at] == "\\"
            text, at = text + code[at], at + 1
    return text, at + 1, count


def places(text: str) -> list[str]:
    """The placeholders of a text, in the order of their numbers."""
    return sorted(re.findall(r"\{\d\}", text))


def repository() -> Path:
    return PAGE.parents[2]
