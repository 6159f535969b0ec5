"""Owns what other errors and the message itself say about an error: each fact has its own module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from extractor.facts.hints import hints
from extractor.facts.related import Subject, related
from extractor.model import Error


def enrich(errors: Sequence[Error]) -> tuple[Error, ...]:
    """The errors of one tree with their hints and their related errors, in the same order."""
    beside = related([_subject(e) for e in errors])
    return tuple(replace(e, hints=hints(e.variants), related=r) for e, r in zip(errors, beside, strict=True))


def _subject(error: Error) -> Subject:
    parts = [p for v in error.variants for p in v.parts]
    first = error.sites[0]
    return Subject(
        id=error.id,
        title=error.title,
        exception=error.exception,
        path=first.path,
        line=first.line,
        symbols=tuple(site.symbol for site in error.sites),
        texts=tuple(p.text for p in parts if isinstance(p.text, str) and p.text.strip()),
        exprs=tuple(p.expr for p in parts if isinstance(p.expr, str)),
    )
