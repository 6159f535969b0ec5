"""Owns what a card says of an error: made visible, cut to what a person reads, in the order of the sections.

Once for all forms of a card; what is cut says how much is left, and the whole is in the card's JSON file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from msgspec import UnsetType

from extractor import model
from extractor.model import Error, Part, Provenance, Site
from extractor.printable import visible
from extractor.render.saying import EARLIER, said
from extractor.render.view import (
    Card,
    Conditions,
    Constant,
    Doc,
    Excerpt,
    Guard,
    Listing,
    Piece,
    Place,
    Raised,
    Related,
)

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

_UNSAFE = re.compile(r"[^A-Za-z0-9/:._~?#@!$&+,;=%-]")
_WEB = re.compile(r"https?://[\w.-]+(?::\d+)?/", re.ASCII)
CONVERSIONS = {"r": "as repr() writes it", "s": "as str() writes it", "a": "as ascii() writes it"}
HINTS = ("sentence", "flag", "environment")
BUILTIN = "builtins."
EVERY_ERROR = frozenset({"builtins.Exception", "builtins.BaseException", "builtins.object"})


def card(error: Error, source: Provenance) -> Card:
    """What is to be said of an error."""
    places = _Places(source)
    texts = _texts(error)
    docs = _docs(error.sites, places)
    raised = [_raised(site, error, places, full=i < SITES) for i, site in enumerate(error.sites)]
    guards = {name: _constant(name, c, places) for name, c in error.constants.items()}
    conditions = [c for site in error.sites[:CONDITIONS] if (c := _conditions(site, guards, places)) is not None]
    in_guards = {
        c.name for one in conditions for g in (*one.guards, *one.earlier, *one.definition) for c in g.constants
    }
    hints = {kind: tuple(_sentence(h.text) for h in error.hints if h.kind == kind) for kind in HINTS}
    return Card(
        id=url(error.id),
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
        related=tuple(Related(url(r.id), _line(r.title), _line(r.exception), _line(r.why)) for r in error.related),
        source=_line(f"{source.repo}@{source.commit}" if source.commit else source.label),
        release=_line(source.release) if source.release else None,
        date=_line(source.date[:10]) if source.date else None,
        dirty=source.dirty,
    )


def pieces(error: Error) -> tuple[tuple[Piece, ...], ...]:
    """The messages of the card in parts, for a form that sets holes apart."""
    parts = {v.message: v.parts for v in error.variants}
    return tuple(_pieces(parts.get(text) or (Part(text=text),)) for text in _texts(error)[:MESSAGES])


def _texts(error: Error) -> list[str]:
    """All messages, the one that names the error first."""
    return list(dict.fromkeys([error.message, *(v.message for v in error.variants)])) if error.message else []


# --- text ------------------------------------------------------------------------------------------------


def _pieces(parts: Iterable[Part]) -> tuple[Piece, ...]:
    found: list[Piece] = []
    left = MESSAGE
    for part in parts:
        expr = part.expr if isinstance(part.expr, str) else None
        text = _hole(part) if expr is not None else part.text if isinstance(part.text, str) else ""
        shown = visible(text[:left], multiline=True)
        found.append(Piece(shown) if expr is None else Piece(shown, _line(expr), _how(part)))
        left -= len(text)
        if left <= 0:
            break
    return tuple(found)


def _hole(part: Part) -> str:
    """As the message has it: `{expr!conversion:spec}`."""
    conversion = f"!{part.conversion}" if part.conversion else ""
    spec = f":{part.spec}" if part.spec else ""
    return f"{{{part.expr}{conversion}{spec}}}"


def _how(part: Part) -> str | None:
    """How a value is written into a message, in words."""
    how = CONVERSIONS.get(part.conversion) if isinstance(part.conversion, str) else None
    spec = f"in the format {_line(part.spec)}" if isinstance(part.spec, str) and part.spec else None
    return ", ".join(filter(None, (how, spec))) or None


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
        return place(path, line, f"{self._base}/{quote(path, errors='replace')}#L{line}" if self._base else None)


def place(path: str, line: int, address: str | None) -> Place:
    """A line, with its address when it is one of the web."""
    return Place(_line(f"{path}:{line}"), url(address) if address and _WEB.match(address) else None)


def url(address: str) -> str:
    """The address with everything escaped that could end it where it stands."""
    return _UNSAFE.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode("utf-8", "replace")), address)


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
        place=place(site.path, site.line, site.permalink),
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
        place=place(site.path, site.line, site.permalink),
        guards=tuple(_guard(g, site.path, constants, places) for g in site.guards if g.kind not in EARLIER),
        earlier=tuple(_guard(g, site.path, constants, places) for g in site.guards if g.kind in EARLIER),
        definition=tuple(_guard(g, site.path, constants, places) for g in site.definition_guards),
        complete=site.complete,
        cause=_line(site.cause) if site.cause else None,
        caught_by=_line(site.caught_by) if site.caught_by else None,
        validates=tuple(map(_line, site.validates)),
        check=_check(site.predicate),
        precision=_line(site.predicate.precision) if site.predicate else None,
    )


def _check(predicate: model.PredicateRef | None) -> str | None:
    """The call of a predicate; none of one that asks for nothing."""
    if predicate is None or not predicate.params:
        return None
    return _line(f"REGISTRY[{predicate.name!r}].holds({', '.join(f'{p}=…' for p in predicate.params)})")


def _guard(guard: model.Guard, path: str, constants: dict[str, Constant], places: _Places) -> Guard:
    used = tuple(c for name, c in constants.items() if _mentions(guard.text, name))
    tried = guard.tried
    if not isinstance(tried, UnsetType):
        guard = replace(guard, tried=replace(tried, code=tuple(map(_line, tried.code))))
    return Guard(said(guard, _line(guard.text, SENTENCE), places.at(path, guard.line)), used)


def _mentions(text: str, name: str) -> bool:
    return name in text and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
