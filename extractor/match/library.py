"""Owns finding the dataset for a log, and its lexicon: made once, kept in the user's cache by the manifest's hash.

Datasets stay as they are: a lexicon is not data for readers, and reading one back is only safe from a folder that
nobody else writes to. What is needed of a manifest is kept beside it, for its list of files takes longer to read
than a log.
"""

from __future__ import annotations

import contextlib
import os
import sys
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from extractor.errors import ToolError
from extractor.match import lexicon

if TYPE_CHECKING:
    from pathlib import Path  # imported only where a folder is read in full: it costs as much as reading a lexicon

    from extractor.model import Provenance

MANIFEST = "manifest.json"


class Shelf(NamedTuple):
    """A dataset that can be matched against."""

    folder: str
    key: str  # of its lexicon in the cache
    label: str
    release: str | None
    date: str


def shelf(folder: str, cache: str | None) -> Shelf:
    """A dataset by its folder. Raises `ToolError` when it cannot be read."""
    path = os.path.join(folder, MANIFEST)
    try:
        with open(path, "rb") as file:
            manifest = file.read()
    except OSError as e:
        raise ToolError(f"{path} cannot be read ({e.strerror}): extract the dataset again") from None
    # two sums and the length: nobody gains by making them meet, and hashlib costs as much as the search
    sums = f"{zlib.crc32(manifest):08x}{zlib.adler32(manifest):08x}{len(manifest):x}"
    key = f"{sums}-{lexicon.VERSION}-{sys.implementation.cache_tag}"
    kept = None if cache is None else os.path.join(cache, f"{key}.name")
    if kept is not None:
        with contextlib.suppress(OSError, ValueError), open(kept, encoding="utf-8") as file:
            label, release, date = file.read().split("\n")
            return Shelf(folder, key, label, release or None, date)
    source = _source(folder)
    found = Shelf(folder, key, source.label, source.release, source.date or "")
    if kept is not None and not any("\n" in part for part in (found.label, found.release or "", found.date)):
        _write(kept, f"{found.label}\n{found.release or ''}\n{found.date}".encode())
    return found


def _source(folder: str) -> Provenance:
    from pathlib import Path

    from extractor.dataset import read_manifest

    return read_manifest(Path(folder)).source


def folders(out: str) -> list[str]:
    """The datasets under a folder, readable or not."""
    try:
        names = sorted(name for name in os.listdir(out) if not name.startswith("."))
    except OSError:
        return []
    return [f for name in names if os.path.exists(os.path.join(f := os.path.join(out, name), MANIFEST))]


def shelves(out: str, cache: str | None) -> list[Shelf]:
    """The datasets under a folder that can be read, youngest source first."""
    found = []
    for folder in folders(out):
        with contextlib.suppress(ToolError):
            found.append(shelf(folder, cache))
    return sorted(found, key=lambda s: (s.date, s.folder), reverse=True)


def named(given: str, out: str, cache: str | None) -> Shelf:
    """A dataset by folder, label or release."""
    for candidate in (given, os.path.join(out, given), os.path.join(out, f"v{given}")):
        with contextlib.suppress(ValueError):
            if os.path.exists(os.path.join(candidate, MANIFEST)):
                return shelf(candidate, cache)
    there = ", ".join(map(os.path.basename, folders(out))) or "none"
    raise ToolError(f"no dataset {given!r} ({out} has: {there}); make it with vllm-errors extract")


def newest(out: str, cache: str | None) -> Shelf:
    """The dataset of the youngest source."""
    found = shelves(out, cache)
    if found:
        return found[0]
    for folder in folders(out):
        shelf(folder, cache)  # says what is wrong with it
    raise ToolError(f"there is no dataset under {out}: make one with vllm-errors extract, or name one with --dataset")


def of_release(release: str, out: str, cache: str | None) -> Shelf | None:
    """The dataset of a release, when it is there; one of 0.13 is that of 0.13.0."""
    wanted = {release, f"{release}.0"} if release.count(".") == 1 else {release}
    return next((s for s in shelves(out, cache) if s.release in wanted), None)


def load(found: Shelf, cache: str | None) -> lexicon.Lexicon:
    """The lexicon of a dataset, made when it is not there yet."""
    return kept(found.key, cache, lambda: _made(found.folder))


def _made(folder: str) -> bytes:
    from pathlib import Path

    from extractor.dataset import read_errors

    return lexicon.dumps(_source(folder), read_errors(Path(folder)))


def kept(key: str, cache: str | None, make: Callable[[], bytes]) -> lexicon.Lexicon:
    """The lexicon that the cache has under a key, or one that is made and kept."""
    path = None if cache is None else os.path.join(cache, f"{key}.lexicon")
    if path is not None:
        with contextlib.suppress(OSError, ValueError, EOFError, TypeError), open(path, "rb") as file:
            return lexicon.loads(file.read())
    data = make()
    if path is not None:
        _write(path, data)
    return lexicon.loads(data)


def prepare(folder: Path) -> None:
    """Makes the lexicon of a dataset that was just extracted, so that the first log need not wait for it."""
    cache = cache_folder()
    with contextlib.suppress(ToolError):
        load(shelf(str(folder), cache), cache)


def cache_folder() -> str | None:
    """Where lexicons are kept: the user's cache, found without a library as `platformdirs` would."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        if sys.platform != "linux":
            from platformdirs import user_cache_dir

            return os.path.join(user_cache_dir("vllm-errors", appauthor=False), "match")
        base = os.path.expanduser("~/.cache")
    return os.path.join(base, "vllm-errors", "match")


def _write(path: str, data: bytes) -> None:
    """Whole or not at all; a cache that cannot be written to is none."""
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True, mode=0o700)
        draft = f"{path}.{os.getpid()}"
        with open(draft, "wb") as file:
            file.write(data)
        os.replace(draft, path)


def details(folder: str, error_id: str) -> dict[str, Any]:
    """The record of one error as plain data."""
    import json

    try:
        with open(os.path.join(folder, "errors", f"{error_id}.json"), "rb") as file:
            found = json.loads(file.read())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
