"""Owns all reading of the outside world: a release, a commit or a folder becomes a tree of Python files.

What is slow to import (git, requests, pypi_simple) is imported by the one source that needs it.
"""

from __future__ import annotations

from extractor.errors import ToolError
from extractor.source.base import Entry, Progress, Silent, SourceOptions, Tree
from extractor.source.names import checked_label

__all__ = ["Entry", "Progress", "Silent", "SourceOptions", "Tree", "open_tree"]


def open_tree(options: SourceOptions, progress: Progress) -> Tree:
    """Opens the tree that the options name. Raises `ToolError`."""
    if sum(x is not None for x in (options.commit, options.release, options.source)) > 1:
        raise ToolError("give one of --commit, --release and --source, not several")
    if options.label is not None:
        checked_label(options.label)
    if options.source is not None:
        from extractor.source.folder import open_folder

        return open_folder(options.source, options.label)
    if options.commit is not None:
        from extractor.source.git import open_commit

        return open_commit(options, progress)
    from extractor.source.release import open_release

    return open_release(options, progress)
