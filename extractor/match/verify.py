"""Owns how well a message fits where a chain of its blocks was found: which of its text is there, what its values are.

A message is text with values between, and a value may be anything; so looking for each text in turn, after the one
before, finds a fit whenever there is one. That is plain searching, linear in the log, and needs no engine: a regular
expression (`pattern` in the dataset) would say the same, and RE2 costs as much to import as a whole search.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from extractor.match.find import HOLE, INSERTED, Chain
from extractor.match.lexicon import Shape, pieces
from extractor.match.normalise import squeeze
from extractor.match.text import Squeezed, Text

WRAP = re.compile(r"(?<=\S)\n(?=\S)", re.ASCII)
AGAIN = 8  # letters that show that a text goes on
LOST = 24  # letters of it that may be missing in between
LONGEST_VALUE = 600  # characters of a value that has no text after it


class Piece(NamedTuple):
    """Where one text of a message is in the log: `found` of its letters, between `start` and `end`."""

    start: int
    end: int
    found: int


class Fit(NamedTuple):
    """A message on a place of the squeezed text."""

    shape: int
    start: int
    end: int
    found: int  # letters of the message's text that are there, in order
    pieces: tuple[Piece | None, ...]
    head: bool  # its first letters are there
    foot: bool  # its last letters are there


def fit(chars: str, shape: Shape, chain: Chain) -> Fit:
    """The best fit of a message around a chain of its blocks."""
    starts = [0]
    for text in shape.pieces:
        starts.append(starts[-1] + len(text))
    anchored: list[Piece | None] = []
    hits = list(chain.hits)
    for text, first, last in zip(shape.pieces, starts, starts[1:], strict=False):
        own = [(p, o - first, n) for p, o, n in hits if first <= o < last]
        anchored.append(_anchored(chars, text, own) if own else None)
    placed = _between(chars, shape.pieces, anchored)
    there = [(i, p) for i, p in enumerate(placed) if p is not None]
    head = there[0][0] == 0 and chars.startswith(shape.pieces[0][:6], there[0][1].start)
    last_text = shape.pieces[-1]
    foot = there[-1][0] == len(placed) - 1 and chars.startswith(
        last_text[-6:], max(0, there[-1][1].end - min(6, len(last_text)))
    )
    found = sum(p.found for _, p in there)
    return Fit(chain.shape, there[0][1].start, there[-1][1].end, found, tuple(placed), head, foot)


def _anchored(chars: str, text: str, own: list[tuple[int, int, int]]) -> Piece:
    """A text some of whose blocks are known: whole, or as far as it goes on either side."""
    position, offset, _ = own[0]
    start = position - offset
    if start >= 0 and chars.startswith(text, start):
        return Piece(start, start + len(text), len(text))
    end_position, end_offset, end_length = own[-1]
    left = _common_back(chars, position, text, offset)
    end, right = _onwards(chars, end_position + end_length, text, end_offset + end_length)
    found = left + right
    for n, (p, o, size) in enumerate(own):  # between two blocks, what goes on from either
        found += size
        if n + 1 < len(own):
            q, r, _ = own[n + 1]
            on = min(_common(chars, p + size, text, o + size), r - o - size)
            back = min(_common_back(chars, q, text, r), r - o - size - on, q - p - size - on)
            found += on + back
    return Piece(position - left, end, found)


def _onwards(chars: str, i: int, text: str, j: int) -> tuple[int, int]:
    """How far a text goes on, over places where a few letters are lost, others, or put in: (end, letters found)."""
    n = _common(chars, i, text, j)
    end, found = i + n, n
    i, j = i + n, j + n
    while len(text) - j > AGAIN:
        for skipped in range(LOST):
            again = text[j + skipped : j + skipped + AGAIN]
            at = chars.find(again, i, i + INSERTED) if len(again) == AGAIN else -1
            if at >= 0:
                break
        else:
            break
        j += skipped
        n = _common(chars, at, text, j)
        end, found = at + n, found + n
        i, j = at + n, j + n
    return end, found


def _common(chars: str, i: int, text: str, j: int) -> int:
    n = 0
    most = min(len(chars) - i, len(text) - j)
    while n < most and chars[i + n] == text[j + n]:
        n += 1
    return n


def _common_back(chars: str, i: int, text: str, j: int) -> int:
    n = 0
    most = min(i, j)
    while n < most and chars[i - 1 - n] == text[j - 1 - n]:
        n += 1
    return n


def _between(chars: str, texts: Sequence[str], anchored: list[Piece | None]) -> list[Piece | None]:
    """Looks for the texts that had no block: backwards before the first known one, else forwards."""
    placed = list(anchored)
    first = next(i for i, p in enumerate(placed) if p is not None)
    limit = placed[first].start  # type: ignore[union-attr]
    for i in range(first - 1, -1, -1):
        at = chars.rfind(texts[i], max(0, limit - HOLE), limit)
        if at < 0:
            continue
        placed[i] = Piece(at, at + len(texts[i]), len(texts[i]))
        limit = at
    low = placed[first].end  # type: ignore[union-attr]
    for i in range(first + 1, len(texts)):
        known = placed[i]
        if known is not None:
            low = known.end
            continue
        high = next((p.start for p in placed[i + 1 :] if p is not None), low + HOLE)
        at = chars.find(texts[i], low, high)
        if at >= 0:
            placed[i] = Piece(at, at + len(texts[i]), len(texts[i]))
            low = at + len(texts[i])
        elif i == len(texts) - 1:  # cut: as much of it as the log ends with, or has in the place of it
            n = _common(chars, low, texts[i], 0)
            if n >= 3 or (n and low + n == len(chars)):
                placed[i] = Piece(low, low + n, n)
    return placed


# --- values ----------------------------------------------------------------------------------------------


def values(
    clean: Text, squeezed: Squeezed, parts: Sequence[tuple[str | None, str | None]], found: Fit, first: int, last: int
) -> list[tuple[str, str]]:
    """(expression, value) for each hole whose neighbours are there; `first` and `last` bound what is said."""
    texts, where = pieces(parts)
    if len(texts) != len(found.pieces):
        return []
    out: list[tuple[str, str]] = []
    previous: tuple[int, int] | None = (-1, first)  # index of the part, offset in the cleaned text behind it
    for n in range(len(texts) + 1):
        piece = found.pieces[n] if n < len(texts) else None
        stop = where[n] if n < len(texts) else len(parts)
        if n == len(texts):
            end = last
        elif piece is None:
            if previous is not None and all(p is None for p in found.pieces[n:]):
                first_hole = next(expr for _, expr in parts[previous[0] + 1 :] if expr is not None)
                between = [parts[previous[0]] if previous[0] >= 0 else ("", None), (None, first_hole)]
                stop_at = clean.chars.find("\n", previous[1])
                rest = clean.chars[previous[1] : stop_at if stop_at >= 0 else len(clean.chars)]
                if len(rest) <= LONGEST_VALUE:
                    out += [(e, v.rstrip(".…")) for e, v in _split(rest, between, previous[0] >= 0, False)]
            previous = None
            continue
        else:
            end = squeezed.at(piece.start)
        if previous is not None and (piece is None or piece.found == len(texts[n])):
            begin = previous[0]
            between = list(parts[max(begin, 0) : stop + 1])
            if any(expr is not None for _, expr in between):
                out += _split(clean.chars[previous[1] : end], between, begin >= 0, n < len(texts))
        if piece is not None:
            previous = (where[n], squeezed.at(piece.end - 1) + 1) if piece.found == len(texts[n]) else None
    return out


def _split(
    gap: str, between: Sequence[tuple[str | None, str | None]], opened: bool, closed: bool
) -> list[tuple[str, str]]:
    """A stretch without text of the message's own in letters: values, with marks between them."""
    tokens: list[tuple[str | None, str]] = []
    for i, (text, expr) in enumerate(between):
        if text is None:
            tokens.append((expr, ""))
        elif i == 0 and opened:
            tokens.append((None, _after_letters(text)))
        elif i == len(between) - 1 and closed:
            tokens.append((None, _before_letters(text)))
        else:
            tokens.append((None, text if not squeeze(text) else ""))
    out: list[tuple[str, str]] = []
    position = 0
    waiting: str | None = None
    for n, (expr, mark) in enumerate(tokens):
        if expr is not None:
            if waiting is not None:
                out.append((waiting, ""))
            waiting = expr
            continue
        core = " ".join(mark.split())
        if not core:
            continue
        at = gap.rfind(core, position) if n == len(tokens) - 1 else gap.find(core, position)
        while at < 0 and len(core) > 1:  # marks that were written otherwise, or lost
            core = core[:-1].rstrip()
            at = gap.find(core, position)
        if at < 0:
            continue
        if waiting is not None:
            out.append((waiting, _value(gap[position:at])))
            waiting = None
        position = at + len(core)
    if waiting is not None:
        out.append((waiting, _value(gap[position:])))
    return out


def _after_letters(text: str) -> str:
    n = len(text)
    while n and not text[n - 1].isalnum():
        n -= 1
    return text[n:]


def _before_letters(text: str) -> str:
    n = 0
    while n < len(text) and not text[n].isalnum():
        n += 1
    return text[:n]


def _value(text: str) -> str:
    """Without the line ends that a terminal put in: a hard wrap has no space on either side."""
    return WRAP.sub("", text.strip(" \t\n"))
