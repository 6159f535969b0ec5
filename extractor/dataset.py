"""Owns a dataset on disk: its files, written beside and put in place in one step, and read back checked.

A reader sees the old dataset or the new one, whole, at any moment. A folder that is not a dataset of this
tool, or holds a file that no manifest lists, is never replaced.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import orjson

from extractor.errors import NothingFound, ToolError
from extractor.model import SCHEMA_VERSION, Error, Manifest, Skip
from extractor.printable import json_safe

T = TypeVar("T")

MANIFEST, ERRORS, SKIPPED, SCHEMA = "manifest.json", "errors.jsonl", "skipped.json", "schema.json"
AT_FDCWD, RENAME_EXCHANGE = -100, 2


def encode(value: Any, indent: bool = False) -> bytes:
    """JSON with one line end behind it; characters that change how text is shown are escaped."""
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    return json_safe(orjson.dumps(msgspec.to_builtins(value, str_keys=True), option=option))


def schema() -> dict[str, Any]:
    """The JSON Schema of one error."""
    found = msgspec.json.schema(Error)
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "An error of vLLM, as vllm-errors writes it"
    return found


# --- writing ---------------------------------------------------------------------------------------------


def write(path: str, data: bytes) -> str:
    """Writes a new file and gives its sha256. There are thousands of them: `open` costs three times as much."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)
    return hashlib.sha256(data).hexdigest()


class Draft:
    """A dataset that is being written, in a folder that nobody else reads."""

    def __init__(self, target: Path, check: Callable[[Path], None] | None = None) -> None:
        """`target` is where it will stand. Raises `ToolError` when `check` says that place is not ours to replace."""
        self.target = target
        self.files: dict[str, str] = {}
        self._check = check or check_replaceable
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._check(target)
            sweep(target.parent)
            self.folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".draft", dir=target.parent))
            self._lock = _locked(self.folder)
        except (NotADirectoryError, FileExistsError):
            raise ToolError(f"{target.parent} is a file: name a folder with --out") from None
        except OSError as e:
            raise _unwritable(target.parent, e) from None

    def write(self, name: str, data: bytes) -> None:
        """One file of the dataset."""
        try:
            self.files[name] = write(f"{self.folder}/{name}", data)
        except OSError as e:
            raise _unwritable(self.target, e) from None

    def publish(self, manifest: Manifest) -> None:
        """Puts the dataset in place of the one before it."""
        self.write(MANIFEST, encode(manifest, indent=True))
        self.put()

    def put(self) -> None:
        """Puts the folder, as it is now, in place of the one before it."""
        try:
            self._check(self.target)
            os.chmod(self.folder, 0o755)
            if self.target.exists():
                exchange(self.folder, self.target)
            else:
                os.rename(self.folder, self.target)
        except OSError as e:
            raise _unwritable(self.target, e) from None
        self.close()

    def close(self) -> None:
        """Removes what has not been published."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            _lock_file(self.folder).unlink()
        os.close(self._lock)

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *exc: object) -> None:
        if exc[0] is not None:
            self.close()


def _unwritable(path: Path, error: OSError) -> ToolError:
    reason = error.strerror or str(error)
    return ToolError(f"cannot write {path}: {reason}; make room or name another folder with --out")


def check_replaceable(target: Path) -> None:
    """Raises `ToolError` unless there is nothing at `target`, or a dataset and nothing else."""
    check_ours(target, _listed, "a dataset", "choose another --label or --out")


def _listed(target: Path) -> set[str]:
    return set(read_manifest(target, any_schema=True).files) | {MANIFEST}


def check_ours(target: Path, listed: Callable[[Path], set[str]], what: str, instead: str) -> None:
    """Raises `ToolError` unless there is nothing at `target`, or only the files that are `listed` there."""
    if not target.exists() and not target.is_symlink():
        return
    if target.is_symlink() or not target.is_dir():
        raise ToolError(f"{target} is not a folder: move it away or {instead}")
    names = set(_files(str(target), ""))
    if not names:
        return
    try:
        known = listed(target)
    except ToolError:
        raise ToolError(f"{target} holds {min(names)!r} and is not {what}: {instead}") from None
    foreign = sorted(name for name in names - known if not _is_compiled(name, known))
    if foreign:
        raise ToolError(f"{target} holds {foreign[0]!r}, which this tool did not write: move it away or {instead}")


def _is_compiled(name: str, known: set[str]) -> bool:
    """Whether Python put this file there when one of ours was imported."""
    folder, _, file = name.rpartition("/")
    parent, _, last = folder.rpartition("/")
    return last == "__pycache__" and file.endswith(".pyc") and f"{parent}/{file.partition('.')[0]}.py" in known


def _files(folder: str, prefix: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name


def exchange(new: Path, old: Path) -> None:
    """Swaps two folders in one step where the system can; else by two renames."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renameat2"):
        done = libc.renameat2(AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(old), RENAME_EXCHANGE)
        if done == 0:
            return
    aside = Path(f"{new}.old")
    os.rename(old, aside)
    os.rename(new, old)
    os.rename(aside, new)


def _lock_file(folder: Path) -> Path:
    return folder.with_name(folder.name + ".lock")


def _locked(folder: Path) -> int:
    descriptor = os.open(_lock_file(folder), os.O_CREAT | os.O_RDWR, 0o644)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def sweep(parent: Path) -> None:
    """Removes the drafts of runs that were killed; a draft whose lock is held is somebody's at work."""
    for lock in parent.glob(".*.draft.lock"):
        with contextlib.suppress(OSError), open(lock) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft = lock.with_name(lock.name.removesuffix(".lock"))
            old = draft.with_name(draft.name + ".old")
            if old.exists():  # killed between two renames: the old one goes back
                target = parent / draft.name[1:].rsplit(".", 2)[0]
                if not target.exists():
                    os.rename(old, target)
            for left in (draft, old):
                shutil.rmtree(left, ignore_errors=True)
            lock.unlink()


# --- reading ---------------------------------------------------------------------------------------------


def read_manifest(folder: Path, any_schema: bool = False) -> Manifest:
    """The manifest of a dataset. Raises `ToolError` that says what is wrong with it."""
    path = folder / MANIFEST
    try:
        data = orjson.loads(path.read_bytes())
        version = data["schema"]
    except FileNotFoundError:
        raise ToolError(f"{folder} is not a dataset: it has no {MANIFEST}; make one with vllm-errors extract") from None
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as e:
        raise ToolError(f"{path} cannot be read ({e}): extract the dataset again") from None
    if version != SCHEMA_VERSION and not any_schema:
        age = "a newer" if isinstance(version, int) and version > SCHEMA_VERSION else "another"
        raise ToolError(
            f"{folder} was written by {age} version of this tool (schema {version}): "
            "extract it again with vllm-errors extract"
        )
    try:
        return msgspec.convert(data, Manifest)
    except msgspec.ValidationError as e:
        raise ToolError(f"{path} is not a manifest ({e}): extract the dataset again") from None


def read_errors(folder: Path) -> Iterator[Error]:
    """All errors of a dataset. Raises `ToolError` when the file is not what the manifest says."""
    manifest = read_manifest(folder)
    try:
        data = (folder / ERRORS).read_bytes()
    except OSError as e:
        raise ToolError(f"{folder / ERRORS} cannot be read ({e.strerror}): extract the dataset again") from None
    if hashlib.sha256(data).hexdigest() != manifest.files.get(ERRORS):
        raise ToolError(f"{folder / ERRORS} is not what its manifest lists: extract the dataset again")
    for line in data.split(b"\n"):
        if line:
            yield _converted(orjson.loads(line), Error, folder)


def read_skipped(folder: Path) -> tuple[Skip, ...]:
    """The files that were not read."""
    return _converted(orjson.loads((folder / SKIPPED).read_bytes()), tuple[Skip, ...], folder)


def read_error(folder: Path, error_id: str) -> Error:
    """One error by its whole id."""
    try:
        return _converted(orjson.loads((folder / "errors" / f"{error_id}.json").read_bytes()), Error, folder)
    except (OSError, orjson.JSONDecodeError):
        raise NothingFound(f"{folder} has no error {error_id}") from None


def _converted(data: Any, kind: type[T], folder: Path) -> T:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as e:
        raise ToolError(f"{folder} does not fit its schema ({e}): extract the dataset again") from None


def is_intact(folder: Path, inputs: str) -> bool:
    """Whether the dataset was made from these inputs and each of its files is still as it was written."""
    try:
        manifest = read_manifest(folder)
        return manifest.inputs == inputs and all(
            hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
            for name, digest in manifest.files.items()
        )
    except (ToolError, OSError):
        return False
