"""Owns reading a log of any size in any encoding, in pieces that overlap; memory does not grow with the log.

A piece is searched with what comes before and after it, so that nothing is cut in two, and gives what begins in its
own part. In a long log a piece is looked at closely only when a quick look finds a block of a message in it, an
exception or a traceback: most of a long log is neither.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from extractor.match.find import enough
from extractor.match.lexicon import Lexicon
from extractor.match.normalise import squeeze

OWN = 1 << 18  # characters of a piece's own part
AROUND = 1 << 14  # and of what is looked at on either side: a value may be six thousand letters long
BLOCK = 1 << 18  # bytes read at once
SMALL = 2  # pieces that are looked at closely in any case
SIGNS = ("Traceback (most", "Error:", "Error(", "Exception:", "Exception(", 'File "', "raised", "panicked", "error:")


class Piece(NamedTuple):
    """A part of a log; matches that begin in [start, end) of the text are its own."""

    text: str
    start: int
    end: int
    line: int  # lines before the text
    number: int


def encoding(head: bytes) -> str:
    """UTF-8 unless the first bytes say UTF-16 or 32, by their mark or by every other byte being none."""
    for mark, name in ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32")):
        if head.startswith(mark):
            return name
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = head[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if len(sample) >= 8 and max(even, odd) > 0.4 * len(sample) / 2 and min(even, odd) < 0.05 * len(sample):
        return "utf-16-le" if odd > even else "utf-16-be"
    return "utf-8"


def decoded(stream: BinaryIO) -> Iterator[str]:
    """The text of a stream as it comes; what is not valid becomes a mark."""
    block = stream.read(BLOCK)
    if not block:
        return
    decoder = codecs.getincrementaldecoder(encoding(block))("replace")
    while block:
        yield decoder.decode(block)
        block = stream.read(BLOCK)
    yield decoder.decode(b"", True)


def pieces(stream: BinaryIO) -> Iterator[Piece]:
    """The log in pieces."""
    buffer, line, number, start = "", 0, 0, 0
    for text in decoded(stream):
        buffer += text
        while len(buffer) - start >= OWN + AROUND:
            end = start + OWN
            yield Piece(buffer[: end + AROUND], start, end, line, number)
            number += 1
            cut = max(0, end - AROUND)
            line += buffer.count("\n", 0, cut)
            buffer, start = buffer[cut:], end - cut
    if buffer[start:]:
        yield Piece(buffer, start, len(buffer) + 1, line, number)


def worth_it(piece: Piece) -> bool:
    """Whether a piece is looked at whatever the messages are."""
    return piece.number < SMALL or any(sign in piece.text for sign in SIGNS)


def promising(piece: Piece, lexicon: Lexicon) -> bool:
    """Whether a piece may have something in it, at a fraction of the cost of a search."""
    if worth_it(piece):
        return True
    found: dict[int, int] = {}
    for block in {block for _, block in lexicon.automaton.iter(squeeze(piece.text))}:
        for number, _, length in lexicon.postings(block):
            found[number] = found.get(number, 0) + length
    return any(enough(lexicon.shape(number), letters) for number, letters in found.items())
