# SPDX-License-Identifier: Apache-2.0
"""The program links only libraries with licences that docs/decisions.md lists, and no GPL library."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from roadmesh_program.documents import ROOT

# Swift's runtime. It is linked statically into the packaged program, and is under the Apache License 2.0.
SWIFT = re.compile(r"lib(swift|_?Foundation|dispatch|BlocksRuntime)")


def linked(binary: Path) -> set[str]:
    """The libraries that the program needs, without the version after `.so`."""
    dynamic = subprocess.check_output(["readelf", "--wide", "--dynamic", str(binary)], text=True)
    names = re.findall(r"\(NEEDED\)\s+Shared library: \[(.+?)\.so", dynamic)
    assert names, "readelf lists no library"
    return {re.sub(r"^(ld-linux).*", r"\1", name) for name in names if not SWIFT.match(name)}


def listed() -> dict[str, str]:
    """The licence of each library in the table of docs/decisions.md."""
    page = (ROOT / "docs/decisions.md").read_text()
    section = page.split("## Licences of linked libraries\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (lib.+?) \| (.+?) \|$", section, re.MULTILINE)
    return {name: licence for names, licence in rows for name in re.findall(r"(?:lib|ld-)[\w+-]+", names)}


def test_every_linked_library_is_listed_with_its_licence(binary: Path) -> None:
    table = listed()
    table.pop("library", None)
    assert linked(binary) == set(table)


def test_no_linked_library_is_under_the_gpl_alone(binary: Path) -> None:
    table = listed()
    for library in linked(binary):
        licence = table[library]
        assert not re.match(r"GPL", licence) or "Runtime Library Exception" in licence, f"{library}: {licence}"
    assert not {"libreadline", "libbluetooth", "libhistory"} & linked(binary)


def test_the_simulator_needs_neither_d_bus_nor_sqlite(binary: Path) -> None:
    assert not {"libdbus-1", "libsqlite3"} & linked(binary.with_name("mesh-simulator"))
    assert {"libdbus-1", "libsqlite3"} <= linked(binary)
