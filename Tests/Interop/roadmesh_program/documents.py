# SPDX-License-Identifier: Apache-2.0
"""The repository's documents as a test reads them: headings, links, code, tables."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[3]

FENCE = re.compile(r"^ {0,3}```")
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$")
LINK = re.compile(r"\[((?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*)\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Code:
    """A span in backticks, or a line of a code block."""

    line: int
    text: str
    is_block: bool = False
    # The first code of the table row with this code: the subject of the row.
    subject: str = ""
    # Whether the text calls it a file that the reader must create.
    is_new: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table: its cells by the table's column names."""

    line: int
    head: tuple[str, ...]
    cells: tuple[str, ...]

    def __getitem__(self, column: str) -> str:
        return self.cells[self.head.index(column)]


@dataclass(frozen=True)
class Page:
    """A document: its path in the repository, and its text."""

    path: str
    text: str

    @cached_property
    def lines(self) -> list[tuple[int, str, bool]]:
        """Each line with its number, and whether it is in a code block. Fences are left out."""
        found, is_block = [], False
        for number, line in enumerate(self.text.splitlines(), 1):
            if FENCE.match(line):
                is_block = not is_block
            else:
                found.append((number, line, is_block))
        return found

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        found = ((number, HEADING.match(line)) for number, line, is_block in self.lines if not is_block)
        return [(number, heading[1]) for number, heading in found if heading]

    @cached_property
    def anchors(self) -> set[str]:
        """GitHub's anchors of the headings."""
        known: Counter[str] = Counter()
        names = set()
        for _, heading in self.headings:
            name = anchor(heading)
            names.add(f"{name}-{known[name]}" if known[name] else name)
            known[name] += 1
        return names

    def links(self) -> Iterator[tuple[int, str]]:
        """The target of each link and picture, with its line."""
        blanked = [""] * (len(self.text.splitlines()) + 1)
        for number, line, is_block in self.lines:
            blanked[number] = "" if is_block else line
        text = "\n".join(blanked)
        for link in LINK.finditer(text):
            yield text.count("\n", 0, link.start(2)), link[2]

    def code(self) -> Iterator[Code]:
        """All text that is marked as code."""
        for number, line, is_block in self.lines:
            if is_block:
                yield Code(number, line.strip(), is_block=True)
                continue
            shown = line.replace("\\|", "|")
            spans = list(SPAN.finditer(shown))
            subject = spans[0][1] if spans and line.startswith("| `") else ""
            for span in spans:
                yield Code(number, span[1], subject=subject, is_new=shown.startswith(" (new)", span.end()))

    def rows(self, section: str = "") -> Iterator[Row]:
        """The rows of the tables below a heading, up to the next heading of its level. Without a heading: of the
        entire page."""
        head: tuple[str, ...] = ()
        is_inside, depth = not section, 0
        for number, line, is_block in self.lines:
            if section and not is_block and (heading := HEADING.match(line)):
                level = len(line) - len(line.lstrip("#"))
                if heading[1] == section:
                    is_inside, depth = True, level
                elif level <= depth:
                    is_inside = False
            if is_block or not line.startswith("|") or not is_inside:
                head = ()
            elif not head:
                head = cells(line)
            elif not set(line) <= set("|-: "):
                row = cells(line)
                yield Row(number, head, row + ("",) * (len(head) - len(row)))

    def changed(self, old: str, new: str) -> Page:
        """The page with one change, to test its readers."""
        assert old in self.text, f"{self.path} no longer has {old!r}: name something else that it has"
        return Page(self.path, self.text.replace(old, new, 1))


def anchor(heading: str) -> str:
    """GitHub's anchor for a heading."""
    shown = LINK.sub(lambda link: link[1], heading)
    kept = re.sub(r"[^\w\- ]", "", shown.lower())
    return kept.replace(" ", "-")


def cells(line: str) -> tuple[str, ...]:
    """The cells of a table's line. A bar in a cell is written as \\|."""
    marked = line.strip().replace("\\|", "\0").strip("|")
    return tuple(cell.strip().replace("\0", "|") for cell in marked.split("|"))


@cache
def pages() -> dict[str, Page]:
    """All documents for people."""
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    found = (Page(str(file.relative_to(ROOT)), file.read_text()) for file in files if file.exists())
    return {page.path: page for page in found}


@cache
def files() -> frozenset[str]:
    """The paths of the repository's files and folders."""
    left_out = {".git", ".build", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
    found: set[str] = set()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in left_out]
        place = Path(folder).relative_to(ROOT)
        found.update(str(place / name) for name in [*folders, *names])
    return frozenset(found)


@cache
def source(path: str) -> str:
    """The text of a file of the repository."""
    return (ROOT / path).read_text(errors="replace")
