"""Owns many releases at once: which ones there are, oldest first, and their archives, fetched ahead of their use.

One that cannot be had is a value, with the reason: it does not stop the others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from extractor.errors import ToolError
from extractor.source import index
from extractor.source.base import Progress
from extractor.source.index import Candidate
from extractor.source.release import Kept, best, fetch, is_final, kept_releases, parsed, without_network

AT_ONCE = 4  # downloads
WHEEL = ".whl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Releases from `first` to `last`, both with their ends; None: from the beginning, to the newest."""

    first: str | None = None
    last: str | None = None
    pre: bool = False  # pre-releases too
    yanked: bool = False  # and those that were taken back


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A release that can be read, or why it cannot."""

    version: str
    uploaded: str | None
    sha256: str
    wheel: bool
    trouble: str | None = None


def parsed_range(text: str) -> tuple[str | None, str | None]:
    """`A..B`, `A..`, `..B` or one release. Raises `ToolError`."""
    first, dots, last = text.partition("..")
    for end in (first, last):
        if end.strip():
            parsed(end.strip())
    if not (first.strip() or last.strip()):
        raise ToolError(f"{text!r} is no range of releases: give --releases one such as 0.11.0..0.14.1")
    return first.strip() or None, (last.strip() or None) if dots else first.strip()


def listed(address: str | None, cache: Path) -> list[Candidate]:
    """All files of the project on the index. Raises `ToolError`."""
    try:
        return index.Index(index.endpoint(address)).candidates()
    except index.Unreachable as e:
        raise ToolError(f"{e}; {without_network(cache)}") from e


def chosen(candidates: Iterable[Candidate], wanted: Range, also: Iterable[str] = ()) -> list[Candidate]:
    """One file for each release in the range and for each in `also`, oldest first: by upload, then by version.

    Raises `ToolError` when an end of the range is no release of the index, or nothing is in it.
    """
    by_version: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_version.setdefault(str(parsed(candidate.version)), []).append(candidate)
    files = {version: best(some) for version, some in by_version.items()}
    ends = {str(parsed(end)) for end in (wanted.first, wanted.last) if end is not None}
    for end in ends - files.keys():
        raise ToolError(f"there is no release {end} of vLLM on the index: give --releases two that are there")
    ordered = sorted(files.values(), key=lambda c: (c.uploaded or "", parsed(c.version)))
    place = {str(parsed(c.version)): n for n, c in enumerate(ordered)}
    low = 0 if wanted.first is None else place[str(parsed(wanted.first))]
    high = len(ordered) - 1 if wanted.last is None else place[str(parsed(wanted.last))]
    if ordered and low > high:
        raise ToolError(f"{wanted.first} came after {wanted.last}: give --releases the older one first")
    named = ends | set(also)
    found = [
        c
        for n, c in enumerate(ordered)
        if (version := str(parsed(c.version))) in named or (low <= n <= high and _asked_for(c, wanted, version))
    ]
    if not found:
        raise ToolError("the index has no release of vLLM that is neither a pre-release nor yanked: check --index")
    return found


def _asked_for(candidate: Candidate, wanted: Range, version: str) -> bool:
    """Yanked ones and pre-releases only when asked for; builds for one machine (`+cpu`) never."""
    final = is_final(parsed(version)) or (wanted.pre and parsed(version).local is None)
    return final and (wanted.yanked or not candidate.yanked)


def fetched(files: Sequence[Candidate], cache: Path, address: str | None, progress: Progress) -> Iterator[Archive]:
    """The archives in their order, each as soon as it and those before it are there; downloads run ahead.

    What the cache has a description of is taken to be there: whoever opens it holds it against its sha256.
    """
    folder = cache / "releases"
    place = index.Index(index.endpoint(address))
    there = {kept.version: kept for kept in kept_releases(folder)}
    sizes = {c.filename: c.size or 0 for c in files if str(parsed(c.version)) not in there}
    shared = _Shared(progress)
    if sizes:
        progress.start(f"downloading {len(sizes)} releases", sum(sizes.values()) or None)

    def get(candidate: Candidate) -> Archive:
        kept = there.get(str(parsed(candidate.version)))
        try:
            return _archive(kept or fetch(place, candidate, folder, shared), candidate)
        except (ToolError, index.Unreachable) as e:
            return Archive(
                version=str(parsed(candidate.version)), uploaded=None, sha256="", wheel=False, trouble=str(e)
            )

    threads = ThreadPoolExecutor(AT_ONCE)
    try:
        for future in [threads.submit(get, candidate) for candidate in files]:
            yield future.result()
    finally:
        shared.stopped = True
        threads.shutdown(cancel_futures=True)
        progress.done()


def _archive(kept: Kept, candidate: Candidate) -> Archive:
    return Archive(
        version=kept.version,
        uploaded=kept.uploaded or candidate.uploaded,
        sha256=kept.sha256,
        wheel=kept.filename.endswith(WHEEL),
    )


class _Shared:
    """One bar for all downloads, and what ends them when nobody waits for them any more."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self.stopped = False

    def start(self, what: str, total: int | None) -> None:
        """The bar is there already."""

    def advance(self, amount: int) -> None:
        """A piece has arrived."""
        if self.stopped:
            raise ToolError("the download was stopped")
        with self._lock:
            self._progress.advance(amount)

    def done(self) -> None:
        """Of one of them."""
