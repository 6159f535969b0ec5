"""Owns reading archives without unpacking them: a member's name never becomes a path on this disk.

Members are told apart by their place in the archive, so that several with one name stay apart; as when
unpacking, the last one counts, and the others are listed as skipped.
"""

from __future__ import annotations

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from extractor.errors import ToolError
from extractor.model import Skip
from extractor.source import names, stated
from extractor.source.base import MAX_FILE, Entry
from extractor.source.bounded import Bounded, TooLarge
from extractor.source.listing import Listing

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


def scan(path: Path, max_total: int = MAX_TOTAL) -> Listing:
    """Reads the archive once. Raises `ToolError` when it is none, cut off, or a bomb."""
    found = _Found(strip=path.suffix != ".whl")
    with members(path, max_total) as every:
        for member in every:
            found.add(member)
    return found.listing()


def read(path: Path, wanted: dict[int, str], max_total: int = MAX_TOTAL) -> Iterator[tuple[str, bytes]]:
    """The bytes of the members with these numbers, under these paths."""
    left = len(wanted)
    with members(path, max_total, only=wanted) as every:
        for member in every:
            if member.number in wanted:
                yield wanted[member.number], member.read()
                left -= 1
                if not left:
                    return


@contextmanager
def members(path: Path, max_total: int, only: Collection[int] | None = None) -> Iterator[Iterator[Member]]:
    """All members in the order of the archive; failures below, here or in `read`, are one sentence."""
    try:
        with path.open("rb") as file:
            yield (
                _zip(file, max_total, only)
                if path.suffix in (".zip", ".whl")
                else _tar(file, path, max_total)
            )
    except TooLarge as e:
        raise ToolError(
            f"the archive {path.name} {e}: it is not read, take another release or use --source"
        ) from e
    except BROKEN as e:
        raise _broken(path) from e
    except OSError as e:
        if e.errno is None:  # what gzip raises when the data is none of its own
            raise _broken(path) from e
        raise ToolError(
            f"cannot read {path}: {(e.strerror or str(e)).lower()}; remove it and run again"
        ) from e


def _broken(path: Path) -> ToolError:
    return ToolError(
        f"the archive {path.name} is damaged, cut off or not an archive: remove {path} and run again"
    )


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


# --- what is kept of them --------------------------------------------------------------------------------


@dataclass(slots=True)
class _Found:
    """Collects the Python files of an archive, under their names without the top folder."""

    strip: bool
    top: bytes | None = None
    files: dict[tuple[bytes, ...], tuple[int, str]] = field(default_factory=dict)
    skips: list[tuple[tuple[bytes, ...], Skip]] = field(default_factory=list)
    environments: set[tuple[bytes, ...]] = field(default_factory=set)
    said: dict[str, bytes] = field(default_factory=dict)

    def add(self, member: Member) -> None:
        parts, trouble = self._place(member.name)
        if not parts or member.folder:
            return
        if parts[-1] == names.ENVIRONMENT:
            self.environments.add(parts[:-1])
        path = names.shown(b"/".join(parts))
        trouble = trouble or member.trouble
        if names.wanted(parts):
            if trouble is not None:
                self.skips.append((parts, Skip(path=path, reason=trouble)))
                return
            data = member.read()
            if parts in self.files:
                self.skips.append(
                    (parts, Skip(path=path, reason="in the archive twice: the last one is read"))
                )
            self.files[parts] = (member.number, names.blob_id(data))
            if path in stated.FILES:
                self.said[path] = data

    def _place(self, name: bytes) -> tuple[tuple[bytes, ...], str | None]:
        """The name's parts below the top folder, and why a file of that name is not read."""
        raw = name.split(b"/")
        parts = tuple(part for part in raw if part not in (b"", b"."))
        if b".." in parts:
            return parts, "its name leaves the archive"
        if not raw[0]:
            return parts, "its name is absolute"
        if not self.strip:
            return parts, None
        if len(parts) < 2:
            return (), None
        if self.top is None:
            self.top = parts[0]
        return (parts[1:], None) if parts[0] == self.top else (parts, "outside the archive's top folder")

    def listing(self) -> Listing:
        rows: dict[str, tuple[int, str]] = {}
        skips = [skip for parts, skip in self.skips if not names.ignored(parts, self.environments)]
        for parts, row in self.files.items():
            path = names.shown(b"/".join(parts))
            if names.ignored(parts, self.environments):
                continue
            if path in rows:
                skips.append(Skip(path=path, reason="another file is shown by the same name"))
                continue
            rows[path] = row
        ordered = sorted(rows.items())
        return Listing(
            entries=tuple(Entry(path=path, digest=digest) for path, (_, digest) in ordered),
            members=tuple(number for _, (number, _) in ordered),
            skipped=tuple(sorted(set(skips), key=lambda s: (s.path, s.reason))),
            commit=stated.commit(self.said),
        )


__all__ = ["is_archive", "read", "scan"]
