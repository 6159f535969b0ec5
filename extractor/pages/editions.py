"""Owns the datasets that a site is made of: read, held against each other, the newest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from extractor.dataset import read_errors, read_manifest, read_skipped
from extractor.errors import ToolError
from extractor.model import Counts, Error, Provenance, Skip
from extractor.pages.addresses import slug
from extractor.printable import visible


@dataclass(frozen=True, slots=True)
class Edition:
    """One dataset: what vLLM raised in one release, commit or folder."""

    source: Provenance
    counts: Counts
    skipped: tuple[Skip, ...]
    errors: dict[str, Error]  # by id, sorted

    @property
    def name(self) -> str:
        """What a reader calls it."""
        return visible(self.source.release or self.source.label)

    @property
    def slug(self) -> str:
        """Its part of an address."""
        return slug(self.source.label)


def read(folders: Iterable[Path]) -> tuple[Edition, ...]:
    """The datasets, the newest first. Raises `ToolError` when there is none, or when they do not belong together."""
    there = list(dict.fromkeys(folder.resolve() for folder in folders))
    if not there:
        raise ToolError("a site needs a dataset: name one, as in vllm-errors site 0.28.0")
    _check_sources(there)
    editions = [_edition(folder) for folder in there]
    editions.sort(key=lambda e: (e.source.date or "9999", e.source.label), reverse=True)
    _check_ids(editions)
    return tuple(editions)


def _edition(folder: Path) -> Edition:
    manifest = read_manifest(folder)
    return Edition(
        source=manifest.source,
        counts=manifest.counts,
        skipped=read_skipped(folder),
        errors={error.id: error for error in sorted(read_errors(folder), key=lambda e: e.id)},
    )


def _check_sources(folders: Sequence[Path]) -> None:
    first, *rest = [(folder, read_manifest(folder)) for folder in folders]
    labels = {first[1].source.label: first[0]}
    for folder, manifest in rest:
        if manifest.source.repo != first[1].source.repo:
            raise ToolError(
                f"{first[0]} is of {first[1].source.repo} and {folder} of {manifest.source.repo}: "
                "a site is of one repository, so make one for each"
            )
        if manifest.tool != first[1].tool:
            raise ToolError(
                f"{first[0]} was written by {first[1].tool} and {folder} by {manifest.tool}: "
                "extract both again with vllm-errors extract"
            )
        other = labels.setdefault(manifest.source.label, folder)
        if other != folder:
            raise ToolError(
                f"{other} and {folder} are both called {manifest.source.label}: "
                "extract one of them again with --label NAME"
            )


def _check_ids(editions: Sequence[Edition]) -> None:
    """An id is made of the message and the path, so that it cannot mean two errors."""
    known: dict[str, tuple[tuple[str, str], Edition]] = {}
    for edition in editions:
        for error in edition.errors.values():
            meaning = (error.message, error.sites[0].path)
            before, other = known.setdefault(error.id, (meaning, edition))
            if before != meaning:
                raise ToolError(
                    f"{error.id} is one error in {other.name} and another in {edition.name}, which cannot be by the "
                    "rule that ids are made by: extract both again with vllm-errors extract"
                )
