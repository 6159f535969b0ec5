"""Owns what all commands share: notes on stderr, the cache folder, and where tasks are run."""

from __future__ import annotations

import sys
from pathlib import Path

from extractor.errors import ToolError
from extractor.printable import visible


def say(text: str) -> None:
    """A note for a person, on stderr."""
    sys.stderr.write(visible(text) + "\n")


def cache_folder() -> Path:
    """Where downloads and records are kept between runs."""
    from platformdirs import user_cache_path

    return user_cache_path("vllm-errors", appauthor=False)


def scheduler_of(executor: str, scheduler: str | None) -> str | None:
    """The address of the cluster that is asked for; None: the processes of this machine."""
    if executor not in ("processes", "dask"):
        raise ToolError(f"there is no executor {executor!r}: give --executor processes or dask")
    if (executor == "dask") != (scheduler is not None):
        raise ToolError("--executor dask and --scheduler ADDRESS belong together: give both, or neither")
    return scheduler
