"""Owns what is known of all messages before a log is read: their text in blocks, an automaton over the blocks.

Texts are cut into blocks of about fourteen letters and digits. A log is searched for the blocks; how many of a
message's blocks are there, and in order, survives what a log does to text: cut ends, insertions, other words.
Messages with the same text are one *shape*. Made once for a dataset and kept in the user's cache; marshal and
pickle read it back in milliseconds, which is safe there and would not be in a dataset that somebody sends.
"""

from __future__ import annotations

import marshal
import re
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from extractor.match.normalise import clean, squeeze

if TYPE_CHECKING:
    from extractor.model import Error, Provenance, Site, Variant

VERSION = 6
MAGIC = b"vllm-errors lexicon\n"
BLOCK = 14
SHORTEST = 6  # a block of fewer letters is everywhere
SHORT = 10  # pieces below this are sought only where a message has no longer one
MOST_BLOCKS = 60  # of one message
HOLE = "\ue000"

Posting = tuple[int, int, int]  # shape, offset in its text, length


class Shape(NamedTuple):
    """The squeezed text of a message: `pieces` between its holes."""

    pieces: tuple[str, ...]
    lead: bool  # a value comes before the first piece
    tail: bool  # and after the last
    total: int  # letters and digits
    special: bool  # it has a word that is not in everybody's errors, so that a few words are enough
    errors: tuple[tuple[int, int], ...]  # which errors have it, as which variant


class Place(NamedTuple):
    """A site, as far as matching needs it."""

    path: str
    line: int
    end_line: int
    symbol: str
    kind: str
    exception: str
    permalink: str | None
    code: str  # the first line of its source


class Entry(NamedTuple):
    """An error, as far as matching needs it; parts of variants are (text, None) or (None, expression)."""

    id: str
    exception: str
    message: str
    kind: str
    variants: tuple[tuple[tuple[str | None, str | None], ...], ...]
    sites: tuple[Place, ...]
    cause: bool  # raised from another exception
    bases: tuple[str, ...]  # names of the exceptions that it is one of, without their modules
    hints: tuple[str, ...]
    docs: str


def pieces(parts: Sequence[tuple[str | None, str | None]]) -> tuple[list[str], list[int]]:
    """The squeezed text between holes, and the index of the part that each comes from.

    Literals go through the same normalising as logs, or a message with `\\n` in two characters would not be found.
    """
    texts = [text for text, _ in parts]
    joined = _joined(parts)
    cleaned = clean(joined).chars
    runs = cleaned.split(HOLE)
    if len(runs) != sum(text is None for text in texts) + 1:
        runs = joined.split(HOLE)
    found, where = [], []
    index = 0
    for n, run in enumerate(runs):
        last = index
        while index < len(texts) and texts[index] is not None:
            last = index
            index += 1
        small = squeeze(run)
        if small:
            found.append(small)
            where.append(last)
        if n < len(runs) - 1:
            index += 1
    return found, where


def is_uneven(parts: Sequence[tuple[str | None, str | None]]) -> bool:
    """Whether normalising changes the text of a message: one in six hundred."""
    joined = _joined(parts)
    return clean(joined).chars != joined


def _joined(parts: Sequence[tuple[str | None, str | None]]) -> str:
    return "".join(HOLE if text is None else text.replace(HOLE, "") + "\ue001" for text, _ in parts)


def blocks(texts: Sequence[str]) -> list[tuple[int, str]]:
    """(offset in the whole, text) of what is sought for a message."""
    least = SHORT if any(len(text) >= SHORT for text in texts) else SHORTEST
    out: list[tuple[int, str]] = []
    offset = 0
    for text in texts:
        if len(text) >= least:
            starts = list(range(0, len(text), BLOCK))
            if len(starts) > 1 and len(text) - starts[-1] < BLOCK // 2:
                starts.pop()
            for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
                out.append((offset + start, text[start:end]))
        offset += len(text)
    return out[:MOST_BLOCKS]


def is_special(parts: Sequence[tuple[str | None, str | None]]) -> bool:
    """Whether a message has a word that other libraries' errors hardly have."""
    from extractor.match.common import COMMON

    words = _WORD.findall(" ".join(text for text, _ in parts if text is not None))
    return any(word.lower() not in COMMON and any(c.isalpha() for c in word) for word in words)


_WORD = re.compile(r"[A-Za-z0-9_]{3,}")


class Records:
    """Many small values in one run of bytes, read one at a time."""

    def __init__(self, data: memoryview, ends: memoryview) -> None:
        self._data = data
        self._ends = array("I", ends.tobytes())

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> Any:
        return marshal.loads(self._data[self._ends[index - 1] if index else 0 : self._ends[index]])

    @staticmethod
    def packed(values: Iterable[Any]) -> tuple[bytes, bytes]:
        """What the constructor takes."""
        parts = [marshal.dumps(value) for value in values]
        return b"".join(parts), array("I", accumulate(map(len, parts))).tobytes()


class Lexicon:
    """All messages of a dataset, ready to be searched for; what a log does not touch stays in its bytes."""

    def __init__(
        self, source: dict[str, Any], automaton: Any, shapes: Records, postings: Records, entries: Records
    ) -> None:
        self.source = source
        self.automaton = automaton
        self._records = (shapes, postings, entries)
        self._shapes: dict[int, Shape] = {}
        self._postings: dict[int, tuple[Posting, ...]] = {}
        self._entries: dict[int, Entry] = {}
        self._names: dict[int, frozenset[str]] = {}

    def shape(self, index: int) -> Shape:
        """The text of a message."""
        found = self._shapes.get(index)
        if found is None:
            found = self._shapes[index] = Shape._make(self._records[0][index])
        return found

    def postings(self, block: int) -> tuple[Posting, ...]:
        """Which shapes have a block."""
        found = self._postings.get(block)
        if found is None:
            found = self._postings[block] = self._records[1][block]
        return found

    def entry(self, index: int) -> Entry:
        """One error."""
        found = self._entries.get(index)
        if found is None:
            fields = self._records[2][index]
            fields[5] = tuple(map(Place._make, fields[5]))
            found = self._entries[index] = Entry._make(fields)
        return found

    def __len__(self) -> int:
        return len(self._records[2])

    def names(self, index: int) -> frozenset[str]:
        """The names of files and functions that an error is raised in."""
        found = self._names.get(index)
        if found is None:
            sites = self.entry(index).sites
            found = frozenset(s.path.rpartition("/")[2] for s in sites) | {s.symbol.rpartition(".")[2] for s in sites}
            self._names[index] = found
        return found


def dumps(source: Provenance, errors: Iterable[Error]) -> bytes:
    """The lexicon of a dataset in the form that `loads` reads."""
    import pickle

    import ahocorasick  # type: ignore[import-not-found]

    shapes: dict[tuple[tuple[str, ...], bool, bool], list[tuple[int, int]]] = {}
    special: dict[tuple[tuple[str, ...], bool, bool], bool] = {}
    entries: list[list[Any]] = []
    for number, error in enumerate(errors):
        entry = entry_of(error)
        entries.append([*entry._replace(sites=tuple(map(tuple, entry.sites)))])  # type: ignore[arg-type]  # for marshal
        for n, parts in enumerate(entry.variants):
            texts, _ = pieces(parts)
            if texts:
                lead, tail = _ends(parts)
                shapes.setdefault((tuple(texts), lead, tail), []).append((number, n))
                special[tuple(texts), lead, tail] = is_special(parts)
    listed = [
        (texts, lead, tail, sum(map(len, texts)), special[texts, lead, tail], tuple(who))
        for (texts, lead, tail), who in shapes.items()
    ]
    postings: dict[str, list[Posting]] = {}
    for number, shape in enumerate(listed):
        for offset, text in blocks(shape[0]):
            postings.setdefault(text, []).append((number, offset, len(text)))
    automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
    for n, text in enumerate(postings):
        automaton.add_word(text, n)
    automaton.make_automaton()
    described = {"label": source.label, "release": source.release, "commit": source.commit, "repo": source.repo}
    sections = [marshal.dumps(described), pickle.dumps(automaton)]
    for values in (listed, map(tuple, postings.values()), entries):
        sections += Records.packed(values)
    return b"".join((MAGIC, array("I", map(len, sections)).tobytes(), *sections))


def loads(data: bytes) -> Lexicon:
    """Reads what `dumps` wrote, from a place that nobody else can write to. Raises `ValueError` for anything else."""
    import pickle

    if not data.startswith(MAGIC):
        raise ValueError("not a lexicon")
    start = len(MAGIC) + 8 * array("I").itemsize
    lengths = array("I", data[len(MAGIC) : start])  # bytes are taken as they are, not one by one
    if len(data) != start + sum(lengths):
        raise ValueError("not the whole of a lexicon")
    ends = [start, *accumulate(lengths, initial=start)][1:]
    view = memoryview(data)
    described, automaton, *packed = (view[a:b] for a, b in pairwise(ends))
    records = [Records(packed[n], packed[n + 1]) for n in (0, 2, 4)]
    return Lexicon(marshal.loads(described), pickle.loads(automaton), *records)


def _parts(variant: Variant) -> tuple[tuple[str | None, str | None], ...]:
    return tuple((part.text, None) if isinstance(part.text, str) else (None, str(part.expr)) for part in variant.parts)


def _ends(parts: Sequence[tuple[str | None, str | None]]) -> tuple[bool, bool]:
    """Whether a value stands before all text with letters, and after it."""
    lettered = [text is not None and bool(squeeze(text)) for text, _ in parts]
    first, last = lettered.index(True), len(lettered) - 1 - lettered[::-1].index(True)
    return any(t is None for t, _ in parts[:first]), any(t is None for t, _ in parts[last + 1 :])


def _code(site: Site) -> str:
    index = site.line - site.context.start
    return site.context.lines[index].strip()[:200] if 0 <= index < len(site.context.lines) else ""


def entry_of(error: Error) -> Entry:
    """What matching needs of an error."""
    return Entry(
        id=error.id,
        exception=error.exception,
        message=error.message,
        kind=error.kind,
        variants=tuple(_parts(v) for v in error.variants),
        sites=tuple(
            Place(s.path, s.line, s.end_line, s.symbol, s.kind, s.exception, s.permalink, _code(s)) for s in error.sites
        ),
        cause=any(s.cause is not None for s in error.sites),
        bases=tuple(dict.fromkeys(b.rpartition(".")[2] for s in error.sites for b in s.bases)),
        hints=tuple(h.text for h in error.hints),
        docs=next((d.text for s in error.sites for d in (s.exception_doc,) if d is not None), ""),
    )
