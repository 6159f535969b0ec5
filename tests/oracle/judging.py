"""The verdict on one run: what the predicates may answer after what Python did, and whether guards really held."""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.oracle.asking import Ask, Crash, Site
from tests.oracle.running import ENDLESS, OTHER, Outcome

PURE = {"len", "min", "max", "sum", "sorted", "abs", "int", "str", "bool", "any", "all", "isinstance", "list", "tuple"}
PURE |= {"set", "dict", "repr", "range", "enumerate", "zip", "getattr", "hasattr", "type", "float", "callable", "round"}
METHODS = {"get", "keys", "values", "items", "startswith", "endswith", "upper", "lower", "strip", "count", "join"}
MANGLED = re.compile(r"\b__\w*(?<!__)$")  # means another name inside a class
METHODS |= {"format", "isdigit"}
HEADS = {"for": "{}: pass", "while": "{}: pass", "except": "try: pass\n{}: pass", "case": "match 0:\n {}: pass"}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A broken promise: which, at which line, what was said and what should have been."""

    kind: str
    line: int
    said: str
    wanted: str


def answers(
    ask: Ask,
    sites: list[Site],
    outcome: Outcome,
    environments: list[dict[str, Any]],
    full: bool,
    counts: Counter[str],
    may_be_none: bool = False,
) -> list[Wrong]:
    """Holds each site's answer against the outcome; `environments` has a fresh one for each site.

    `may_be_none`: an exact predicate may answer None, because a namespace stands for an object of a class not told.
    """
    wrong: list[Wrong] = []
    for site, values in zip(sites, environments, strict=True):
        left, caught = site.line in outcome.left, site.line in outcome.reached
        try:
            answer = ask(site, values)
        except Crash as e:
            wrong.append(Wrong("crash", site.line, str(e), "an answer"))
            continue
        state = OTHER if outcome.how == OTHER else "left" if left else "caught" if caught else "not reached"
        if full:
            counts[f"{site.precision} {state} {answer}"] += 1
        if outcome.how in (OTHER, ENDLESS):
            continue
        if left and answer is False:
            wrong.append(Wrong("False where it raised", site.line, "False", "True or None"))
        if not left and answer is True:
            kind = "True where it was caught" if caught else "True where it did not raise"
            wrong.append(Wrong(kind, site.line, "True", "False or None"))
        if (
            answer is None
            and site.precision == "exact"
            and full
            and not may_be_none
            and set(site.params) <= values.keys()
        ):
            wrong.append(Wrong("exact but None", site.line, "None", str(left)))
        if left and site.caught_by and not outcome.again:
            wrong.append(Wrong("caught_by, but it left", site.line, site.caught_by, "nothing"))
    return wrong


def bound(function: ast.AST) -> set[str]:
    """Every name that something in the function sets, deletes or declares."""
    names: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                names |= set(several)
            case ast.alias(name=name, asname=other):
                names.add((other or name).split(".")[0])
            case ast.Lambda(args=arguments):
                names |= {a.arg for a in [*arguments.args, *arguments.kwonlyargs]}
    return names


def without_effects(function: ast.AST) -> bool:
    """Whether nothing in the function can change an object: no stores into objects, no calls but of pure ones."""
    for node in ast.walk(function):
        match node:
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
                | ast.AugAssign()
            ):
                return False
            case ast.Call(func=ast.Name(id=name)) if name in PURE or (name in vars(builtins) and name[0].isupper()):
                pass
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS:
                pass
            case ast.Raise(exc=ast.Call(func=ast.Name())):
                pass
            case ast.Call(func=ast.Name(id=name)) if name[0].isupper() and name not in ("Lock", "Swallow"):
                pass
            case ast.Call() | ast.With() | ast.AsyncWith() | ast.Await() | ast.AsyncFor() | ast.Match():
                return False
    return True


def plain(value: Any) -> bool:
    """A value that nothing can change."""
    return value is None or type(value) in (bool, int, float, str) or (type(value) is tuple and all(map(plain, value)))


@cache
def parsed(kind: str, text: str) -> ast.AST | None:
    """The guard's text as Python, None when it is none."""
    try:
        if kind not in HEADS:
            return ast.parse(text, mode="eval")
        return ast.parse(HEADS[kind].format(text))
    except SyntaxError:
        return None


class Function:
    """What the guard check knows of a function: computed once."""

    def __init__(self, source: str, name: str) -> None:
        nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        function = next(node for node in nodes if node.name == name)
        function.name = ""
        parameters = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
        self.set = bound(function) | {"__class__"}
        self.kept = parameters - self.set
        self.pure = without_effects(function)

    def must_hold(self, guard: dict[str, Any], values: dict[str, Any], scope: dict[str, Any]) -> ast.Expression | None:
        """The guard as an expression when it speaks of nothing but parameters as they were given."""
        tree = parsed(guard["kind"], guard["text"])
        if guard["kind"] not in ("if", "assert", "exit") or guard.get("stale") or not isinstance(tree, ast.Expression):
            return None
        inner = bound(tree)
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - inner
        if inner & set(values) or any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield) for n in ast.walk(tree)):
            return None
        if (names - self.kept) & self.set or (names & values.keys()) - self.kept or not without_effects(tree):
            return None
        if any(isinstance(n, ast.Attribute | ast.Name) and MANGLED.search(ast.unparse(n)) for n in ast.walk(tree)):
            return None
        steady = [plain(values[n]) if n in values else callable(scope.get(n, len)) for n in names]
        return tree if self.pure or all(steady) else None


def guards(
    sites: list[Site], function: Function, outcome: Outcome, scope: dict[str, Any], values: dict[str, Any],
    counts: Counter[str],
) -> list[Wrong]:  # fmt: skip
    """Each guard of a site that was reached, asked of the values at the start."""
    wrong: list[Wrong] = []
    for site in sites:
        for guard in site.guards:
            if parsed(guard["kind"], guard["text"]) is None:
                wrong.append(Wrong("guard is no Python", site.line, f"{guard['kind']} {guard['text']}", "Python"))
            if site.line not in outcome.reached:
                continue
            tree = function.must_hold(guard, values, scope)
            if tree is None:
                counts["guards not asked"] += 1
                continue
            counts["guards asked"] += 1
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    held = bool(eval(compile(tree, "guard", "eval"), {**scope, **values}))
            except Exception as e:
                wrong.append(Wrong("guard raises", site.line, f"{guard['text']}: {e!r}", "True"))
                continue
            if not held:
                wrong.append(Wrong("guard did not hold", site.line, guard["text"], "True"))
    return wrong
