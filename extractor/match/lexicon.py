"""Owns what is known of all messages before a log is read: their text in blocks, an automaton over the blocks.

Texts are cut into blocks of about fourteen letters and digits. A log is searched for the blocks; how many of a
message's blocks are there, and in order, survives what a log does to text: cut ends, insertions, other words.
Messages with the same text are one *shape*. Made once for a dataset and kept in the user's cache; marshal and
pickle read it back in milliseconds, which is safe there and would not be in a dataset that somebody sends.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from extractor.match.normalise import clean, squeeze

if TYPE_CHECKING:
    from extractor.model import Error, Provenance, Site, Variant

VERSION = 2
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
    joined = "".join(HOLE if text is None else text.replace(HOLE, "") + "\ue001" for text in texts)
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
    words = _WORD.findall(" ".join(text for text, _ in parts if text is not None))
    return any(word.lower() not in COMMON and any(c.isalpha() for c in word) for word in words)


_WORD = re.compile(r"[A-Za-z0-9_]{3,}")
COMMON = frozenset(
    """a able algorithm all already allowed already an and another any arg argument arguments array attribute attributes available
    bad bare base be been before bool both but bytes call called can cannot char character class code command config
    configuration connection contain contains content conversion convert converted count could create current data
    decode default defined device dict dictionary different dimension dimensions directory does doesn don double
    dtype duplicate duration each either element elements empty encoding end endpoint entry enum error errors exactly exceeded
    exception exist exists expected extension fail failed failure field fields file filename files find first float
    for format found from function get given global got greater group handler has hash have header id implement implemented
    in incompatible incorrect index indices initialized input inputs instance int integer integers internal into invalid is item items
    iterable iterator its json key keys kind label last least len length less level line list load loaded long longer
    lookup main mapping match matching max maximum message method min minimum mismatch missing mode model module
    more multiple must name named names need needs negative new next no non none not nothing null number object objects offset one
    only open operation operator option options or order other out output outputs over package parameter parameters parse parsing
    part pass passed path platform port positive possible process property protocol provide provided range read
    received reached recognized register registered request requests require required requires resource response result return returned returns root
    run running same schema second seconds sequence server set shape should sign single size sizes some source specified specify start started
    state status step still str string subclass subclasses strings such support supported supports take target task tensor test than that the
    there this thread time timed timeout token too tuple two type types unable undefined unexpected unreachable unicode unique unit unknown unrecognized unsupported
    until url use used using valid value values variable version was wait were when which while will with without wrong write yet
    you zero service unavailable""".split()
)


class Lexicon:
    """All messages of a dataset, ready to be searched for."""

    def __init__(self, source: dict[str, Any], core: bytes, automaton: Any, entries: list[bytes]) -> None:
        self.source = source
        shapes, self.postings = marshal.loads(core)
        self.shapes: list[Shape] = list(map(Shape._make, shapes))
        self.automaton = automaton
        self._entries = entries
        self._names: dict[int, frozenset[str]] = {}
        self._read: dict[int, Entry] = {}

    def entry(self, index: int) -> Entry:
        """One error."""
        found = self._read.get(index)
        if found is None:
            fields = marshal.loads(self._entries[index])
            fields[5] = tuple(map(Place._make, fields[5]))
            found = self._read[index] = Entry._make(fields)
        return found

    def names(self, index: int) -> frozenset[str]:
        """The names of files and functions that an error is raised in."""
        found = self._names.get(index)
        if found is None:
            sites = self.entry(index).sites
            found = frozenset(s.path.rpartition("/")[2] for s in sites) | {s.symbol.rpartition(".")[2] for s in sites}
            self._names[index] = found
        return found

    def __len__(self) -> int:
        return len(self._entries)


def dumps(source: Provenance, errors: Iterable[Error]) -> bytes:
    """The lexicon of a dataset in the form that `loads` reads."""
    import pickle

    import ahocorasick

    shapes: dict[tuple[tuple[str, ...], bool, bool], list[tuple[int, int]]] = {}
    special: dict[tuple[tuple[str, ...], bool, bool], bool] = {}
    entries: list[bytes] = []
    for number, error in enumerate(errors):
        variants = tuple(_parts(v) for v in error.variants)
        entries.append(_entry(error, variants))
        for n, parts in enumerate(variants):
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
    core = marshal.dumps((listed, [tuple(found) for found in postings.values()]))
    return marshal.dumps((described, core, pickle.dumps(automaton), entries))


def loads(data: bytes) -> Lexicon:
    """Reads what `dumps` wrote, from a place that nobody else can write to."""
    import pickle

    described, core, automaton, entries = marshal.loads(data)
    return Lexicon(described, core, pickle.loads(automaton), entries)


def _parts(variant: Variant) -> tuple[tuple[str | None, str | None], ...]:
    return tuple(
        (part.text, None) if isinstance(part.text, str) else (None, str(part.expr)) for part in variant.parts
    )


def _ends(parts: Sequence[tuple[str | None, str | None]]) -> tuple[bool, bool]:
    """Whether a value stands before all text with letters, and after it."""
    lettered = [text is not None and bool(squeeze(text)) for text, _ in parts]
    first, last = lettered.index(True), len(lettered) - 1 - lettered[::-1].index(True)
    return any(t is None for t, _ in parts[:first]), any(t is None for t, _ in parts[last + 1 :])


def _code(site: Site) -> str:
    index = site.line - site.context.start
    return site.context.lines[index].strip()[:200] if 0 <= index < len(site.context.lines) else ""


def _entry(error: Error, variants: tuple[tuple[tuple[str | None, str | None], ...], ...]) -> bytes:
    sites = tuple(
        (s.path, s.line, s.end_line, s.symbol, s.kind, s.exception, s.permalink, _code(s)) for s in error.sites
    )
    doc = next((d.text for s in error.sites for d in (s.exception_doc,) if d is not None), "")
    return marshal.dumps(
        [
            error.id,
            error.exception,
            error.message,
            error.kind,
            variants,
            sites,
            any(s.cause is not None for s in error.sites),
            tuple(dict.fromkeys(b.rpartition(".")[2] for s in error.sites for b in s.bases)),
            tuple(h.text for h in error.hints),
            doc,
        ]
    )
