"""Real functions of vLLM against the predicates extracted from them: `python real.py --dataset output/v0.28.0`.

The functions are cut out of the source distribution in the cache, run with random environments that fit how they use
their parameters, and compared as generated ones are. Those whose runs both raise and return count as the real sample.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.oracle.asking import Site, asker, load, sites
from tests.oracle.cutting import Cut, Opaque, cuts, read
from tests.oracle.judging import Function, Wrong, answers, guards
from tests.oracle.rounds import table
from tests.oracle.running import ENDLESS, RAISE, RETURN, narrowed

TEXT = {
    "startswith",
    "endswith",
    "split",
    "lower",
    "upper",
    "strip",
    "replace",
    "rsplit",
    "removeprefix",
    "isdigit",
    "partition",
}
MAPPING = {"get", "items", "keys", "values", "pop", "setdefault", "update"}
SEQUENCE = {"append", "extend", "index", "sort", "insert", "count"}
GENERIC: list[Any] = [None, True, False, 0, 1, 2, 8, 16, -1, 0.5, "", "auto", "x"]


class Shape(dict[str, "Shape"]):
    """How a value is used: its attributes by name, whether it is called, gone through, or has a text's methods."""

    called: bool = False
    many: bool = False


def shapes(cut: Cut) -> dict[str, Shape]:
    """The shape of each parameter, from the function's text."""
    found = {name: Shape() for name in cut.params}

    def reach(node: ast.AST) -> Shape | None:
        if isinstance(node, ast.Name):
            return found.get(node.id)
        if isinstance(node, ast.Attribute) and (owner := reach(node.value)) is not None:
            return owner.setdefault(node.attr, Shape())
        return None

    for node in ast.walk(cut.node):
        match node:
            case ast.Attribute():
                reach(node)
            case ast.Call(func=ast.Name(id="len" | "sorted" | "set" | "any" | "all" | "enumerate"), args=[one, *_]):
                if (shape := reach(one)) is not None:
                    shape.many = True
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[one, ast.Constant(value=str(name)), *_]):
                if (shape := reach(one)) is not None:
                    shape.setdefault(name, Shape())
            case ast.Call(func=function):
                if (shape := reach(function)) is not None:
                    shape.called = True
            case ast.For(iter=one) | ast.comprehension(iter=one) | ast.Subscript(value=one):
                if (shape := reach(one)) is not None:
                    shape.many = True
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[one]):
                if (shape := reach(one)) is not None:
                    shape.many = True
    return found


def pool(cut: Cut) -> list[Any]:
    """The values that the function itself speaks of, and their neighbours."""
    values: list[Any] = []
    for node in ast.walk(cut.node):
        match node:
            case ast.JoinedStr() | ast.Raise():
                pass
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                values += [number, number + 1, number - 1]
            case ast.Constant(value=str(text)) if len(text) < 40:
                values.append(text)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in cut.scope and name != "logger":
                if isinstance(known := getattr(cut.scope[name], attr, None), Opaque) or not callable(known):
                    values.append(known)
    for known in cut.scope.values():
        if isinstance(known, tuple | list | set | frozenset | dict):
            values += list(known)[:5]
    return [value for value in values if not isinstance(value, list | dict | set)]


def value(rng: random.Random, shape: Shape, known: list[Any], depth: int = 0) -> Any:
    if shape.called:
        inner = Shape(shape)
        given = value(rng, inner, known, depth + 1)
        return lambda *args, **kwargs: given
    if shape.keys() & TEXT or (shape.keys() & SEQUENCE) or (shape.keys() & MAPPING):
        if shape.keys() & TEXT:
            texts = [v for v in known if isinstance(v, str)]
            return "".join(rng.choice([*texts, "x", "a:b", "1"]) for _ in range(rng.randint(0, 2)))
        if shape.keys() & MAPPING:
            return {pick(rng, known): pick(rng, known) for _ in range(rng.randint(0, 3))}
        return [pick(rng, known) for _ in range(rng.randint(0, 3))]
    if shape and rng.randrange(12):
        return SimpleNamespace(**{name: value(rng, inner, known, depth + 1) for name, inner in shape.items()})
    if shape.many and rng.randrange(10):
        kinds: list[Callable[..., Any]] = [list, list, tuple, set, dict.fromkeys, str]
        kind = rng.choice(kinds)
        items = [pick(rng, known) for _ in range(rng.randint(0, 3))]
        if kind is str:
            return rng.choice([v for v in known if isinstance(v, str)] or ["xy"])
        return kind(items)
    return pick(rng, known)


def pick(rng: random.Random, known: list[Any]) -> Any:
    return rng.choice(known) if known and rng.randrange(4) else rng.choice(GENERIC)


def environment(cut: Cut, given: dict[str, Shape], known: list[Any], seed: int) -> dict[str, Any]:
    """The same environment, anew, for the same seed."""
    rng = random.Random(seed)
    values = {name: value(rng, shape, known) for name, shape in given.items()}
    if cut.node.args.vararg is not None:
        values[cut.node.args.vararg.arg] = ()
    if cut.node.args.kwarg is not None:
        values[cut.node.args.kwarg.arg] = {}
    return values


def compared(
    cut: Cut, here: list[Site], ask: Any, runs: int, seed: int, counts: Counter[str]
) -> tuple[Counter[str], list[tuple[Wrong, int]]]:
    """Runs one function; how the runs ended, and what was wrong with which seed's environment."""
    module, given, known = cut.module(), shapes(cut), pool(cut)
    function = Function(ast.unparse(cut.node), cut.node.name)
    ended: Counter[str] = Counter()
    wrong: list[tuple[Wrong, int]] = []
    for number in range(seed, seed + runs):
        outcome = module.run(cut.node.name, environment(cut, given, known, number))
        outcome = narrowed(outcome, {site.line for site in here})
        ended[outcome.how] += 1
        if outcome.how == ENDLESS:
            continue
        rng = random.Random(number)
        dropped = rng.sample(list(given), rng.randint(1, len(given))) if given and rng.randrange(5) == 0 else []
        fresh = [environment(cut, given, known, number) for _ in here]
        told = [{name: v for name, v in values.items() if name not in dropped} for values in fresh]
        found = answers(ask, here, outcome, told, not dropped, counts)
        found += guards(here, function, outcome, module.scope, environment(cut, given, known, number), counts)
        wrong += [(w, number) for w in found]
    return ended, wrong


def main() -> int:
    from extractor.console import cache_folder

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", type=Path, default=Path("output/v0.28.0"))
    parser.add_argument("--archive", type=Path, default=cache_folder() / "releases" / "vllm-0.28.0.tar.gz")
    parser.add_argument("--runs", type=int, default=100, help="environments of each function")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name each function of the sample")
    options = parser.parse_args()
    known, package = sites(options.dataset), load(options.dataset)
    if package is None:
        print("no predicates/ in the dataset: guards and runs alone", file=sys.stderr)
    ask, counts, both = asker(package), Counter[str](), 0
    totals, kinds = Counter[str](), Counter[str]()
    for cut in cuts(read(options.archive)):
        lines = range(cut.node.lineno, (cut.node.end_lineno or 0) + 1)
        here = [site for site in known.get((cut.path, cut.symbol), []) if site.line in lines]
        if not here:
            continue
        ended, wrong = compared(cut, here, ask, options.runs, options.seed, counts)
        totals += ended
        totals["functions"] += 1
        if ended[RAISE] and ended[RETURN]:
            both += 1
            if options.list:
                print(f"{cut.path}:{cut.node.lineno} {cut.symbol} {dict(ended)}")
        for found, number in wrong[:2]:
            values = environment(cut, shapes(cut), pool(cut), number)
            print(
                f"WRONG {found.kind}: {cut.path}:{found.line} {cut.symbol} said {found.said}, should be {found.wanted}"
            )
            print(f"      seed {number}: {values}")
        kinds.update(found.kind for found, _ in wrong)
    print(f"{both} functions both raised and returned, of {totals['functions']} that run alone")
    print(dict(totals), dict(kinds), table(counts), sep="\n")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
