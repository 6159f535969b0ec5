"""Owns the search of one piece of a log: normalise, parse, find, fit, judge, one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from extractor.match import find, judge, log, normalise, places, verify
from extractor.match.found import LONGEST, Match
from extractor.match.lexicon import Lexicon, Shape
from extractor.match.settle import settle
from extractor.match.text import Squeezed, Text


def search(raw: str, lexicon: Lexicon, piece: int = 0) -> list[Match]:
    """What is in a piece of a log, in its order: one match for each place, with its values."""
    cleaned = normalise.clean(raw)
    small = normalise.squeezed(cleaned)
    fits: dict[tuple[int, int, int], tuple[verify.Fit, judge.Seen]] = {}
    matches = settle(list(_matches(raw, cleaned, small, lexicon, piece, fits)))
    return [
        _with_values(match, *fits[match.shape, match.pieces[0][0], match.found], cleaned, small, lexicon)
        for match in matches
    ]


def _with_values(
    match: Match, fit: verify.Fit, at: judge.Seen, cleaned: Text, small: Squeezed, lexicon: Lexicon
) -> Match:
    last = match.inside[1]
    return match._replace(
        values=tuple(
            tuple(verify.values(cleaned, small, lexicon.entry(j.entry).variants[j.variant], fit, at.first, last))
            for j in match.judged
        )
    )


def _matches(
    raw: str,
    cleaned: Text,
    small: Squeezed,
    lexicon: Lexicon,
    piece: int,
    fits: dict[tuple[int, int, int], tuple[verify.Fit, judge.Seen]],
) -> Iterator[Match]:
    structure: log.Log | None = None
    lines: list[int] = []
    done: set[tuple[int, int, int]] = set()
    for chain in find.chains(small.chars, lexicon):
        shape = lexicon.shape(chain.shape)
        fit = verify.fit(small.chars, shape, chain)
        if (chain.shape, fit.start, fit.found) in done:
            continue
        done.add((chain.shape, fit.start, fit.found))
        if structure is None:
            structure, lines = log.parse(cleaned, raw), log.starts(raw)
        if fit.found < min(judge.LONG, shape.total):
            above = structure.above(small.at(fit.start))
            if above is None or not places.near(above.frames, shape, lexicon):
                continue
        at = judge.seen(fit, shape, cleaned, small, structure)
        begin = max(at.first - 2, structure.line_at(at.first))  # with the quote that a text may begin with
        said = cleaned.chars[begin : max(at.last, small.at(fit.end - 1) + 3)][:LONGEST]
        judged = judge.judge(fit, shape, at, lexicon, said)
        if not judged:
            continue
        first = at.first if shape.lead else small.at(fit.start)
        last = max(at.last, small.at(fit.end - 1) + 1)
        start, end = cleaned.origin(first), cleaned.origin(last - 1) + 1
        fits[chain.shape, fit.start, fit.found] = fit, at
        spans = tuple((p.start, p.end) for p in fit.pieces if p is not None)
        yield Match(
            judged=tuple(judged),
            found=fit.found,
            part=fit.found / shape.total,
            whole=fit.found >= shape.total,
            start=start,
            end=end,
            first_line=bisect_right(lines, start),
            last_line=bisect_right(lines, end),
            matched=raw[start:end][:LONGEST],
            values=(),
            raised=at.raised,
            said=at.said,
            rough=_rough(fit, shape, at),
            source=at.source,
            inside=(first, last),
            shape=chain.shape,
            piece=piece,
            pieces=spans,
            holes=tuple((a[1], b[0]) for a, b in pairwise(spans)),
        )


def _rough(fit: verify.Fit, shape: Shape, at: judge.Seen) -> bool:
    """Whether other words are in the place of some, or some are missing where nothing was cut."""
    if fit.found >= judge.NEARLY * shape.total:
        return False
    return (fit.head and fit.foot) or not (at.cut or at.left or fit.foot)
