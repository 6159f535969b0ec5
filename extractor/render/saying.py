"""Owns how a condition is said: a sentence of plain text, code and places, for any form to set."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import UnsetType

from extractor.model import Guard, Tried
from extractor.render.view import Place, Run

EARLIER = frozenset({"exit", "assert"})  # what was passed on the way: all others stand around the site
_LOOP = re.compile(r"(?:async )?for (?P<target>.+?) in (?P<items>.+)", re.DOTALL)
STALE = "; what it is about may have changed since"


def said(guard: Guard, text: str, place: Place) -> tuple[Run, ...]:
    """A guard in words; `text` is its own, made visible."""
    return (*_said(guard, text), Run(" ("), Run(place.label, "place", place.url), Run(")" + STALE * guard.stale))


def _said(guard: Guard, text: str) -> Iterator[Run]:
    loop = _LOOP.fullmatch(text) if guard.kind == "for" else None
    if loop is not None:
        yield from (Run("for some "), Run(loop["target"], "code"), Run(" in "), Run(loop["items"], "code"))
    elif guard.kind in ("for", "while"):
        yield from (Run("in the loop "), Run(text, "code"))
    elif guard.kind == "except":
        yield from _handling(text.removeprefix("except").strip(), guard.tried)
    elif guard.kind == "case" and text == "case _":
        yield Run("no earlier case matched")
    elif guard.kind == "case":
        yield from (Run(text, "code"), Run(" matched"))
    elif guard.kind == "assert":
        yield from (Run(text, "code"), Run(", as is asserted"))
    else:
        yield Run(text, "code")


def _handling(types: str, tried: Tried | UnsetType) -> Iterator[Run]:
    yield from (Run("while handling "), Run(types, "code")) if types else (Run("while handling any exception"),)
    if isinstance(tried, UnsetType):
        return
    several = tried.end_line > tried.line
    yield Run(f" from lines {tried.line}–{tried.end_line}" if several else f" from line {tried.line}")
    for number, code in enumerate(tried.code):
        yield from (Run(", " if number else ", where "), Run(code, "code"))
    if tried.code:
        yield Run(f"{' and more' * tried.more} {'were' if tried.more or len(tried.code) > 1 else 'was'} tried")
