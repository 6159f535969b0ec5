"""Owns what a card says: an error as plain text in the order of its sections, before Markdown, HTML or a terminal.

Others' text is made visible and cut to what a person reads here, once for all of them; what is cut says how
much is left, and the whole is in the card's JSON file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from extractor import model
from extractor.model import Error, Provenance, Site
from extractor.printable import visible

MESSAGE = 4_000  # characters of one message
MESSAGES = 16
DOC = 3_000  # characters of a docstring
DOCS = 3
CODE_LINE = 400  # characters of one line of source
SITES = 3  # shown with their source; those beyond are links
CONDITIONS = 12  # sites whose conditions are listed
VALUE = 300  # characters of a constant
SENTENCE = 800
NAME = 300  # characters of a symbol, path, expression

HINTS = ("sentence", "flag", "environment")
BUILTIN = "builtins."
EVERY_ERROR = frozenset({"builtins.Exception", "builtins.BaseException", "builtins.object"})


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the tree, with its address where the tree has one."""

    label: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text of several lines; `more` characters of it are not here."""

    text: str
    more: int


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
class Guard:
    """A condition, with what the names in it stand for."""

    kind: str
    text: str
    place: Place
    stale: bool
    constants: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class Conditions:
    """When one site raises."""

    symbol: str
    place: Place
    guards: tuple[Guard, ...]
    definition: tuple[Guard, ...]
    complete: bool
    cause: str | None
    caught_by: str | None
    validates: tuple[str, ...]


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


def card(error: Error, source: Provenance) -> Card:
    """What is to be said of an error."""
    places = _Places(source)
    texts = list(dict.fromkeys([error.message, *(v.message for v in error.variants)])) if error.message else []
    docs = _docs(error.sites, places)
    raised = [_raised(site, error, places, full=i < SITES) for i, site in enumerate(error.sites)]
    guards = {name: _constant(name, c, places) for name, c in error.constants.items()}
    conditions = [c for site in error.sites[:CONDITIONS] if (c := _conditions(site, guards, places)) is not None]
    in_guards = {c.name for one in conditions for g in (*one.guards, *one.definition) for c in g.constants}
    hints = {kind: tuple(_sentence(h.text) for h in error.hints if h.kind == kind) for kind in HINTS}
    return Card(
        id=_line(error.id),
        repo=_line(error.repo),
        kind="raised again" if error.kind == "reraise" else _line(error.kind),
        exceptions=tuple(dict.fromkeys(_line(e) for e in (error.exception, *(s.exception for s in error.sites)))),
        http_status=error.http_status,
        title=_line(error.title).strip() or _line(error.exception),
        messages=tuple(excerpt(t, MESSAGE) for t in texts[:MESSAGES]),
        more_messages=max(0, len(texts) - MESSAGES),
        constants=tuple(c for c in guards.values() if c.name not in in_guards),
        qualified=_qualified(error),
        bases=_bases(error),
        docs=docs[:DOCS],
        more_docs=max(0, len(docs) - DOCS),
        sites=tuple(raised[:SITES]),
        more_sites=tuple(raised[SITES:]),
        sentences=hints["sentence"],
        flags=hints["flag"],
        environment=hints["environment"],
        conditions=tuple(conditions),
        more_conditions=max(0, len(error.sites) - CONDITIONS),
        related=tuple(Related(_line(r.id), _line(r.title), _line(r.exception), _line(r.why)) for r in error.related),
        source=_line(f"{source.repo}@{source.commit}" if source.commit else source.label),
        release=_line(source.release) if source.release else None,
        date=_line(source.date[:10]) if source.date else None,
        dirty=source.dirty,
    )


# --- text ------------------------------------------------------------------------------------------------


def excerpt(text: str, most: int) -> Excerpt:
    """The beginning of a text of several lines."""
    return Excerpt(visible(text[:most], multiline=True), max(0, len(text) - most))


def _line(text: str, most: int = NAME) -> str:
    """Text in one line, cut visibly. Line ends show as `\\n`."""
    if len(text) > most:
        return visible(f"{text[:most]}… {len(text) - most:,} more characters")
    return visible(text)


def _sentence(text: str) -> str:
    return _line(" ".join(text.split()), SENTENCE)


class _Places:
    """Addresses of lines in the tree."""

    def __init__(self, source: Provenance) -> None:
        self._base = source.permalink

    def at(self, path: str, line: int) -> Place:
        return Place(_line(f"{path}:{line}"), f"{self._base}/{_quoted(path)}#L{line}" if self._base else None)


def _quoted(path: str) -> str:
    return quote(path, errors="replace")


# --- sections --------------------------------------------------------------------------------------------


def _qualified(error: Error) -> str | None:
    name = error.qualified_exception
    return None if name is None or name.startswith(BUILTIN) else _line(name)


def _bases(error: Error) -> tuple[str, ...]:
    """The exceptions that one's handlers catch it, but for those that catch everything."""
    if _qualified(error) is None:
        return ()
    known = [b for b in error.bases if b not in EVERY_ERROR]
    builtin = next((i for i, b in enumerate(known) if b.startswith(BUILTIN)), len(known))
    return tuple(_line(b.removeprefix(BUILTIN)) for b in known[: builtin + 1])


def _docs(sites: Iterable[Site], places: _Places) -> tuple[Doc, ...]:
    found: dict[tuple[str, int], model.Doc] = {}
    for site in sites:
        for doc in (site.exception_doc, site.doc):
            if doc is not None and doc.text.strip():
                found.setdefault((doc.path, doc.line), doc)
    return tuple(Doc(_line(d.symbol), places.at(d.path, d.line), excerpt(d.text, DOC)) for d in found.values())


def _raised(site: Site, error: Error, places: _Places, full: bool) -> Raised:
    return Raised(
        place=Place(_line(f"{site.path}:{site.line}"), site.permalink),
        symbol=_line(site.symbol),
        again=site.kind == "reraise",
        exception=_line(site.exception) if site.exception != error.exception else None,
        listing=_listing(site) if full else None,
    )


def _listing(site: Site) -> Listing:
    whole = "\n".join(site.context.lines)
    lines = visible(whole, multiline=True).split("\n")
    if len(lines) != len(site.context.lines):  # a line end inside a line
        lines = [visible(line) for line in site.context.lines]
    if len(whole) > CODE_LINE:
        lines = [line if len(line) <= CODE_LINE else _line(line, CODE_LINE) for line in lines]
    return Listing(site.context.start, tuple(lines), site.line, max(site.line, site.end_line))


def _constant(name: str, constant: model.Constant, places: _Places) -> Constant:
    return Constant(_line(name), value(constant.value), places.at(constant.path, constant.line))


def value(plain: Any) -> str:
    """A constant as it could stand in source."""
    return _line(repr(plain), VALUE)


def _conditions(site: Site, constants: dict[str, Constant], places: _Places) -> Conditions | None:
    """When a site raises; nothing where nothing is known beyond that it is there."""
    known = (site.guards, site.definition_guards, site.cause, site.caught_by, site.validates, not site.complete)
    if not any(known):
        return None
    return Conditions(
        symbol=_line(site.symbol),
        place=Place(_line(f"{site.path}:{site.line}"), site.permalink),
        guards=tuple(_guard(g, site.path, constants, places) for g in site.guards),
        definition=tuple(_guard(g, site.path, constants, places) for g in site.definition_guards),
        complete=site.complete,
        cause=_line(site.cause) if site.cause else None,
        caught_by=_line(site.caught_by) if site.caught_by else None,
        validates=tuple(map(_line, site.validates)),
    )


def _guard(guard: model.Guard, path: str, constants: dict[str, Constant], places: _Places) -> Guard:
    used = tuple(c for name, c in constants.items() if _mentions(guard.text, name))
    return Guard(guard.kind, _line(guard.text, SENTENCE), places.at(path, guard.line), guard.stale, used)


def _mentions(text: str, name: str) -> bool:
    return name in text and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
