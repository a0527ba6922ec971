# SPDX-License-Identifier: Apache-2.0
"""Names in documents: links, files and tests. Each function yields a sentence for each name of something that does
not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from roadmesh_program.documents import ROOT, Code, Page, files, pages, source

Complaints = Iterator[str]

# Links.


def wrong_links(page: Page) -> Complaints:
    for line, target in page.links():
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        there = page if not path else resolved(page, path)
        if there is None:
            yield f"{page.path}:{line} links to {target}; there is no file {path} next to it."
        elif heading and (not isinstance(there, Page) or heading not in there.anchors):
            yield f"{page.path}:{line} links to {target}; no heading has the anchor #{heading}."


def resolved(page: Page, path: str) -> Page | Path | None:
    """The target of a relative link."""
    file = (ROOT / page.path).parent / path
    if not file.exists():
        return None
    return pages().get(str(file.resolve().relative_to(ROOT)), file)


# Files.

# A name with one of these endings is a file of this repository, unless the text says otherwise.
ENDINGS = ("swift", "py", "md", "c", "js", "proto", "supp", "patch")
PATH = re.compile(r"[\w.*+\-…]+(?:/[\w.*+\-…]+)+/?")
NAME = re.compile(rf"(?<![\w./\-$~…])[\w+\-]+\.(?:{'|'.join(ENDINGS)})\b(?![\w/])")
PLACEHOLDER = re.compile(r"[A-Z]{2,}|…|\.\.\.")


@cache
def tails() -> frozenset[str]:
    """Every suffix of a path in the repository: `box.py` and `PowerCuts/box.py` for `Tests/PowerCuts/box.py`."""
    parts = [file.split("/") for file in files()]
    return frozenset("/".join(names[start:]) for names in parts for start in range(len(names)))


def wrong_files(page: Page) -> Complaints:
    folders = {file.split("/")[0] for file in files() if "/" in file}
    for code in page.code():
        if code.is_block and code.text.startswith(("{", "import ", "from ")):
            continue
        for path in PATH.findall(code.text):
            first = path.removeprefix("./").split("/")[0]
            is_ours = first in folders or path.endswith(tuple(f".{ending}" for ending in ENDINGS))
            if is_ours and not is_there(path) and not is_abroad(code, path):
                yield f"{page.path}:{code.line} names the file {path}, which the repository does not have."
        for name in NAME.findall(code.text):
            if name not in tails() and not code.is_block and not code.is_new:
                yield f"{page.path}:{code.line} names the file {name}, which the repository does not have."


def is_there(path: str) -> bool:
    path = path.removeprefix("./").rstrip("/.")
    # FILE and TARGET are placeholders. The path in front of them must exist.
    names = path.split("/")
    known = next((names[:place] for place, name in enumerate(names) if PLACEHOLDER.fullmatch(name)), names)
    path = "/".join(known)
    if "*" in path:
        return any(ROOT.glob(path))
    return path in tails() or f"{path}.swift" in tails()


def is_abroad(code: Code, path: str) -> bool:
    """Whether it is the end of a path outside the repository, such as `~/.cache/roadmesh/build`."""
    before = code.text[: code.text.index(path)]
    return before.endswith(("/", "~", "$", ":", "@")) or "://" in before.split(" ")[-1]


# Tests.

PYTHON_TEST = re.compile(r"\btest_[a-z0-9_]+\b(?!\.py|\w|/)")
SWIFT_TESTS = re.compile(r"(?<![\w/.])([A-Z]\w*Tests)(?:/(\w+))?\b")
TEST_FILE = re.compile(r"[\w/]+\.(?:swift|py)\b")
TITLE = re.compile(r'"([^"]{8,})"')


@cache
def test_files() -> list[str]:
    folders = ("Tests/", "Lab/", "Fuzz/", "CBlueZ/tests/", "Benchmarks/")
    return [file for file in sorted(files()) if file.startswith(folders) and file.endswith((".swift", ".py"))]


@cache
def python_tests() -> frozenset[str]:
    texts = (source(file) for file in test_files() if file.endswith(".py"))
    return frozenset(name for text in texts for name in re.findall(r"^ *(?:async )?def (test_\w+)", text, re.M))


@cache
def swift_suites() -> dict[str, str]:
    """The sources of each suite and each test target, by name."""
    found: dict[str, str] = {}
    for file in test_files():
        if file.endswith(".swift"):
            text = source(file)
            names = re.findall(r"^ *(?:\w+ )*(?:struct|class|enum|actor|extension) (\w*Tests)\b", text, re.M)
            for name in {*names, file.split("/")[1]}:
                found[name] = found.get(name, "") + text
    targets = re.findall(r'name: "(\w+Tests)"(?:, path: "(\w+)")?', re.sub(r"\s+", " ", source("Package.swift")))
    return {name: "" for name, _ in targets} | found


def wrong_tests(page: Page) -> Complaints:
    file, last = "", 0
    for code in page.code():
        if code.line != last:
            file, last = "", code.line
        if not code.is_block and (named := TEST_FILE.search(code.text)) and named[0] in tails():
            file = next(each for each in [*test_files(), named[0]] if each.endswith(named[0]))
        for name in PYTHON_TEST.findall(code.text):
            if name not in python_tests():
                yield f"{page.path}:{code.line} names the test {name}, which no file of tests has."
            elif file.endswith(".py") and f"def {name}(" not in source(file):
                yield f"{page.path}:{code.line} names the test {name}, which {file} does not have."
        for suite, test in SWIFT_TESTS.findall(code.text):
            if suite not in swift_suites():
                yield f"{page.path}:{code.line} names the tests {suite}, which are not in Tests or Fuzz."
            elif test and not is_part(suite, test):
                yield f"{page.path}:{code.line} names the test {suite}/{test}, which that suite does not have."
        if file.endswith(".swift") and not code.is_block:
            for title in TITLE.findall(code.text):
                if not is_title(title, file):
                    yield f'{page.path}:{code.line} names the test "{title}", which {file} does not have.'


def is_part(suite: str, test: str) -> bool:
    """Whether it is a test or suite in that suite, or a file or folder of that target."""
    is_declared = re.search(rf"\b(?:func|struct|class|enum) {test}\b", swift_suites()[suite])
    return bool(is_declared) or f"{suite}/{test}" in tails() or f"{suite}/{test}.swift" in tails()


def is_title(title: str, file: str) -> bool:
    text = re.sub(r'"\s*\+\s*#*"', "", source(file))
    return f'"{title}' in text or f'{title}"' in text
