"""What `match` costs, as ratios within one run: throughput, the first answer, memory. `make bench ARGS=--match`.

Throughput is on a log written for it (200 MB, an error in the middle), against `grep -cF` of one literal over the
same file. The first answer is the whole command in a cold process on 20 KB, against a process that imports re2 and
orjson, in turns. Memory is the peak on a log of 1 GB against one of 10 MB.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLAIN = "import re2, orjson"
LINES = (
    "(EngineCore_DP1 pid=754) INFO 01-12 17:00:{:02} [loggers.py:127] Engine 000: Avg prompt throughput: {}.0 tokens/s, "
    "Avg generation throughput: 51.2 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 2.1%\n",
    '(APIServer pid=1) INFO:     127.0.0.1:49518 - "POST /v1/chat/completions HTTP/1.1" 200 OK {} {}\n',
    "2026-01-12T17:00:{:02}.123456789Z stderr F DEBUG request chatcmpl-{} finished\n",
)
LITERAL = "Engine core initialization failed"
ERROR = (
    '(APIServer pid=648)   File "/opt/env/lib/python3.12/site-packages/vllm/v1/engine/utils.py", line 960, in '
    f"wait_for_engine_startup\n(APIServer pid=648) RuntimeError: {LITERAL}. See root cause above. Failed core proc(s): {{}}\n"
)


def log(path: Path, size: int) -> Path:
    """A server's log of a size, with an error in the middle."""
    block = "".join(LINES[n % len(LINES)].format(n % 60, n) for n in range(9_000)).encode()
    with path.open("wb") as file:
        for n in range(max(2, size // len(block))):
            file.write(block)
            if n == size // len(block) // 2:
                file.write(ERROR.encode())
    return path


def seconds(*command: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def peak(*command: str) -> int:
    """The most memory of one process, in bytes, measured from inside another so that earlier ones do not count."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"
    )
    return int(subprocess.run([sys.executable, "-c", script, *command], capture_output=True, check=True).stdout)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="v0.28.0")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--size", type=int, default=200, help="megabytes of the log for throughput")
    parser.add_argument("--large", type=int, default=1000, help="megabytes of the log for memory")
    options = parser.parse_args(arguments)
    match = (str(Path(sys.executable).with_name("vllm-errors")), "match", "--json", "--dataset", options.dataset)
    with tempfile.TemporaryDirectory(prefix="vllm-errors-bench-") as name:
        folder = Path(name)
        paste = folder / "paste"
        paste.write_text("".join(LINES[0].format(n % 60, n) for n in range(90)) + ERROR)
        seconds(*match, str(paste))  # the lexicon is made once
        floors, firsts = [], []
        for _ in range(options.rounds):
            floors.append(seconds(sys.executable, "-c", PLAIN))
            firsts.append(seconds(*match, str(paste)))
        size = f"{paste.stat().st_size / 1000:.0f} KB"
        print(
            f"{'first answer':22} {1000 * min(firsts):6.0f} ms   {1000 * statistics.median(firsts):6.0f} ms   ({size}; minimum, median)"
        )
        print(f"{PLAIN:22} {1000 * min(floors):6.0f} ms   {1000 * statistics.median(floors):6.0f} ms")
        ratios = min(firsts) / min(floors), statistics.median(a / b for a, b in zip(firsts, floors, strict=True))
        print(f"{'':22} {ratios[0]:6.2f} ×    {ratios[1]:6.2f} ×    of it")
        large = log(folder / "large", options.size * 1_000_000)
        ours, grep = seconds(*match, str(large)), seconds("grep", "-cF", LITERAL, str(large))
        megabytes = large.stat().st_size / 1e6
        print(
            f"{'throughput':22} {megabytes / ours:6.0f} MB/s {megabytes / grep:6.0f} MB/s by grep -cF   ({megabytes:.0f} MB)"
        )
        large.unlink()
        small = peak(*match, str(log(folder / "small", 10_000_000)))
        big = peak(*match, str(log(folder / "big", options.large * 1_000_000)))
        print(f"{'peak memory':22} {small / 2**20:6.0f} MiB  {big / 2**20:6.0f} MiB   (10 MB, {options.large} MB)")


if __name__ == "__main__":
    main(sys.argv[1:])
