"""Owns text that knows where each of its characters came from.

Every step of normalising removes or replaces pieces. What it kept is remembered as runs, not characters: a position
is asked for only where something was found, and a list of numbers for each character would cost more than the rest.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import compress
from typing import NamedTuple


class Runs(NamedTuple):
    """What one step kept: where each run starts now, and where it started and ended before."""

    starts: list[int]
    before: list[int]
    ends: list[int]


class Text(NamedTuple):
    """Characters, and what each step kept of those before it."""

    chars: str
    steps: tuple[Runs, ...]

    def origin(self, offset: int) -> int:
        """Where a character was in the original; the start of what was replaced, for what was not there."""
        for runs in reversed(self.steps):
            run = bisect_right(runs.starts, offset) - 1
            offset = min(runs.before[run] + offset - runs.starts[run], runs.ends[run])
        return offset


def original(chars: str) -> Text:
    """Text that nothing was done to."""
    return Text(chars, ())


def replaced(text: Text, pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str]) -> Text:
    """Each match replaced."""
    chars = text.chars
    pieces: list[str] = []
    starts, before, ends = [0], [0], [len(chars)]
    done = length = 0
    for m in pattern.finditer(chars):
        start, end = m.span()
        new = replacement if isinstance(replacement, str) else replacement(m)
        pieces.append(chars[done:start])
        pieces.append(new)
        length += start - done + len(new)
        ends[-1] = start
        starts.append(length)
        before.append(end)
        ends.append(len(chars))
        done = end
    if not pieces:
        return text
    pieces.append(chars[done:])
    return Text("".join(pieces), (*text.steps, Runs(starts, before, ends)))


class Squeezed:
    """The letters and digits of a text; where each was is worked out when it is first asked for."""

    def __init__(self, chars: str, whole: str) -> None:
        self.chars = chars
        self._whole = whole
        self._places: list[int] = []

    def at(self, index: int) -> int:
        """The offset in the text of a letter."""
        if not self._places:
            whole = self._whole
            kept = whole.encode().translate(_KEPT) if whole.isascii() else map(str.isalnum, whole)
            self._places = list(compress(range(len(whole)), kept))
        return self._places[index]


_KEPT = bytes(c < 128 and chr(c).isalnum() for c in range(256))
