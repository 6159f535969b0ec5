"""Owns what a reader is told of a diff: plain visible text in sections, before Markdown or HTML.

Each change stands in one section, the first that it fits; what is cut says how much is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from extractor.diff import changes as ch
from extractor.diff.changes import Change
from extractor.diff.report import Report, Side
from extractor.diff.shape import SiteLike
from extractor.marks import SAME, Piece, marked
from extractor.model import Error
from extractor.printable import visible
from extractor.render.compose import place, url
from extractor.render.view import Place

MESSAGE = 1_500  # characters of a message
GUARD = 300  # of a guard, a symbol, a name
GUARDS = 8  # of one change, either way
VARIANTS = 4
PRODUCT = "vllm/"  # the folder that users install


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One change. What is only on one side is empty, or None, on the other."""

    id: str
    exceptions: tuple[str, ...]  # one, or the old and the new one
    message: tuple[Piece, ...]  # nothing: there is no text
    more: int  # characters of the message that are not here
    place: Place
    symbol: str
    before: Place | None  # when it was elsewhere
    symbol_before: str | None
    when: tuple[str, ...]  # of one that is on one side only
    guards_gone: tuple[str, ...]
    guards_new: tuple[str, ...]
    sites_gone: tuple[Place, ...]
    sites_new: tuple[Place, ...]
    variants_gone: tuple[str, ...]
    variants_new: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Changes of one sort; `more` are not listed."""

    key: str
    title: str
    note: str
    items: tuple[Item, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A diff for a reader."""

    repo: str
    old: str
    new: str
    errors_old: int
    errors_new: int
    counts: tuple[tuple[str, int], ...]
    sections: tuple[Section, ...]


SECTIONS = (
    ("added", "Added", "What is refused now and had no error before."),
    ("removed", "Removed", "What no longer raises an error of its own."),
    ("looser", "Raised in more cases", "The condition asks for less, or there is one more place that raises it."),
    ("other", "Raised under another condition", "Whether in more cases or in fewer, the conditions do not tell."),
    ("stricter", "Raised in fewer cases", "The condition asks for more, or there is one place less that raises it."),
    ("retyped", "Raised as another exception", "A handler of the old one may no longer catch it."),
    ("reworded", "Reworded", "The same error says something else."),
    ("relocated", "Relocated", "The same error stands in another file or function."),
    ("earlier", "Only the checks before it have changed", "What is not refused here is refused by another error."),
    ("moved", "Moved", "The same error stands in other lines."),
)


def view(report: Report, limit: int | None = None) -> View:
    """What is to be said; of each section at most `limit` changes."""
    sorted_out: dict[str, list[Change[Error]]] = {key: [] for key, *_ in SECTIONS}
    for change in report.changes:
        sorted_out[_section(change)].append(change)
    return View(
        repo=_line(report.new.source.repo),
        old=_name(report.old),
        new=_name(report.new),
        errors_old=report.old.errors,
        errors_new=report.new.errors,
        counts=tuple((kind, n) for kind, n in report.counts.items() if n),
        sections=tuple(
            Section(
                key=key,
                title=title,
                note=note,
                items=tuple(map(_item, sorted(sorted_out[key], key=_beside_the_product)[:limit])),
                more=max(0, len(sorted_out[key]) - limit) if limit is not None else 0,
            )
            for key, title, note in SECTIONS
            if sorted_out[key]
        ),
    )


def _beside_the_product(change: Change[Error]) -> bool:
    """In benchmarks, examples and tools, which come last."""
    return not change.site.path.startswith(PRODUCT)


def _name(side: Side) -> str:
    return _line(side.source.release or side.source.label)


def _section(change: Change[Error]) -> str:
    kinds = change.kinds
    if ch.REGUARDED in kinds and not change.earlier_only:
        return change.strictness or ch.OTHER
    for kind in (ch.ADDED, ch.REMOVED, ch.RETYPED, ch.REWORDED, ch.RELOCATED, ch.MOVED):
        if kind in kinds:
            return kind
    return "earlier"


def _item(change: Change[Error]) -> Item:
    old, new = change.old_site, change.new_site
    site = change.site
    both = old is not None and new is not None
    relocated = ch.RELOCATED in change.kinds
    pieces, more = _message(change)
    return Item(
        id=url(change.error.id),
        exceptions=tuple(dict.fromkeys(_exception(s) for s in (old, new) if s is not None)),
        message=pieces,
        more=more,
        place=_place(site),
        symbol=_line(site.symbol),
        before=_place(old) if relocated and old is not None else None,
        symbol_before=_line(old.symbol) if relocated and old is not None and old.symbol != site.symbol else None,
        when=() if both else _guards(change.guards_added or change.guards_removed),
        guards_gone=_guards(change.guards_removed) if both else (),
        guards_new=_guards(change.guards_added) if both else (),
        sites_gone=tuple(map(_place, change.sites_removed)),
        sites_new=tuple(map(_place, change.sites_added)),
        variants_gone=_variants(change.variants_removed),
        variants_new=_variants(change.variants_added),
    )


def _exception(site: SiteLike) -> str:
    name = _line(site.exception)
    return f"{name} (HTTP {site.http_status})" if site.http_status else name


def _place(site: SiteLike) -> Place:
    return place(site.path, site.line, getattr(site, "permalink", None))


def _guards(guards: Sequence[str]) -> tuple[str, ...]:
    """The last of them, which decide, and how many come before."""
    before = len(guards) - GUARDS
    return (*((f"… {before} before these",) if before > 0 else ()), *map(_line, guards[-GUARDS:]))


def _variants(texts: Sequence[str]) -> tuple[str, ...]:
    left = len(texts) - VARIANTS
    return (*map(_line, texts[:VARIANTS]), *((f"… and {left} more",) if left > 0 else ()))


def _line(text: str) -> str:
    """Text on one line, cut visibly."""
    return visible(f"{text[:GUARD]}… {len(text) - GUARD:,} more characters" if len(text) > GUARD else text)


def _message(change: Change[Error]) -> tuple[tuple[Piece, ...], int]:
    """The message, with what has changed in it, as far as it is shown."""
    if change.old is None or change.new is None:
        text = change.error.message
        return _cut([Piece(SAME, text)] if text else [])
    return _cut(marked(change.old.message, change.new.message))


def _cut(pieces: Iterable[Piece]) -> tuple[tuple[Piece, ...], int]:
    found: list[Piece] = []
    left, more = MESSAGE, 0
    for piece in pieces:
        if left > 0:
            found.append(Piece(piece.kind, visible(piece.text[:left], multiline=True)))
        more += max(0, len(piece.text) - max(left, 0))
        left -= len(piece.text)
    return tuple(found), more
