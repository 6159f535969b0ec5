"""Owns the chart of a history: errors alive in each release, and how many came and went, drawn by matplotlib.

The same history gives the same bytes: no date in the file, ids by a fixed salt, text as text in a font of the reader.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from extractor.errors import ToolError
from extractor.history.record import History
from extractor.history.series import EXCEPTION, OTHER, PACKAGE, Series, series
from extractor.printable import visible

calendar: Any = import_module("matplotlib.dates")  # which has no types

SIZE = (11.0, 6.4)  # inches
DENSITY = 160  # dots an inch, of a PNG
COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e")
REST, ADDED, REMOVED, QUIET = "#b7b7b0", "#3ca951", "#ff725c", "#6e6e68"
NAMED = 14  # releases named along the axis
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "vllm-errors",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
}
KINDS = (PACKAGE, EXCEPTION)


def drawn(history: History, by: str = PACKAGE, png: bool = False) -> bytes:
    """The chart as SVG, or as PNG. Raises `ToolError` for a history of fewer than two releases."""
    if by not in KINDS:
        raise ToolError(f"there is no chart by {by!r}: give --by {' or '.join(KINDS)}")
    if len(history.header.releases) < 2:
        raise ToolError("a chart needs two releases: build a longer history with vllm-errors history build --all")
    found = series(history, by)
    with matplotlib.rc_context(STYLE):
        figure = _figure(found, by, history.header.of)
        stream = io.BytesIO()
        if png:
            figure.savefig(stream, format="png", dpi=DENSITY, metadata={"Software": None})
        else:
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _figure(found: Series, by: str, of: str) -> Figure:
    figure = Figure(figsize=SIZE, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    places = _places(found)
    _alive(upper, found, places)
    _changes(lower, found, places)
    newest = sum(numbers[-1] for numbers in found.alive.values())
    figure.suptitle(
        f"Errors that vLLM raises, by {by}: {newest:,} in {visible(found.releases[-1])}",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    if all(found.dates):
        lower.xaxis.set_major_locator(calendar.AutoDateLocator(minticks=5, maxticks=12))
        lower.xaxis.set_major_formatter(calendar.ConciseDateFormatter(lower.xaxis.get_major_locator()))
    else:
        lower.set_xlabel(f"{of}s, oldest first", color=QUIET)
    lower.set_xlim(places[0], places[-1] + (places[-1] - places[0]) / 200)  # the last bar is not cut
    return figure


def _places(found: Series) -> list[float]:
    """Where releases stand along the axis: by date, or one after the other where a date is missing."""
    if not all(found.dates):
        return [float(n) for n in range(len(found.releases))]
    return [float(calendar.date2num(datetime.fromisoformat(str(date)))) for date in found.dates]


def _alive(axes: Any, found: Series, places: Sequence[float]) -> None:
    colours = [REST if group == OTHER else COLOURS[n % len(COLOURS)] for n, group in enumerate(found.alive)]
    labels = [visible(group) for group in found.alive]
    axes.stackplot(places, *found.alive.values(), labels=labels, colors=colours, linewidth=0.4, edgecolor="white")
    axes.set_ylabel("alive")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="y", color="#00000018")
    axes.set_axisbelow(False)
    handles, names = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], names[::-1], loc="upper left", frameon=False, fontsize="small")
    _named(axes, found, places)


def _named(axes: Any, found: Series, places: Sequence[float]) -> None:
    """Names releases along the top: the newest, and others that leave it and each other room."""
    room = (places[-1] - places[0]) / NAMED
    taken: list[float] = []
    for place, name in reversed(list(zip(places, found.releases, strict=True))):
        if all(abs(place - other) >= room for other in taken):
            taken.append(place)
            axes.annotate(
                visible(name),
                (place, 1.0),
                xycoords=("data", "axes fraction"),
                ha="right" if place == places[-1] else "center",
                va="bottom",
                fontsize="x-small",
                color=QUIET,
            )
            axes.axvline(place, color="#00000010", linewidth=0.6)


def _changes(axes: Any, found: Series, places: Sequence[float]) -> None:
    added, removed = found.added[1:], [-number for number in found.removed[1:]]
    axes.vlines(places[1:], 0, added, color=ADDED, linewidth=2.2, label="added")
    axes.vlines(places[1:], removed, 0, color=REMOVED, linewidth=2.2, label="removed")
    axes.axhline(0, color=QUIET, linewidth=0.6)
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")
    axes.set_ylabel("added, removed")
    axes.legend(loc="upper left", frameon=False, fontsize="small", ncols=2)
