"""Owns the commands of `history`, as `cli` does the others: parses arguments, prints, chooses the exit code."""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from extractor.console import Executor, Index, Jobs, NoCache, Quiet, Scheduler, cache_folder, say, scheduler_of
from extractor.errors import ToolError

history = typer.Typer(
    help="Since when an error exists, and what it was before: over all releases.", no_args_is_help=True
)


@history.command("build")
def history_build(
    releases: Annotated[
        str | None, typer.Option(metavar="A..B", help="Releases from one to another, both with their ends.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All releases: what is meant without --releases.")] = False,
    commits: Annotated[
        str | None, typer.Option(metavar="A..B", help="The first parents from one commit to another, in --repo.")
    ] = None,
    repo: Annotated[Path | None, typer.Option(help="A local clone, for --commits.")] = None,
    pre: Annotated[bool, typer.Option("--pre", help="Pre-releases too.")] = False,
    yanked: Annotated[bool, typer.Option("--yanked", help="Releases that were taken back, too.")] = False,
    index: Index = None,
    out: Annotated[Path, typer.Option(help="The folder that history.jsonl is written into.")] = Path("output"),
    jobs: Jobs = None,
    executor: Executor = "processes",
    scheduler: Scheduler = None,
    no_cache: NoCache = False,
    quiet: Quiet = False,
) -> None:
    """Fold the errors of many releases, oldest first, into lines of descent; what is there is gone on with.

    Exit code 2 when a release could not be had: it is named, and all others are in.

    Example: vllm-errors history build --releases 0.11.0..0.14.1
    """
    from extractor import cache as caches
    from extractor import pool
    from extractor.cluster import Cluster
    from extractor.history import command, store
    from extractor.terminal import progress_on

    if sum((releases is not None, all_, commits is not None)) > 1:
        raise ToolError("give one of --all, --releases and --commits, not several")
    if repo is not None and commits is None:
        raise ToolError("--repo says where --commits are read: give --commits too")
    started = time.monotonic()
    gc.disable()  # as in extract
    options = command.Options(
        out=out,
        cache=cache_folder(),
        releases=releases,
        commits=commits,
        repo=repo,
        index=index,
        pre=pre,
        yanked=yanked,
        keep=not no_cache,
        jobs=jobs or pool.default_jobs(),
    )
    address = scheduler_of(executor, scheduler)
    workers = pool.Pool(options.jobs, preload=("extractor.history.readings",))
    with progress_on(sys.stderr, quiet) as progress, Cluster.at(address) as ahead, workers:
        report = command.run(options, caches.fingerprint(), workers, ahead, progress.another(), progress)
    if not quiet:
        for line in command.said(report, store.path_under(out), time.monotonic() - started):
            say(line)
    if report.troubles:
        raise typer.Exit(2)


@history.command("show")
def history_show(
    what: Annotated[str, typer.Argument(metavar="ID", help="An id of any release, or the beginning of one.")],
    out: Annotated[Path, typer.Option(help="The folder that history.jsonl is in.")] = Path("output"),
    json: Annotated[bool, typer.Option("--json", help="The lines of descent as data.")] = False,
) -> None:
    """Tell the story of one error: introduced, reworded, moved, gone.

    Example: vllm-errors history show 068fcf03e462d1f1
    """
    from extractor.history import command, store

    header, lines = command.story(store.path_under(out), what)
    if json:
        from extractor.dataset import encode

        sys.stdout.buffer.write(encode(lines, indent=True))
        return
    from extractor.history import story

    for number, line in enumerate(lines):
        for row in ("",) * bool(number) + tuple(story.text(line, header, colour=sys.stdout.isatty())):
            print(row)


@history.command("chart")
def history_chart(
    by: Annotated[str, typer.Option(metavar="package|exception", help="What errors are told apart by.")] = "package",
    png: Annotated[bool, typer.Option("--png", help="A PNG instead of an SVG.")] = False,
    out: Annotated[Path, typer.Option(help="The folder that history.jsonl is in.")] = Path("output"),
) -> None:
    """Draw how many errors each release has, and how many came and went: a picture on stdout.

    Example: vllm-errors history chart > errors.svg
    """
    from extractor.history import chart, store

    sys.stdout.buffer.write(chart.drawn(store.read(store.path_under(out)), by, png))
