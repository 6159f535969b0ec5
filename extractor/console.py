"""Owns what all commands share: options, notes on stderr, the cache folder, and where tasks are run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from extractor.errors import ToolError
from extractor.printable import visible

# options that several commands have
Dataset = Annotated[str | None, typer.Option(help="A dataset's folder, or its label under --out; else the newest.")]
Datasets = Annotated[Path, typer.Option(help="The folder that datasets are in.")]
Index = Annotated[str | None, typer.Option(help="Package index; else PIP_INDEX_URL, UV_DEFAULT_INDEX or UV_INDEX_URL.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes; else one for each processor.")]
Executor = Annotated[str, typer.Option(metavar="processes|dask", help="Where files are read.")]
Scheduler = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of a cluster, for --executor dask.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Read every file anew.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


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
