"""Python as the oracle for predicates: `python -m tests.oracle --pairs 20000 --seed 1`.

Random functions are run by Python in random environments, and the raise that left (or the return) is held against the
answers of the predicates that were extracted from their source. Each broken promise is shown with a function made
small; the counts say how often each precision answered what, so that a predicate that never answers is seen.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context

from tests.oracle.programs import environment, program
from tests.oracle.shrink import shrunk
from tests.oracle.trial import Failure, Pair, drop, trial

FUNCTIONS, ENVIRONMENTS = 500, 40


def pairs(seed: int, functions: int = FUNCTIONS, environments: int = ENVIRONMENTS) -> Iterator[Pair]:
    """The pairs of one round: the same for the same seed."""
    rng = random.Random(seed)
    for number in range(functions):
        made = program(rng, number)
        for _ in range(environments):
            yield Pair(made, environment(rng, made.kinds), drop(rng, made))


def one_round(seed: int, stub: bool = False, count: int = FUNCTIONS) -> tuple[Counter[str], list[Failure]]:
    counts: Counter[str] = Counter()
    return counts, trial(pairs(seed, count), counts, stub=stub)


def smallest(failures: list[Failure], most: int) -> list[Failure]:
    """For each kind the few with the least source, one of a function."""
    by_size = sorted(failures, key=lambda f: len(f.pair.program.source) + len(f.pair.environment))
    kept: dict[tuple[str, str], Failure] = {}
    for failure in by_size:
        if sum(kind == failure.wrong.kind for kind, _ in kept) < most:
            kept.setdefault((failure.wrong.kind, failure.pair.program.source), failure)
    return list(kept.values())


def shown(failure: Failure) -> str:
    told = f"  not told: {', '.join(sorted(failure.pair.dropped))}" if failure.pair.dropped else ""
    wrong = failure.wrong
    lines = [f"--- {wrong.kind}: line {wrong.line} said {wrong.said}, should be {wrong.wanted}"]
    lines += [f"{n:4} {line}" for n, line in enumerate(failure.pair.program.source.splitlines(), 1)]
    return "\n".join([*lines, f"     env: {failure.pair.environment}{told}"])


def table(counts: Counter[str]) -> str:
    """Counts of runs, then for each precision and state how often each answer came (all parameters told)."""
    lines = [f"{name}: {counts[name]}" for name in sorted(counts) if not name.endswith(("True", "False", "None"))]
    states = sorted({name.rpartition(" ")[0] for name in counts if name.endswith(("True", "False", "None"))})
    lines.append(f"{'site (all parameters told)':32}{'True':>10}{'False':>10}{'None':>10}")
    rows = ["".join(f"{counts[f'{state} {a}']:10}" for a in ("True", "False", "None")) for state in states]
    return "\n".join(lines + [f"{state:32}{row}" for state, row in zip(states, rows, strict=True)])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=2, help="examples of each kind")
    parser.add_argument("--seconds", type=float, default=30.0, help="to make one example smaller")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--stub", action="store_true", help="no predicates: runs and guards alone")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    start, counts, failures = time.monotonic(), Counter[str](), list[Failure]()
    rounds = -(-options.pairs // (FUNCTIONS * ENVIRONMENTS))
    seeds = [options.seed * 1_000_003 + i for i in range(rounds)]
    size = min(FUNCTIONS, -(-options.pairs // ENVIRONMENTS))
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn"), max_tasks_per_child=20) as pool:
        for done, (counted, failed) in enumerate(pool.map(one_round, seeds, repeat(options.stub), repeat(size)), 1):
            counts += counted
            failures += failed
            if sys.stderr.isatty() or done % 5 == 0:
                print(
                    f"{counts['pairs']} pairs, {len(failures)} wrong, {time.monotonic() - start:.0f} s", file=sys.stderr
                )
    print(table(counts))
    print(f"{time.monotonic() - start:.0f} s")
    kinds = Counter(f.wrong.kind for f in failures)
    for kind, count in kinds.most_common():
        of = len({f.pair.program.source for f in failures if f.wrong.kind == kind})
        print(f"WRONG {kind}: {count} in {of} functions")
    for failure in smallest(failures, options.show):
        print(shown(failure if options.no_shrink or options.stub else shrunk(failure, options.seconds)), flush=True)
    return 1 if failures else 0
