"""Owns how others' text stands in Markdown: escaped in a line, fenced in a block, and never anything but text.

What comes in has been made visible already, so that there is no line end in a line of text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from extractor.printable import visible
from extractor.render.view import Listing, Place, Related, Run

# a backslash before each of these is not shown; `_` inside a word and a single `{` do nothing
_SPECIAL = re.compile(r"[\\`*\[\]<>&~|#$]|_(?![^\W_])|(?<![^\W_])_|\{(?=[{%])|(?<=\{)\{|(?<=\{)%")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")
_TICKS = re.compile(r"`+")
_WHY = re.compile(r"[a-z ,]*(?:`\w+`)?", re.ASCII)


def text(value: str) -> str:
    """Text in a heading, a link or a paragraph that something else begins."""
    return inline(value.strip())


def inline(value: str) -> str:
    """A stretch of such text: what line ends it has stand as `\\n`, and spaces at its ends stay."""
    return _SPECIAL.sub(r"\\\g<0>", visible(value))


def first(value: str) -> str:
    """Text that begins a paragraph: no list, no rule."""
    return _BLOCK.sub(r"\1\\\2", text(value))


def code(value: str) -> str:
    """A code span; spaces at its ends stay, and backticks inside do not end it."""
    if "`" not in value:
        return f"`{value}`" if value.strip() == value and value else f"` {value or ' '} `"
    ticks = "`" * (max(map(len, _TICKS.findall(value))) + 1)
    return f"{ticks} {value} {ticks}"


def codes(values: tuple[str, ...]) -> str:
    """Several code spans in a row."""
    return ", ".join(map(code, values))


def words(runs: tuple[Run, ...]) -> str:
    """A sentence of ours with code and places in it."""
    setting: dict[str, Callable[[Run], str]] = {
        "text": lambda run: run.text,
        "code": lambda run: code(run.text),
        "place": lambda run: link(Place(run.text, run.url)),
    }
    return "".join(setting[run.kind](run) for run in runs)


def fence(value: str, language: str = "text") -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    ticks = "`" * (max(map(len, _TICKS.findall(value))) + 1) if "```" in value else "```"
    return f"{ticks}{language}\n{value}\n{ticks}"


def listing(snippet: Listing) -> str:
    """A code block of source with line numbers; the lines that raise have `>` before them."""
    width = len(str(snippet.start + len(snippet.lines) - 1))
    rows = [
        f"{'>' if snippet.first <= number <= snippet.last else ' '} {number:>{width}} | {line}".rstrip()
        for number, line in enumerate(snippet.lines, snippet.start)
    ]
    return fence("\n".join(rows), "python")


def link(place: Place) -> str:
    """`path:line`, with the link to it where there is one."""
    label = code(place.label)
    return f"[{label}]({place.url})" if place.url else label


def why(related: Related) -> str:
    """The word why an error is related: ours, with a word of the tree in it."""
    return related.why if _WHY.fullmatch(related.why) else text(related.why)


FILTERS: dict[str, Callable[..., Any]] = {
    "text": text,
    "inline": inline,
    "first": first,
    "code": code,
    "codes": codes,
    "words": words,
    "fence": fence,
    "listing": listing,
    "link": link,
    "why": why,
}
