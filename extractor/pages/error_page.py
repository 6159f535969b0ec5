"""Owns the page of an error: its card through the template `error.html`, and what search engines are told of it."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import Any

import jinja2
from markupsafe import Markup

from extractor.model import Error, Provenance
from extractor.pages import addresses, highlight
from extractor.pages.shell import Shell, one_line, render
from extractor.pages.story import Entry, Gone, Story, Version, headline, label
from extractor.printable import visible
from extractor.render.compose import pieces
from extractor.render.view import Card, Conditions, Piece

HEADLINE = 110  # characters, as structured data has them


@dataclass(frozen=True, slots=True)
class Page:
    """What the template needs beside the card."""

    record: str
    headline: str
    pieces: tuple[tuple[Piece, ...], ...]
    holes: bool
    listings: tuple[list[Markup], ...]
    exceptions: tuple[tuple[str, str], ...]
    package: tuple[str, str]
    versions: tuple[Version, ...]
    span: str
    history: str | None
    gone: Gone | None
    related: tuple[Entry, ...]
    checks: tuple[Conditions, ...]
    pinned: str
    dataset: str
    structured: dict[str, Any]


def html(error: Error, source: Provenance, view: Card, story: Story, shell: Shell, env: jinja2.Environment) -> bytes:
    """The page as it is sent."""
    return render(env, "error.html", shell, **prepared(error, source, view, story, shell))


def cited(error: Error, story: Story, shell: Shell, address: str, env: jinja2.Environment) -> bytes:
    """The page at the address that ErrLookup's clients cite: it leads on to the error's."""
    title, canonical = label(error), addresses.error(error.id)
    return render(env, "cited.html", shell, address, title, title, canonical=canonical, to=story.address)


def prepared(error: Error, source: Provenance, view: Card, story: Story, shell: Shell) -> dict[str, Any]:
    """Everything that the template is given."""
    text = view.messages[0].text if view.messages and view.messages[0].text.strip() else headline(error)
    canonical = addresses.error(error.id)
    return {
        "address": story.address,
        "canonical": canonical,
        "title": text,
        "description": text,
        "og_type": "article",
        "card": view,
        "page": _page(error, source, story, view, _structured(view, text, shell.canonical(canonical))),
    }


def _page(error: Error, source: Provenance, story: Story, view: Card, structured: dict[str, Any]) -> Page:
    parts = pieces(error)
    return Page(
        record=addresses.record(error.id),
        headline=headline(error),
        pieces=parts if view.messages and view.messages[0].text.strip() else (),
        holes=bool(parts) and any(piece.expr is not None for piece in parts[0]),
        listings=tuple(highlight.lines(site.listing) if site.listing else [] for site in view.sites),
        exceptions=tuple(zip(view.exceptions, story.exceptions, strict=False)),
        package=story.package,
        versions=story.versions,
        span=story.span,
        history=visible(story.history) if story.history else None,
        gone=story.gone,
        related=story.related,
        checks=tuple(c for c in view.conditions if c.check),
        pinned=view.release or view.source.rpartition("@")[2][:10],
        dataset=_shell_word(source.label),
        structured=structured,
    )


def _structured(view: Card, text: str, url: str | None) -> dict[str, Any]:
    """A technical article, as schema.org has it."""
    found: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": one_line(text, HEADLINE),
        "description": one_line(text, 1_000),
        "identifier": view.id,
        "about": {"@type": "SoftwareSourceCode", "name": view.repo},
        "keywords": list(view.exceptions),
    }
    if view.release:
        found["about"]["version"] = view.release
    if view.date:
        found["dateModified"] = view.date
    return found if url is None else found | {"url": url}


def _shell_word(text: str) -> str:
    """A label as a shell takes it."""
    return quote(visible(text))
