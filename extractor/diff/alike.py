"""Owns how alike two messages are, from 0 to 1: their text counts, and the less of it there is, their holes.

Comparing all with all costs microseconds a pair, so those of different files are only compared when they share
rare words: a product of two sparse matrices.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq
from scipy.sparse import csr_array

from extractor.diff.shape import ErrorLike

HOLE = "\ufffc"  # stands for any hole
LONGEST = 2_000  # characters of a message that are compared
BALANCE = 10.0  # so many letters of text weigh as much as all holes
COMMON = 50_000  # pairs that a word may bring up; one that is in more messages says little and costs much
SAID_AGAIN = 6  # words in one order, which are not the same by chance
SHARED = 0.5  # cosine of two messages' words, below which they are not looked at

_NAME = re.compile(r"\w[A-Z]|\d|_")  # of a class, a model, a version, a variable
_PIECE = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_SENTENCE = re.compile(r"[.:;!?\n](?:\s|(?=[A-Z][a-z]+\s))")
_WORD = re.compile(rf"\w+|{HOLE}")


@dataclass(frozen=True, slots=True)
class Text:
    """A message for comparing: as it is, with its holes emptied, and how many letters and digits it has of its own.

    `first` is its first sentence, which refuses; the rest advises, and many give the same advice. `gist` is what stays
    of a message that is copied from file to file with other names in it.
    """

    message: str
    emptied: str
    words: tuple[str, ...]  # of the emptied one
    gist: str
    own: int
    first: str


def text_of(error: ErrorLike) -> Text:
    """The message of an error, the one of its variants that stands for all."""
    message = error.message
    parts = next((v.parts for v in error.variants if v.message == message), ())
    emptied = "".join(part.text if isinstance(part.text, str) else HOLE for part in parts) if parts else message
    emptied = emptied[:LONGEST]
    words = _WORD.findall(emptied)
    return Text(
        message=message[:LONGEST],
        emptied=emptied,
        words=tuple(word.lower() for word in words),
        gist=" ".join(word for word in words if not _NAME.search(word)),
        own=sum(map(str.isalnum, emptied)),
        first=_SENTENCE.split(emptied, maxsplit=1)[0],
    )


def pieces(name: str) -> list[str]:
    """The words that a name is made of: `QuarkOCP_MX.apply` has quark, ocp, mx and apply."""
    return [piece.lower() for piece in _PIECE.findall(name)]


def alike(one: Text, other: Text) -> float:
    """How alike two messages are: by letters, which forgive an ending, and by words, which tell what it is about."""
    if one.message == other.message:
        return 1.0
    own = min(one.own, other.own)
    text = (fuzz.ratio(one.emptied, other.emptied) + fuzz.ratio(one.words, other.words)) / 2
    if one.emptied != one.first and other.emptied != other.first:
        text = min(text, (text + fuzz.ratio(one.first, other.first)) / 2)
    return (own * text + BALANCE * fuzz.ratio(one.message, other.message)) / (own + BALANCE) / 100


def said_again(one: Text, other: Text) -> float:
    """The part of the shorter message whose words are in the other in their order, when both begin with one word,
    which is what a refusal speaks of; 0 when there are few."""
    common = LCSseq.similarity(one.words, other.words)
    if common < SAID_AGAIN or one.words[0] != other.words[0]:
        return 0.0
    return common / min(len(one.words), len(other.words))


def sharing_words(olds: Sequence[Text], news: Sequence[Text]) -> Iterator[tuple[int, int]]:
    """The places of all pairs that have most of their rarer words in common."""
    words = [[Counter(w.lower() for w in _WORD.findall(t.message)) for t in side] for side in (olds, news)]
    counts = [Counter(w for c in side for w in c) for side in words]
    chosen = {w: n for n, w in enumerate(w for w in counts[0] if 0 < counts[0][w] * counts[1][w] <= COMMON)}
    if not chosen:
        return
    total = len(olds) + len(news)
    weights = [math.log(total / (counts[0][w] + counts[1][w])) + 0.1 for w in chosen]
    left, right = (_matrix(side, chosen, weights) for side in words)
    product = (left @ right.T).tocoo()
    good = product.data >= SHARED
    yield from zip(product.row[good].tolist(), product.col[good].tolist(), strict=True)


def _matrix(messages: Iterable[Counter[str]], columns: dict[str, int], weights: Sequence[float]) -> csr_array:
    """A row of length one for each message."""
    data: list[float] = []
    indices: list[int] = []
    starts = [0]
    for message in messages:
        row = [(columns[w], n * weights[columns[w]]) for w, n in message.items() if w in columns]
        length = math.hypot(*(weight for _, weight in row)) or 1.0
        indices += [column for column, _ in row]
        data += [weight / length for _, weight in row]
        starts.append(len(indices))
    return csr_array((np.array(data), np.array(indices), np.array(starts)), shape=(len(starts) - 1, len(columns)))
