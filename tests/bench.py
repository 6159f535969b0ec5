"""Speed and memory as ratios within one run: machines differ and are shared, so seconds alone say little.

The floor is `ast.parse` over the same files in as many processes. Every figure is of whole commands, with
the archive already downloaded. Run with `make bench`, or `make bench ARGS="--release 0.33.0 --rounds 5"`.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path

from extractor.console import cache_folder
from extractor.pipeline import _batches
from extractor.pool import Pool, default_jobs
from extractor.source import Silent, SourceOptions, open_tree
from tests import bench_history, bench_lookup, bench_match, bench_site
from tests.usage import Usage


def parse_all(files: list[tuple[str, bytes]]) -> int:
    warnings.simplefilter("ignore")
    for _, data in files:
        try:
            ast.parse(data)
        except (SyntaxError, ValueError):
            continue
    return len(files)


def floor(batches: list[list[tuple[str, bytes]]], jobs: int) -> float:
    """Seconds to parse the files, the processes already there."""
    with Pool(jobs) as pool:
        list(pool.run(len, [("",)] * jobs))
        started = time.perf_counter()
        list(pool.run(parse_all, [(batch,) for batch in batches]))
        return time.perf_counter() - started


def command(*arguments: str) -> tuple[float, int]:
    """Seconds and peak bytes of one run of the command."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "extractor", *arguments, "--quiet"])
    usage = Usage(process.pid)
    usage.start()
    if process.wait():
        raise SystemExit(f"vllm-errors {' '.join(arguments)} failed")
    seconds = time.perf_counter() - started
    return seconds, usage.stop().peak


def asking(package: Path) -> dict[str, float]:
    """Seconds to import the predicates of a dataset, and to ask all of them for one environment."""
    code = f"""
import json, sys, time, types
sys.path.insert(0, {str(package.parent)!r})
start = time.perf_counter(); import predicates
imported = time.perf_counter(); names = list(predicates.REGISTRY); found = [predicates.REGISTRY[n] for n in names]
loaded = time.perf_counter(); env = {{"self": types.SimpleNamespace()}}
for predicate in found: predicate.evaluate(env)
print(json.dumps([imported - start, loaded - imported, time.perf_counter() - loaded]))
"""
    told = json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    names = ("import predicates", "all their modules", "asking all of them")
    return dict(zip(names, told, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default="0.28.0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--match", action="store_true", help="measure `match` instead, on the datasets in output/")
    parser.add_argument("--site", action="store_true", help="measure `site` instead, on a dataset in output/")
    parser.add_argument("--lookup", action="store_true", help="measure the lookup in a browser instead")
    parser.add_argument("--history", action="store_true", help="measure what more releases cost; with --all, of all")
    options, more = parser.parse_known_args()
    if options.site:
        bench_site.main(more)
        return
    if options.lookup:
        bench_lookup.main(more)
        return
    if options.history:
        bench_history.main(["--rounds", str(options.rounds), *more])
        return
    if options.match:
        bench_match.main(more)
        return
    tree = open_tree(SourceOptions(cache=cache_folder(), release=options.release), Silent())
    batches = list(_batches(tree.read([entry.path for entry in tree.entries])))
    out = Path(tempfile.mkdtemp(prefix="vllm-errors-bench-"))
    extract = ("extract", "--release", options.release, "--jobs", str(options.jobs), "--out")
    folders = (str(out / str(n)) for n in count())

    def fresh(*more: str) -> tuple[float, int]:
        """Into a new folder: the disk may still be at work on what was deleted."""
        return command(*extract, next(folders), *more)

    stages: dict[str, Callable[[], tuple[float, int]]] = {
        "cold": lambda: fresh("--no-cache"),
        "warm, dataset gone": fresh,
        "warm": lambda: command(*extract, str(out / "there")),
    }
    command(*extract, str(out / "there"))  # fills the cache of records
    ratios: dict[str, list[float]] = {name: [] for name in stages}
    floors: list[float] = []
    peak = 0
    for _ in range(options.rounds):
        floors.append(floor(batches, options.jobs))
        for name, stage in stages.items():
            seconds, used = stage()
            ratios[name].append(seconds / floors[-1])
            peak = max(peak, used)
    asked = asking(out / "there" / f"v{options.release}" / "predicates")
    shutil.rmtree(out)
    print(f"{options.release}: {len(tree.entries):,} files, {options.jobs} processes, {options.rounds} rounds")
    print(f"{'ast.parse':20} {min(floors):6.2f} s   {statistics.median(floors):6.2f} s   (minimum, median)")
    for name, found in ratios.items():
        print(f"{name:20} {min(found):6.2f} ×   {statistics.median(found):6.2f} ×   of it")
    for name, seconds in asked.items():
        print(f"{name:20} {seconds:6.2f} s")
    print(f"{'peak memory':20} {peak / 2**20:6.0f} MiB, all processes together")


if __name__ == "__main__":
    main()
