"""Owns the shape of a history: its releases, and a line of descent for each error that there ever was.

A line has a state for each release in which the error became another: its first, and each that changed its words,
its exception, its conditions or its place. Lines of source move with every release and are no change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from extractor.model import Error

SCHEMA = 1
RELEASES, COMMITS = "release", "commit"  # what a history can be of

STRICTER, LOOSER = "stricter", "looser"
ADDED, RETURNED = "added", "returned"  # the kinds of a state that begins a stretch of life

Text = tuple[str | tuple[str], ...]  # a message: text, and `[expression]` where a value goes


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A guard, without the line that it stands on."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A site of the state's file; `line` is where it stood when the state began."""

    symbol: str
    exception: str
    line: int
    guards: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What an error was from `release` on, and in which `kinds` it differs from the state before.

    `strictness` is of its condition, against that before: `stricter`, `looser`, `other`; None: it is the same.
    """

    release: str
    kinds: tuple[str, ...]
    strictness: str | None
    id: str
    exception: str
    message: str
    texts: tuple[Text, ...]  # of its variants
    path: str
    http_status: int | None
    sites: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Releases that did not have the error: after `last`, until it was there again in `back`."""

    last: str
    back: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One error through all its states, oldest first; `id` is its last, `ids` are all."""

    id: str
    ids: tuple[str, ...]
    since: str
    until: str | None  # the last release that had it; None: the newest has
    gaps: tuple[Gap, ...]
    states: tuple[State, ...]
    tool: str | None = None  # the earlier version of this tool that alone saw it: sources are read otherwise now


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release, or commit, that is in a history. `inputs` says what was read: an archive's sha256, or a commit."""

    name: str
    date: str | None
    inputs: str
    errors: int  # raised ones, alive in it
    whole: bool  # False: a wheel, which says nothing of files outside `vllm/`


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of the file. `lines` and `sha256` are of all that follows: a file that was cut off is told."""

    schema: int
    tool: str
    reading: str  # a hash over what decides how source is read: another one may find other ids
    of: str  # RELEASES, COMMITS
    repo: str
    releases: tuple[Release, ...]
    missing: tuple[str, ...]  # asked for and not to be had
    lines: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A header and its lines, sorted by when they begin, then by their first id."""

    header: Header
    lines: tuple[Line, ...]

    def holding(self, beginning: str) -> list[Line]:
        """The lines that have, or had, an id that begins so."""
        return [line for line in self.lines if any(i.startswith(beginning) for i in line.ids)]


def state(error: Error, release: str, kinds: tuple[str, ...], strictness: str | None = None) -> State:
    """What is kept of an error."""
    return State(
        release=release,
        kinds=kinds,
        strictness=strictness,
        id=error.id,
        exception=error.exception,
        message=error.message,
        texts=tuple(_text(error, n) for n in range(len(error.variants))),
        path=error.sites[0].path,
        http_status=error.http_status,
        sites=tuple(
            Place(
                symbol=s.symbol,
                exception=s.exception,
                line=s.line,
                guards=tuple(Condition(kind=g.kind, text=g.text) for g in (*s.definition_guards, *s.guards)),
            )
            for s in error.sites
        ),
    )


def _text(error: Error, variant: int) -> Text:
    parts = error.variants[variant].parts
    return tuple(part.text if isinstance(part.text, str) else (str(part.expr),) for part in parts)


def stretches(line: Line) -> Iterator[tuple[str, str | None]]:
    """The first and last release of each time that the error was there; None: until now."""
    first = line.since
    for gap in line.gaps:
        yield first, gap.last
        first = gap.back
    yield first, line.until
