"""Owns the commands of the site, `site` and `serve`, as `cli` does the others."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from extractor.console import Datasets, Jobs, Quiet, cache_folder, say


def site(
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATASET...", help="A folder, label, release or commit each; else the newest dataset."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder that the site is written to.")] = Path("output/site"),
    datasets: Datasets = Path("output"),
    base_url: Annotated[
        str | None, typer.Option(help="Where it will be published: for canonical links, the sitemap, its 404 page.")
    ] = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Make the documentation site of one or more datasets: static files for any host.

    What is not extracted yet is, on the way. SOURCE_DATE_EPOCH, in seconds, is the version of the files for ErrLookup's
    clients; without it, that is the time of the newest source.

    Example: vllm-errors site 0.28.0 0.27.1 --out site --base-url https://example.org/vllm-errors/
    """
    from extractor import datasets as known
    from extractor import obtain, pages, pool
    from extractor.history import store
    from extractor.terminal import progress_on

    started = time.monotonic()
    gc.disable()  # as in extract
    options = pages.Options(
        out=out,
        jobs=jobs or pool.default_jobs(),
        base_url=pages.checked_base(base_url),
        version=pages.checked_version(os.environ.get("SOURCE_DATE_EPOCH")),
        history=past if (past := store.path_under(datasets)).exists() else None,
    )
    where = obtain.ExtractOptions(out=datasets, cache=cache_folder(), jobs=jobs)
    with progress_on(sys.stderr, quiet) as progress:
        folders: list[Path] = []
        for name in given or []:
            folders.append(obtain.obtain(name, where, progress, folders))
        report = pages.build(folders or [known.newest(datasets)], options, progress)
    if not quiet:
        say(
            f"{', '.join(report.editions)}: {report.errors:,} errors, {report.files:,} files, {report.fresh:,} of them "
            f"new or changed, {time.monotonic() - started:.1f} s"
        )
    print(report.folder / "index.html")


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a site.")] = Path("output/site"),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port, or the first of those tried.")] = 8000,
) -> None:
    """Show a site on this machine, on 127.0.0.1 alone, until it is stopped.

    Example: vllm-errors serve output/site
    """
    from extractor import serving

    with serving.server(serving.checked(folder), port) as server:
        print(serving.address(server), flush=True)
        say("Ctrl-C stops it")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
