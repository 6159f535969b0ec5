"""Owns finding the dataset for a log, and its lexicon: made once, kept in the user's cache by the manifest's hash.

Datasets stay as they are: a lexicon is not data for readers, and reading one back is only safe from a folder that
nobody else writes to. What is needed of a manifest is kept beside it, for its list of files takes longer to read
than a log.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from extractor.errors import ToolError
from extractor.match import lexicon

MANIFEST = "manifest.json"


class Shelf(NamedTuple):
    """A dataset that can be matched against."""

    folder: Path
    key: str  # of its lexicon in the cache
    label: str
    release: str | None
    date: str


def shelf(folder: Path, cache: Path | None) -> Shelf:
    """A dataset by its folder. Raises `ToolError` when it cannot be read."""
    try:
        manifest = (folder / MANIFEST).read_bytes()
    except OSError as e:
        raise ToolError(f"{folder / MANIFEST} cannot be read ({e.strerror}): extract the dataset again") from None
    key = f"{hashlib.sha256(manifest).hexdigest()[:32]}-{lexicon.VERSION}-{sys.implementation.cache_tag}"
    kept = None if cache is None else cache / f"{key}.name"
    if kept is not None:
        with contextlib.suppress(OSError, ValueError):
            label, release, date = kept.read_text(encoding="utf-8").split("\n")
            return Shelf(folder, key, label, release or None, date)
    from extractor.dataset import read_manifest

    source = read_manifest(folder).source
    found = Shelf(folder, key, source.label, source.release, source.date or "")
    if kept is not None and not any("\n" in part for part in (found.label, found.release or "", found.date)):
        _write(kept, f"{found.label}\n{found.release or ''}\n{found.date}".encode())
    return found


def shelves(out: Path, cache: Path | None) -> list[Shelf]:
    """The datasets under a folder that can be read, youngest source first."""
    found = []
    for manifest in sorted(out.glob(f"*/{MANIFEST}")):
        if not manifest.parent.name.startswith("."):
            with contextlib.suppress(ToolError):
                found.append(shelf(manifest.parent, cache))
    return sorted(found, key=lambda s: (s.date, s.folder.name), reverse=True)


def named(given: str, out: Path, cache: Path | None) -> Shelf:
    """A dataset by folder, label or release."""
    for candidate in (Path(given), out / given, out / f"v{given}"):
        with contextlib.suppress(OSError, ValueError):
            if (candidate / MANIFEST).exists():
                return shelf(candidate, cache)
    there = ", ".join(sorted(p.parent.name for p in out.glob(f"*/{MANIFEST}"))) or "none"
    raise ToolError(f"no dataset {given!r} ({out} has: {there}); make it with vllm-errors extract")


def newest(out: Path, cache: Path | None) -> Shelf:
    """The dataset of the youngest source."""
    found = shelves(out, cache)
    if found:
        return found[0]
    for manifest in sorted(out.glob(f"*/{MANIFEST}")):
        shelf(manifest.parent, cache)  # says what is wrong with it
    raise ToolError(f"there is no dataset under {out}: make one with vllm-errors extract, or name one with --dataset")


def of_release(release: str, out: Path, cache: Path | None) -> Shelf | None:
    """The dataset of a release, when it is there; one of 0.13 is that of 0.13.0."""
    wanted = {release, f"{release}.0"} if release.count(".") == 1 else {release}
    return next((s for s in shelves(out, cache) if s.release in wanted), None)


def load(found: Shelf, cache: Path | None) -> lexicon.Lexicon:
    """The lexicon of a dataset, made when it is not there yet."""
    kept = None if cache is None else cache / f"{found.key}.lexicon"
    if kept is not None:
        with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
            return lexicon.loads(kept.read_bytes())
    from extractor.dataset import read_errors, read_manifest

    data = lexicon.dumps(read_manifest(found.folder).source, read_errors(found.folder))
    if kept is not None:
        _write(kept, data)
    return lexicon.loads(data)


def prepare(folder: Path) -> None:
    """Makes the lexicon of a dataset that was just extracted, so that the first log need not wait for it."""
    cache = cache_folder()
    with contextlib.suppress(ToolError):
        load(shelf(folder, cache), cache)


def cache_folder() -> Path | None:
    """Where lexicons are kept: the user's cache, found without a library as `platformdirs` would."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        if sys.platform != "linux":
            from platformdirs import user_cache_path

            return user_cache_path("vllm-errors", appauthor=False) / "match"
        base = os.path.expanduser("~/.cache")
    return Path(base) / "vllm-errors" / "match"


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all; a cache that cannot be written to is none."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_bytes(data)
        os.replace(draft, path)


def details(folder: Path, error_id: str) -> dict[str, Any]:
    """The record of one error as plain data."""
    import json

    try:
        found = json.loads((folder / "errors" / f"{error_id}.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
