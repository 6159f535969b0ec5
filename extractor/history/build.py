"""Owns the building of a history: which releases are still to be folded, and the file put in its place.

What the file has counts: when the releases that it holds come first among those wanted, the fold goes on where it
stopped. A release that turns up in between is folded anew with all others, from what the cache keeps of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from extractor import __version__
from extractor.errors import ToolError
from extractor.history import store
from extractor.history.fold import Fold
from extractor.history.pairs import Pairing, kept_pairs
from extractor.history.readings import Means, Reading, Wanted, at_hand, readings
from extractor.history.record import SCHEMA, Header, History, Release
from extractor.model import Error
from extractor.source import Progress

PACKAGE = "vllm/"  # what a wheel holds
TOOL = f"vllm-errors {__version__}"

Fetch = Callable[[Sequence[Wanted]], Iterator[Wanted]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a build came to: `files` were met in the trees that were folded, `parsed` of them had to be read."""

    header: Header
    folded: int  # trees
    files: int
    parsed: int
    troubles: tuple[tuple[str, str], ...]  # trees that are not in it, and why
    anew: bool  # what was there had been read by another version of this tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where a fold begins: with `todo` to come, after `behind`, which is read again for what it had."""

    fold: Fold
    behind: tuple[Wanted, ...]
    todo: tuple[Wanted, ...]
    anew: bool


def existing(path: Path, of: str) -> History | None:
    """The history that is there. Raises `ToolError` when it cannot be read or is of something else."""
    if not path.exists():
        return None
    found = store.read(path)
    if found.header.of != of:
        raise ToolError(f"{path} is a history of {found.header.of}s: give another folder with --out for one of {of}s")
    return found


def plan(before: History | None, wanted: Sequence[Wanted], reading: str) -> Plan:
    """Goes on after what is there when that is how the wanted ones begin; else from the first of them."""
    if before is None:
        return Plan(fold=Fold(), behind=(), todo=tuple(wanted), anew=False)
    releases, same = before.header.releases, before.header.reading == reading
    count = len(releases)
    if not same or [(r.name, r.inputs) for r in releases] != [(w.name, w.inputs) for w in wanted[:count]]:
        return Plan(fold=Fold(), behind=(), todo=tuple(wanted), anew=not same)
    last = max((n for n, release in enumerate(releases) if release.whole), default=0)
    return Plan(
        fold=Fold(releases, before.lines),
        behind=tuple(wanted[last:count]),
        todo=tuple(wanted[count:]),
        anew=False,
    )


def build(
    path: Path,
    header: Header,
    wanted: Sequence[Wanted],
    before: History | None,
    fetch: Fetch,
    pairing: Pairing,
    means: Means,
    progress: Progress,
) -> Report:
    """Folds all that is wanted, oldest first, on top of what is there, and writes the file.

    When it is interrupted, what is folded by then is written, unless the file that is there knows more.
    Raises `ToolError`.
    """
    planned = plan(before, wanted, header.reading)
    counts = _Counts()
    fold = planned.fold
    try:
        if planned.todo:
            progress.start("folding", len(planned.todo))
            _fold(planned, fetch, pairing, means, progress, counts)
            progress.done()
    finally:
        if counts.folded and (before is None or {r.name for r in before.header.releases} <= fold.names()):
            if planned.anew and before is not None:
                fold.keep(before.lines, before.header.tool, before.header.releases[-1].name)
            missing = tuple(name for name, _ in counts.troubles)
            header = replace(header, releases=tuple(fold.releases), missing=missing)
            header = store.write(path, header, fold.lines())
    return Report(
        header=header if counts.folded or before is None else before.header,
        folded=counts.folded,
        files=counts.files,
        parsed=counts.parsed,
        troubles=tuple(counts.troubles),
        anew=planned.anew,
    )


class _Counts:
    """What happened so far."""

    def __init__(self) -> None:
        self.folded = self.files = self.parsed = 0
        self.troubles: list[tuple[str, str]] = []


def _fold(planned: Plan, fetch: Fetch, pairing: Pairing, means: Means, progress: Progress, counts: _Counts) -> None:
    asked = (*planned.behind, *planned.todo)
    there = at_hand(asked, means.cache)
    arriving = fetch([one for one in asked if one.name not in there])
    stream = (one if one.name in there else next(arriving) for one in asked)
    behind = {one.name for one in planned.behind}
    known: dict[bytes, Error] = {}
    for one, read in readings(stream, means):
        if read.trouble is not None and one.name in behind:
            raise ToolError(f"{one.name} is in the history and cannot be read: {read.trouble}")
        if read.trouble is not None:
            counts.troubles.append((one.name, read.trouble))
        else:
            errors = _seen(read, one, known)
            if one.name not in behind:
                release = Release(name=one.name, date=one.date, inputs=one.inputs, errors=len(errors), whole=one.whole)
                planned.fold.step(release, kept_pairs(known, errors, pairing, means.cache))
                counts.folded += 1
                counts.files += read.files
                counts.parsed += read.parsed
            known = errors
        progress.advance(one.name not in behind)


def _seen(read: Reading, one: Wanted, known: Mapping[bytes, Error]) -> dict[bytes, Error]:
    """The errors of a tree; of files that a wheel does not hold, those of the release before."""
    errors = read.errors(known)
    if not one.whole:
        errors |= {row: error for row, error in known.items() if not error.sites[0].path.startswith(PACKAGE)}
    return errors


def header_for(of: str, repo: str, tool: bytes) -> Header:
    """The header of a history that has nothing in it yet."""
    return Header(
        schema=SCHEMA, tool=TOOL, reading=tool.hex(), of=of, repo=repo, releases=(), missing=(), lines=0, sha256=""
    )
