"""One tree of programs: written, extracted, run and asked. The oracle, the shrinker and the tests all come here."""

from __future__ import annotations

import ast
import gc
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.oracle.asking import Ask, Crash, Site, asker, extract, load, sites, surroundings
from tests.oracle.grammar import PRELUDE
from tests.oracle.judging import Function, Wrong, answers, guards
from tests.oracle.programs import Program
from tests.oracle.running import ENDLESS, Module, Outcome, marked, narrowed

PER_FILE = 100
OBJECTS = ("Node(", "Leaf(", "SimpleNamespace(", "NS(")
OF_CLASS = ("isinstance(", "type(", "case ", "except")  # where the class of a value matters
Lie = Callable[[Site, Outcome], bool | None]  # an answerer for the tests of this oracle itself


@dataclass(frozen=True, slots=True)
class Pair:
    """A program, an expression for its environment, and the parameters that the predicates are not told."""

    program: Program
    environment: str
    dropped: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken promise with all that is needed to see it again; its line counts from the function's first."""

    wrong: Wrong
    pair: Pair


def written(programs: list[Program], folder: Path, prelude: str) -> dict[str, tuple[Path, int]]:
    """Puts the programs into files; says for each symbol in which, and how many lines stand before it."""
    (folder / "vllm").mkdir(parents=True)
    places: dict[str, tuple[Path, int]] = {}
    for start in range(0, len(programs), PER_FILE):
        path, text = folder / "vllm" / f"m{start}.py", prelude
        for program in programs[start : start + PER_FILE]:
            text += "\n"
            places[program.symbol] = (path, text.count("\n"))
            text += program.source
        path.write_text(text)
    return places


def fresh(module: Module, code: Any, pair: Pair) -> dict[str, Any]:
    values = module.environment(code)
    return {name: value for name, value in values.items() if name not in pair.dropped}


def one(
    pair: Pair, module: Module, known: list[Site], function: Function, ask: Ask, package: Any,
    counts: Counter[str], lie: Lie | None = None,
) -> list[Wrong]:  # fmt: skip
    """One run, all its sites asked."""
    code = compile(pair.environment, "environment", "eval")
    ended = module.run(pair.program.symbol, module.environment(code))
    outcome = narrowed(ended, {site.line for site in known})
    counts["pairs"] += 1
    counts[f"runs: {outcome.how}"] += 1
    if outcome.how == ENDLESS:
        return []
    if lie is not None:
        ask = lambda site, _: lie(site, outcome)  # noqa: E731
    shared = not any(word in pair.environment for word in OBJECTS)
    values = fresh(module, code, pair)
    each = [values if shared else fresh(module, code, pair) for _ in known]
    vague = "SimpleNamespace(" in pair.environment and any(word in pair.program.source for word in OF_CLASS)
    wrong = answers(ask, known, outcome, each, not pair.dropped, counts, vague)
    if shared and repr(values) != repr(fresh(module, code, pair)):
        wrong.append(Wrong("asking changed the environment", known[0].line, repr(values), pair.environment))
    if counts["pairs"] % 50 == 0:
        for site in known:
            wrong += around(package, site, module, code, pair, ask)
    return wrong + guards(known, function, outcome, module.scope, module.environment(code), counts)


def around(package: Any, site: Site, module: Module, code: Any, pair: Pair, ask: Ask) -> list[Wrong]:
    try:
        answer = ask(site, fresh(module, code, pair))
    except Crash:
        return []
    said = surroundings(package, site, fresh(module, code, pair), answer)
    return [Wrong("holds or explain", site.line, said, "as evaluate")] if said else []


def trial(
    pairs: Iterable[Pair], counts: Counter[str], prelude: str = PRELUDE, lie: Lie | None = None, stub: bool = False
) -> list[Failure]:
    """All pairs in one tree; the failures in their order."""
    pairs = list(pairs)
    programs = list({pair.program.symbol: pair.program for pair in pairs}.values())
    failures: list[Failure] = []
    with tempfile.TemporaryDirectory(prefix="oracle-") as name:
        folder = Path(name)
        places = written(programs, folder / "tree", prelude)
        dataset = extract(folder / "tree", folder / "out")
        known = sites(dataset)
        package = None if stub else load(dataset)
        if package is None and not stub and lie is None:
            raise RuntimeError("the dataset has no predicates/ yet: give --stub to run without")
        ask = asker(package)
        modules = {p: Module(marked(ast.parse(p.read_text()), str(p))) for p in {path for path, _ in places.values()}}
        functions = {p.symbol: Function(p.source, p.symbol.split(".")[-1]) for p in programs}
        gc.freeze()
        for pair in pairs:
            path, before = places[pair.program.symbol]
            here = known.get((f"vllm/{path.name}", pair.program.symbol), [])
            if not here:
                counts["functions without a site"] += 1
                continue
            function, module = functions[pair.program.symbol], modules[path]
            wrong = one(pair, module, here, function, ask, package, counts, lie)
            failures += [Failure(replace(w, line=w.line - before), pair) for w in wrong]
        gc.unfreeze()
    return failures


def drop(rng: random.Random, program: Program) -> frozenset[str]:
    """Which parameters the predicates are not told: none in three of four."""
    if rng.randrange(4) or not program.kinds:
        return frozenset()
    return frozenset(rng.sample(list(program.kinds), rng.randint(1, len(program.kinds))))
