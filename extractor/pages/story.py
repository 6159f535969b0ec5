"""Owns what the pages of an error know beyond its card: its addresses, its releases, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from extractor.model import Error, Related
from extractor.pages import addresses
from extractor.pages.editions import Edition
from extractor.pages.lines import Lines, Step
from extractor.pages.shell import one_line
from extractor.printable import visible

TEXT = 200  # characters of a message in a list


@dataclass(frozen=True, slots=True)
class Entry:
    """An error in a list."""

    address: str
    text: str
    where: str


@dataclass(frozen=True, slots=True)
class Version:
    """An error in one of the editions; without an address it is not there."""

    name: str
    address: str | None
    current: bool
    note: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """The labels of the first and last release here that have an error; None: the oldest or before, the newest.

    `since` counts what it was before under another id, `became` is the id of what it is now.
    """

    since: str | None
    until: str | None
    became: str | None


@dataclass(frozen=True, slots=True)
class Gone:
    """That an error is not in the newest edition, and what it became."""

    newest: str
    last: str
    now: Entry | None
    kinds: str


@dataclass(frozen=True, slots=True)
class Story:
    """One error in one edition, among the others."""

    address: str
    main: bool  # the page at the error's own address: of the newest edition that has it
    exceptions: tuple[str, ...]  # addresses, in the order of the card's
    package: tuple[str, str]  # name and address
    versions: tuple[Version, ...]
    span: str
    history: str | None
    gone: Gone | None
    related: tuple[Entry, ...]


class Stories:
    """Knows all editions, and tells of each error in one what a page of it needs."""

    def __init__(
        self, editions: Sequence[Edition], taken: Sequence[Step], history: Mapping[str, str] | None = None
    ) -> None:
        """`history` is a sentence for each id that is known from more releases than are here."""
        self.editions = editions
        self._history = history or {}
        self._lines = Lines(editions, taken)
        self._home = {i: n for n in reversed(range(len(editions))) for i in editions[n].errors}
        self.exceptions = addresses.slugs(sorted({x for e in editions for r in e.errors.values() for x in names(r)}))
        self.packages = addresses.slugs(sorted({package(r) for e in editions for r in e.errors.values()}))
        self._kinds = {(c.old.id, n): c.kinds for n, s in enumerate(taken) for c in s.changes if c.old and c.new}

    def all(self) -> list[tuple[int, Error]]:
        """Each error once, as the newest edition that has it (by its number) says, sorted by id."""
        return [(self._home[i], self.editions[self._home[i]].errors[i]) for i in sorted(self._home)]

    def address(self, at: int, error_id: str) -> str:
        """The page of an error in an edition."""
        return addresses.error(error_id, None if self._home[error_id] == at else self.editions[at].slug)

    def exception(self, name: str) -> str:
        """The list of the errors of one exception."""
        return addresses.section(addresses.EXCEPTIONS, self.exceptions[name])

    def package(self, name: str) -> str:
        """The list of the errors in one folder of the tree."""
        return addresses.section(addresses.FILES, self.packages[name])

    def entry(self, at: int, error: Error) -> Entry:
        """An error in a list."""
        gone = f" · until {self.editions[at].name}" if self._home[error.id] == at and at else ""
        where = f"{visible(error.exception)} · {visible(error.sites[0].path)}:{error.sites[0].line}{gone}"
        return Entry(self.address(at, error.id), label(error), one_line(where, TEXT))

    def tell(self, at: int, error: Error) -> Story:
        """The error in edition `at`."""
        line = self._lines.through(at, error.id)
        folder = package(error)
        return Story(
            address=self.address(at, error.id),
            main=self._home[error.id] == at,
            exceptions=tuple(self.exception(name) for name in names(error)),
            package=(visible(folder), self.package(folder)),
            versions=tuple(self._version(n, i, at, error) for n, i in enumerate(line)),
            span=self._span(line, error.id),
            history=self._history.get(error.id),
            gone=self._gone(line, error),
            related=tuple(self._related(at, o) for o in error.related if o.id in self.editions[at].errors),
        )

    def _related(self, at: int, other: Related) -> Entry:
        text = label(self.editions[at].errors[other.id])
        return Entry(self.address(at, other.id), text, f"{visible(other.exception)} · {visible(other.why)}")

    def span(self, error_id: str) -> Span:
        """The releases of an error that the oldest and newest of them leave open are None."""
        line = self._lines.through(self._home[error_id], error_id)
        oldest = max(n for n, i in enumerate(line) if i is not None)
        return Span(
            since=None if oldest == len(line) - 1 else self.editions[oldest].source.label,
            until=self.editions[self._home[error_id]].source.label if self._home[error_id] else None,
            became=line[0] if line[0] != error_id else None,
        )

    def _version(self, n: int, error_id: str | None, at: int, error: Error) -> Version:
        name = self.editions[n].name
        if error_id is None:
            return Version(name, None, False, "not there")
        note = None if error_id == error.id else self._difference(error, self.editions[n].errors[error_id])
        return Version(name, self.address(n, error_id), n == at, note)

    @staticmethod
    def _difference(one: Error, other: Error) -> str:
        return "with other words" if one.message != other.message else "in another file"

    def _span(self, line: tuple[str | None, ...], error_id: str) -> str:
        if len(self.editions) == 1:
            return f"{self.editions[0].name} alone"
        oldest = max(n for n, i in enumerate(line) if i is not None)
        since = self.editions[oldest].name
        if oldest == len(line) - 1:
            since += " (the oldest release here) or before"
        home = self._home[error_id]
        until = f"until {self.editions[home].name}" if home else "still there"
        return f"since {since}; {until}"

    def _gone(self, line: tuple[str | None, ...], error: Error) -> Gone | None:
        last = self._home[error.id]
        if last == 0:
            return None
        now = line[0]
        return Gone(
            newest=self.editions[0].name,
            last=self.editions[last].name,
            now=None if now is None else self.entry(0, self.editions[0].errors[now]),
            kinds=", ".join(self._kinds.get((error.id, last - 1), ())),
        )


def names(error: Error) -> tuple[str, ...]:
    """The exceptions of an error, the first site's before the others."""
    return tuple(dict.fromkeys((error.exception, *(site.exception for site in error.sites))))


def package(error: Error) -> str:
    """The folder of the tree that an error is raised in."""
    return error.sites[0].path.rpartition("/")[0] or "."


def label(error: Error) -> str:
    """An error in one line: its message, or what can be said without one."""
    return one_line(visible(" ".join(error.message.split())), TEXT) if error.message.strip() else headline(error)


def headline(error: Error) -> str:
    """What stands for the message of an error that has none."""
    site = error.sites[0]
    what = "raised again" if site.kind == "reraise" else "without a message"
    where = "" if site.symbol == "<module>" else f", in {one_line(visible(site.symbol), TEXT)}"
    return f"{one_line(visible(error.exception), TEXT)} {what}{where}"
