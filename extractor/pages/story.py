"""Owns what the pages of an error know beyond its card: its addresses, its releases, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
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
    gone: Gone | None
    related: tuple[Entry, ...]


class Stories:
    """Knows all editions, and tells of each error in one what a page of it needs."""

    def __init__(self, editions: Sequence[Edition], taken: Sequence[Step]) -> None:
        self.editions = editions
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
            span=self._span(line),
            gone=self._gone(line, at, error),
            related=tuple(self._related(at, other) for other in error.related),
        )

    def _related(self, at: int, other: Related) -> Entry:
        text = label(self.editions[at].errors[other.id])
        return Entry(self.address(at, other.id), text, f"{visible(other.exception)} · {visible(other.why)}")

    def span(self, at: int, error_id: str) -> tuple[str | None, str | None]:
        """The labels of the oldest edition with the error or what it was before, and of the newest, if that is not the
        newest of all. The first is None where older ones may have had it."""
        there = [n for n, i in enumerate(self._lines.through(at, error_id)) if i is not None]
        since = None if there[-1] == len(self.editions) - 1 else self.editions[there[-1]].source.label
        return since, self.editions[there[0]].source.label if there[0] else None

    def _version(self, n: int, error_id: str | None, at: int, error: Error) -> Version:
        name = self.editions[n].name
        if error_id is None:
            return Version(name, None, False, "not there")
        note = None if error_id == error.id else self._difference(error, self.editions[n].errors[error_id])
        return Version(name, self.address(n, error_id), n == at, note)

    @staticmethod
    def _difference(one: Error, other: Error) -> str:
        return "with other words" if one.message != other.message else "in another file"

    def _span(self, line: tuple[str | None, ...]) -> str:
        there = [n for n, i in enumerate(line) if i is not None]
        newest, oldest = self.editions[there[0]].name, self.editions[there[-1]].name
        if len(self.editions) == 1:
            return f"{newest}, the only release here"
        since = f"{oldest} (the oldest release here) or before" if there[-1] == len(line) - 1 else oldest
        until = "still there" if there[0] == 0 else f"until {newest}"
        return f"since {since}; {until}"

    def _gone(self, line: tuple[str | None, ...], at: int, error: Error) -> Gone | None:
        if error.id in self.editions[0].errors:
            return None
        newest = self.editions[0]
        last = max((n for n in range(len(self.editions)) if error.id in self.editions[n].errors), key=lambda n: -n)
        now = line[0]
        kinds = self._kinds.get((error.id, last - 1), ()) if last else ()
        return Gone(
            newest=newest.name,
            last=self.editions[last].name,
            now=None if now is None else self.entry(0, newest.errors[now]),
            kinds=", ".join(kinds),
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
