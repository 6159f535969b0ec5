"""Owns what other errors and the message itself say about an error: each fact has its own module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from extractor.facts.hints import hints
from extractor.facts.related import Subject, related
from extractor.model import Error


def with_related(errors: Sequence[Error]) -> tuple[Error, ...]:
    """The errors of one tree with those that are near them, in the same order: a matter of the whole tree."""
    beside = related([_subject(e) for e in errors])
    return tuple(replace(e, related=r) for e, r in zip(errors, beside, strict=True))


def with_hints(error: Error) -> Error:
    """The error with what its message tells its reader to do: a matter of the error alone."""
    return replace(error, hints=hints(error.variants))


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
