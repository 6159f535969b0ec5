"""Owns which match is the root cause: one entry for each error, what was raised because of another after it.

A match is a *consequence* when its message says that the cause is elsewhere, when a traceback says that it was
raised because of another match, or when another match is the whole of a value in it. The first in the log that is
none is the *root*; what shares its place is another file's error with the same text, and follows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from extractor.match.found import Match
from extractor.match.lexicon import Lexicon

SAYS_SO = re.compile(
    r"(?:see|check|look at|inspect)\b[^.]{0,40}\b(?:stack ?trace|root cause|traceback|logs?|above)\b|root cause",
    re.IGNORECASE | re.ASCII,
)
SIBLINGS = 12  # other files with the same text that are listed
STRONG = 0.5  # of the best score: what is weaker is not the root cause
BETTER = 0.01  # by which a later place of an error must be better than the first
FRAMED = 0.6  # support of frames that decides between files with one text


class Ranked(NamedTuple):
    """An error in the log, with its role."""

    match: Match
    choice: int  # which of the match's errors
    role: str  # root, consequence, other


def inside(inner: Match, outer: Match) -> bool:
    """Whether a match is in the text of another, in one of its values or the last."""
    if inner is outer or inner.piece != outer.piece:
        return False
    if any(start <= inner.pieces[0][0] and inner.pieces[-1][1] <= end for start, end in outer.holes):
        return True
    return outer.start <= inner.start and inner.end <= outer.end and inner.start > outer.start


def rank(matches: Sequence[Match], lexicon: Lexicon) -> list[Ranked]:
    """The errors in a log, the root cause first."""
    best = _one_each(matches, lexicon)
    consequences = {id(m) for m in best if _because(m, best, lexicon)}
    causes = [m for m in best if id(m) not in consequences]
    root = _root(causes)
    out: list[Ranked] = []
    if root is not None:
        out += _with_siblings(root, "root")
    for match in causes:
        if match is not root:
            out += _with_siblings(match, "other")
    for match in sorted((m for m in best if id(m) in consequences), key=lambda m: m.start):
        out += _with_siblings(match, "consequence")
    seen: set[int] = set()
    unique = []
    for ranked in out:
        entry = ranked.match.judged[ranked.choice].entry
        if entry not in seen:
            seen.add(entry)
            unique.append(ranked)
    return unique


def _one_each(matches: Sequence[Match], lexicon: Lexicon) -> list[Match]:
    """The best place of each error, in the order of first places."""
    best: dict[int, Match] = {}
    for match in sorted(matches, key=lambda m: m.start):
        key = match.judged[0].entry
        known = best.get(key)
        if known is None or _better(match, known):
            best[key] = match
    first: dict[int, int] = {}
    for match in matches:
        if not match.source:
            key = match.judged[0].entry
            first[key] = min(first.get(key, match.start), match.start)
    return sorted(best.values(), key=lambda m: first.get(m.judged[0].entry, m.start))


def _better(match: Match, known: Match) -> bool:
    return (not match.source, match.whole, match.said, match.judged[0].score > known.judged[0].score + BETTER) > (
        not known.source,
        known.whole,
        known.said,
        False,
    )


def _because(match: Match, all_: Sequence[Match], lexicon: Lexicon) -> bool:
    message = lexicon.entry(match.judged[0].entry).message
    if SAYS_SO.search(message):
        return True
    if any(inside(other, match) for other in all_):
        return True
    if match.raised is None or not match.said or not match.raised.chained:
        return False
    before = [m for m in all_ if m.end <= match.start and m.said and m.raised is not None]
    return any(m.raised is not None and m.raised.process == match.raised.process for m in before[-1:])


def _root(causes: Sequence[Match]) -> Match | None:
    """The first that an exception says and that is not much weaker than the best; else the first."""
    if not causes:
        return None
    most = max(m.judged[0].score for m in causes)
    strong = [m for m in causes if m.judged[0].score >= STRONG * most]
    return next((m for m in strong if m.said and not m.source), next((m for m in strong if not m.source), strong[0]))


def _with_siblings(match: Match, role: str) -> list[Ranked]:
    """The likeliest error of a match; the others with its text unless frames tell that they are not meant."""
    most = match.judged[0].support
    siblings = [n for n, j in enumerate(match.judged) if n and not (most >= FRAMED and j.support < most)][:SIBLINGS]
    return [Ranked(match, 0, role), *(Ranked(match, n, "other" if role == "root" else role) for n in siblings)]
