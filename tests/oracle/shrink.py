"""Makes a failing function small: all one-step reductions are tried at once, in one tree, until none fails."""

from __future__ import annotations

import ast
import copy
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator

from tests.oracle.programs import Program
from tests.oracle.trial import Failure, Pair, trial

MOST = 150  # reductions tried in one tree


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            value = getattr(node, name, None)
            if isinstance(value, list):
                yield value


def reductions(tree: ast.Module) -> Iterator[ast.Module]:
    """Copies of the tree with one statement, handler, case or part of an expression less."""
    function = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    spots = len(list(bodies(function)))
    for i in range(spots):
        for j in range(len(list(bodies(function))[i])):
            for how in range(3):
                other = copy.deepcopy(tree)
                inner = next(n for n in ast.walk(other) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
                body = list(bodies(inner))[i]
                statement = body[j]
                put = [[], getattr(statement, "body", []), getattr(statement, "orelse", [])][how]
                if how and (not isinstance(put, list) or not put):
                    continue
                body[j : j + 1] = put
                if not body and body is not getattr(inner, "orelse", None):
                    body.append(ast.Pass())
                yield other
    for i, node in enumerate(ast.walk(tree)):
        for name, field in ast.iter_fields(node):
            if name in ("handlers", "cases", "values", "orelse") and isinstance(field, list):
                for j in range(len(field)):
                    other = copy.deepcopy(tree)
                    del getattr(list(ast.walk(other))[i], name)[j]
                    yield other
            if isinstance(field, ast.expr):
                for part in ast.iter_child_nodes(field):
                    if isinstance(part, ast.expr):
                        other = copy.deepcopy(tree)
                        setattr(list(ast.walk(other))[i], name, copy.deepcopy(part))
                        yield other


def renamed(source: str, symbol: str, number: int) -> Program:
    old = re.findall(r"\d+", symbol)[-1]
    text = re.sub(rf"\b([fC]){old}\b", rf"\g<1>{number}", source)
    return Program(re.sub(rf"\b([fC]){old}\b", rf"\g<1>{number}", symbol), text, {})


def smaller(failure: Failure) -> Iterator[Pair]:
    seen: set[str] = {failure.pair.program.source}
    number = 900_000
    for tree in reductions(ast.parse(failure.pair.program.source)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = ast.unparse(tree) + "\n"
                compile(text, "smaller", "exec")
        except (SyntaxError, ValueError, RecursionError, AttributeError, IndexError, TypeError):
            continue
        if text not in seen and len(seen) <= MOST:
            seen.add(text)
            number += 1
            program = renamed(text, failure.pair.program.symbol, number)
            yield Pair(program, failure.pair.environment, failure.pair.dropped)


def shrunk(failure: Failure, seconds: float = 60.0) -> Failure:
    """The smallest function found that breaks the same promise in the same environment."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        tried = trial(smaller(failure), Counter())
        same = [f for f in tried if f.wrong.kind == failure.wrong.kind]
        least = min(same, key=lambda f: len(f.pair.program.source), default=None)
        if least is None or len(least.pair.program.source) >= len(failure.pair.program.source):
            break
        failure = least
    return failure
