"""Owns what git says about a folder in a checkout: which files count, the commit, and what was changed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from extractor.source import names
from extractor.source.command import Git, require, trouble
from extractor.source.local import origin_repo


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A folder of a checkout. `prefix` is its place there: empty, or ending in a slash."""

    git: Git
    prefix: bytes
    repo: str
    commit: str | None
    date: str | None
    tagged: tuple[tuple[bytes, bytes], ...]  # git's one-letter state, path below the folder

    def files(self) -> Collection[bytes]:
        """Tracked files, and others that are neither ignored nor in an environment, below the folder."""
        others = {path for state, path in self.tagged if state == b"?"}
        environments = {parts[:-1] for path in others if (parts := tuple(path.split(b"/")))[-1] == names.ENVIRONMENT}
        dropped = {path for path in others if names.ignored(tuple(path.split(b"/")), environments)}
        return {path for _, path in self.tagged} - dropped

    def sparse(self) -> Collection[bytes]:
        """Files that are tracked but not wanted on this disk."""
        return {path for state, path in self.tagged if state == b"S"}

    def dirty(self) -> bool:
        """Whether anything below the folder differs from the commit."""
        changed = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
        return bool(require(self.git, *changed, "--", "."))

    def permalink(self) -> str | None:
        """Where the folder is shown to readers at its commit."""
        if self.commit is None:
            return None
        place = names.shown(self.prefix).rstrip("/")
        return names.permalink(self.repo, self.commit) + (f"/{place}" if place else "")


def find_checkout(folder: Path) -> Checkout | None:
    """The checkout that the folder belongs to; None: it belongs to none. Raises `ToolError`."""
    if not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        return None
    git = Git(folder)
    found = git.run("rev-parse", "--is-inside-work-tree", "--show-prefix")
    if found.status:
        if b"not a git repository" in found.error or b"must be run in a work tree" in found.error:
            return None  # a folder that is called .git and is none
        raise trouble(folder, found.error)
    inside, _, prefix = found.output.removesuffix(b"\n").partition(b"\n")
    if inside != b"true":
        return None  # its configuration has the work tree elsewhere
    git = git.without_filters()
    if prefix and not require(git, "ls-files", "-z", "--cached", "--", "."):
        return None  # it only lies in somebody's checkout: an unpacked release in an ignored folder, say
    listed = require(git, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard", "--", ".")
    head = git.run(
        "show",
        "-s",
        "--no-show-signature",
        "--format=%H %cd",
        "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
        "HEAD",
    )
    commit, _, date = head.output.decode("ascii", "replace").strip().partition(" ") if not head.status else ("", "", "")
    return Checkout(
        git=git,
        prefix=prefix,
        repo=origin_repo(git),
        commit=commit or None,
        date=date or None,
        tagged=tuple((row[:1], row[2:]) for row in listed.split(b"\0") if row),
    )
