"""Owns the command line: parses arguments, prints, and chooses the exit code. The only module that prints."""

from __future__ import annotations

import gc
import os
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from extractor import __version__
from extractor.cli_history import history
from extractor.cli_site import serve, site
from extractor.console import (
    Dataset,
    Datasets,
    Executor,
    Index,
    Jobs,
    NoCache,
    Quiet,
    Scheduler,
    cache_folder,
    say,
    scheduler_of,
)
from extractor.errors import ToolError

if TYPE_CHECKING:
    from extractor.diff.report import Report as Diff
    from extractor.model import Error
    from extractor.pipeline import Report

app = typer.Typer(
    name="vllm-errors",
    help="Every error that vLLM raises, read from its source without importing it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(history, name="history")

INTERRUPTED = 130
STOPPED = "vllm-errors: interrupted; what was there before is untouched"


def main() -> None:
    """The console script: every failure is one sentence on stderr."""
    try:
        app()
    except SystemExit as e:  # also when nobody reads on, as behind `| head`
        if e.code == INTERRUPTED:  # typer has seen Ctrl-C first
            say(STOPPED)
        _leave(e.code if isinstance(e.code, int) else 0)
    except ToolError as e:
        say(f"vllm-errors: {e}")
        _leave(e.exit_code)
    except KeyboardInterrupt:
        say(STOPPED)
        _leave(INTERRUPTED)


def _leave(code: int) -> NoReturn:
    """Ends the process at once: taking millions of objects apart one by one costs a tenth of a run."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _version(asked: bool) -> None:
    if asked:
        print(f"vllm-errors {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Every error that vLLM raises, read from its source without importing it."""


@app.command()
def extract(
    commit: Annotated[
        str | None, typer.Option(help="A commit (short or full), tag or branch of the repository.")
    ] = None,
    release: Annotated[str | None, typer.Option(help="A release on the package index, as 0.28.0.")] = None,
    source: Annotated[Path | None, typer.Option(help="A local checkout, or any folder that holds vllm/.")] = None,
    repo: Annotated[
        str | None, typer.Option(help="Another repository for --commit: URL, OWNER/NAME or a local clone.")
    ] = None,
    index: Index = None,
    out: Annotated[Path, typer.Option(help="The folder that datasets are written into.")] = Path("output"),
    label: Annotated[str | None, typer.Option(help="The dataset's name under --out.")] = None,
    jobs: Jobs = None,
    executor: Executor = "processes",
    scheduler: Scheduler = None,
    no_cache: NoCache = False,
    quiet: Quiet = False,
) -> None:
    """Extract the errors of one source tree into a dataset: the newest release, unless told otherwise.

    Example: vllm-errors extract --release 0.28.0
    """
    from extractor import obtain
    from extractor.match import library
    from extractor.source import SourceOptions
    from extractor.terminal import progress_on

    if sum(x is not None for x in (commit, release, source)) > 1:
        raise ToolError("give one of --commit, --release and --source, not several")
    if repo is not None and commit is None:
        raise ToolError("--repo says where --commit is looked for: give --commit too")
    started = time.monotonic()
    gc.disable()  # a short run that makes millions of objects and no cycles to speak of
    where = SourceOptions(
        commit=commit, release=release, source=source, repo=repo, index=index, label=label, cache=cache_folder()
    )
    options = obtain.ExtractOptions(
        out=out,
        cache=cache_folder(),
        jobs=jobs,
        keep_records=not no_cache,
        scheduler=scheduler_of(executor, scheduler),
    )
    with progress_on(sys.stderr, quiet) as progress:
        report = obtain.extract(where, options, progress)
    library.prepare(report.folder)
    if not quiet:
        _summary(report, time.monotonic() - started)


def _summary(report: Report, seconds: float) -> None:
    counts = report.counts
    for skip in report.skipped[:5]:
        say(f"skipped {skip.path}: {skip.reason}")
    if len(report.skipped) > 5:
        say(f"skipped {len(report.skipped) - 5} more: see {report.folder / 'skipped.json'}")
    say(
        f"{counts.files:,} files, {counts.sites:,} sites, {counts.errors:,} errors, {counts.skipped} skipped, "
        f"{seconds:.1f} s{' (already there)' if report.unchanged else ''}: {report.folder}"
    )


@app.command()
def show(
    what: Annotated[str, typer.Argument(metavar="ID", help="An id, the beginning of one, or PATH:LINE.")],
    dataset: Dataset = None,
    out: Datasets = Path("output"),
    json: Annotated[bool, typer.Option("--json", help="The record itself.")] = False,
) -> None:
    """Print the card of one error.

    Example: vllm-errors show 068fcf03e462d1f1
    """
    from extractor import datasets

    folder = datasets.locate(dataset, out)
    error = datasets.find(folder, what)
    if json:
        from extractor.dataset import encode

        sys.stdout.buffer.write(encode(error, indent=True))
        return
    _print_card(error, folder, out)


@app.command()
def match(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The log; - or nothing for stdin.")] = "-",
    dataset: Annotated[
        str | None,
        typer.Option(help="A dataset's folder, or its label under --out; else as the log says, or the newest."),
    ] = None,
    out: Datasets = Path("output"),
    json: Annotated[bool, typer.Option("--json", help="The errors as data.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many errors at most.")] = 5,
) -> None:
    """Find vLLM's errors in a log, the root cause first.

    Example: vllm-errors match server.log
    """
    from extractor import quick
    from extractor.match.command import Options

    code = quick.match(Options(file=file, dataset=dataset, out=str(out), json=json, limit=limit))
    if code:
        raise typer.Exit(code)


def _print_card(error: Error, folder: Path, out: Path) -> None:
    from rich.console import Console

    from extractor.dataset import read_manifest
    from extractor.history import command, store
    from extractor.render.terminal import renderable

    console: Any = Console(highlight=False, markup=False, emoji=False)
    try:
        since = command.fact(store.path_under(out), error.id)
    except ToolError as e:  # the card does not need it
        since = None
        say(f"without its history: {e}")
    console.print(renderable(error, read_manifest(folder).source, since))


@app.command()
def check(
    env: Annotated[
        str, typer.Option(metavar="FILE|-", help="Values by name as JSON: the parameters, what self is, globals.")
    ],
    dataset: Dataset = None,
    out: Datasets = Path("output"),
    symbol: Annotated[str | None, typer.Option(help="A function, or a class for all of its methods.")] = None,
    id: Annotated[str | None, typer.Option(help="An error's id, or the beginning of one.")] = None,
    path: Annotated[str | None, typer.Option(metavar="GLOB", help="Files of vLLM; * stands for / too.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The report for a program.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=0, help="How many of the raised to list; else 20, with --json all.")
    ] = None,
) -> None:
    """Tell which errors are raised for these values: exit code 1 if any is, 0 if none.

    In --env an object is a namespace, {"$type": "Class", ...} one of that class, {"$dict": {...}} a mapping, and
    {"$enum": "Class.NAME"} a member of an enum.

    Example: vllm-errors check --symbol LoRAConfig --env env.json, which holds
    {"self": {"max_cpu_loras": 1, "max_loras": 4}}
    """
    from extractor import checking, datasets, environments

    gc.disable()  # as in extract
    values = environments.read(env)
    folder = datasets.locate(dataset, out)
    report = checking.check(checking.load(folder), values, symbol, id, path)
    if json:
        from json import dumps  # which takes halves of surrogate pairs, as an environment may hold

        from extractor.printable import json_safe

        sys.stdout.buffer.write(json_safe(dumps(report.as_json(limit), indent=2).encode()) + b"\n")
    else:
        for line in checking.lines(report, folder.name, 20 if limit is None else limit):
            print(line)
    if report.raised:
        raise typer.Exit(1)


class Format(StrEnum):
    """What `diff` writes."""

    md = "md"
    json = "json"
    html = "html"


class _WithExitCode(TyperCommand):
    """`--exit-code` takes its kinds after `=` alone, so that the word after it stays an argument."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--exit-code=" if a == "--exit-code" else a for a in args])


@app.command(cls=_WithExitCode)
def diff(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="A folder, a label under --out, a release, or a commit, tag or branch.")
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, of what came after.")],
    format: Annotated[Format, typer.Option(help="Markdown, JSON, or one HTML file.")] = Format.md,
    exit_code: Annotated[
        str | None,
        typer.Option(
            metavar="[=KINDS]",
            help="Exit with 1 when there are changes, of these kinds where given, as =removed,reguarded.",
        ),
    ] = None,
    path: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Files of vLLM; * stands for / too.")] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND", help="added, removed, reworded, retyped, reguarded, relocated, moved; several with commas."
        ),
    ] = None,
    exception: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="By name; a base finds what derives from it.")
    ] = None,
    moved: Annotated[bool, typer.Option("--moved", help="List those that only stand in other lines too.")] = False,
    limit: Annotated[int | None, typer.Option(min=0, help="How many of each section to list, but for JSON.")] = None,
    repo: Annotated[str | None, typer.Option(help="Where commits are: URL, OWNER/NAME or a local clone.")] = None,
    index: Index = None,
    out: Datasets = Path("output"),
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Tell what changed between two sources: errors added, removed, reworded, raised under another condition.

    What is not there yet is extracted on the way.

    Example: vllm-errors diff 0.27.1 0.28.0
    """
    from extractor import obtain
    from extractor.diff import report as reports
    from extractor.terminal import progress_on

    gc.disable()  # as in extract
    failing = None if exit_code is None else reports.kinds_of([exit_code])
    selection = reports.Selection(
        paths=tuple(path or ()), kinds=reports.kinds_of(kind or ()), exceptions=tuple(exception or ()), moved=moved
    )
    options = obtain.ExtractOptions(out=out, cache=cache_folder(), repo=repo, index=index, jobs=jobs)
    with progress_on(sys.stderr, quiet) as progress:
        before = obtain.obtain(old, options, progress)
        after = obtain.obtain(new, options, progress, keep=[before])
    report = reports.diff(before, after, selection)
    if report.same:
        say(f"{before} and {after} are of the same source: nothing has changed")
    elif not any(report.counts.values()):
        say(f"nothing has changed between {before} and {after}{' of what was asked for' if selection.narrow else ''}")
    sys.stdout.buffer.write(_written(report, format, limit))
    if failing is not None and report.has(failing):
        raise typer.Exit(1)


def _written(report: Diff, format: Format, limit: int | None) -> bytes:
    from extractor.diff import pages
    from extractor.diff.report import as_json
    from extractor.diff.view import view

    if format is Format.json:
        return as_json(report)
    shown = view(report, limit)
    return (pages.html(shown) if format is Format.html else pages.markdown(shown)).encode()


app.command()(site)
app.command()(serve)
