"""Owns the folder of a site: what is new is written, what is as it was is linked, all is put in place at once.

`site.json` lists the files with their hashes; a folder that holds others is never replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from extractor import __version__, dataset
from extractor.dataset import Draft
from extractor.errors import ToolError

LISTING = "site.json"
KIND = "vllm-errors site"
INSTEAD = "name another folder with --out"

Written = tuple[str, str, bool]  # name, sha256, whether it is new


def draft(target: Path) -> Draft:
    """A site that is being written. Raises `ToolError` when there is anything else at its place."""
    return Draft(target, _check)


def _check(target: Path) -> None:
    dataset.check_ours(target, lambda folder: listed(folder) | {LISTING}, "a site", INSTEAD)


def listed(folder: Path) -> set[str]:
    """The files of a site. Raises `ToolError` when it is none."""
    try:
        data = orjson.loads((folder / LISTING).read_bytes())
        if data["kind"] == KIND:
            return set(data["files"])
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        pass
    raise ToolError(f"{folder} is not a site: make one with vllm-errors site --out {folder}")


def publish(made: Draft, labels: Iterable[str], files: Mapping[str, str]) -> None:
    """Puts the site in place of the one before it."""
    about = {"kind": KIND, "tool": f"vllm-errors {__version__}", "datasets": list(labels), "files": dict(files)}
    option = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    made.write(LISTING, orjson.dumps(about, option=option))
    made.put()


class Writer:
    """Writes into the folder of a draft, beside the site that is there already."""

    def __init__(self, folder: Path, old: Path) -> None:
        self._folder, self._old = str(folder), str(old)
        self._made: set[str] = set()

    def put(self, name: str, data: bytes) -> Written:
        """One file: written, or the old one where it is the same."""
        path = f"{self._folder}/{name}"
        parent = path.rpartition("/")[0]
        if parent not in self._made:
            os.makedirs(parent, exist_ok=True)
            self._made.add(parent)
        old = f"{self._old}/{name}"
        if _same(old, data):
            with contextlib.suppress(OSError):  # another disk, or one without links
                os.link(old, path)
                return name, hashlib.sha256(data).hexdigest(), False
        return name, dataset.write(path, data), True


def _same(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb") as stream:
            return os.fstat(stream.fileno()).st_size == len(data) and stream.read() == data
    except OSError:
        return False
