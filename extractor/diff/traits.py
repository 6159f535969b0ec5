"""Owns what pairing looks at of an error, and how near two of them are in place and in condition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from posixpath import basename, dirname

from rapidfuzz import fuzz

from extractor.diff.alike import Text, pieces, text_of
from extractor.diff.shape import ErrorLike, path_of, sites_of

MODULE = "<module>"
LOCAL = "<locals>"
COPIES = 3  # files of one tree; a text that stands in as many does not tell which of them it was
NAME = 5  # letters of a word that is known inside of a longer name


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What pairing looks at. Symbols of modules are left out: every file has one."""

    text: Text
    path: str
    symbols: frozenset[str]
    classes: frozenset[str]
    names: frozenset[str]  # of functions and methods, public or not
    functions: frozenset[str]  # those of them that are not methods
    exceptions: frozenset[str]
    guards: frozenset[str]
    deciding: frozenset[str]  # the last guard of each site
    called: dict[str, None]  # in order, the words that its file and its symbols are named by


def traits(error: ErrorLike) -> Traits:
    """What pairing looks at of an error."""
    sites = sites_of(error)
    symbols = frozenset(s.symbol for s in sites) - {MODULE}
    return Traits(
        text=text_of(error),
        path=path_of(error),
        symbols=symbols,
        classes=frozenset(s.rpartition(".")[0] for s in symbols) - {""},
        names=frozenset(map(name_of, symbols)),
        functions=frozenset(name_of(s) for s in symbols if s.rpartition(".")[0].endswith(LOCAL) or "." not in s),
        exceptions=frozenset(s.exception.rpartition(".")[2] for s in sites),
        guards=frozenset(g.text for s in sites for g in s.guards),
        deciding=frozenset(s.guards[-1].text for s in sites if s.guards),
        called=dict.fromkeys(w for name in (path_of(error), *sorted(symbols)) for w in pieces(name)),
    )


def name_of(symbol: str) -> str:
    """What a function or method is called, public or not."""
    return symbol.rpartition(".")[2].lstrip("_")


def copied(errors: Sequence[ErrorLike]) -> frozenset[str]:
    """The messages, and what stays of them without names, that stand in several files."""
    files: dict[str, set[str]] = defaultdict(set)
    for error in errors:
        text = text_of(error)
        for copy in {text.message, text.gist} - {""}:
            files[copy].add(path_of(error))
    return frozenset(text for text, paths in files.items() if len(paths) >= COPIES)


def own_subjects(old: Traits, new: Traits) -> bool:
    """Whether each text names what it stands in where the other does not: one of each kind, not one reworded."""
    return _named(old, new) and _named(new, old)


def _named(one: Traits, other: Traits) -> bool:
    """Whether words that only the one has are of the names that only it has."""
    names = "".join(one.called), "".join(other.called)
    for word in set(one.text.words) - set(other.text.words):
        if not one.called.keys().isdisjoint(p for p in pieces(word) if p not in other.called):
            return True
        if len(word) >= NAME and word in names[0] and word not in names[1]:
            return True
    return False


def same_condition(old: Traits, new: Traits) -> float:
    """From 0 to 1: the guards that both have, and how alike the last ones are, which decide."""
    if old.guards == new.guards:
        return 1.0
    last = max((fuzz.ratio(a, b) / 100 for a in old.deciding for b in new.deciding), default=0.0)
    return (share(old.guards, new.guards) + last) / 2


def share(one: frozenset[str], other: frozenset[str]) -> float:
    """The part that two sets have in common; 0 when both are empty."""
    return len(one & other) / len(one | other) if one or other else 0.0


def closeness(one: str, other: str) -> float:
    """The part of the folders that two paths share, from the root."""
    left, right = dirname(one).split("/"), dirname(other).split("/")
    same = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return same / max(len(left), len(right))


class Files:
    """Which files became which, as the pairs so far tell."""

    def __init__(self, olds: Iterable[str], news: Iterable[str]) -> None:
        old, new = frozenset(olds), frozenset(news)
        self._gone = old - new
        self._made = new - old
        self._new: dict[str, set[str]] = defaultdict(set)
        for path in self._made:
            self._new[_called(path)].add(path)
        self._sure = True
        self._votes: dict[str, Counter[str]] = defaultdict(Counter)

    def vote(self, old: str, new: str) -> None:
        """An error of one file is found in another."""
        if old != new:
            self._votes[old][new] += 1

    def doubt(self) -> None:
        """From now on one error alone does not tell what its file became."""
        self._sure = False

    def became(self, old: str) -> frozenset[str]:
        """The file itself, and those that it was renamed to, or that were made of it."""
        gone = old in self._gone
        voted = {
            new for new, votes in self._votes[old].items() if votes > 1 or (self._sure and (gone or new in self._made))
        }
        return frozenset({old} | voted | (self._new.get(_called(old), set()) if gone else set()))


def _called(path: str) -> str:
    """What a file is called when it is moved to another folder, or becomes a package."""
    return f"{basename(dirname(path))}.py" if basename(path) == "__init__.py" else basename(path)
