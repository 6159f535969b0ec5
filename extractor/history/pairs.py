"""Owns what a history asks of a comparison: what became of each error from one release to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extractor.diff import compare
from extractor.history.fold import Pair
from extractor.model import Error


def pairing(old: Sequence[Error], new: Sequence[Error]) -> Iterator[Pair]:
    """Each error of both sides once; those that are the same but for their lines are left out."""
    for change in compare(old, new):
        if change.kinds:
            yield Pair(change.kinds, change.old, change.new, change.strictness)
