"""Owns the members of tar and zip archives, read from front to back without unpacking anything.

An archive is somebody else's: what is broken in it, or out of all proportion, is one sentence.
"""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from extractor.errors import ToolError
from extractor.source.base import MAX_FILE
from extractor.source.bounded import Bounded, TooLarge

MAX_TOTAL = 4 << 30  # bytes, decompressed
MAX_MEMBERS = 500_000
BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    OverflowError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class Member:
    """One member. `trouble` says why it cannot be read; `read` must be called before the next member."""

    number: int
    name: bytes
    folder: bool
    trouble: str | None
    read: Callable[[], bytes]


def is_archive(name: str) -> bool:
    """Of a kind that is read here."""
    return name.endswith((".tar.gz", ".tgz", ".tar", ".zip", ".whl"))


@contextmanager
def members(path: Path, max_total: int, only: Collection[int] | None = None) -> Iterator[Iterator[Member]]:
    """All members in the order of the archive; failures below, here or in `read`, are one sentence."""
    try:
        with path.open("rb") as file:
            yield (_zip(file, max_total, only) if path.suffix in (".zip", ".whl") else _tar(file, path, max_total))
    except TooLarge as e:
        raise ToolError(f"the archive {path.name} {e}: it is not read, take another release or use --source") from e
    except BROKEN as e:
        raise _broken(path) from e
    except OSError as e:
        if e.errno is None:  # what gzip raises when the data is none of its own
            raise _broken(path) from e
        raise ToolError(f"cannot read {path}: {(e.strerror or str(e)).lower()}; remove it and run again") from e


def _broken(path: Path) -> ToolError:
    return ToolError(f"the archive {path.name} is damaged, cut off or not an archive: remove {path} and run again")


# --- the two kinds ---------------------------------------------------------------------------------------


def _tar(file: IO[bytes], path: Path, max_total: int) -> Iterator[Member]:
    stream = Bounded.plain(file, max_total) if path.suffix == ".tar" else Bounded.gzip(file, max_total)
    forward: Any = stream  # has what is needed of a file to read forward, and no more
    with tarfile.TarFile(fileobj=forward, mode="r", encoding="utf-8", errors="surrogateescape") as tar:
        number = 0
        while (info := tar.next()) is not None:
            if number >= MAX_MEMBERS:
                raise TooLarge(f"has more than {MAX_MEMBERS} members")
            yield Member(number, _bytes(info.name), info.isdir(), _tar_trouble(info), _tar_reader(tar, info))
            number += 1
    if not stream.ended():  # `tarfile` takes a header that it cannot read for the end
        raise EOFError


def _tar_trouble(info: tarfile.TarInfo) -> str | None:
    if info.issym():
        return "symbolic link"
    if info.islnk():
        return "hard link"
    if not info.isfile() or info.issparse():
        return "not a regular file"
    return _size_trouble(info.size)


def _tar_reader(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], bytes]:
    def read() -> bytes:
        file = tar.extractfile(info)
        data = b"" if file is None else file.read()
        if len(data) != info.size:
            raise EOFError
        return data

    return read


def _zip(file: IO[bytes], max_total: int, only: Collection[int] | None) -> Iterator[Member]:
    total = 0

    def reader(info: zipfile.ZipInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            nonlocal total
            total += info.file_size
            if total > max_total:
                raise TooLarge(f"holds more than {max_total >> 20} MiB")
            try:
                return archive.read(info)  # never more than `file_size`, which the checksum then covers
            except RuntimeError as e:  # encrypted
                raise ValueError from e

        return read

    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if len(infos) > MAX_MEMBERS:
            raise TooLarge(f"has more than {MAX_MEMBERS} members")
        for number, info in enumerate(infos):
            if only is None or number in only:
                name = info.filename.encode("utf-8", "surrogateescape")
                yield Member(number, name, info.is_dir(), _zip_trouble(info), reader(info))


def _zip_trouble(info: zipfile.ZipInfo) -> str | None:
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "symbolic link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "not a regular file"
    if info.flag_bits & 1:
        return "encrypted"
    return _size_trouble(info.file_size)


def _size_trouble(size: int) -> str | None:
    return f"larger than {MAX_FILE >> 20} MiB" if size > MAX_FILE else None


def _bytes(name: str) -> bytes:
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return name.encode("utf-8", "backslashreplace")
