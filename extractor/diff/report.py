"""Owns the diff of two datasets: read and held against each other, what of it is asked for, and its JSON."""

from __future__ import annotations

import difflib
import fnmatch
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extractor import __version__
from extractor.dataset import encode, read_errors, read_manifest
from extractor.diff.changes import KINDS, MOVED, Change, compare
from extractor.diff.shape import RAISE, SiteLike
from extractor.errors import ToolError
from extractor.model import SCHEMA_VERSION, Error, Manifest, Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is asked for; empty is everything. `moved`: those that only stand in other lines are listed too."""

    paths: tuple[str, ...] = ()  # globs; `*` stands for `/` too
    kinds: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()  # by name, with or without its module; a base finds what derives from it
    moved: bool = False

    @property
    def narrow(self) -> bool:
        """Whether it leaves changes out."""
        return bool(self.paths or self.kinds or self.exceptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two datasets: its folder, which source it is of, and how many errors are raised there."""

    folder: Path
    source: Provenance
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The diff: `counts` has each kind, `changes` are those to be listed, by file and line."""

    old: Side
    new: Side
    counts: dict[str, int]
    changes: tuple[Change[Error], ...]

    @property
    def same(self) -> bool:
        """Whether both sides are one source."""
        return self.old.source == self.new.source

    def has(self, kinds: Iterable[str] = ()) -> bool:
        """Whether there are changes of these kinds; without any, of all but `moved`."""
        return any(self.counts[kind] for kind in kinds or (k for k in KINDS if k != MOVED))


def kinds_of(given: Iterable[str]) -> tuple[str, ...]:
    """Kinds as a user names them, several with commas between. Raises `ToolError` for one that there is not."""
    found = tuple(name for names in given for name in names.replace(" ", "").split(",") if name)
    for name in found:
        if name not in KINDS:
            raise ToolError(f"there is no kind of change {name!r}: the kinds are {', '.join(KINDS)}")
    return found


def diff(old: Path, new: Path, selection: Selection) -> Report:
    """Compares two datasets. Raises `ToolError` when one cannot be read or they cannot be compared."""
    manifests = _manifest(old), _manifest(new)
    _comparable((old, new), manifests)
    errors = list(read_errors(old)), list(read_errors(new))
    _known(selection.exceptions, (*errors[0], *errors[1]))
    changes = [c for c in compare(*errors) if c.kinds and _selected(c, selection)]
    counts = Counter(kind for c in changes for kind in c.kinds)
    listed = selection.moved or MOVED in selection.kinds
    sides = [
        Side(folder=folder, source=manifest.source, errors=sum(e.kind == RAISE for e in side))
        for folder, manifest, side in zip((old, new), manifests, errors, strict=True)
    ]
    return Report(
        old=sides[0],
        new=sides[1],
        counts={kind: counts[kind] for kind in KINDS},
        changes=tuple(sorted((c for c in changes if listed or c.kinds != (MOVED,)), key=_order)),
    )


def _order(change: Change[Error]) -> tuple[str, int, str, str]:
    new, old = (error.id if error is not None else "" for error in (change.new, change.old))
    return change.site.path, change.site.line, new, old


# --- two datasets that can be compared -------------------------------------------------------------------


def _manifest(folder: Path) -> Manifest:
    manifest = read_manifest(folder, any_schema=True)
    if manifest.schema != SCHEMA_VERSION:
        raise ToolError(
            f"{folder} has schema {manifest.schema}, and this tool reads {SCHEMA_VERSION}: "
            f"make it again with {_command(folder, manifest.source)}"
        )
    return manifest


def _comparable(folders: tuple[Path, Path], manifests: tuple[Manifest, Manifest]) -> None:
    if manifests[0].tool == manifests[1].tool:
        return
    aged = next(n for n, manifest in enumerate(manifests) if manifest.tool != f"vllm-errors {__version__}")
    other = 1 - aged
    raise ToolError(
        f"{folders[aged]} was made by {manifests[aged].tool} and {folders[other]} by {manifests[other].tool}, which "
        f"may read conditions in another way: make it again with {_command(folders[aged], manifests[aged].source)}"
    )


def _command(folder: Path, source: Provenance) -> str:
    """The command that makes a dataset again where it is."""
    words = ["vllm-errors", "extract"]
    if source.release is not None and source.archive is not None:
        words += ["--release", source.release]
    elif source.commit is not None and not source.dirty:
        words += ["--commit", source.commit]
    else:
        words += ["--source", "FOLDER", "--label", source.label]
    return shlex.join([*words, "--out", str(folder.parent)])


# --- what is asked for -----------------------------------------------------------------------------------


def _selected(change: Change[Error], selection: Selection) -> bool:
    sides = [error for error in (change.old, change.new) if error is not None]
    paths = {site.path for error in sides for site in error.sites}
    return (
        (not selection.kinds or not set(selection.kinds).isdisjoint(change.kinds))
        and (not selection.paths or any(fnmatch.fnmatchcase(path, glob) for glob in selection.paths for path in paths))
        and (not selection.exceptions or any(name in _names(e) for name in selection.exceptions for e in sides))
    )


def _names(error: Error) -> frozenset[str]:
    """What its exceptions and their bases are called, with and without the module."""
    found = {n for s in error.sites for n in (s.exception, s.qualified_exception, *s.bases) if n is not None}
    return frozenset(found | {name.rpartition(".")[2] for name in found})


def _known(exceptions: Sequence[str], errors: Iterable[Error]) -> None:
    """Raises `ToolError` for an exception that neither side has: a slip of the pen would find nothing for ever."""
    if not exceptions:
        return
    there = frozenset[str]().union(*map(_names, errors))
    for name in exceptions:
        if name not in there:
            near = difflib.get_close_matches(name, sorted(there), 3, 0.6)
            raise ToolError(
                f"neither side raises {name!r} or what derives from it; the nearest: {', '.join(near) or 'none'}"
            )


# --- JSON ------------------------------------------------------------------------------------------------


def as_json(report: Report) -> bytes:
    """The report for programs: the same bytes for the same datasets."""
    return encode(
        {
            "old": _side(report.old),
            "new": _side(report.new),
            "counts": report.counts,
            "changes": [_as_data(change) for change in report.changes],
        },
        indent=True,
    )


def _side(side: Side) -> dict[str, Any]:
    source = side.source
    return {"label": source.label, "release": source.release, "commit": source.commit, "errors": side.errors}


def _as_data(change: Change[Error]) -> dict[str, Any]:
    old, new = change.old_site, change.new_site
    return {
        "kinds": change.kinds,
        "old": change.old.id if change.old else None,
        "new": change.new.id if change.new else None,
        "exception": change.site.exception,
        "exception_old": old.exception if old else None,
        "exception_new": new.exception if new else None,
        "message_old": change.old.message if change.old else None,
        "message_new": change.new.message if change.new else None,
        "variants_added": change.variants_added,
        "variants_removed": change.variants_removed,
        "strictness": change.strictness,
        "earlier_only": change.earlier_only,
        "guards_added": change.guards_added,
        "guards_removed": change.guards_removed,
        "sites_added": list(_places(change.sites_added)),
        "sites_removed": list(_places(change.sites_removed)),
        "path_old": old.path if old else None,
        "path_new": new.path if new else None,
        "symbol_old": old.symbol if old else None,
        "symbol_new": new.symbol if new else None,
        "line_old": old.line if old else None,
        "line_new": new.line if new else None,
        "http_status_old": old.http_status if old else None,
        "http_status_new": new.http_status if new else None,
    }


def _places(sites: Iterable[SiteLike]) -> Iterator[dict[str, Any]]:
    for site in sites:
        yield {"path": site.path, "line": site.line, "symbol": site.symbol, "guards": [g.text for g in site.guards]}
