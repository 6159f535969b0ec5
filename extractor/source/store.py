"""Owns writing into the cache folder: whole files or none, one writer at a time, full disks as a sentence."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from extractor.errors import ToolError

PARTIAL = ".part-"
STALE = 24 * 3600  # seconds after which a partial file belongs to a run that died


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Failures of the disk below are one sentence."""
    try:
        yield
    except OSError as e:
        raise cannot_write(folder, e) from e


def cannot_write(folder: Path, e: OSError) -> ToolError:
    """The sentence for a disk that is full, read-only or somebody else's."""
    reason = (e.strerror or str(e)).lower()
    return ToolError(
        f"cannot write into the cache {folder} ({reason}): make room there, or let XDG_CACHE_HOME name another folder"
    )


@contextmanager
def atomic(target: Path) -> Iterator[Path]:
    """A path to write to, beside the target, that takes the target's place when all went well.

    Two processes may do so at once: each has its own file, and the last one wins, whole.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=PARTIAL, dir=target.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        os.replace(partial, target)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def sweep(folder: Path) -> None:
    """Removes what runs that were killed left behind."""
    with contextlib.suppress(OSError):
        for partial in folder.glob(f"{PARTIAL}*"):
            if time.time() - partial.stat().st_mtime > STALE:
                partial.unlink()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits until no other process is in here with the same path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            import fcntl
        except ImportError:  # not on this system: runs at once are then the user's to avoid
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)  # freed by the system when the process ends, however it ends
        yield
