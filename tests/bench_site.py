"""What making the site costs, as ratios within one run: `make bench ARGS=--site`.

The floor is the time that jinja2 alone takes for the same pages in one process, everything that they show being
ready. Whole commands are held against it: into a new folder, and again with nothing changed.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jinja2

from extractor import datasets
from extractor.pages import browse, editions, error_page
from extractor.pages.lines import steps
from extractor.pages.shell import Shell
from extractor.pages.story import Stories
from extractor.render import environment
from extractor.render.compose import card


class Timed(jinja2.Template):
    """A template that knows how long it was at work."""

    seconds = 0.0

    def render(self, *args: Any, **kwargs: Any) -> str:
        started = time.perf_counter()
        try:
            return super().render(*args, **kwargs)
        finally:
            Timed.seconds += time.perf_counter() - started


def floor(folder: Path) -> tuple[float, list[int]]:
    """Seconds of jinja2 for all pages of a site, and the sizes of the pages of errors."""
    env = environment()
    env.template_class = Timed
    found = editions.read([folder])
    taken = steps(found)
    stories = Stories(found, taken)
    shell = Shell.of(found, None)
    Timed.seconds = 0.0
    sizes = []
    for error in found[0].errors.values():
        view = card(error, found[0].source)
        page = error_page.html(error, found[0].source, view, stories.tell(0, error), shell, env)
        sizes.append(len(page))
    for _ in browse.pages(stories, taken, shell, env):
        pass
    return Timed.seconds, sizes


def command(folder: Path, out: Path, jobs: int) -> float:
    """Seconds of the whole command."""
    started = time.perf_counter()
    arguments = ["site", str(folder), "--out", str(out), "--jobs", str(jobs), "--quiet"]
    subprocess.run([sys.executable, "-m", "extractor", *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="v0.28.0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    folder = datasets.locate(options.dataset, Path("output"))
    gc.disable()
    floors, new, again = [], [], []
    sizes: list[int] = []
    with tempfile.TemporaryDirectory(prefix="vllm-errors-bench-") as place:
        for n in range(options.rounds):
            seconds, sizes = floor(folder)
            floors.append(seconds)
            new.append(command(folder, Path(place) / str(n), options.jobs) / seconds)
            again.append(command(folder, Path(place) / str(n), options.jobs) / seconds)
    print(f"{folder.name}: {len(sizes):,} pages of errors, {options.jobs} processes, {options.rounds} rounds")
    print(f"{'jinja2 alone':20} {min(floors):6.2f} s   {statistics.median(floors):6.2f} s   (minimum, median)")
    for name, ratios in (("a new site", new), ("nothing changed", again)):
        print(f"{name:20} {min(ratios):6.2f} ×   {statistics.median(ratios):6.2f} ×   of it")
    print(f"{'a page':20} {statistics.median(sizes) / 1000:6.1f} kB  {max(sizes) / 1000:6.1f} kB  (median, largest)")
