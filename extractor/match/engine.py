"""Owns the way from a stream to ranked errors: pieces searched one by one, the best places of each error kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

from extractor.match import rank, search, stream, versions
from extractor.match.found import Match
from extractor.match.lexicon import Lexicon

BANNER = 4  # pieces in which a log says what wrote it
PLACES = 6  # of one error that are kept: the first ones, and better ones in the place of the last


class Answer(NamedTuple):
    """What a log holds: errors, root cause first, and the release that it names."""

    ranked: list[rank.Ranked]
    release: str | None


def answer(log: BinaryIO, lexicon: Lexicon) -> Answer:
    """Searches a log from its start to its end, once."""
    return of_pieces(stream.pieces(log), lexicon)


def of_pieces(pieces: Iterable[stream.Piece], lexicon: Lexicon) -> Answer:
    """Searches pieces of a log in their order."""
    places: dict[int, list[Match]] = {}
    release = None
    for piece in pieces:
        if release is None and piece.number < BANNER:
            release = versions.stated(piece.text)
        if not stream.promising(piece, lexicon):
            continue
        found = search.search(piece.text, lexicon, piece.number)
        for match in found:
            if piece.start <= match.start < piece.end:
                _keep(places, _placed(match, piece))
    matches = [match for found in places.values() for match in found]
    return Answer(rank.rank(matches, lexicon), release)


def _placed(match: Match, piece: stream.Piece) -> Match:
    """With lines of the log, and an order among all pieces."""
    before = piece.number * stream.OWN - piece.start  # where the piece's text begins in the log, near enough to order
    return match._replace(
        first_line=match.first_line + piece.line,
        last_line=match.last_line + piece.line,
        start=match.start + before,
        end=match.end + before,
    )


def _keep(places: dict[int, list[Match]], match: Match) -> None:
    found = places.setdefault(match.judged[0].entry, [])
    if len(found) < PLACES:
        found.append(match)
    elif (match.said, match.judged[0].score) > (found[-1].said, found[-1].judged[0].score):
        found[-1] = match
