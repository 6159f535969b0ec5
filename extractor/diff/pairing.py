"""Owns which error of one tree is which error of another: the same id, the same message elsewhere, alike and near.

Each step takes from what the one before left. A step weighs all its pairs at once and takes the best total, so
that no early choice spoils a later one. A pair that a reader would deny is worse than none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from posixpath import basename, dirname

from rapidfuzz import fuzz

from extractor.diff.alike import Text, alike, sharing_words, text_of
from extractor.diff.assign import best
from extractor.diff.shape import RAISE, E, ErrorLike, path_of, sites_of

MODULE = "<module>"
SHORT = 12  # letters and digits; a message with fewer is only itself where it was
TELLING = 16  # with as many, a message may be known again in any file

# how alike texts must be, and how much less when the condition is the same: measured by reading pairs of releases
IN_SYMBOL, IN_FILE, ELSEWHERE = (0.68, 0.3), (0.8, 0.2), (0.88, 0.1)
SAME_IN_SYMBOL, SAME_ELSEWHERE = 0.25, 0.6  # under the very same condition
LONG = 60  # letters of a condition that is not the same by chance
RETYPED = 0.1  # so much more alike when the exception is another


@dataclass(frozen=True, slots=True)
class _One:
    """What pairing looks at of an error."""

    text: Text
    path: str
    symbols: frozenset[str]
    classes: frozenset[str]
    names: frozenset[str]
    exceptions: frozenset[str]
    guards: frozenset[str]
    deciding: frozenset[str]  # the last guard of each site


def _one(error: ErrorLike) -> _One:
    sites = sites_of(error)
    symbols = frozenset(s.symbol for s in sites)
    return _One(
        text=text_of(error),
        path=path_of(error),
        symbols=symbols,
        classes=frozenset(s.rpartition(".")[0] for s in symbols) - {""},
        names=frozenset(s.rpartition(".")[2].lstrip("_") for s in symbols),
        exceptions=frozenset(s.exception.rpartition(".")[2] for s in sites),
        guards=frozenset(g.text for s in sites for g in s.guards),
        deciding=frozenset(s.guards[-1].text for s in sites if s.guards),
    )


@dataclass(slots=True)
class _Files:
    """Which files became which, as the pairs so far tell."""

    votes: Counter[tuple[str, str]] = field(default_factory=Counter)
    gone: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()

    def same(self, old: str, new: str) -> bool:
        """Whether one file is the other, or was made of it."""
        if old == new:
            return True
        votes = self.votes[old, new]
        return votes > 1 or (old in self.gone and (votes > 0 or (new in self.new and _one_name(old, new))))


def _one_name(old: str, new: str) -> bool:
    """Moved to another folder, or become a package."""
    if basename(old) == basename(new) and basename(new) != "__init__.py":
        return True
    return new == f"{old.removesuffix('.py')}/__init__.py" or old == f"{new.removesuffix('.py')}/__init__.py"


def pairs(old: Sequence[E], new: Sequence[E]) -> list[tuple[E | None, E | None]]:
    """Each raised error of both sides once: with its other self, or alone. In the order of `old`, then of `new`."""
    olds = [e for e in old if e.kind == RAISE]
    news = [e for e in new if e.kind == RAISE]
    found = _Pairing(olds, news).found
    taken = set(found.values())
    return [(e, news[found[n]] if n in found else None) for n, e in enumerate(olds)] + [
        (None, e) for n, e in enumerate(news) if n not in taken
    ]


class _Pairing:
    """The steps, with what is still to be paired."""

    def __init__(self, olds: Sequence[ErrorLike], news: Sequence[ErrorLike]) -> None:
        self.found: dict[int, int] = {}
        self._news_found: set[int] = set()
        self._by_id(olds, news)
        self._olds = {n: _one(e) for n, e in enumerate(olds) if n not in self.found}
        self._news = {n: _one(e) for n, e in enumerate(news) if n not in self._news_found}
        paths = frozenset(map(path_of, olds)), frozenset(map(path_of, news))
        self._files = _Files(gone=paths[0] - paths[1], new=paths[1] - paths[0])
        self._same_message()
        self._alike()

    def _take(self, pairs: Iterable[tuple[int, int]]) -> None:
        for old, new in pairs:
            self.found[old] = new
            self._news_found.add(new)

    def _kept(self, pairs: Iterable[tuple[int, int]]) -> None:
        for old, new in pairs:
            one, other = self._olds.pop(old), self._news.pop(new)
            if one.path != other.path:
                self._files.votes[one.path, other.path] += 1
            self._take([(old, new)])

    def _by_id(self, olds: Sequence[ErrorLike], news: Sequence[ErrorLike]) -> None:
        """By what the id is made of, but for the repository: a fork's errors are the same."""
        there = {(e.message or _named(e), path_of(e), bool(e.message)): n for n, e in enumerate(news)}
        for n, e in enumerate(olds):
            same = there.get((e.message or _named(e), path_of(e), bool(e.message)))
            if same is not None:
                self._take([(n, same)])

    # --- the same message in another file ---

    def _same_message(self) -> None:
        groups: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, ones in enumerate((self._olds, self._news)):
            for n, one in ones.items():
                groups[one.text.message][side].append(n)
        there = [group for group in groups.values() if all(group)]
        for sure in (True, False):  # what can only be one first: it tells which files were renamed
            for olds, news in there:
                if (len(olds) == len(news) == 1) == sure:
                    scores = {(o, n): self._moved(self._olds[o], self._news[n]) for o in olds for n in news}
                    self._kept(best(scores))

    def _moved(self, old: _One, new: _One) -> float:
        """How well an error is the same message in another file; 0: it is another error."""
        together = self._files.same(old.path, new.path)
        same_symbol = bool(old.symbols & new.symbols - {MODULE})
        if old.text.own < TELLING and not together and not same_symbol:
            return 0.0
        same_exception = bool(old.exceptions & new.exceptions)
        if old.text.own < SHORT and not (same_symbol and same_exception):
            return 0.0
        return (
            1.0
            + 4 * same_symbol
            + 3 * together
            + 2 * same_exception
            + 2 * bool(old.names & new.names)
            + bool(old.classes & new.classes)
            + (basename(old.path) == basename(new.path))
            + _share(old.guards, new.guards)
            + _closeness(old.path, new.path)
        )

    # --- another message, alike and near ---

    def _alike(self) -> None:
        scores: dict[tuple[int, int], float] = {}
        for old, new in {*self._neighbours(), *self._sharing_words()}:
            score = self._near(self._olds[old], self._news[new])
            if score > 0:
                scores[old, new] = score
        self._kept(best(scores))

    def _neighbours(self) -> Iterable[tuple[int, int]]:
        """Pairs of one file, of a renamed one, or of one symbol."""
        by_path: dict[str, list[int]] = defaultdict(list)
        by_symbol: dict[str, list[int]] = defaultdict(list)
        for n, one in self._news.items():
            by_path[one.path].append(n)
            for symbol in one.symbols - {MODULE}:
                by_symbol[symbol].append(n)
        for o, one in self._olds.items():
            for path, news in by_path.items():
                if self._files.same(one.path, path):
                    yield from ((o, n) for n in news)
            for symbol in one.symbols:
                yield from ((o, n) for n in by_symbol.get(symbol, ()))

    def _sharing_words(self) -> Iterable[tuple[int, int]]:
        olds, news = list(self._olds), list(self._news)
        texts = [one.text for one in self._olds.values()], [one.text for one in self._news.values()]
        for old, new in sharing_words(*texts):
            yield olds[old], news[new]

    def _near(self, old: _One, new: _One) -> float:
        """How well an error is another, reworded; 0: they are two."""
        text = alike(old.text, new.text)
        together = self._files.same(old.path, new.path)
        same_symbol = bool(old.symbols & new.symbols - {MODULE})
        same_exception = bool(old.exceptions & new.exceptions)
        condition = _same_condition(old, new)
        the_same = condition == 1.0 and same_exception
        if together and same_symbol:
            least = SAME_IN_SYMBOL if the_same else IN_SYMBOL[0] - IN_SYMBOL[1] * condition
        elif the_same and sum(map(len, old.guards)) >= LONG:
            least = SAME_ELSEWHERE
        elif together or same_symbol:
            least = IN_FILE[0] - IN_FILE[1] * condition
        elif min(old.text.own, new.text.own) >= TELLING:
            least = ELSEWHERE[0] - ELSEWHERE[1] * condition
        else:
            return 0.0
        if text < least + (0 if same_exception else RETYPED):
            return 0.0
        near = 0.3 * same_symbol + 0.1 * bool(old.names & new.names) + 0.2 * together + 0.1 * same_exception
        return text**2 + near + 0.3 * condition + 0.1 * _closeness(old.path, new.path)


def _same_condition(old: _One, new: _One) -> float:
    """From 0 to 1: the guards that both have, and how alike the last ones are, which decide."""
    if old.guards == new.guards:
        return 1.0
    last = max((fuzz.ratio(a, b) / 100 for a in old.deciding for b in new.deciding), default=0.0)
    return (_share(old.guards, new.guards) + last) / 2


def _named(error: ErrorLike) -> str:
    return error.sites[0].exception


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """The part that two sets have in common; nothing in common when both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _closeness(one: str, other: str) -> float:
    """The part of the folders that two paths share, from the root."""
    left, right = dirname(one).split("/"), dirname(other).split("/")
    same = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return same / max(len(left), len(right))
