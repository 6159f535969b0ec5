"""Owns what every kind of source has in common: the tree as the rest of the package sees it.

A source lists its files once, when it is opened, and hands out their bytes later, when something asks for
them: a tree whose files were all read before is never unpacked again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from extractor.model import Provenance, Skip

MAX_FILE = 64 << 20  # bytes of one Python file; the largest of vLLM has 0.3 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One Python file. `path` is printable on one line; `digest` is git's blob id, whatever the source."""

    path: str
    digest: str


class Tree(Protocol):
    """A source tree that is open: what it is, which Python files it has, and their bytes on demand.

    `in_one`: reading one of them costs what reading all does.
    """

    in_one: ClassVar[bool]

    @property
    def provenance(self) -> Provenance: ...

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Python files outside the top-level `tests/`, sorted by path."""
        ...

    @property
    def skipped(self) -> tuple[Skip, ...]:
        """Python files that cannot be read, each with the reason."""
        ...

    def read(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """The bytes of the files, in any order; may be called never or several times."""
        ...


class Progress(Protocol):
    """Where a download tells how far it is, in bytes. `total` None: not known."""

    def start(self, what: str, total: int | None) -> None: ...
    def advance(self, amount: int) -> None: ...
    def done(self) -> None: ...


class Silent:
    """A progress that nobody watches."""

    def another(self) -> Silent:
        """One more of them."""
        return self

    def start(self, what: str, total: int | None) -> None:
        """Says nothing."""

    def advance(self, amount: int) -> None:
        """Says nothing."""

    def done(self) -> None:
        """Says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What the user asked for: at most one of `commit`, `release`, `source`; none is the newest release."""

    cache: Path
    commit: str | None = None
    release: str | None = None
    source: Path | None = None
    repo: str | None = None
    index: str | None = None
    label: str | None = None
