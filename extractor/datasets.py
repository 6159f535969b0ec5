"""Owns the way from what a user types to a dataset and an error in it: labels, ids, beginnings of ids, lines."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from extractor.dataset import MANIFEST, read_error, read_errors, read_manifest
from extractor.errors import NothingFound, ToolError
from extractor.identity import SHORTEST, not_one
from extractor.model import Error

PLACE = re.compile(r"(?P<path>.+\.pyi?):(?P<line>\d+)")
COMMIT = re.compile(r"[0-9a-fA-F]{4,40}")  # or its beginning
SHOWN = 5  # datasets in a sentence


def locate(given: str | None, out: Path) -> Path:
    """A dataset's folder from a folder, a label or a release under `out`; without any, the newest there."""
    if given is None:
        return newest(out)
    found = there(given, out)
    if found is not None:
        return found
    known = ", ".join(p.name for p in labels(out)) or "none"
    raise ToolError(f"no dataset {given!r} ({out} has: {known}); make it with vllm-errors extract")


def there(given: str, out: Path) -> Path | None:
    """The dataset that a folder, a label, a release or a commit names; None: it is not there.

    Raises `ToolError` when it could be several that differ.
    """
    named = [Path(given)] if "/" in given else [Path(given), out / given, out / f"v{given}"]
    found = [folder for folder in named if _is_dataset(folder)]
    if not found and COMMIT.fullmatch(given):
        found = [p for p in labels(out) if COMMIT.fullmatch(p.name) and _same_commit(p, given.lower())]
    different = {(folder / MANIFEST).read_bytes(): folder for folder in reversed(found)}
    if len(different) > 1:
        raise ambiguous(given, list(different.values())[::-1])
    return found[0] if found else None


def ambiguous(given: str, folders: list[Path]) -> ToolError:
    """The sentence for a name that several datasets fit."""
    listed = ", ".join(f"./{p}" if len(p.parts) == 1 and not p.is_absolute() else str(p) for p in folders[:SHOWN])
    more = f" and {len(folders) - SHOWN} more" if len(folders) > SHOWN else ""
    return ToolError(f"{given!r} could be {listed}{more}, which differ: name one of them in full")


def _is_dataset(folder: Path) -> bool:
    try:
        return (folder / MANIFEST).is_file()
    except (OSError, ValueError):  # too long, or not a name at all
        return False


def _same_commit(folder: Path, given: str) -> bool:
    """Whether the beginning of a commit fits the dataset that is labelled with one."""
    if folder.name.startswith(given):
        return True
    return given.startswith(folder.name) and (read_manifest(folder).source.commit or "").startswith(given)


def labels(out: Path) -> list[Path]:
    """The datasets under a folder."""
    return sorted(p.parent for p in out.glob(f"*/{MANIFEST}") if not p.parent.name.startswith("."))


def newest(out: Path) -> Path:
    """The dataset of the youngest source; a folder without a date comes after all that have one."""
    found = labels(out)
    if not found:
        raise ToolError(
            f"there is no dataset under {out}: make one with vllm-errors extract, or name one with --dataset"
        )
    return max(found, key=lambda p: (read_manifest(p).source.date or "", p.name))


def find(folder: Path, what: str) -> Error:
    """One error by id, by a unique beginning of its id, or by `path:line`. Raises `NothingFound`."""
    place = PLACE.fullmatch(what)
    if place is not None:
        return _at(folder, place["path"], int(place["line"]))
    ids = [
        name.removeprefix("errors/").removesuffix(".json")
        for name in read_manifest(folder).files
        if name.startswith("errors/") and name.endswith(".json")
    ]
    wanted = what.lower()
    matching = [i for i in ids if i.startswith(wanted)] if len(wanted) >= SHORTEST else []
    if len(matching) == 1:
        return read_error(folder, matching[0])
    raise not_one(what, matching, ids, f"{folder.name} has no error")


def _at(folder: Path, path: str, line: int) -> Error:
    """The error whose site covers the line, in this file or one whose path ends so."""
    best: tuple[int, Error] | None = None
    paths: set[str] = set()
    for error in read_errors(folder):
        for site in error.sites:
            paths.add(site.path)
            if site.path == path or site.path.endswith("/" + path):
                away = max(site.line - line, line - site.end_line, 0)
                if best is None or away < best[0]:
                    best = (away, error)
    if best is not None and best[0] == 0:
        return best[1]
    if best is not None:
        nearest = min(best[1].sites, key=lambda s: abs(s.line - line))
        raise NothingFound(
            f"no error is raised at {path}:{line}; the nearest is {best[1].id} at {nearest.path}:{nearest.line}"
        )
    near = difflib.get_close_matches(path, sorted(paths), 3, 0.4)
    raise NothingFound(f"{folder.name} has no errors in {path}; the nearest: {', '.join(near) or 'none'}")
