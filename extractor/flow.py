"""Owns statements: walks a function the way control does and keeps which bindings reach where.

One pass, no fixed point: branches are walked apart and joined, a loop's body is walked once with what it
rebinds unknown at its start. A `Walker` visits libcst statements by hand, since `CSTVisitor` rebuilds every
node down to the commas (measured on vLLM: 8 s against 0.05 s for the statements alone); expressions are
left to `lower`, and only those that a message needs are ever looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from extractor import lower
from extractor import symbolic as sym
from extractor.lower import UNKNOWN, Binding, Env, Lowering, code, dotted_name

EXITS = frozenset({"sys.exit", "os._exit", "quit", "exit", "os.abort"})
SUPER = "super()"


@dataclass(frozen=True, slots=True)
class Handler:
    """The `except` around a statement; `types` as `A | B`."""

    types: str


@dataclass(frozen=True, slots=True)
class Raised:
    """A raise statement as it was met."""

    node: cst.Raise
    env: Env
    symbol: str
    owner: tuple[str, str] | None  # (name of the first parameter, class) of the method around it
    handlers: tuple[Handler, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """After some statements: the bindings, whether control goes on, and what was returned on the way."""

    env: Env
    falls: bool = True
    result: sym.Expr | None = None


@dataclass(slots=True)
class _Loop:
    exits: list[Env] = field(default_factory=list)
    again: list[Env] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a statement is: its qualified name, the method it is in, the handlers around it."""

    symbol: str
    owner: tuple[str, str] | None = None
    handlers: tuple[Handler, ...] = ()
    in_class: str | None = None  # the class whose body this is
    function: cst.FunctionDef | None = None


class Walker:
    """Walks the statements of one piece of source; `raised` collects its raise statements in order."""

    def __init__(self, lowering: Lowering | None = None, results: bool = False, walrus: bool = True) -> None:
        self.lowering = lowering or Lowering()
        self.raised: list[Raised] = []
        self._results = results  # what is returned matters: a helper is walked, not a place that raises
        self._walruses = walrus  # the source holds a `:=` somewhere
        self._lists: set[str] = set()
        self._dotted: set[str] = set()
        self._log: list[tuple[str, Binding]] = []
        self._loops: list[_Loop] = []

    # --- blocks -----------------------------------------------------------------------------------------

    def block(self, statements: Iterable[cst.CSTNode], env: Env, scope: _Scope) -> Outcome:
        """Statements one after the other. What stands behind a `return` is walked too: it holds raises."""
        falls = True
        gaps: list[Callable[[sym.Expr], sym.Expr]] = []
        result: sym.Expr | None = None
        for statement in statements:
            outcome = self._statement(statement, env, scope)
            env = outcome.env
            if not falls:
                continue
            falls = outcome.falls
            if outcome.result is not None:
                if falls:
                    gaps.append(_gap(outcome.result))
                else:
                    result = outcome.result
        if falls and not gaps:
            return Outcome(env)
        closed = (FALL if falls else sym.Gone()) if result is None else result
        for fill in reversed(gaps):
            closed = fill(closed)
        return Outcome(env, falls, closed)

    def _statement(self, node: cst.CSTNode, env: Env, scope: _Scope) -> Outcome:
        visit = VISITS.get(type(node))
        return Outcome(env) if visit is None else visit(self, node, env, scope)

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine, env: Env, scope: _Scope) -> Outcome:
        return self.block(node.body, env, scope)

    def visit_With(self, node: cst.With, env: Env, scope: _Scope) -> Outcome:
        for item in node.items:
            env = self._walrus(item.item, env)
            if item.asname is not None:
                env = self._target(item.asname.name, UNKNOWN, env)
        return self.block(node.body.body, env, scope)

    def visit_ClassDef(self, node: cst.ClassDef, env: Env, scope: _Scope) -> Outcome:
        name = node.name.value
        self.block(node.body.body, env, _Scope(_inside(scope, name), in_class=_inside(scope, name)))
        return Outcome(env.discard(name))

    # --- simple statements ------------------------------------------------------------------------------

    def visit_Assign(self, node: cst.Assign, env: Env, scope: _Scope) -> Outcome:
        env = self._touched(node.value, self._walrus(node.value, env))
        for target in node.targets:
            env = self._assign(target.target, node.value, env)
        return Outcome(env)

    def visit_AnnAssign(self, node: cst.AnnAssign, env: Env, scope: _Scope) -> Outcome:
        if node.value is None:
            return Outcome(env)
        env = self._touched(node.value, self._walrus(node.value, env))
        return Outcome(self._assign(node.target, node.value, env))

    def visit_AugAssign(self, node: cst.AugAssign, env: Env, scope: _Scope) -> Outcome:
        env = self._walrus(node.value, env)
        name = dotted_name(node.target)
        if name is None:
            return Outcome(self._target(node.target, UNKNOWN, env))
        before = env.get(name)
        if before is None or not isinstance(node.operator, cst.AddAssign):
            return Outcome(self._bind(name, UNKNOWN, env))
        return Outcome(self._bind(name, lower.Augmented(before, node.value, env), env))

    def visit_Return(self, node: cst.Return, env: Env, scope: _Scope) -> Outcome:
        result: sym.Expr = sym.NOTHING
        if node.value is not None and self._results:
            result = self.lowering.lower(node.value, self._walrus(node.value, env))
        return Outcome(env, False, result)

    def visit_Raise(self, node: cst.Raise, env: Env, scope: _Scope) -> Outcome:
        if node.exc is not None:
            env = self._walrus(node.exc, env)
        self.raised.append(Raised(node, env, scope.symbol, scope.owner, scope.handlers))
        return Outcome(env, False, sym.Gone())

    def visit_Break(self, node: cst.Break | cst.Continue, env: Env, scope: _Scope) -> Outcome:
        if self._loops:
            (self._loops[-1].exits if isinstance(node, cst.Break) else self._loops[-1].again).append(env)
        return Outcome(env, False, FALL)

    def visit_Assert(self, node: cst.Assert, env: Env, scope: _Scope) -> Outcome:
        if isinstance(node.test, cst.Name) and node.test.value == "False":
            return Outcome(env, False, sym.Gone())
        return Outcome(self._walrus(node.test, env).assume(node.test, True))

    def visit_Del(self, node: cst.Del, env: Env, scope: _Scope) -> Outcome:
        for name in _names(node.target):
            env = env.discard(name)
        return Outcome(env)

    def visit_Import(self, node: cst.Import | cst.ImportFrom, env: Env, scope: _Scope) -> Outcome:
        """An imported name is the tree's again, whatever it was before."""
        for alias in () if isinstance(node.names, cst.ImportStar) else node.names:
            env = env.discard((alias.evaluated_alias or alias.evaluated_name).split(".")[0])
        return Outcome(env)

    def visit_Expr(self, node: cst.Expr, env: Env, scope: _Scope) -> Outcome:
        value = node.value
        env = self._walrus(value, env)
        if not isinstance(value, cst.Call):
            return Outcome(self._touched(value, env))
        if dotted_name(value.func) in EXITS:
            return Outcome(env, False, sym.Gone())
        if isinstance(value.func, cst.Attribute):
            base, method = value.func.value, value.func.attr.value
            if method == "append" and isinstance(base, cst.Name) and len(value.args) == 1:
                before = env.get(base.value)
                if before is not None and _listed(before):
                    return Outcome(self._bind(base.value, lower.Appended(before, value.args[0].value, env), env))
            if method == "__init__":
                # super().__init__(…) and Base.__init__(self, …)
                args = value.args if _is_super(base) else value.args[1:]
                positional, named = self.lowering.arguments(args, env)
                call = sym.Call(sym.Name(code(base)), positional, named, code(value))
                return Outcome(self._bind(SUPER, lower.Given(call), env))
        return Outcome(self._touched(value, env))

    def _bind(self, name: str, binding: Binding, env: Env) -> Env:
        self._log.append((name, binding))
        if "." in name:
            self._dotted.add(name)
        for key in self._dotted:
            if key.startswith(name + "."):
                env = env.discard(key)
        if _listed(binding):
            self._lists.add(name)
        return env.insert(name, binding)

    def _assign(self, target: cst.BaseExpression, value: cst.BaseExpression, env: Env) -> Env:
        match target, value:
            case (cst.Tuple() | cst.List(), cst.Tuple() | cst.List()) if _pairs(target, value):
                before = env
                for left, right in zip(target.elements, value.elements, strict=True):
                    env = self._target(left.value, lower.Assigned(right.value, before), env)
                return env
            case (cst.Tuple() | cst.List(), cst.Call()) if all(type(e) is cst.Element for e in target.elements):
                before = env
                for position, left in enumerate(target.elements):
                    env = self._target(left.value, lower.Unpacked(value, position, before), env)
                return env
        return self._target(target, lower.Assigned(value, env), env)

    def _target(self, target: cst.BaseExpression, binding: Binding, env: Env) -> Env:
        match target:
            case cst.Name() | cst.Attribute():
                name = dotted_name(target)
                return env if name is None else self._bind(name, binding, env)
            case cst.Tuple() | cst.List():
                for name in _names(target):
                    env = self._bind(name, UNKNOWN, env)
            case cst.Subscript(value=value):
                name = dotted_name(value)
                if name is not None and name in env:
                    env = self._bind(name, UNKNOWN, env)
        return env

    def _touched(self, value: cst.BaseExpression, env: Env) -> Env:
        """A list that is handed to a call may come back changed: it is not followed any more."""
        lists = [name for name in self._lists if name in env and _listed(env.get(name))]
        if lists and isinstance(value, cst.Call | cst.Await):
            words = set(lower._WORD.findall(code(value)))
            for name in lists:
                if name in words:
                    env = self._bind(name, UNKNOWN, env)
        return env

    def _walrus(self, node: cst.CSTNode, env: Env) -> Env:
        """Names that `:=` binds inside an expression."""
        if not self._walruses:
            return env
        for named in _walruses(node):
            env = self._target(named.target, lower.Assigned(named.value, env), env)
        return env

    # --- branches ---------------------------------------------------------------------------------------

    def _join(self, key: int, test: cst.BaseExpression | None, at: Env, since: int, then: Env, other: Env) -> Env:
        """The bindings after a branch; `since` is where the log of bindings stood before it."""
        joined = at
        for name in dict.fromkeys(name for name, _ in self._log[since:]):
            first, second = then.get(name), other.get(name)
            if first is second:
                joined = joined.discard(name) if first is None else joined.insert(name, first)
            else:
                joined = joined.insert(name, lower.Either(key, test, at, first, second))
        return joined

    def visit_If(self, node: cst.If, env: Env, scope: _Scope) -> Outcome:
        env = self._walrus(node.test, env)
        since, key = len(self._log), self.lowering.asked(node.test, env)
        then = self.block(node.body.body, env.assume(node.test, True), scope)
        without = env.assume(node.test, False)
        other = Outcome(without)
        if isinstance(node.orelse, cst.If):
            other = self.visit_If(node.orelse, without, scope)
        elif node.orelse is not None:
            other = self.block(node.orelse.body.body, without, scope)
        if then.falls and other.falls:
            joined = self._join(key, node.test, env, since, then.env, other.env)
        else:
            joined = other.env if other.falls else then.env
        result = None
        if self._results and _returns(then, other):
            result = sym.Cond(key, self.lowering.test(node.test, env), _ended(then), _ended(other), "...")
        return Outcome(joined, then.falls or other.falls, result)

    def _fork(self, outcomes: Sequence[Outcome], at: Env, since: int) -> Outcome:
        """Joins the ways out of a statement that has no test to tell them apart."""
        joined: Outcome | None = None
        for outcome in outcomes:
            if joined is None:
                joined = outcome
                continue
            key = self.lowering.key(outcome)
            if joined.falls and outcome.falls:
                env = self._join(key, None, at, since, joined.env, outcome.env)
            else:
                env = joined.env if joined.falls else outcome.env
            result = None
            if self._results and _returns(joined, outcome):
                result = sym.Cond(key, sym.Opaque("..."), _ended(joined), _ended(outcome), "...")
            joined = Outcome(env, joined.falls or outcome.falls, result)
        return joined or Outcome(at)

    def visit_Match(self, node: cst.Match, env: Env, scope: _Scope) -> Outcome:
        env = self._walrus(node.subject, env)
        since = len(self._log)
        outcomes = []
        for case in node.cases:
            inner = env
            for name in _captures(case.pattern):
                inner = self._bind(name, UNKNOWN, inner)
            outcomes.append(self.block(case.body.body, inner, scope))
        if not any(_irrefutable(case) for case in node.cases):
            outcomes.append(Outcome(env))
        return self._fork(outcomes, env, since)

    def visit_For(self, node: cst.For | cst.While, env: Env, scope: _Scope) -> Outcome:
        env = self._walrus(node.iter if isinstance(node, cst.For) else node.test, env)
        since, start = len(self._log), env
        inner = env
        rebound = assigned(node.body.body)
        carried = {name: lower.Unknown() for name in rebound}
        for name, binding in carried.items():
            inner = self._bind(name, binding, inner)
        if isinstance(node, cst.For):
            inner = self._target(node.target, UNKNOWN, inner)
        self._loops.append(_Loop())
        body = self.block(node.body.body, inner, scope)
        loop = self._loops.pop()
        added = _added(node, rebound)
        again = [*loop.again, body.env] if body.falls else loop.again
        ways = [Outcome(start), *(Outcome(_settled(e, carried, start)) for e in again)]
        forever = isinstance(node, cst.While) and isinstance(node.test, cst.Name) and node.test.value == "True"
        done = self._fork(ways, start, since)
        env = done.env
        for name, text in added.items():
            env = self._bind(name, lower.Looped(start.get(name), text), env)
        after = Outcome(env, not forever)
        if node.orelse is not None:
            after = self.block(node.orelse.body.body, after.env, scope)
        if loop.exits:
            exits = [Outcome(_settled(e, carried, start)) for e in loop.exits]
            after = self._fork([*exits, after] if after.falls or after.result is not None else exits, start, since)
        result = after.result
        if self._results and _returns(body):
            rest = FALL if after.result is None and after.falls else _ended(after)
            result = sym.Cond(self.lowering.key(node), sym.Opaque("..."), _fill(body.result, rest), rest, "...")
        return Outcome(after.env, after.falls, result)

    def visit_Try(self, node: cst.Try | cst.TryStar, env: Env, scope: _Scope) -> Outcome:
        since = len(self._log)
        around = _with_handlers(scope, ())
        body = self.block(node.body.body, env, around)
        torn = self._torn(env, since)
        ways = []
        if node.orelse is not None and body.falls:
            rest = self.block(node.orelse.body.body, body.env, scope)
            result = rest.result if body.result is None else _fill(body.result, _ended(rest))
            ways.append(Outcome(rest.env, rest.falls, result))
        else:
            if node.orelse is not None:
                self.block(node.orelse.body.body, body.env, scope)
            ways.append(body)
        for handler in node.handlers:
            types = caught_types(handler)
            inner = torn
            if handler.name is not None:
                for name in _names(handler.name.name):
                    inner = self._bind(name, lower.Caught(types), inner)
            outcome = self.block(handler.body.body, inner, _with_handlers(scope, (Handler(types),)))
            if handler.name is not None:
                for name in _names(handler.name.name):
                    outcome = Outcome(outcome.env.discard(name), outcome.falls, outcome.result)
            ways.append(outcome)
        joined = self._fork(ways, env, since)
        if node.finalbody is not None:
            final = self.block(node.finalbody.body.body, joined.env, scope)
            joined = Outcome(final.env, joined.falls and final.falls, joined.result if final.falls else final.result)
        return joined

    def _torn(self, env: Env, since: int) -> Env:
        """The bindings when a `try` body broke off somewhere: each of its assignments may be the last."""
        for name, binding in self._log[since:]:
            before = env.get(name)
            if before is not binding:
                env = env.insert(name, lower.Either(self.lowering.key(binding), None, env, before, binding))
        return env

    # --- functions --------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: cst.FunctionDef, env: Env, scope: _Scope) -> Outcome:
        name = node.name.value
        symbol = _inside(scope, name)
        owner = scope.owner
        parameters = [p for p in _parameters(node.params)]
        if scope.in_class is not None:
            first = parameters[0].name.value if parameters else None
            owner = (first, scope.in_class) if first and not _is_static(node) else None
        closure = self._closure(env, scope)
        inner = _Scope(symbol, owner, (), None, node)
        loops, self._loops = self._loops, []
        self.block(node.body.body, _entered(node, closure), inner)
        self._loops = loops
        if scope.in_class is not None:
            return Outcome(env)
        binding = lower.Defined(lambda: summarise(node, closure))
        return Outcome(self._bind(name, binding, env))

    def _closure(self, env: Env, scope: _Scope) -> Env:
        """What a nested function sees: a name that its owner binds more than once may have changed since."""
        if scope.function is None:
            return env
        counts = Counter(assigned(scope.function.body.body, repeat=True))
        for name, count in counts.items():
            if count > 1 and name in env or name not in env:
                env = env.insert(name, UNKNOWN)
        return env


# by class, not by bound method: a reference cycle would keep every tree until a collection
VISITS: dict[type, Callable[[Walker, Any, Env, _Scope], Outcome]] = {
    cst.SimpleStatementLine: Walker.visit_SimpleStatementLine,
    cst.If: Walker.visit_If,
    cst.For: Walker.visit_For,
    cst.While: Walker.visit_For,
    cst.Try: Walker.visit_Try,
    cst.TryStar: Walker.visit_Try,
    cst.With: Walker.visit_With,
    cst.Match: Walker.visit_Match,
    cst.FunctionDef: Walker.visit_FunctionDef,
    cst.ClassDef: Walker.visit_ClassDef,
    cst.Assign: Walker.visit_Assign,
    cst.AnnAssign: Walker.visit_AnnAssign,
    cst.AugAssign: Walker.visit_AugAssign,
    cst.Return: Walker.visit_Return,
    cst.Raise: Walker.visit_Raise,
    cst.Break: Walker.visit_Break,
    cst.Continue: Walker.visit_Break,
    cst.Assert: Walker.visit_Assert,
    cst.Del: Walker.visit_Del,
    cst.Import: Walker.visit_Import,
    cst.ImportFrom: Walker.visit_Import,
    cst.Expr: Walker.visit_Expr,
}
COMPOUND = (cst.If, cst.For, cst.While, cst.Try, cst.TryStar, cst.With, cst.FunctionDef, cst.ClassDef, cst.Match)

FALL = sym.Name("<falls>")  # where control goes on behind the statement


def _settled(env: Env, carried: Mapping[str, Binding], start: Env) -> Env:
    """Behind a loop, a name that an iteration left alone has what it had before, or what another way out gave it."""
    for name, binding in carried.items():
        if env.get(name) is binding:
            before = start.get(name)
            env = env.discard(name) if before is None else env.insert(name, before)
    return env


def _gap(result: sym.Expr) -> Callable[[sym.Expr], sym.Expr]:
    return lambda rest: _fill(result, rest)


def _fill(result: sym.Expr, rest: sym.Expr) -> sym.Expr:
    """Puts `rest` where control goes on."""
    match result:
        case sym.Cond(key, test, then, other, src):
            return sym.Cond(key, test, _fill(then, rest), _fill(other, rest), src)
        case sym.Name("<falls>"):
            return rest
    return result


def _returns(*outcomes: Outcome) -> bool:
    return any(o.result is not None and o.result != FALL for o in outcomes)


def _ended(outcome: Outcome) -> sym.Expr:
    if outcome.result is not None:
        return outcome.result
    return FALL if outcome.falls else sym.Gone()


def _inside(scope: _Scope, name: str) -> str:
    if scope.symbol == "<module>":
        return name
    return f"{scope.symbol}.{name}" if scope.in_class is not None else f"{scope.symbol}.<locals>.{name}"


def _with_handlers(scope: _Scope, handlers: tuple[Handler, ...]) -> _Scope:
    return _Scope(scope.symbol, scope.owner, scope.handlers + handlers, scope.in_class, scope.function)


def _is_super(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"


def _is_static(node: cst.FunctionDef) -> bool:
    return any(isinstance(d.decorator, cst.Name) and d.decorator.value == "staticmethod" for d in node.decorators)


def _listed(binding: Binding | None) -> bool:
    """Whether the name holds a list that the function itself has written out."""
    match binding:
        case lower.Assigned(cst.List() | cst.Dict()) | lower.Appended():
            return True
        case lower.Either(then=then, other=other):
            return _listed(then) or _listed(other)
    return False


def _pairs(target: cst.Tuple | cst.List, value: cst.Tuple | cst.List) -> bool:
    plain = all(type(e) is cst.Element for e in (*target.elements, *value.elements))
    return plain and len(target.elements) == len(value.elements)


def _names(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.Name() | cst.Attribute():
            name = dotted_name(node)
            if name is not None:
                yield name
        case cst.Tuple() | cst.List():
            for element in node.elements:
                yield from _names(element.value)


def _parameters(params: cst.Parameters) -> list[cst.Param]:
    found = [*params.posonly_params, *params.params]
    if isinstance(params.star_arg, cst.Param):
        found.append(params.star_arg)
    found += params.kwonly_params
    return [*found, params.star_kwarg] if params.star_kwarg is not None else found


def _entered(node: cst.FunctionDef, env: Env) -> Env:
    for param in _parameters(node.params):
        env = env.insert(param.name.value, UNKNOWN)
    return env


def caught_types(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> str:
    """The types of a handler as `A | B`."""
    match handler.type:
        case None:
            return "BaseException"
        case cst.Tuple(elements=elements):
            return " | ".join(code(e.value) for e in elements)
        case types:
            return code(types)


def _irrefutable(case: cst.MatchCase) -> bool:
    return case.guard is None and isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None


def _captures(node: cst.CSTNode) -> Iterator[str]:
    if isinstance(node, cst.MatchAs | cst.MatchStar) and node.name is not None:
        yield node.name.value
    if isinstance(node, cst.MatchMapping) and node.rest is not None:
        yield node.rest.value
    for child in node.children:
        if not isinstance(child, cst.Name):
            yield from _captures(child)


def _walruses(node: cst.CSTNode) -> Iterator[cst.NamedExpr]:
    """Cheap for the common case: the source of the expression holds no `:=`."""
    if isinstance(node, cst.Name | cst.SimpleString | cst.Attribute | cst.Integer | cst.Lambda):
        return
    if isinstance(node, cst.NamedExpr):
        yield node
    for child in node.children:
        if isinstance(child, cst.BaseExpression | cst.BaseElement | cst.Arg | cst.ComparisonTarget | cst.BaseSlice):
            yield from _walruses(child)


def assigned(statements: Iterable[cst.CSTNode], repeat: bool = False) -> list[str]:
    """The names that statements bind, nested functions and classes aside; each once unless `repeat`."""
    found: list[str] = []

    def visit(node: cst.CSTNode) -> None:
        match node:
            case cst.SimpleStatementLine(body=small):
                for child in small:
                    visit(child)
            case cst.Assign(targets=targets):
                for target in targets:
                    found.extend(_names(target.target))
            case cst.AnnAssign(target=target) | cst.AugAssign(target=target):
                found.extend(_names(target))
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                found.append(name.value)
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append")))):
                found.append(name)
            case cst.For(target=target):
                found.extend(_names(target))
                visit_suites(node)
            case cst.With(items=items):
                for item in items:
                    if item.asname is not None:
                        found.extend(_names(item.asname.name))
                visit_suites(node)
            case _:
                visit_suites(node)

    def visit_suites(node: cst.CSTNode) -> None:
        for suite in suites(node):
            for child in suite:
                visit(child)

    for statement in statements:
        visit(statement)
    return found if repeat else list(dict.fromkeys(found))


def suites(node: cst.CSTNode) -> list[Sequence[cst.CSTNode]]:
    """The blocks of a statement, in the order of the source."""
    kind = type(node)
    if kind is cst.SimpleStatementLine:
        return [node.body]  # type: ignore[attr-defined]
    if kind not in COMPOUND:
        return []
    if kind is cst.Match:
        return [case.body.body for case in node.cases]  # type: ignore[attr-defined]
    found = [node.body.body]  # type: ignore[attr-defined]
    found += [handler.body.body for handler in getattr(node, "handlers", ())]
    orelse = getattr(node, "orelse", None)
    if isinstance(orelse, cst.If):
        found.append((orelse,))
    elif orelse is not None:
        found.append(orelse.body.body)
    final = getattr(node, "finalbody", None)
    return found if final is None else [*found, final.body.body]


def _added(node: cst.For | cst.While, rebound: list[str]) -> dict[str, str]:
    """Text that a loop only ever adds to: the name, and one expression for all that is added."""
    found: dict[str, str] = {}
    counts = Counter(assigned(node.body.body, repeat=True))
    for name in rebound:
        if counts[name] != 1:
            continue
        for value, conditions in _additions(node.body.body, name, ()):
            text = "".join(f" if {c}" for c in conditions)
            if isinstance(node, cst.For):
                text = f"{code(value)} for {code(node.target)} in {code(node.iter)}{text}"
                found[name] = f"''.join({text})"
            else:
                found[name] = "..."
    return found


def _additions(
    statements: Iterable[cst.CSTNode], name: str, conditions: tuple[str, ...]
) -> Iterator[tuple[cst.BaseExpression, tuple[str, ...]]]:
    for statement in statements:
        match statement:
            case cst.AugAssign(target=cst.Name(value=target), operator=cst.AddAssign(), value=value) if target == name:
                yield value, conditions
            case cst.If(test=test, body=body, orelse=None):
                yield from _additions(body.body, name, (*conditions, code(test)))
            case cst.SimpleStatementLine(body=small):
                yield from _additions(small, name, conditions)


def summarise(node: cst.FunctionDef, env: Env | None = None) -> sym.Function | None:
    """What the function returns and what it leaves on its first parameter; None when it is a generator."""
    walker = Walker(results=True)
    params = _entered(node, lower.NO_NAMES if env is None else env)
    outcome = walker.block(node.body.body, params, _Scope(node.name.value, function=node))
    result = _fill(_ended(outcome), sym.NOTHING)
    parameters = [p.name.value for p in _parameters(node.params)]
    own = parameters[0] + "." if parameters else None
    attributes = []
    for name, binding in outcome.env.names.items():
        if name == SUPER or (own and name.startswith(own)):
            attributes.append((name if name == SUPER else name.split(".", 1)[1], walker.lowering.binding(name, binding)))
    return sym.Function(_signature(node.params, walker.lowering), result, tuple(sorted(attributes)))


def _signature(params: cst.Parameters, lowering: Lowering) -> tuple[sym.Param, ...]:
    def default(param: cst.Param) -> sym.Expr | None:
        return None if param.default is None else lowering.lower(param.default, lower.NO_NAMES)

    found = [sym.Param(p.name.value, "pos", default(p)) for p in (*params.posonly_params, *params.params)]
    if isinstance(params.star_arg, cst.Param):
        found.append(sym.Param(params.star_arg.name.value, "*"))
    found += [sym.Param(p.name.value, "kw", default(p)) for p in params.kwonly_params]
    if params.star_kwarg is not None:
        found.append(sym.Param(params.star_kwarg.name.value, "**"))
    return tuple(found)
