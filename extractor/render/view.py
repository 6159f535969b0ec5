"""Owns the shape of what a card says: plain text in the order of its sections, before Markdown, HTML or a terminal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the tree, with its address where the tree has one: nothing in it ends a link."""

    label: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text of several lines; `more` characters of it are not here."""

    text: str
    more: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message as it stands there; of a hole, `expr` is what is put in, `shown` how."""

    text: str
    expr: str | None = None
    shown: str | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """What a name stands for."""

    name: str
    value: str
    place: Place


@dataclass(frozen=True, slots=True)
class Doc:
    """A docstring and where it stands."""

    symbol: str
    place: Place
    body: Excerpt


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of source; those from `first` to `last` raise."""

    start: int
    lines: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Raised:
    """A site: where, and its source when it is among the first."""

    place: Place
    symbol: str
    again: bool
    exception: str | None  # when it is another than the card's
    listing: Listing | None


@dataclass(frozen=True, slots=True)
class Run:
    """A part of a sentence: `text`, `code`, or a `place` with its address where it has one."""

    text: str
    kind: str = "text"
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition in words, with what the names in it stand for."""

    words: tuple[Run, ...]
    constants: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class Conditions:
    """When one site raises; all of these hold."""

    symbol: str
    place: Place
    guards: tuple[Guard, ...]  # what stands around the site
    earlier: tuple[Guard, ...]  # what was passed on the way: early exits, assertions
    definition: tuple[Guard, ...]
    complete: bool
    cause: str | None
    caught_by: str | None
    validates: tuple[str, ...]
    check: str | None  # the call of its predicate
    precision: str | None


@dataclass(frozen=True, slots=True)
class Related:
    """Another card, and why it is near."""

    id: str
    title: str
    exception: str
    why: str


@dataclass(frozen=True, slots=True)
class Card:
    """All that a card says; an empty field is a section that is left out."""

    id: str
    repo: str
    kind: str
    exceptions: tuple[str, ...]
    http_status: int | None
    title: str
    messages: tuple[Excerpt, ...]
    more_messages: int
    constants: tuple[Constant, ...]
    qualified: str | None  # of an exception that is no builtin
    bases: tuple[str, ...]
    docs: tuple[Doc, ...]
    more_docs: int
    sites: tuple[Raised, ...]
    more_sites: tuple[Raised, ...]
    sentences: tuple[str, ...]
    flags: tuple[str, ...]
    environment: tuple[str, ...]
    conditions: tuple[Conditions, ...]
    more_conditions: int
    related: tuple[Related, ...]
    source: str  # owner/name@commit
    release: str | None
    date: str | None
    dirty: bool
