"""Owns the listing of an archive, and keeps it: a known archive is not decompressed to be listed.

Kept by the archive's sha256 and by the version of this format, with a checksum in front; a listing that is
damaged is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from extractor.model import Skip
from extractor.source.base import Entry
from extractor.source.store import atomic

FORMAT = 1  # raise it whenever what a listing holds, or how it is made, changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The files of an archive. `members` are their places in the archive, in the order of `entries`."""

    entries: tuple[Entry, ...]
    members: tuple[int, ...]
    skipped: tuple[Skip, ...]
    commit: str | None


def load(folder: Path, sha256: str) -> Listing | None:
    """The kept listing of an archive; None: there is none, or it is damaged."""
    try:
        checksum, _, body = _path(folder, sha256).read_bytes().partition(b"\n")
        if checksum != _checksum(body):
            return None
        listing = msgspec.json.decode(body, type=Listing)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return listing if len(listing.members) == len(listing.entries) else None


def save(folder: Path, sha256: str, listing: Listing) -> None:
    """Keeps a listing; when that fails, the next run makes it again."""
    body = msgspec.json.encode(listing)
    with contextlib.suppress(OSError), atomic(_path(folder, sha256)) as partial:
        partial.write_bytes(_checksum(body) + b"\n" + body)


def _path(folder: Path, sha256: str) -> Path:
    return folder / f"{sha256}.{FORMAT}.json"


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).hexdigest().encode()
