"""The generated part of docs/benchmarks.md; the rest of the page is written by hand."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ..limits import verdicts
from ..results import Results
from .marks import END, begin, filled
from .tables import SECTIONS, section_table, verdict_table

PLACE = "scripts/bench writes what follows"
BEGIN = begin(PLACE)


def write(results: Results, target: Path, drawn: Collection[str] = ()) -> None:
    """Replaces the text between the two marks. `drawn`: the names of the plots in the folder next to the page."""
    text = target.read_text() if target.exists() else ""
    if BEGIN not in text or END not in text:
        text += f"{BEGIN}{END}\n"
    target.write_text(filled(text, {PLACE: f"\n{_text(results, drawn)}"}))


def _text(results: Results, drawn: Collection[str]) -> str:
    parts = [_facts(results)]
    if found := verdicts(results):
        parts.append("## What must hold\n\n" + verdict_table(found))
    for section in SECTIONS:
        if rows := section_table(results, section):
            picture = (
                f"\n\n![{section.title}](pictures/bench-{section.picture}.svg)" if section.picture in drawn else ""
            )
            parts.append(f"## {section.title}\n\n{section.text}{picture}\n\n{rows}")
    if results.notes:
        parts.append("## Left out\n\n" + "\n".join(f"- {note}" for note in results.notes))
    return "\n\n".join(parts) + "\n"


def _facts(results: Results) -> str:
    facts = results.facts
    return (
        f"Measured on {facts['date']}, RoadMesh {facts['roadmesh']} at `{facts['revision']}` ({facts['build']} build),"
        f" on {facts['cores']} cores of {facts['processor']} with {facts['memoryGB']} GB, {facts['system']}, bluetoothd"
        f" {facts['bluetoothd']}, in boxes with Linux {facts.get('kernel', '6.1')}; the machine's load was {facts['load']} when"
        f" it began and {facts.get('loadAtEnd', 'unknown')} when it ended. A number is the median;"
        " in brackets are the least and the greatest value, or from twelve values on the quartiles; n is how many there"
        " are in a setting. “Same”: the capability changes nothing for this system."
    )
