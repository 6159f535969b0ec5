"""Owns which error of one tree is which error of another: by its id, in its place, by its message, alike and near.

Each step takes from what the one before left. A step weighs all its pairs at once and takes the best total, so
that no early choice spoils a later one. A pair that a reader would deny is worse than none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from posixpath import basename

from extractor.diff.alike import alike, said_again, sharing_words
from extractor.diff.assign import best
from extractor.diff.shape import RAISE, E, ErrorLike, path_of, sites_of
from extractor.diff.traits import (
    NAME,
    Files,
    Traits,
    closeness,
    copied,
    name_of,
    own_subjects,
    same_condition,
    share,
    traits,
)

SHORT = 12  # letters and digits; a message with fewer is only itself where it was
TELLING = 16  # with as many, a message may be known again in any file
# how alike texts must be, and how much less when the condition is the same: measured by reading pairs of releases
IN_SYMBOL, IN_CLASS, IN_FILE, ELSEWHERE = (0.68, 0.3), (0.76, 0.28), (0.84, 0.24), (0.9, 0.1)
SAME = 0.6  # in any file, under the very same condition
LONG = 60  # letters of a condition that is not the same by chance
RETYPED = 0.1  # so much more alike when the exception is another


def pairs(old: Sequence[E], new: Sequence[E]) -> list[tuple[E | None, E | None]]:
    """Each raised error of both sides once: with its other self, or alone. In the order of `old`, then of `new`."""
    olds = [e for e in old if e.kind == RAISE]
    news = [e for e in new if e.kind == RAISE]
    found = _by_id(olds, news)
    found |= _Rest(olds, news, found).paired()
    taken = set(found.values())
    return [(e, news[found[n]] if n in found else None) for n, e in enumerate(olds)] + [
        (None, e) for n, e in enumerate(news) if n not in taken
    ]


def _by_id(olds: Sequence[ErrorLike], news: Sequence[ErrorLike]) -> dict[int, int]:
    """By what the id is made of, but for the repository: a fork's errors are the same."""
    there = {_identity(error): n for n, error in enumerate(news)}
    same = ((n, there.get(_identity(error))) for n, error in enumerate(olds))
    return {n: m for n, m in same if m is not None}


def _identity(error: ErrorLike) -> tuple[str, str, bool]:
    return error.message or error.sites[0].exception, path_of(error), bool(error.message)


class _Rest:
    """What has no partner by id."""

    def __init__(self, olds: Sequence[ErrorLike], news: Sequence[ErrorLike], found: dict[int, int]) -> None:
        taken = set(found.values())
        self._olds = {n: traits(e) for n, e in enumerate(olds) if n not in found}
        self._news = {n: traits(e) for n, e in enumerate(news) if n not in taken}
        self._files = Files(map(path_of, olds), map(path_of, news))
        self._symbols = [frozenset(site.symbol for e in side for site in sites_of(e)) for side in (olds, news)]
        self._copied = copied(olds) & copied(news)
        self._rare = _rare(self._symbols[0]) & _rare(self._symbols[1])
        self._found: dict[int, int] = {}

    def paired(self) -> dict[int, int]:
        """The pairs, by their places among the old and among the new: in place, then word for word, then alike."""
        self._same_message(far=False)
        self._alike(self._in_place())
        self._same_message(far=True)
        self._alike({*self._neighbours(), *self._sharing_words()})
        self._files.doubt()
        before = -1
        while before < len(self._found):  # each pair tells more of what its file became
            before = len(self._found)
            self._same_message(far=False)
            self._alike(self._neighbours())
        return self._found

    def _take(self, scores: dict[tuple[int, int], float]) -> None:
        for old, new in best(scores):
            one, other = self._olds.pop(old), self._news.pop(new)
            self._files.vote(one.path, other.path)
            self._found[old] = new

    # --- the same message in another file ---

    def _same_message(self, far: bool) -> None:
        """Near: in a file, class or function that became the other; or anywhere."""
        groups: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, found in enumerate((self._olds, self._news)):
            for n, one in found.items():
                groups[one.text.message][side].append(n)
        there = [group for group in groups.values() if all(group)]
        for sure in (True, False):  # what can only be one first: it tells which files were renamed
            now = [group for group in there if (len(group[0]) == len(group[1]) == 1) == sure]
            places = [(o, n) for olds, news in now for o in olds for n in news]
            self._take({(o, n): self._moved(self._olds[o], self._news[n], far) for o, n in places})

    def _moved(self, old: Traits, new: Traits, far: bool) -> float:
        """How well an error is the same message in another file; 0: it is another error."""
        together = new.path in self._files.became(old.path)
        same_symbol = bool(old.symbols & new.symbols)
        same_class = bool(old.classes & new.classes)
        same_exception = bool(old.exceptions & new.exceptions)
        if together or same_symbol or same_class:
            if old.text.own < SHORT and not (same_symbol and same_exception):
                return 0.0
        elif not far or not _itself(old, new) or self._copies(old, new, {old.text.message, old.text.gist}):
            return 0.0
        same_name = bool(old.names & new.names) + (basename(old.path) == basename(new.path))
        symbols = 4 * share(old.symbols, new.symbols)  # of many, most: one name in common may be chance
        place = symbols + 3 * together + same_name + same_class + closeness(old.path, new.path)
        return 1 + place + 2 * same_exception + share(old.guards, new.guards)

    # --- another message, alike and near ---

    def _alike(self, near: Iterable[tuple[int, int]]) -> None:
        self._take({(o, n): self._reworded(self._olds[o], self._news[n]) for o, n in near})

    def _in_place(self) -> set[tuple[int, int]]:
        """Pairs of one function of one file; of one class, when no function of the name says the same elsewhere."""
        there: dict[tuple[str, str], list[int]] = defaultdict(list)
        verbatim = {(one.text.message, name) for one in self._news.values() for name in one.names}
        for n, one in self._news.items():
            for place in one.symbols | one.classes:
                there[one.path, place].append(n)
        found: set[tuple[int, int]] = set()
        for o, one in self._olds.items():
            moved = any((one.text.message, name) in verbatim for name in one.names)
            for place in one.symbols if moved else one.symbols | one.classes:
                found.update((o, n) for n in there.get((one.path, place), ()))
        return found

    def _neighbours(self) -> Iterable[tuple[int, int]]:
        """Pairs of one file, of a renamed one, of one symbol, or of a name that is given once."""
        by_path: dict[str, list[int]] = defaultdict(list)
        by_symbol: dict[str, list[int]] = defaultdict(list)
        for n, one in self._news.items():
            by_path[one.path].append(n)
            for symbol in one.symbols | one.names & self._rare:
                by_symbol[symbol].append(n)
        for o, one in self._olds.items():
            for path in self._files.became(one.path):
                yield from ((o, n) for n in by_path.get(path, ()))
            for symbol in one.symbols | one.names & self._rare:
                yield from ((o, n) for n in by_symbol.get(symbol, ()))

    def _sharing_words(self) -> Iterable[tuple[int, int]]:
        olds, news = list(self._olds), list(self._news)
        texts = [one.text for one in self._olds.values()], [one.text for one in self._news.values()]
        for old, new in sharing_words(*texts):
            yield olds[old], news[new]

    def _reworded(self, old: Traits, new: Traits) -> float:
        """How well an error is another, reworded; 0: they are two."""
        together = new.path in self._files.became(old.path)
        same_symbol = bool(old.symbols & new.symbols)
        same_exception = bool(old.exceptions & new.exceptions)
        if not _says_anything(old, new) and not (_namesakes(old, new) and (same_symbol or same_exception)):
            return 0.0
        condition = same_condition(old, new)
        least = self._least(old, new, together, same_symbol, condition)
        if least is None:
            return 0.0
        text = alike(old.text, new.text)
        near = together or same_symbol or self._share_a_rare_name(old, new)
        known = max(text, (text + said_again(old.text, new.text)) / 2) if near else text  # for the other says more
        if known < least + RETYPED * (not same_exception):
            return 0.0
        place = 3 * same_symbol + bool(old.names & new.names) + 2 * together + closeness(old.path, new.path)
        return text**2 + (place + same_exception + 3 * condition) / 10

    def _least(self, old: Traits, new: Traits, together: bool, same_symbol: bool, condition: float) -> float | None:
        """How alike the texts must be, standing where they do; None: they are two errors, whatever they say."""
        the_same = condition == 1.0 and bool(old.exceptions & new.exceptions)
        if together and same_symbol:
            return 0.0 if the_same else _less(IN_SYMBOL, condition)
        renamed = together and old.symbols.isdisjoint(self._symbols[1]) and new.symbols.isdisjoint(self._symbols[0])
        if not same_symbol and not renamed and own_subjects(old, new):
            return None
        if the_same and sum(map(len, old.guards)) >= LONG:
            return SAME
        if together and old.classes & new.classes and _goes_on(old.names, new.names):
            return _less(IN_CLASS, condition)
        if together or same_symbol:
            return _less(IN_FILE, condition)
        if min(old.text.own, new.text.own) < TELLING:
            return None
        if self._share_a_rare_name(old, new):
            return _less(IN_FILE, condition)
        if self._copies(old, new, {old.text.gist, new.text.gist}):
            return None
        return _less(ELSEWHERE, condition)

    def _share_a_rare_name(self, old: Traits, new: Traits) -> bool:
        return not old.names.isdisjoint(new.names & self._rare)

    def _copies(self, old: Traits, new: Traits, texts: set[str]) -> bool:
        """Whether a text stands here and there, and no name of a function or class says which became which."""
        if texts.isdisjoint(self._copied) or not old.functions.isdisjoint(new.functions):
            return False
        classes = ({c.rpartition(".")[2] for c in one.classes} for one in (old, new))
        return not _goes_on(*classes) and not _goes_on(old.names - new.names, new.names - old.names)


def _rare(symbols: Iterable[str]) -> frozenset[str]:
    """The names that only one function or method has, told by its class or the function around it."""
    counts = Counter(map(name_of, symbols))
    return frozenset(name for name, count in counts.items() if count == 1)


def _says_anything(old: Traits, new: Traits) -> bool:
    """Whether there is a text to compare, or the same holes."""
    return bool(old.text.own or new.text.own) or old.text.message == new.text.message != ""


def _namesakes(old: Traits, new: Traits) -> bool:
    """Whether both are in functions of one name, or in none."""
    return not old.names.isdisjoint(new.names) or not (old.names or new.names)


def _goes_on(old: Iterable[str], new: Iterable[str]) -> bool:
    """Whether a name is the other and more."""
    pairs = [sorted(pair, key=len) for pair in product(old, new)]
    return any(len(short) >= NAME and short in long for short, long in pairs)


def _less(least: tuple[float, float], condition: float) -> float:
    return least[0] - least[1] * condition


def _itself(old: Traits, new: Traits) -> bool:
    """Whether the one message is enough to know the error by: with text, or with holes under one condition."""
    if old.text.own >= TELLING:
        return True
    return len(old.text.message) >= TELLING and bool(old.deciding & new.deciding) and old.exceptions == new.exceptions
