"""Owns what is taken from an archive: its Python files, under their names without the top folder.

A member's name never becomes a path on this disk. Members are told apart by their place in the archive, so
that several with one name stay apart; as when unpacking, the last one counts, and the others are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from extractor.model import Skip
from extractor.source import names, stated
from extractor.source.base import Entry
from extractor.source.listing import Listing
from extractor.source.members import MAX_TOTAL, Member, members


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
                self.skips.append((parts, Skip(path=path, reason="in the archive twice: the last one is read")))
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
