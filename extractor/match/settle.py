"""Owns which of several messages that fit the same letters of a log is meant."""

from __future__ import annotations

from collections.abc import Sequence

from extractor.match.found import Match

MISSING = 0.25  # what a missing letter takes away, of what one that is there gives
SAID = 0.5  # when an exception says it
SCORE = 0.2
AROUND = 60  # letters between the ends of a value and a message that fills it


def worth(match: Match) -> float:
    """What decides between matches for the same letters: those found, less some of those missing."""
    missing = match.found / match.part - match.found if match.part else 0
    return (
        match.found
        - MISSING * missing
        + (SAID if match.said else 0)
        + SCORE * match.judged[0].score
        + match.judged[0].near
    )


def settle(matches: Sequence[Match]) -> list[Match]:
    """One match for each place in one piece of a log. What stands in a value of another is kept when it fills it."""
    kept: list[Match] = []
    taken: list[tuple[int, int, int]] = []  # first letter, last letter, index in `kept`
    for match in sorted(matches, key=lambda m: (-worth(m), m.start)):
        clash = False
        for first, last, index in taken:
            if first >= match.pieces[-1][1] or last <= match.pieces[0][0]:
                continue
            other = kept[index]
            if _in_a_hole(match, other) or _in_a_hole(other, match):
                continue
            clash = True
            break
        if not clash:
            taken.append((match.pieces[0][0], match.pieces[-1][1], len(kept)))
            kept.append(match)
    return sorted(kept, key=lambda m: m.start)


def _in_a_hole(inner: Match, outer: Match) -> bool:
    """Whether one fills a value of the other, but for quotes and the name of an exception."""
    first, last = inner.pieces[0][0], inner.pieces[-1][1]
    for start, end in outer.holes:
        if start <= first and last <= end:
            return first - start <= AROUND and end - last <= max(AROUND, (last - first) // 2)
    return first >= outer.pieces[-1][1] and first - outer.pieces[-1][1] <= AROUND
