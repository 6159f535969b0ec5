"""The hand-written rows as a tree of one file each: extracted once, each case run in a module of its own."""

from __future__ import annotations

import ast
import json
import os
import resource
import select
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracle.asking import Ask, Crash, Site, asker, extract, load, sites
from tests.oracle.grammar import PRELUDE
from tests.oracle.judging import Function, Wrong, answers, guards
from tests.oracle.nasty import CONSTANT, QUICKLY, RETURN, ROWS, Row
from tests.oracle.running import RAISE, Module, Outcome, marked, narrowed

HEAD = PRELUDE + "\nNS = SimpleNamespace\n\n"


@dataclass(frozen=True)
class Table:
    """The dataset of all rows; `package` is None as long as it has no predicates."""

    sites: dict[tuple[str, str], list[Site]]
    package: Any
    ask: Ask

    def of(self, row: Row) -> list[Site]:
        return self.sites.get((file_of(row), symbol(row)), [])


def file_of(row: Row) -> str:
    return f"vllm/r{ROWS.index(row)}.py"


def symbol(row: Row) -> str:
    return "C.f" if "class C:\n    def f(" in row.source else "f"


def table(folder: Path) -> Table:
    for one in ROWS:
        path = folder / "tree" / file_of(one)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + one.source)
    dataset = extract(folder / "tree", folder / "out")
    package = load(dataset)
    return Table(sites(dataset), package, asker(package))


def raises(row: Row) -> list[int]:
    """The lines of the raises of `f` itself, in order."""
    tree = ast.parse(HEAD + row.source)
    defined = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    function = [n for n in defined if n.name == "f"][-1]
    inner = {m for n in ast.walk(function) if n is not function and isinstance(n, ast.FunctionDef) for m in ast.walk(n)}
    return sorted(n.lineno for n in ast.walk(function) if isinstance(n, ast.Raise) and n not in inner)


def module(row: Row) -> Module:
    return Module(marked(ast.parse(HEAD + row.source), file_of(row)))


def outcome(row: Row, environment: str) -> tuple[int | str, Outcome]:
    """What Python does in a fresh module, in the words of the table."""
    made = module(row)
    values = made.environment(compile(environment, "environment", "eval"))
    ended = narrowed(made.run(symbol(row), values, seconds=5.0), set(raises(row)))
    if ended.how != RAISE:
        return ended.how, ended
    return raises(row).index(min(ended.left & set(raises(row)))), ended


def verdict(known: Table, row: Row) -> list[Wrong]:
    """Everything that is wrong with the row's predicates and guards."""
    wrong: list[Wrong] = []
    here = known.of(row)
    if [site.line for site in here] != raises(row):
        return [Wrong("sites", 0, str([site.line for site in here]), str(raises(row)))]
    function = Function(row.source, "f")
    for text, _ in row.cases:
        code = compile(text, "environment", "eval")
        made = module(row)
        ended = outcome(row, text)[1]
        counts: Counter[str] = Counter()
        each = [module(row).environment(code) for _ in here]
        found = answers(known.ask, here, ended, each, True, counts)
        found += guards(here, function, ended, made.scope, made.environment(code), counts)
        wrong += [Wrong(f"{w.kind} for {text}", w.line - HEAD.count("\n"), w.said, w.wanted) for w in found]
    return wrong


def quickly(known: Table, row: Row) -> list[str]:
    """What went wrong when it was asked with what would take for ever."""
    wrong = []
    for site in known.of(row):
        try:
            answer = known.ask(site, module(row).environment(compile(QUICKLY[row.name], "environment", "eval")))
        except Crash as e:
            wrong.append(str(e))
        else:
            if answer is True and row not in CONSTANT and "doubled" not in row.name:
                wrong.append("True")
    return wrong


def in_child(work: Callable[[], list[str]], seconds: float = 20.0) -> list[str]:
    """The work's result from a process of its own, with 2 GiB more to use: what hangs inside a builtin is ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**31, used + 2**31))
        try:
            os.write(writing, json.dumps(work()).encode())
        except BaseException as e:
            os.write(writing, json.dumps([repr(e)]).encode())
        os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], seconds)
    if not ready:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read()
    os.waitpid(child, 0)
    said: list[str] = json.loads(told) if told else [f"no end within {seconds:.0f} s, or killed"]
    return said


def decided(known: Table, row: Row) -> Counter[str]:
    """How often the row's sites were answered at all: a predicate that always says None is right but useless."""
    counts: Counter[str] = Counter()
    for text, expected in row.cases:
        if isinstance(expected, int) or expected == RETURN:
            for site in known.of(row):
                try:
                    answer = known.ask(site, module(row).environment(compile(text, "environment", "eval")))
                except Crash:
                    continue
                counts[f"{site.precision} {'None' if answer is None else 'answered'}"] += 1
    return counts
