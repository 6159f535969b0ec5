"""What more releases cost: the next one against the first, all of them, and all of them once more.

With a cache of records of its own, and the archives that the user's cache has: downloads are not measured. Seconds
are of the machine as it is; the ratio of the second release, and the files parsed and reused, are not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from extractor.console import cache_folder
from tests.usage import Usage


def command(home: Path, *arguments: str) -> tuple[float, float, str]:
    """Seconds, seconds of all processors together, and what the command said."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(home)}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "extractor", *arguments], env=environment, stderr=subprocess.PIPE, text=True
    )
    usage = Usage(process.pid)
    usage.start()
    _, said = process.communicate()
    seconds = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"vllm-errors {' '.join(arguments)} failed: {said}")
    return seconds, usage.stop().seconds, said.strip().splitlines()[-1]


def home_with_archives(folder: Path) -> Path:
    """A cache folder that has the archives of the user's, and no record."""
    (folder / "vllm-errors").mkdir(parents=True)
    for name in ("releases", "listings"):
        os.symlink(cache_folder() / name, folder / "vllm-errors" / name)
    return folder


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", default="0.27.1")
    parser.add_argument("--second", default="0.28.0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="and the history of all releases")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="vllm-errors-bench-"))
    ratios, works = [], []
    for number in range(options.rounds):
        home, out = home_with_archives(folder / f"home{number}"), str(folder / f"out{number}")
        range_ = ("history", "build", "--out", out, "--releases")
        first = command(home, *range_, options.first)
        second = command(home, *range_, options.second)
        cold = command(home, *range_[:3], f"{out}-cold", "--no-cache", "--releases", options.second)
        ratios.append(second[0] / cold[0])
        works.append(second[1] / cold[1])
        print(f"{options.first}, nothing known: {first[0]:6.1f} s  {first[2]}")
        print(f"{options.second} after it:      {second[0]:6.1f} s  {second[2]}")
        print(f"{options.second} by itself:     {cold[0]:6.1f} s  {cold[2]}")
    print(
        f"the second release costs {min(ratios):.2f} of what it costs by itself ({min(works):.2f} of processors' time)"
    )
    if options.all:
        home, out = home_with_archives(folder / "home"), folder / "out"
        build = ("history", "build", "--all", "--out", str(out))
        for name in ("all releases", "once more", "nothing new"):
            seconds, work, said = command(home, *build)
            print(f"{name:14} {seconds:6.1f} s ({work:.0f} s of processors)  {said}")
            if name == "all releases":
                (out / "history.jsonl").unlink()
    shutil.rmtree(folder)
