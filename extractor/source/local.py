"""Owns a repository on this disk, read as it is: what a revision means in it, and which `owner/name` it is.

Nothing is written there, and nothing fetched: a partial clone would put what it fetches into itself.
"""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

from extractor.errors import ToolError
from extractor.model import DEFAULT_REPO
from extractor.source.command import Git, trouble
from extractor.source.names import github_repo, one_line, shown
from extractor.source.objects import ambiguous, commits_of

SHORT = re.compile(r"[0-9a-f]{4,40}")


def open_clone(folder: Path) -> Git:
    """Git in a clone: bare, or with a work tree, or itself a worktree or submodule. Raises `ToolError`."""
    place = folder.resolve()
    git = Git(place, ceiling=place.parent)
    found = git.run("rev-parse", "--git-dir")
    if found.status:
        if b"not a git repository" in found.error:
            name = shown(os.fsencode(folder))
            raise ToolError(f"{name} is not a git repository: give --repo a clone, or --source {name}")
        raise trouble(place, found.error)
    return git


def find(git: Git, revision: str) -> str:
    """The full name of the commit that a revision means there. Raises `ToolError`."""
    for name in (revision, f"refs/remotes/origin/{revision}"):
        found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if found.status == 0:
            return found.output.decode("ascii").strip()
    beginning = revision.lower()
    commits = commits_of(git, beginning) if SHORT.fullmatch(beginning) else []
    if len(commits) > 1:
        raise ambiguous(git, beginning, commits)
    refs = git.run("for-each-ref", "--format=%(refname:lstrip=2)").output.decode("utf-8", "replace").split("\n")
    raise ToolError(
        f"the repository {shown(os.fsencode(git.folder))} has no commit, tag or branch {one_line(revision)}"
        f"{nearest(revision, refs)}: fetch it there first, or leave --repo out"
    )


def nearest(revision: str, refs: list[str]) -> str:
    """The end of a sentence: names like the one that is not there."""
    near = difflib.get_close_matches(revision, [ref for ref in refs if ref], 3, 0.5)
    return f" (the nearest: {', '.join(one_line(name) for name in near)})" if near else ""


def origin_repo(git: Git) -> str:
    """`owner/name` when the remote `origin` is on GitHub; vLLM's own otherwise."""
    found = git.run("config", "--get", "remote.origin.url")
    return github_repo(found.output.decode("utf-8", "replace").strip()) or DEFAULT_REPO
