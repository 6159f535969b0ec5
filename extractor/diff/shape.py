"""Owns what pairing and comparing ask of an error: `model.Error` has it, and so has anything smaller that keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from extractor.model import Guard, Variant

RAISE = "raise"


class SiteLike(Protocol):
    """One place in the source."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def exception(self) -> str: ...
    @property
    def http_status(self) -> int | None: ...
    @property
    def guards(self) -> tuple[Guard, ...]: ...
    @property
    def definition_guards(self) -> tuple[Guard, ...]: ...
    @property
    def complete(self) -> bool: ...


class ErrorLike(Protocol):
    """All sites of one file with one message."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def variants(self) -> tuple[Variant, ...]: ...
    @property
    def sites(self) -> Sequence[SiteLike]: ...


E = TypeVar("E", bound=ErrorLike)


def sites_of(error: ErrorLike) -> list[SiteLike]:
    """The sites that count: those that raise something of their own."""
    return [site for site in error.sites if site.kind == RAISE]


def path_of(error: ErrorLike) -> str:
    """The one file of an error."""
    return error.sites[0].path
