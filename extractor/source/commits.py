"""Owns the commits between two of a local clone: the first parents, as a branch saw them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from extractor.errors import ToolError
from extractor.source import local
from extractor.source.command import require
from extractor.source.names import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit by its full name; `date` is when it was committed, ISO 8601 in UTC."""

    name: str
    date: str | None


def first_parents(text: str, repo: Path | None) -> list[Commit]:
    """The commits of `A..B`, oldest first, with A itself. Raises `ToolError`."""
    first, dots, last = text.partition("..")
    if not (dots and first.strip() and last.strip()):
        raise ToolError(f"{one_line(text)!r} is no range of commits: give --commits one such as v0.27.0..main")
    if repo is None or not repo.is_dir():
        raise ToolError("a range of commits is read from a clone on this disk: give --repo its folder")
    git = local.open_clone(repo)
    start, end = local.find(git, first.strip()), local.find(git, last.strip())
    form = ("--format=%H %cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--no-commit-header")
    listed = require(git, "rev-list", "--first-parent", "--reverse", *form, end, f"^{start}")
    rows = [row.split(" ", 1) for row in listed.decode("ascii", "replace").split("\n") if row]
    if git.run("merge-base", "--is-ancestor", start, end).status:
        raise ToolError(f"{one_line(first)} is no ancestor of {one_line(last)}: give --commits the older one first")
    shown = require(git, "show", "-s", "--format=%H %cd", form[1], start, "--").decode("ascii", "replace").split("\n")
    return [Commit(name=name, date=date or None) for name, date in (shown[0].split(" ", 1), *rows)]
