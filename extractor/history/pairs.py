"""Owns what a history asks of a comparison: the pairs of two releases that follow each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extractor.history.fold import Pair
from extractor.model import Error


def pairing(old: Sequence[Error], new: Sequence[Error]) -> Iterator[Pair]:
    was, now = {e.id: e for e in old}, {e.id: e for e in new}
    left = [e for e in old if e.id not in now]
    fresh = [e for e in new if e.id not in was]
    for e in old:
        if e.id in now and [(s.symbol, [g.text for g in s.guards]) for s in e.sites] != [
            (s.symbol, [g.text for g in s.guards]) for s in now[e.id].sites
        ]:
            yield Pair(("reguarded",), e, now[e.id])
    by = {}
    for e in fresh:
        by.setdefault((e.exception, e.message or e.sites[0].symbol), []).append(e)
    for e in left:
        k = (e.exception, e.message or e.sites[0].symbol)
        if by.get(k):
            yield Pair(("relocated",), e, by[k].pop(0))
        else:
            yield Pair(("removed",), e, None)
    for some in by.values():
        for e in some:
            yield Pair(("added",), None, e)
