"""The format of numbers."""

from __future__ import annotations

from ..results import Summary


def number(value: float) -> str:
    """Three significant digits, or the complete integer part."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.2f}".rstrip("0").rstrip(".")


def spread(one: Summary) -> str:
    """The median, and the spread in brackets."""
    if one.count == 1:
        return number(one.median)
    return f"{number(one.median)} ({number(one.low)}–{number(one.high)})"
