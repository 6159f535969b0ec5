"""Owns folders on this disk: a git checkout, an unpacked release, or any other. Nothing is written there.

Names are bytes until they are shown, since a name on disk need not be text. Contents are read once, when
the folder is listed, and kept: what is handed out later is what the digest was computed from, even when
the file was changed or removed in the meantime.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from extractor.errors import ToolError
from extractor.model import DEFAULT_REPO, Provenance, Skip
from extractor.source import names, stated
from extractor.source.base import MAX_FILE, Entry
from extractor.source.checkout import Checkout, find_checkout

MAX_KEPT = 1 << 30  # bytes of all files together; vLLM has 34 MB
UNREADABLE = "cannot be read"


class FolderTree:
    """The Python files of a folder as they were when it was opened."""

    in_one: ClassVar[bool] = False

    def __init__(self, provenance: Provenance, found: _Found) -> None:
        self.provenance = provenance
        self._data = found.data
        self.entries = tuple(Entry(path=path, digest=digest) for path, digest in sorted(found.digests.items()))
        self.skipped = tuple(sorted(found.skips, key=lambda s: (s.path, s.reason)))

    def read(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """From memory."""
        for path in sorted(set(paths)):
            yield path, self._data[path]


def open_folder(folder: Path, label: str | None) -> FolderTree:
    """Reads the Python files of a folder. Raises `ToolError`."""
    name = names.shown(os.fsencode(folder))
    try:
        root = folder.resolve(strict=True)
        if not root.is_dir():
            raise ToolError(f"{name} is not a folder: give --source the folder that holds vllm/")
        os.scandir(root).close()
    except FileNotFoundError as e:
        raise ToolError(f"there is no folder {name}: give --source the folder that holds vllm/") from e
    except (OSError, RuntimeError, ValueError) as e:  # resolving a loop of links raises RuntimeError
        raise ToolError(f"the folder {name} {_unreadable(e)}: give --source one that can be read") from e
    checkout = find_checkout(root)
    found = _Found(os.fsencode(root))
    if checkout is not None:
        found.add_all(checkout.files(), checkout.sparse())
    else:
        found.walk()
    if not found.digests and not found.skips:
        raise ToolError(f"no Python files in {name}: give the folder that holds vllm/")
    return FolderTree(_provenance(root, label, checkout, found), found)


def _provenance(root: Path, label: str | None, checkout: Checkout | None, found: _Found) -> Provenance:
    label = label or names.derived_label(names.shown(os.fsencode(root.name)))
    if checkout is not None:
        return Provenance(
            repo=checkout.repo,
            label=label,
            commit=checkout.commit,
            date=checkout.date,
            dirty=checkout.dirty(),
            permalink=checkout.permalink(),
        )
    said = found.said()
    commit, release = stated.commit(said), stated.release(said)
    revision = f"v{release}" if release else commit if commit and len(commit) == 40 else None
    return Provenance(
        repo=DEFAULT_REPO,
        label=label,
        commit=commit,
        release=release,
        permalink=None if revision is None else names.permalink(DEFAULT_REPO, revision),
    )


@dataclass(slots=True)
class _Found:
    """Collects the Python files below `root`."""

    root: bytes
    digests: dict[str, str] = field(default_factory=dict)
    data: dict[str, bytes] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)
    size: int = 0

    def add_all(self, paths: Collection[bytes], sparse: Collection[bytes]) -> None:
        """Files that git names. One that is not there was removed; that is a difference, not a trouble."""
        for path in sorted(paths):
            if names.wanted(tuple(path.split(b"/"))):
                if path in sparse and not os.path.lexists(os.path.join(self.root, path)):
                    self._skip(path, "not in this sparse checkout")
                else:
                    self._add(path, missing=None)

    def walk(self) -> None:
        """Files of a folder that git does not know."""
        folders: list[tuple[bytes, ...]] = [()]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(os.path.join(self.root, *folder)) as found:
                    items = sorted(found, key=lambda item: item.name)
            except OSError as e:
                self._skip(b"/".join((*folder, b"")), _unreadable(e))
                continue
            if folder and any(item.name == names.ENVIRONMENT for item in items):
                continue
            for item in items:
                parts = (*folder, item.name)
                if parts != (b"tests",) and _is_folder(item):
                    if item.name not in names.IGNORED_FOLDERS:
                        folders.append(parts)
                elif names.wanted(parts):
                    self._add(b"/".join(parts), missing="vanished while the folder was being read")

    def _add(self, path: bytes, missing: str | None) -> None:
        try:
            data = self._regular(path)
        except (FileNotFoundError, NotADirectoryError):
            if missing is not None:
                self._skip(path, missing)
            return
        except OSError as e:
            self._skip(path, _unreadable(e))
            return
        if data is None:
            return
        name = names.shown(path)
        if name in self.digests:
            self._skip(path, "another file is shown by the same name")
            return
        self.size += len(data)
        if self.size > MAX_KEPT:
            raise ToolError(
                f"the Python files in {names.shown(self.root)} have more than {MAX_KEPT >> 20} MiB: "
                "give the folder that holds vllm/"
            )
        self.digests[name], self.data[name] = names.blob_id(data), data

    def _regular(self, path: bytes) -> bytes | None:
        """The bytes of a regular file, else a skip. Links are not followed, pipes not waited for."""
        place = os.path.join(self.root, path)
        mode = os.lstat(place).st_mode
        if stat.S_ISDIR(mode):
            return None  # a submodule, which has commits of its own
        if not stat.S_ISREG(mode):
            self._skip(path, "symbolic link" if stat.S_ISLNK(mode) else "not a regular file")
            return None
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(place, flags), "rb") as file:
            small = os.fstat(file.fileno()).st_size <= MAX_FILE
            data = file.read(MAX_FILE + 1) if small else b""
        if not small or len(data) > MAX_FILE:
            self._skip(path, f"larger than {MAX_FILE >> 20} MiB")
            return None
        return data

    def _skip(self, path: bytes, reason: str) -> None:
        self.skips.append(Skip(path=names.shown(path), reason=reason))

    def said(self) -> dict[str, bytes]:
        """The files in which a tree speaks of itself."""
        said = {path: self.data[path] for path in stated.COMMIT_FILES if path in self.data}
        try:
            place = os.path.join(self.root, os.fsencode(stated.PKG_INFO))
            if stat.S_ISREG(os.lstat(place).st_mode):
                with open(place, "rb") as file:
                    said[stated.PKG_INFO] = file.read(stated.LARGEST)
        except OSError:
            pass
        return said


def _unreadable(e: Exception) -> str:
    reason = e.strerror if isinstance(e, OSError) and e.strerror else "a loop of links"
    return f"{UNREADABLE}: {reason.lower()}"


def _is_folder(item: os.DirEntry[bytes]) -> bool:
    try:
        return item.is_dir(follow_symlinks=False)
    except OSError:
        return False  # and as a file it gets its reason
