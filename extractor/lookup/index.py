"""Owns the file that the site's lookup reads for one release: every message with its places, and no text twice.

`[id, message or null, kind, http status, cause, bases, hints, variants, uneven, sites]` is an error; a message that is
its first variant's is not written again, and `uneven` are the variants that normalising a log would change. A part of
a variant is text, or `[expression]`. A site is `[path, line, end line, symbol, kind, exception, source,
[[line, guard], ...]]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from extractor.dataset import encode
from extractor.match.lexicon import Entry, entry_of, is_uneven
from extractor.model import Error, Provenance

FORMAT = 1
NEAREST = 6  # guards of a site, the last ones: the page of an error has all of them
LONGEST = 200  # characters of one


def index(source: Provenance, errors: Iterable[Error]) -> bytes:
    """The index of one dataset as JSON."""
    return encode(
        {
            "format": FORMAT,
            "label": source.label,
            "release": source.release,
            "errors": [_error(error, entry_of(error)) for error in errors],
        }
    )


def _error(error: Error, entry: Entry) -> list[Any]:
    return [
        entry.id,
        None if entry.variants and entry.message == written(entry.variants[0]) else entry.message,
        entry.kind,
        error.http_status,
        entry.cause,
        entry.bases,
        entry.hints,
        [[text if text is not None else [name] for text, name in parts] for parts in entry.variants],
        [n for n, parts in enumerate(entry.variants) if is_uneven(parts)],
        [
            [
                place.path, place.line, place.end_line, place.symbol, place.kind, place.exception, place.code,
                [[guard.line, _short(guard.text)] for guard in site.guards[-NEAREST:]],
            ]
            for place, site in zip(entry.sites, error.sites, strict=True)
        ],
    ]  # fmt: skip


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"


def written(parts: Iterable[tuple[str | None, str | None]]) -> str:
    """A variant with its holes as `{expression}`, without conversions."""
    return "".join(text if text is not None else f"{{{name}}}" for text, name in parts)
