"""Owns the stream below a tar archive: forward only, and never more bytes than a bound.

`tarfile` reads headers of any size that an archive claims into memory, and a megabyte of gzip can hold a
gigabyte of zeros; both end here.
"""

from __future__ import annotations

import gzip
from typing import IO, Protocol

LARGEST_READ = 65 << 20  # one Python file and its padding
CHUNK = 1 << 20


class Readable(Protocol):
    """What is below."""

    def read(self, size: int, /) -> bytes: ...


class TooLarge(Exception):
    """More than an honest archive has; the text ends "the archive X …"."""


class Bounded:
    """As much of a file as `tarfile` asks for when an archive is read from front to back."""

    def __init__(self, stream: Readable, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._at = 0
        self._last = b""

    @classmethod
    def gzip(cls, file: IO[bytes], limit: int) -> Bounded:
        """Decompresses on the way."""
        return cls(gzip.GzipFile(fileobj=file, mode="rb"), limit)

    @classmethod
    def plain(cls, file: IO[bytes], limit: int) -> Bounded:
        """Takes the bytes as they are."""
        return cls(file, limit)

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, fewer only at the end."""
        if not 0 <= size <= LARGEST_READ:
            raise TooLarge("claims a header of unreasonable size")
        if self._at + size > self._limit:
            size = self._limit - self._at + 1  # one more than may be there: an honest end is no bomb
        data = self._stream.read(size)
        self._at += len(data)
        self._last = data
        if self._at > self._limit:
            raise TooLarge(f"holds more than {self._limit >> 20} MiB")
        return data

    def seek(self, position: int, whence: int = 0) -> int:
        """Forward, by reading: there is nothing to go back to in a stream."""
        if whence != 0 or position < self._at:
            raise EOFError
        while self._at < position:
            if not self.read(min(CHUNK, position - self._at)):
                break
        return self._at

    def tell(self) -> int:
        """How many bytes were read."""
        return self._at

    def ended(self) -> bool:
        """Whether the last thing read was the block of zeros that ends an archive."""
        return bool(self._last) and not self._last.strip(b"\0")

    def close(self) -> None:
        """The file below belongs to somebody else."""
