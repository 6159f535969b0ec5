"""Owns which words of a text have changed: the old and the new one, told as one text with what is gone and what is new.

Words are compared, not letters: a reader sees `five` become `six`, not an `f` become an `s`. A hole is one word.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SAME, GONE, NEW = "same", "gone", "new"
MOST = 1_000  # words that are compared; of a longer text all is gone and new between its common ends

_TOKEN = re.compile(r"\{[^{}\s]*\}|\w+|\s+|[^\w\s]")
_GLUE = re.compile(r"[\W_]{1,2}")  # a sign or a space between two changes is part of them


class Piece(NamedTuple):
    """A stretch of text that both have, or only the old one, or only the new one."""

    kind: str
    text: str


def marked(old: str, new: str) -> tuple[Piece, ...]:
    """The pieces in order: without the new ones they are the old text, without those gone the new one."""
    left, right = _TOKEN.findall(old), _TOKEN.findall(new)
    start = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    ends = zip(reversed(left[start:]), reversed(right[start:]), strict=False)
    end = next((n for n, (a, b) in enumerate(ends) if a != b), min(len(left), len(right)) - start)
    middle = left[start : len(left) - end], right[start : len(right) - end]
    rows = [
        ("".join(left[:start]),) * 2,
        *_compared(*middle),
        ("".join(left[len(left) - end :]),) * 2,
    ]
    return tuple(_pieces(_glued(rows)))


def _compared(left: list[str], right: list[str]) -> list[tuple[str, str]]:
    """Old and new text of each stretch, alike or not."""
    if len(left) + len(right) > MOST:
        return [("".join(left), "".join(right))]
    blocks = difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return [("".join(left[a:b]), "".join(right[c:d])) for _, a, b, c, d in blocks]


def _glued(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """With changes that only a sign or a space keeps apart told as one."""
    found: list[tuple[str, str]] = []
    waiting = list(rows)
    for n, (old, new) in enumerate(waiting):
        if not old and not new:
            continue
        changed = old != new
        after = waiting[n + 1] if n + 1 < len(waiting) else ("", "")
        between = not changed and _GLUE.fullmatch(old) and found and found[-1][0] != found[-1][1]
        if found and ((between and after[0] != after[1]) or (changed and found[-1][0] != found[-1][1])):
            found[-1] = found[-1][0] + old, found[-1][1] + new
        else:
            found.append((old, new))
    return found


def _pieces(rows: Iterable[tuple[str, str]]) -> Iterator[Piece]:
    for old, new in rows:
        if old == new:
            yield Piece(SAME, old)
        else:
            if old:
                yield Piece(GONE, old)
            if new:
                yield Piece(NEW, new)
