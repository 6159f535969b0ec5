"""Owns releases: which file of which version, the cache of their archives, and the tree in one of them.

An archive stands in the cache beside a small description. One that is there, whole, needs no network.
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from extractor.errors import ToolError
from extractor.model import DEFAULT_REPO, Provenance, Skip
from extractor.source import archive, index, listing, names
from extractor.source.base import Entry, Progress, SourceOptions
from extractor.source.store import PARTIAL, atomic, locked, sweep, writing

if TYPE_CHECKING:
    from packaging.version import Version

    from extractor.source.index import Candidate

DESCRIPTION = ".json"  # after the archive's name
SAID = 5  # versions in a sentence, the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The description of an archive in the cache."""

    filename: str
    sha256: str
    version: str
    uploaded: str | None
    yanked: bool


class ReleaseTree:
    """The Python files of a release's archive, read out of it."""

    in_one: ClassVar[bool] = True

    def __init__(self, path: Path, provenance: Provenance, found: listing.Listing) -> None:
        self._path = path
        self._found = found
        self.provenance = provenance
        self.entries: tuple[Entry, ...] = found.entries
        self.skipped: tuple[Skip, ...] = found.skipped

    def read(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """One pass over the archive, in its own order, as far as the last file that is asked for."""
        asked = set(paths)
        pairs = zip(self._found.members, self.entries, strict=True)
        wanted = {member: entry.path for member, entry in pairs if entry.path in asked}
        return archive.read(self._path, wanted)


def open_release(options: SourceOptions, progress: Progress) -> ReleaseTree:
    """The tree of `options.release`, or of the newest. Raises `ToolError`."""
    folder = options.cache / "releases"
    asked = None if options.release is None else parsed(options.release)
    kept = None if asked is None else _from_cache(folder, asked)
    if kept is None:
        kept = _from_index(folder, asked, options, progress)
    path = folder / kept.filename
    found = listing.load(options.cache / "listings", kept.sha256)
    if found is None:
        found = archive.scan(path)
        listing.save(options.cache / "listings", kept.sha256, found)
    return ReleaseTree(path, _provenance(kept, found, options.label), found)


def _provenance(kept: Kept, found: listing.Listing, label: str | None) -> Provenance:
    return Provenance(
        repo=DEFAULT_REPO,
        label=label or f"v{kept.version}",
        commit=found.commit,
        release=kept.version,
        date=kept.uploaded,
        archive=kept.filename,
        sha256=kept.sha256,
        permalink=names.permalink(DEFAULT_REPO, f"v{parsed(kept.version).public}"),
    )


# --- the cache -------------------------------------------------------------------------------------------


def kept_releases(folder: Path) -> list[Kept]:
    """The archives that the cache has a description of, oldest version first."""
    found = []
    for path in sorted(folder.glob(f"*{DESCRIPTION}")):
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=Kept)
            version = parsed(kept.version)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, ToolError):
            continue
        if path.name == kept.filename + DESCRIPTION and (folder / kept.filename).is_file():
            found.append((version, kept))
    return [kept for _, kept in sorted(found, key=lambda pair: pair[0])]


def _from_cache(folder: Path, asked: Version) -> Kept | None:
    for kept in kept_releases(folder):
        if parsed(kept.version) == asked and _sha256(folder / kept.filename) == kept.sha256:
            return kept
    return None


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


# --- the index -------------------------------------------------------------------------------------------


def _from_index(folder: Path, asked: Version | None, options: SourceOptions, progress: Progress) -> Kept:
    place = index.Index(index.endpoint(options.index))
    try:
        candidates = place.candidates()
        chosen = _newest(candidates) if asked is None else _of_version(candidates, asked)
        kept = None if asked is not None else _from_cache(folder, parsed(chosen.version))
        return kept or fetch(place, chosen, folder, progress)
    except index.Unreachable as e:
        raise ToolError(f"{e}; {without_network(options.cache)}") from e


def without_network(cache: Path) -> str:
    """The end of a sentence: the two ways that need no network."""
    versions = [kept.version for kept in reversed(kept_releases(cache / "releases"))]
    more = f" and {len(versions) - SAID} more" if len(versions) > SAID else ""
    there = ", ".join(versions[:SAID]) + more or "none yet"
    return f"without a network give --release with one from the cache (there: {there}) or --source with a folder"


def fetch(place: index.Index, chosen: Candidate, folder: Path, progress: Progress) -> Kept:
    """Gets an archive into the cache. Raises `ToolError`, and `Unreachable` without a network."""
    if chosen.sha256 is None:
        raise ToolError(f"the index gives no sha256 for {chosen.filename}, so it is not trusted: use another --index")
    target = folder / chosen.filename
    partial = folder.with_name("partial") / f"{PARTIAL}{chosen.sha256}"  # the next run finds what there is of it
    for left in (folder, partial.parent):
        sweep(left)
    with writing(folder), locked(partial):
        if _sha256(target) != chosen.sha256:  # somebody else may have got it by now
            place.download(chosen, partial, progress)
            folder.mkdir(parents=True, exist_ok=True)
            os.replace(partial, target)
    kept = Kept(
        filename=chosen.filename,
        sha256=chosen.sha256,
        version=str(parsed(chosen.version)),
        uploaded=chosen.uploaded,
        yanked=chosen.yanked,
    )
    with writing(folder), atomic(folder / (chosen.filename + DESCRIPTION)) as partial:
        partial.write_bytes(msgspec.json.encode(kept))
    return kept


def _newest(candidates: Sequence[Candidate]) -> Candidate:
    good = [c for c in candidates if not c.yanked and is_final(parsed(c.version))]
    if not good:
        raise ToolError("the index has no release of vLLM that is neither a pre-release nor yanked: check --index")
    newest = max(parsed(c.version) for c in good)
    return best([c for c in good if parsed(c.version) == newest])


def is_final(version: Version) -> bool:
    """Whether it is neither a pre-release nor a build for one machine (`+cpu`)."""
    return not version.is_prerelease and version.local is None


def _of_version(candidates: Sequence[Candidate], asked: Version) -> Candidate:
    found = [c for c in candidates if parsed(c.version) == asked]
    if found:
        return best(found)
    there = sorted({parsed(c.version) for c in candidates})
    at = bisect(there, asked)
    near = ", ".join(str(version) for version in there[max(at - 2, 0) : at + 2])
    raise ToolError(f"there is no release {asked} of vLLM on the index; the nearest: {near or 'none'}")


def best(files: Sequence[Candidate]) -> Candidate:
    """The source distribution, or the smallest wheel of a release that has none, as 0.4.0 and 0.15.0."""
    return min(files, key=lambda c: (c.wheel, c.yanked, c.size is None, c.size or 0, c.filename))


def parsed(text: str) -> Version:
    """A version, with or without the tag's `v`. Raises `ToolError`."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text)
    except InvalidVersion as e:
        raise ToolError(f"{text!r} is not a version: give --release one such as 0.28.0") from e
