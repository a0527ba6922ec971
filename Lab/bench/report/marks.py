"""Fills the generated parts of pages. Marks enclose them; the rest of a page is written by hand."""

from __future__ import annotations

END = "<!-- measured: end -->"


def begin(name: str) -> str:
    return f"<!-- measured: {name} -->"


def filled(page: str, parts: dict[str, str]) -> str:
    """The page with its generated parts replaced. Raises if the page lacks the marks of a part."""
    for name, part in parts.items():
        before, mark, rest = page.partition(begin(name))
        _, end, after = rest.partition(END)
        if not mark or not end:
            raise ValueError(f"there is no place for {name}: {begin(name)} … {END}")
        page = f"{before}{mark}\n{part}\n{END}{after}"
    return page
