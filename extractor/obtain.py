"""Owns the way from what a user names (folder, label, release, commit) to a dataset, extracted when it is not there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from extractor import cache as caches
from extractor import datasets, pool
from extractor.cluster import Cluster
from extractor.dataset import is_intact
from extractor.errors import ToolError
from extractor.source import Progress, SourceOptions, open_tree
from extractor.source.names import one_line

if TYPE_CHECKING:
    from extractor import pipeline  # importing what reads source takes half a second: only when there is some to read


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions:
    """How datasets are made; `repo` and `index` say where commits and releases come from."""

    out: Path = Path("output")
    cache: Path
    repo: str | None = None
    index: str | None = None
    jobs: int | None = None  # None: one process for each processor
    keep_records: bool = True  # in the cache
    scheduler: str | None = None  # of a dask cluster that reads the files


def obtain(given: str, options: ExtractOptions, progress: Progress, keep: Collection[Path] = ()) -> Path:
    """The folder of the dataset that is meant, extracted on the way when it is not there.

    A dataset's folder, else a label under `options.out` (a release also without its `v`, a commit also longer or
    shorter), else a folder of source, a release (`0.28.0`), a commit, tag or branch. Those in `keep` are not
    replaced. Raises `ToolError`, also when it could be several.
    """
    there = datasets.there(given, options.out)
    source = _folder(given)
    if there is not None and (source is None or source.resolve() == there.resolve()):
        return there
    if there is not None and source is not None:
        raise datasets.ambiguous(given, [Path(f"./{given}"), there])
    where = SourceOptions(cache=options.cache, repo=options.repo, index=options.index)
    if source is not None:
        where = replace(where, source=source)
    elif _is_version(given):
        where = replace(where, release=given)
    elif given.strip() and not _is_file(given):
        where = replace(where, commit=given)
    else:
        raise ToolError(f"{one_line(given)!r} is no dataset: give a folder, a label, a release or a commit")
    return extract(where, options, progress, keep).folder


def extract(
    source: SourceOptions, options: ExtractOptions, progress: Progress, keep: Collection[Path] = ()
) -> pipeline.Report:
    """Extracts a source into a dataset, unless it is there and whole; one in `keep` is not replaced by another."""
    from extractor import pipeline

    tool = caches.fingerprint()
    tree = open_tree(source, progress)
    folder = options.out / tree.provenance.label
    if folder in keep and not is_intact(folder, pipeline.fingerprint(tree, tool)):
        raise ToolError(
            f"two different sources would both be written to {folder}: "
            "extract one of them first, with vllm-errors extract --label NAME"
        )
    kept = caches.Cache(options.cache if options.keep_records else None, tool)
    try:
        with Cluster.at(options.scheduler) as reader:
            return pipeline.run(tree, options.out, kept, tool, options.jobs or pool.default_jobs(), progress, reader)
    finally:
        kept.close()


def _is_version(given: str) -> bool:
    """As releases are called; a number alone is rather the beginning of a commit."""
    from packaging.version import InvalidVersion, Version

    try:
        return "." in given and bool(Version(given))
    except InvalidVersion:
        return False


def _folder(given: str) -> Path | None:
    """The folder of that name, a dataset or source."""
    try:
        path = Path(given)
        return path if given.strip() and path.is_dir() else None
    except (OSError, ValueError):
        return None


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except (OSError, ValueError):
        return True  # no name of anything
