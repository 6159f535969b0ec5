"""Owns reading one commit out of git's object store: never a work tree, all blobs through one process."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from extractor.errors import ToolError
from extractor.model import Provenance, Skip
from extractor.source import names
from extractor.source.base import MAX_FILE, Entry
from extractor.source.command import Git, require

SHOWN_CANDIDATES = 5


class CommitTree:
    """The Python files of a commit."""

    in_one: ClassVar[bool] = False

    def __init__(self, git: Git, provenance: Provenance) -> None:
        self._git = git
        self.provenance = provenance
        self.entries, self.skipped = _list(git, provenance.commit or "")

    def read(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """In the order of paths."""
        asked = set(paths)
        with _batch(self._git, "--batch") as ask:
            for entry in self.entries:
                if entry.path in asked:
                    kind, data = ask(entry.digest)
                    if kind != "blob":
                        raise _incomplete(self._git, entry.path)
                    yield entry.path, data


def _list(git: Git, commit: str) -> tuple[tuple[Entry, ...], tuple[Skip, ...]]:
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", commit)
    if listed.status:
        raise _incomplete(git, commit)
    rows: dict[str, str] = {}
    skips: list[Skip] = []
    for row in listed.output.split(b"\0"):
        head, _, name = row.partition(b"\t")
        if not name or not names.wanted(tuple(name.split(b"/"))):
            continue
        mode, kind, oid = head.decode("ascii").split(" ")
        path = names.shown(name)
        if mode == "120000":
            skips.append(Skip(path=path, reason="symbolic link"))
        elif kind == "blob" and path in rows:
            skips.append(Skip(path=path, reason="another file is shown by the same name"))
        elif kind == "blob":  # else a submodule, which has commits of its own
            rows[path] = oid
    for path, reason_ in _troubles(git, rows):
        del rows[path]
        skips.append(Skip(path=path, reason=reason_))
    entries = tuple(Entry(path=path, digest=oid) for path, oid in sorted(rows.items()))
    return entries, tuple(sorted(skips, key=lambda s: (s.path, s.reason)))


def _troubles(git: Git, rows: dict[str, str]) -> list[tuple[str, str]]:
    """Files that are too large. Raises `ToolError` when one is not in the store at all."""
    troubles = []
    with _batch(git, "--batch-check") as ask:
        for path, oid in rows.items():
            kind, size = ask(oid)
            if kind != "blob":
                raise _incomplete(git, path)
            if int(size) > MAX_FILE:
                troubles.append((path, f"larger than {MAX_FILE >> 20} MiB"))
    return troubles


def _incomplete(git: Git, what: str) -> ToolError:
    if git.network:  # a clone in the cache
        return ToolError(f"the cache {git.folder} is damaged: remove that folder and run again")
    return ToolError(
        f"{names.one_line(str(git.folder))} does not hold {what} whole, as a partial or damaged clone: "
        "fetch it there, or leave --repo out"
    )


@contextmanager
def _batch(git: Git, mode: str) -> Iterator[Any]:
    """A function from an object's name to its kind, with its size, or with its bytes.

    One question is asked after the other, so that neither pipe can fill while both sides write.
    """
    with git.process("cat-file", mode) as process:

        def ask(name: str) -> tuple[str, Any]:
            try:
                process.stdin.write(name.encode() + b"\n")
                process.stdin.flush()
                words = process.stdout.readline().split()
            except OSError:
                return "missing", b""
            if len(words) != 3:
                return "missing", b""
            size = int(words[2])
            if mode == "--batch-check":
                return words[1].decode(), size
            data = process.stdout.read(size + 1)
            return (words[1].decode(), data[:-1]) if len(data) == size + 1 else ("missing", b"")

        yield ask


def commits_of(git: Git, beginning: str) -> list[str]:
    """The commits in the store whose names begin so."""
    found = git.run("rev-parse", f"--disambiguate={beginning}")
    with _batch(git, "--batch-check") as ask:
        return sorted(oid for oid in found.output.decode("ascii").split() if ask(oid)[0] == "commit")


def ambiguous(git: Git, beginning: str, commits: Collection[str]) -> ToolError:
    """The sentence that lists what a short commit may mean."""
    first = sorted(commits)[:SHOWN_CANDIDATES]
    shown = git.run("log", "--no-walk=unsorted", "--format=%h (%cs %s)", "--abbrev=12", *first)
    lines = [names.one_line(line) for line in shown.output.decode("utf-8", "replace").split("\n") if line]
    more = f" and {len(commits) - len(first)} more" * (len(commits) > len(first))
    return ToolError(
        f"{len(commits)} commits begin with {beginning}: {', '.join(lines or first)}{more}; give more digits"
    )


def commit_date(git: Git, commit: str) -> str | None:
    """When it was committed, ISO 8601 in UTC."""
    shown = require(git, "show", "-s", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", commit, "--")
    return shown.decode("ascii", "replace").strip() or None
