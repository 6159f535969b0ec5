"""Owns what is kept between runs: the records of files, by their content and by the tool that made them.

One SQLite file in the user's cache folder. The key holds a hash over the tool's own source, so a changed
tool finds nothing of the old one's. A damaged entry, or file, is a miss. The file is bounded: what has not
been used for longest goes first.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import sys
import time
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

MAX_BYTES = 2 << 30  # all releases of vLLM take 0.8 of a GiB
CHECK = 8  # bytes of checksum in front of each value
BATCH = 500


def fingerprint() -> bytes:
    """A hash over this package's source and what else decides how a file is read."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {version('libcst')}".encode())
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()


class Cache:
    """A bounded map from keys to bytes. Every failure of the store is a miss."""

    def __init__(self, folder: Path | None, tool: bytes, max_bytes: int = MAX_BYTES) -> None:
        """`folder` None: nothing is kept."""
        self._tool = tool
        self._max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        self._path = None if folder is None else folder / "records.sqlite3"
        self._day = int(time.time() // 86_400)
        self._connection = self._open()

    def anew(self) -> Cache:
        """The same store for another process, which must not share a connection."""
        return Cache(*self.__reduce__()[1])

    def __reduce__(self) -> tuple[type[Cache], tuple[Path | None, bytes, int]]:
        """Another process that is sent it opens the same store."""
        return Cache, (None if self._path is None else self._path.parent, self._tool, self._max_bytes)

    @property
    def is_there(self) -> bool:
        """Whether anything can be kept."""
        return self._connection is not None

    def _open(self) -> sqlite3.Connection | None:
        if self._path is None:
            return None
        for _ in range(2):
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=OFF")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY, value BLOB, used INTEGER)"
                )
                return connection
            except (sqlite3.OperationalError, OSError):  # busy, or not to be opened: others may be at work in it
                return None
            except sqlite3.DatabaseError:
                self._discard()
        return None

    def _discard(self) -> None:
        """A damaged file is begun anew."""
        if self._path is not None:
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(OSError):
                    self._path.with_name(self._path.name + suffix).unlink()

    def _key(self, name: str) -> bytes:
        return hashlib.sha256(self._tool + name.encode()).digest()

    def get(self, names: Iterable[str]) -> dict[str, bytes]:
        """What is kept under these names."""
        keys = {self._key(name): name for name in names}
        found: dict[str, bytes] = {}
        if self._connection is None:
            return found
        wanted = list(keys)
        try:
            for start in range(0, len(wanted), BATCH):
                batch = wanted[start : start + BATCH]
                marks = ",".join("?" * len(batch))
                rows = self._connection.execute(f"SELECT key, value, used FROM records WHERE key IN ({marks})", batch)
                aged: list[bytes] = []
                for key, stored, used in rows:
                    value = _checked(stored)
                    if value is not None:
                        found[keys[key]] = value
                    if used < self._day:
                        aged.append(key)
                if aged:  # asking to change nothing would still have to wait for whoever writes
                    self._connection.execute(
                        f"UPDATE records SET used = ? WHERE key IN ({','.join('?' * len(aged))})", [self._day, *aged]
                    )
        except sqlite3.DatabaseError:
            self.close()
        return found

    def has(self, names: Iterable[str]) -> set[str]:
        """Those of the names under which something is kept, without reading it."""
        if self._connection is None:
            return set()
        try:
            ask = "SELECT 1 FROM records WHERE key = ?"
            return {name for name in names if self._connection.execute(ask, [self._key(name)]).fetchone()}
        except sqlite3.DatabaseError:
            self.close()
            return set()

    def put(self, values: Mapping[str, bytes]) -> None:
        """Keeps the values; when that fails, they are not kept."""
        if self._connection is None or not values:
            return
        rows = [(self._key(name), _checksum(value) + value, self._day) for name, value in values.items()]
        try:
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", rows)
            self._connection.execute("COMMIT")
            self._trim()
        except sqlite3.DatabaseError:
            self.close()

    def _trim(self) -> None:
        assert self._connection is not None
        (pages,), (size,) = (self._connection.execute(f"PRAGMA page_{p}").fetchone() for p in ("count", "size"))
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        if (pages - free) * size > self._max_bytes:
            self._connection.execute(
                "DELETE FROM records WHERE key IN (SELECT key FROM records ORDER BY used, key LIMIT "
                "(SELECT count(*) / 2 FROM records))"
            )

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Gives the file up; from then on everything is a miss."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def _checksum(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=CHECK).digest()


def _checked(stored: object) -> bytes | None:
    if not isinstance(stored, bytes) or _checksum(stored[CHECK:]) != stored[:CHECK]:
        return None
    return stored[CHECK:]
