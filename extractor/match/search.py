"""Owns the search of one piece of a log: normalise, parse, find, fit, judge, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from extractor.match import find, judge, log, normalise, verify
from extractor.match.lexicon import Lexicon


LONGEST = 8_000  # characters of a message that are kept


class Match(NamedTuple):
    """A message of the dataset in the log, before it is compared with the others."""

    judged: tuple[judge.Judged, ...]  # errors with this message, likeliest first
    found: int  # letters of text
    part: float
    whole: bool
    start: int  # offsets in the piece of the log, as it is
    end: int
    first_line: int  # from 1
    last_line: int
    matched: str
    values: tuple[tuple[tuple[str, str], ...], ...]  # for each of `judged`
    raised: log.Raised | None
    said: bool
    rough: bool  # other words in it, or some are missing, where nothing was cut
    source: bool
    inside: tuple[int, int]  # the same, in cleaned text
    shape: int
    piece: int  # which piece of the log: letters are counted from its start
    pieces: tuple[tuple[int, int], ...]  # where its texts are, in letters
    holes: tuple[tuple[int, int], ...]  # and its values


def search(raw: str, lexicon: Lexicon, piece: int = 0) -> list[Match]:
    """What is in a piece of a log, in its order."""
    return list(_matches(raw, lexicon, piece))


def _matches(raw: str, lexicon: Lexicon, piece: int) -> Iterator[Match]:
    cleaned = normalise.clean(raw)
    small = normalise.squeezed(cleaned)
    structure: log.Log | None = None
    done: set[tuple[int, int, int]] = set()
    for chain in find.chains(small.chars, lexicon):
        shape = lexicon.shapes[chain.shape]
        fit = verify.fit(small.chars, shape, chain)
        if (chain.shape, fit.start, fit.found) in done:
            continue
        done.add((chain.shape, fit.start, fit.found))
        if structure is None:
            structure = log.parse(cleaned, raw)
        if fit.found < min(judge.LONG, shape.total):
            above = structure.above(small.at(fit.start))
            if above is None or not judge.near(above.frames, shape, lexicon):
                continue
        at = judge.seen(fit, shape, cleaned, small, structure)
        begin = max(at.first - 2, cleaned.chars.rfind("\n", 0, at.first) + 1)  # with the quote that a text may begin with
        said = cleaned.chars[begin : max(at.last, small.at(fit.end - 1) + 3)]
        judged = judge.judge(fit, shape, at, lexicon, said)
        if not judged:
            continue
        first = at.first if shape.lead else small.at(fit.start)
        last = max(at.last, small.at(fit.end - 1) + 1)
        start, end = cleaned.origin(first), cleaned.origin(last - 1) + 1
        values = tuple(
            tuple(verify.values(cleaned, small, lexicon.entry(j.entry).variants[j.variant], fit, at.first, last))
            for j in judged
        )
        spans = tuple((p.start, p.end) for p in fit.pieces if p is not None)
        yield Match(
            judged=tuple(judged),
            found=fit.found,
            part=fit.found / shape.total,
            whole=fit.found >= shape.total,
            start=start,
            end=end,
            first_line=raw.count("\n", 0, start) + 1,
            last_line=raw.count("\n", 0, end) + 1,
            matched=raw[start:end][:LONGEST],
            values=values,
            raised=at.raised,
            said=at.said,
            rough=fit.found < shape.total and not (at.cut or at.left or (fit.foot and not fit.head)),
            source=at.source,
            inside=(first, last),
            shape=chain.shape,
            piece=piece,
            pieces=spans,
            holes=tuple((a[1], b[0]) for a, b in pairwise(spans)),
        )
