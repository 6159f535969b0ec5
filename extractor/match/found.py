"""Owns what a message found in a log is, before it is compared with the others."""

from __future__ import annotations

from typing import NamedTuple

from extractor.match.judge import Judged
from extractor.match.log import Raised

LONGEST = 8_000  # characters of a message that are kept


class Match(NamedTuple):
    """A message of the dataset in the log, before it is compared with the others."""

    judged: tuple[Judged, ...]  # errors with this message, likeliest first
    found: int  # letters of text
    part: float
    whole: bool
    start: int  # offsets in the piece of the log, as it is
    end: int
    first_line: int  # from 1
    last_line: int
    matched: str
    values: tuple[tuple[tuple[str, str], ...], ...]  # for each of `judged`
    raised: Raised | None
    said: bool
    rough: bool  # other words in it, or some are missing, where nothing was cut
    source: bool
    inside: tuple[int, int]  # the same, in cleaned text
    shape: int
    piece: int  # which piece of the log: letters are counted from its start
    pieces: tuple[tuple[int, int], ...]  # where its texts are, in letters
    holes: tuple[tuple[int, int], ...]  # and its values
