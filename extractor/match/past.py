"""Owns what a log says in words that the dataset at hand does not have: wordings of other releases, from a history.

Asked only when the dataset has nothing that fits well, so a log that is of this release never pays for it. Texts of
many releases find more by chance; so here a message has to be there whole.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from extractor.errors import ToolError
from extractor.match import engine, library, rank, stream
from extractor.match.lexicon import VERSION, Lexicon, dumps

if TYPE_CHECKING:
    from extractor.history.wording import Wording

FILE = "history.jsonl"
PIECES = 16  # of a log that are kept for a second search


class Past(NamedTuple):
    """Errors of other releases in a log, and what became of each by its id."""

    ranked: list[rank.Ranked]
    lexicon: Lexicon
    wordings: dict[str, Wording]


class Kept:
    """Hands the pieces of a log on, and keeps those that a second search would look at."""

    def __init__(self, pieces: Iterable[stream.Piece], wanted: bool) -> None:
        self._pieces = pieces
        self._wanted = wanted
        self.kept: list[stream.Piece] = []

    def __iter__(self) -> Iterator[stream.Piece]:
        for piece in self._pieces:
            if self._wanted and len(self.kept) < PIECES and stream.worth_it(piece):
                self.kept.append(piece)
            yield piece


def exists(out: str) -> bool:
    """Whether there is a history beside the datasets."""
    return os.path.exists(os.path.join(out, FILE))


def fits_badly(found: list[rank.Ranked]) -> bool:
    """Whether the dataset at hand has nothing, or only what is worded otherwise."""
    return all(one.match.rough for one in found)


def search(pieces: Iterable[stream.Piece], out: str, cache: str | None) -> Past | None:
    """The errors of other releases in a log; None when there are none. Raises `ToolError` for a broken history."""
    path = os.path.join(out, FILE)
    lexicon = load(path, cache)
    found = whole(pieces, lexicon)
    ranked: list[rank.Ranked] = []
    wordings: dict[str, Wording] = {}
    for one in found:
        error_id = lexicon.entry(one.match.judged[one.choice].entry).id
        wording = _wording(path, error_id)
        if wording is not None:
            wordings[error_id] = wording
            ranked.append(one)
    return Past(ranked, lexicon, wordings) if ranked else None


def whole(pieces: Iterable[stream.Piece], lexicon: Lexicon) -> list[rank.Ranked]:
    """The errors whose whole text is there."""
    return [one for one in engine.of_pieces(pieces, lexicon).ranked if one.match.whole]


def details(wording: Wording) -> dict[str, Any]:
    """The conditions of a wording's sites, in the form of a dataset's record."""
    state = wording.state
    return {
        "sites": [
            {"path": state.path, "line": site.line, "guards": [{"text": guard.text} for guard in site.guards]}
            for site in state.sites
        ]
    }


def _wording(path: str, error_id: str) -> Wording | None:
    from pathlib import Path

    from extractor.history import store, wording

    header, lines = store.read_lines(Path(path), error_id)
    return wording.became(lines, header, error_id)


def load(path: str, cache: str | None) -> Lexicon:
    """The lexicon of a history, made when it is not there yet. Raises `ToolError`."""
    try:
        with open(path, "rb") as file:
            header = file.readline()  # it holds a sum of all that follows
    except OSError as e:
        raise ToolError(f"{path} cannot be read ({e.strerror}): move it away, or build it again") from None
    sums = f"{zlib.crc32(header):08x}{zlib.adler32(header):08x}{len(header):x}"
    key = f"{sums}-past-{VERSION}-{sys.implementation.cache_tag}"
    return library.kept(key, cache, lambda: _made(path))


def _made(path: str) -> bytes:
    from pathlib import Path

    from extractor.history import store, wording
    from extractor.model import Provenance

    history = store.read(Path(path))
    return dumps(Provenance(repo=history.header.repo, label="history"), wording.errors(history))
