"""Owns the commands of `history`, but for parsing arguments and printing: which trees, which error, what is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from extractor.cache import Cache
from extractor.errors import ToolError
from extractor.history import build, store
from extractor.history.pairs import pairing
from extractor.history.readings import Means, Wanted
from extractor.history.record import COMMITS, RELEASES, Header, History, Line
from extractor.history.sentence import best, sentence
from extractor.identity import SHORTEST, not_one
from extractor.model import DEFAULT_REPO
from extractor.pool import Executor
from extractor.source import Progress, SourceOptions, batch, commits, local
from extractor.source.index import Candidate
from extractor.source.release import parsed

DIGITS = 10  # of a commit's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user asked for: `commits`, or else `releases`, or else all of them."""

    out: Path
    cache: Path
    releases: str | None = None
    commits: str | None = None
    repo: Path | None = None
    index: str | None = None
    pre: bool = False
    yanked: bool = False
    keep: bool = True  # what was read, in the cache
    jobs: int = 1


def run(
    options: Options, tool: bytes, pool: Executor, ahead: Executor | None, downloads: Progress, progress: Progress
) -> build.Report:
    """Builds the history of releases, or of commits, in the processes of `pool`. Raises `ToolError`."""
    path = store.path_under(options.out)
    of = RELEASES if options.commits is None else COMMITS
    before = build.existing(path, of)
    keep = options.cache if options.keep else None
    means = Means(cache=Cache(keep, tool), keep=keep, tool=tool, pool=pool, ahead=ahead, jobs=options.jobs)
    if options.commits is not None:
        repo, wanted = _commits(options, before)
        fetch: build.Fetch = iter
    else:
        repo, (files, wanted) = DEFAULT_REPO, _releases(options, before)
        fetch = partial(_fetched, files=files, options=options, downloads=downloads)
    return build.build(path, build.header_for(of, repo, tool), wanted, before, fetch, pairing, means, progress)


def said(report: build.Report, path: Path, seconds: float) -> Iterator[str]:
    """What a person is told at the end."""
    if report.anew:
        yield "what was there had been read by another version of this tool: all of it was folded anew"
    yield from (f"not in it: {name} ({trouble})" for name, trouble in report.troubles)
    header = report.header
    if not report.folded:
        yield f"nothing new: {len(header.releases)} {header.of}s, {header.lines:,} lines of descent: {path}"
        return
    yield (
        f"{report.folded} {header.of}s folded, {report.files:,} files: {report.parsed:,} parsed, "
        f"{report.files - report.parsed:,} reused; {header.lines:,} lines of descent over {len(header.releases)} "
        f"{header.of}s, {seconds:.1f} s: {path}"
    )


# --- releases --------------------------------------------------------------------------------------------


def _releases(options: Options, before: History | None) -> tuple[dict[str, Candidate], list[Wanted]]:
    """The files on the index by version, and what is wanted of them together with what is there, oldest first."""
    first, last = (None, None) if options.releases is None else batch.parsed_range(options.releases)
    asked = batch.Range(first=first, last=last, pre=options.pre, yanked=options.yanked)
    there = {} if before is None else {release.name: release for release in before.header.releases}
    chosen = batch.chosen(batch.listed(options.index, options.cache), asked, there)
    files = {str(parsed(c.version)): c for c in chosen}
    wanted = {
        name: Wanted(
            name=name,
            date=c.uploaded,
            inputs=c.sha256 or "",
            whole=not c.wheel,
            source=SourceOptions(cache=options.cache, release=name, index=options.index),
        )
        for name, c in files.items()
    }
    for name, release in there.items():
        if name not in wanted:  # gone from the index: what was read of it is in the cache, or its archive
            source = SourceOptions(cache=options.cache, release=name, index=options.index)
            wanted[name] = Wanted(
                name=name, date=release.date, inputs=release.inputs, whole=release.whole, source=source
            )
    return files, sorted(wanted.values(), key=lambda w: (w.date or "", parsed(w.name)))


def _fetched(
    some: Sequence[Wanted], files: dict[str, Candidate], options: Options, downloads: Progress
) -> Iterator[Wanted]:
    """The same, each when its archive is there, or with what is wrong with it."""
    listed = [files[one.name] for one in some if one.name in files]
    archives = batch.fetched(listed, options.cache, options.index, downloads)
    for one in some:
        if one.name in files:
            archive = next(archives)
            one = replace(one, trouble=archive.trouble)
        yield one


# --- commits ---------------------------------------------------------------------------------------------


def _commits(options: Options, before: History | None) -> tuple[str, list[Wanted]]:
    found = commits.first_parents(options.commits or "", options.repo)
    assert options.repo is not None
    names = {commit.name for commit in found}
    for release in () if before is None else before.header.releases:
        if release.inputs not in names:
            raise ToolError(
                f"the history that is there has {release.name}, which is not in this range: "
                "give --commits a longer one, or another folder with --out"
            )
    return local.origin_repo(local.open_clone(options.repo)), [
        Wanted(
            name=commit.name[:DIGITS],
            date=commit.date,
            inputs=commit.name,
            whole=True,
            source=SourceOptions(cache=options.cache, commit=commit.name, repo=str(options.repo)),
        )
        for commit in found
    ]


# --- one error -------------------------------------------------------------------------------------------


def fact(path: Path, error_id: str) -> str | None:
    """What a card says of an error's history; None without a history, or when it does not know the error."""
    if not path.exists():
        return None
    header, lines = store.read_lines(path, error_id)
    line = best(lines, error_id)
    return None if line is None else sentence(line, header)


def story(path: Path, what: str) -> tuple[Header, list[Line]]:
    """The lines of the error that an id, or the unique beginning of one, is of. Raises `NothingFound`."""
    wanted = what.lower()
    header, lines = store.read_lines(path, wanted) if len(wanted) >= SHORTEST else (store.read_raw(path)[0], [])
    ids = {i for line in lines for i in line.ids if i.startswith(wanted)}
    if len(ids) == 1 or len(lines) == 1:
        return header, sorted(lines, key=lambda line: line.until is not None)
    known = set() if ids else {i for line in store.read(path).lines for i in line.ids}
    raise not_one(what, sorted(ids), known, "no release had an error")
