"""Pages that are written by hand but for parts that are measured, which stand between marks."""

from __future__ import annotations

END = "<!-- measured: end -->"


def begin(name: str) -> str:
    return f"<!-- measured: {name} -->"


def filled(page: str, parts: dict[str, str]) -> str:
    """The page with these parts in the places of those of last time. A page without one of the places is refused."""
    for name, part in parts.items():
        before, mark, rest = page.partition(begin(name))
        _, end, after = rest.partition(END)
        if not mark or not end:
            raise ValueError(f"there is no place for {name}: {begin(name)} … {END}")
        page = f"{before}{mark}\n{part}\n{END}{after}"
    return page
