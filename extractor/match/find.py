"""Owns finding candidates: blocks of messages in squeezed text, chained where they follow each other.

One pass of the automaton, a constant amount of work for each hit. What a chain is worth is for `verify` to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from extractor.match.lexicon import Lexicon, Shape

HOLE = 6_000  # letters of one value: a dataclass and a dict of reasons have two thousand
INSERTED = 160  # letters that a log may put into the middle of a text: a prefix that is not known
GOES_ON = 8  # letters behind a block that tell that a cut message is there
ENOUGH = 24  # letters in blocks that may become a match
SHARE = 3  # or this part of all: a wrap may break one block of two
OFTEN = 16  # times that one text is looked at in one piece of a log: the same error once a worker


class Chain(NamedTuple):
    """Blocks of one shape in order: (position in the text, offset in the shape, length)."""

    shape: int
    hits: tuple[tuple[int, int, int], ...]


def chains(chars: str, lexicon: Lexicon) -> Iterator[Chain]:
    """Every chain with enough of its message in it to be looked at."""
    postings, shape = lexicon.postings, lexicon.shape
    open_: dict[int, list[tuple[int, int, int]]] = {}
    seen: dict[int, int] = {}
    for end, block in lexicon.automaton.iter(chars):
        for number, offset, length in postings(block):
            hit = (end + 1 - length, offset, length)
            hits = open_.get(number)
            if hits is None:
                open_[number] = [hit]
                continue
            position, before, size = hits[-1]
            gap = hit[0] - position - size
            if offset >= before + size and 0 <= gap <= _limit(shape(number), before, offset):
                hits.append(hit)
                continue
            open_[number] = [hit]
            times = seen.get(number, 0)
            if times < OFTEN and _worth(chars, shape(number), hits):
                seen[number] = times + 1
                yield Chain(number, tuple(hits))
    for number, hits in open_.items():
        if _worth(chars, shape(number), hits):
            yield Chain(number, tuple(hits))


def enough(shape: Shape, found: int) -> bool:
    """Whether so many letters of a text in blocks may become a match."""
    return found >= ENOUGH or found * SHARE >= shape.total


def _worth(chars: str, shape: Shape, hits: list[tuple[int, int, int]]) -> bool:
    """Whether a chain is to be looked at: enough blocks, or one behind which the text goes on until it is cut."""
    if enough(shape, sum(hit[2] for hit in hits)):
        return True
    position, offset, size = hits[-1]
    following = chars[position + size : position + size + GOES_ON]
    start = offset + size
    for piece in shape.pieces:
        if start < len(piece):
            return len(following) == GOES_ON and start > 0 and piece.startswith(following, start)
        start -= len(piece)
    return False


def _limit(shape: Shape, before: int, offset: int) -> int:
    """How far apart two blocks may be: about as in the text, or a value in between."""
    passed = 0
    for piece in shape.pieces:
        passed += len(piece)
        if before < passed:
            return HOLE if offset >= passed else offset - before + INSERTED
    return INSERTED
