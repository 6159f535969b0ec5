"""Owns statements: walks a function the way control does and keeps which bindings reach where.

One pass, no fixed point: branches are walked apart and joined, a loop's body is walked once with what it
rebinds unknown at its start. Statements are those of `ast`, which has read the file anyway; expressions are
left to `lower`, and only those that a message needs are ever looked at.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from extractor import bindings
from extractor import symbolic as sym
from extractor.bindings import NO_NAMES, UNKNOWN, Binding, Env
from extractor.expr import dotted as dotted_name
from extractor.lower import WORD, Lowering
from extractor.scan import Source
from extractor.targets import (
    CHANGING,
    EXITS,
    FunctionNode,
    additions,
    assigned,
    captures,
    is_irrefutable,
    is_super,
    names_of,
    pairs_up,
    parameters,
)  # fmt: skip

SUPER = "super()"
LISTING: dict[str, Callable[[Binding, ast.expr, Env], Binding]] = {
    "append": bindings.Appended,
    "extend": bindings.Augmented,
}


def _is_call(binding: Binding) -> bool:
    """Whether the value comes from a call: a list perhaps, once the call is followed."""
    return isinstance(binding, bindings.Assigned) and isinstance(binding.value, ast.Call)


class Raised(msgspec.Struct, frozen=True):
    """A raise statement as it was met."""

    node: ast.Raise
    env: Env
    scope: Scope


class Scope(msgspec.Struct, frozen=True):
    """Where a statement is: its qualified name, the method it is in, the handlers around it."""

    symbol: str = "<module>"
    owner: tuple[str, str] | None = None  # (name of the first parameter, class) of the method around it
    handlers: tuple[str, ...] = ()  # the types of the handlers around it, innermost last
    in_class: str | None = None  # the class whose body this is
    function: FunctionNode | None = None
    around: Scope | None = None

    def inside(self, name: str) -> str:
        """The qualified name of a definition in this scope."""
        if self.symbol == "<module>":
            return name
        return f"{self.symbol}.{name}" if self.in_class is not None else f"{self.symbol}.<locals>.{name}"


class Outcome(msgspec.Struct, frozen=True):
    """After some statements: the bindings, whether control goes on, and what was returned on the way."""

    env: Env
    falls: bool = True
    result: sym.Expr | None = None

    def ended(self) -> sym.Expr:
        """The result, where control that goes on is `FALL`."""
        if self.result is not None:
            return self.result
        return FALL if self.falls else sym.Gone()

    def returns(self) -> bool:
        """Whether some way out of here has a value."""
        return self.result is not None and self.result != FALL


@dataclass(slots=True)
class _Loop:
    exits: list[Env] = field(default_factory=list)
    again: list[Env] = field(default_factory=list)


class Walker:
    """Walks the statements of one piece of source; `raised` collects its raise statements in order."""

    def __init__(self, source: Source, results: bool = False) -> None:
        self.lowering = Lowering(source)
        self.raised: list[Raised] = []
        self._source = source
        self._results = results  # what is returned matters: a helper is walked, not a place that raises
        self._log: list[tuple[str, Binding]] = []
        self._lists: set[str] = set()
        self._listed: dict[int, tuple[Binding, bool]] = {}
        self._dotted: dict[str, set[str]] = {}  # names bound below a name: `self.x` below `self`
        self._loops: list[_Loop] = []

    # --- blocks -----------------------------------------------------------------------------------------

    def block(self, statements: Iterable[ast.stmt], env: Env, scope: Scope) -> Outcome:
        """Statements one after the other. What stands behind a `return` is walked too: it holds raises."""
        falls = True
        gaps: list[sym.Expr] = []
        result: sym.Expr | None = None
        for statement in statements:
            visit = VISITS.get(type(statement))
            outcome = Outcome(env) if visit is None else visit(self, statement, env, scope)
            env = outcome.env
            if not falls:
                continue
            falls = outcome.falls
            if outcome.result is not None:
                if falls:
                    gaps.append(outcome.result)
                else:
                    result = outcome.result
        if falls and not gaps:
            return Outcome(env)
        closed = (FALL if falls else sym.Gone()) if result is None else result
        for gap in reversed(gaps):
            closed = _fill(gap, closed)
        return Outcome(env, falls, closed)

    # --- simple statements ------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign, env: Env, scope: Scope) -> Outcome:
        env = self._touched(node.value, self._walrus(node.value, env))
        for target in node.targets:
            env = self._assign(target, node.value, env)
        return Outcome(env)

    def visit_AnnAssign(self, node: ast.AnnAssign, env: Env, scope: Scope) -> Outcome:
        if node.value is None:
            return Outcome(env)
        env = self._touched(node.value, self._walrus(node.value, env))
        return Outcome(self._assign(node.target, node.value, env))

    def visit_AugAssign(self, node: ast.AugAssign, env: Env, scope: Scope) -> Outcome:
        env = self._walrus(node.value, env)
        name = dotted_name(node.target)
        if name is None:
            return Outcome(self._target(node.target, UNKNOWN, env))
        before = env.get(name)
        if before is None or not isinstance(node.op, ast.Add):
            return Outcome(self._bind(name, UNKNOWN, env))
        return Outcome(self._bind(name, bindings.Augmented(before, node.value, env), env))

    def visit_Return(self, node: ast.Return, env: Env, scope: Scope) -> Outcome:
        result: sym.Expr = sym.NOTHING
        if node.value is not None and self._results:
            result = self.lowering.lower(node.value, self._walrus(node.value, env))
        return Outcome(env, False, result)

    def visit_Raise(self, node: ast.Raise, env: Env, scope: Scope) -> Outcome:
        if node.exc is not None:
            env = self._walrus(node.exc, env)
        self.raised.append(Raised(node, env, scope))
        return Outcome(env, False, sym.Gone())

    def visit_Break(self, node: ast.Break | ast.Continue, env: Env, scope: Scope) -> Outcome:
        if self._loops:
            (self._loops[-1].exits if isinstance(node, ast.Break) else self._loops[-1].again).append(env)
        return Outcome(env, False, FALL)

    def visit_Assert(self, node: ast.Assert, env: Env, scope: Scope) -> Outcome:
        if isinstance(node.test, ast.Constant) and not node.test.value:
            return Outcome(env, False, sym.Gone())
        return Outcome(self._walrus(node.test, env).assume(node.test, True))

    def visit_Delete(self, node: ast.Delete, env: Env, scope: Scope) -> Outcome:
        for target in node.targets:
            for name in names_of(target):
                env = env.discard(name)
            if isinstance(target, ast.Subscript):
                env = self._target(target, UNKNOWN, env)
        return Outcome(env)

    def visit_Import(self, node: ast.Import | ast.ImportFrom, env: Env, scope: Scope) -> Outcome:
        """An imported name is the tree's again, whatever it was before."""
        for alias in node.names:
            env = env.discard((alias.asname or alias.name).split(".")[0])
        return Outcome(env)

    def visit_Expr(self, node: ast.Expr, env: Env, scope: Scope) -> Outcome:
        value = node.value
        env = self._walrus(value, env)
        if not isinstance(value, ast.Call):
            return Outcome(self._touched(value, env))
        if dotted_name(value.func) in EXITS:
            return Outcome(env, False, sym.Gone())
        if isinstance(value.func, ast.Attribute):
            base, method = value.func.value, value.func.attr
            if method in LISTING and isinstance(base, ast.Name) and len(value.args) == 1:
                before = env.get(base.id)
                if before is not None and (self._is_listed(before) or _is_call(before)):
                    return Outcome(self._bind(base.id, LISTING[method](before, value.args[0], env), env))
            if method in CHANGING and isinstance(base, ast.Name) and base.id in env:
                return Outcome(self._bind(base.id, UNKNOWN, env))
            if method == "__init__":
                # super().__init__(…) and Base.__init__(self, …)
                args = value.args if is_super(base) else value.args[1:]
                positional, named = self.lowering.arguments(args, value.keywords, env)
                call = sym.Call(sym.Name(SUPER), positional, named, SUPER)
                return Outcome(self._bind(SUPER, bindings.Given(call), env))
        return Outcome(self._touched(value, env))

    # --- bindings ---------------------------------------------------------------------------------------

    def _bind(self, name: str, binding: Binding, env: Env) -> Env:
        self._log.append((name, binding))
        root = name.rpartition(".")[0]
        while root:
            self._dotted.setdefault(root, set()).add(name)
            root = root.rpartition(".")[0]
        for key in self._dotted.get(name, ()):
            env = env.discard(key)
        if self._is_listed(binding):
            self._lists.add(name)
        return env.insert(name, binding)

    def _is_listed(self, binding: Binding | None) -> bool:
        """Whether the name holds a list that the function itself has written out. Asked at each binding, so that
        one step back is enough."""
        if binding is None:
            return False
        known = self._listed.get(id(binding))
        if known is None:
            match binding:
                case bindings.Assigned(ast.List() | ast.Dict()) | bindings.Appended():
                    answer = True
                case bindings.Augmented(before):
                    answer = self._is_listed(before)
                case bindings.Either(then=then, other=other):
                    answer = self._is_listed(then) or self._is_listed(other)
                case _:
                    answer = False
            known = self._listed[id(binding)] = (binding, answer)
        return known[1]

    def _assign(self, target: ast.expr, value: ast.expr, env: Env) -> Env:
        match target, value:
            case (ast.Tuple() | ast.List(), ast.Tuple() | ast.List()) if pairs_up(target, value):
                before = env
                for left, right in zip(target.elts, value.elts, strict=True):
                    env = self._target(left, bindings.Assigned(right, before), env)
                return env
            case (ast.Tuple() | ast.List(), ast.Call()) if not any(isinstance(e, ast.Starred) for e in target.elts):
                before = env
                for position, left in enumerate(target.elts):
                    env = self._target(left, bindings.Unpacked(value, position, before), env)
                return env
        return self._target(target, bindings.Assigned(value, env), env)

    def _target(self, target: ast.expr, binding: Binding, env: Env) -> Env:
        match target:
            case ast.Name() | ast.Attribute():
                name = dotted_name(target)
                return env if name is None else self._bind(name, binding, env)
            case ast.Tuple() | ast.List() | ast.Starred():
                for name in names_of(target):
                    env = self._bind(name, UNKNOWN, env)
            case ast.Subscript(value=value):
                name = dotted_name(value)
                if name is not None and name in env:
                    env = self._bind(name, UNKNOWN, env)
        return env

    def _touched(self, value: ast.expr, env: Env) -> Env:
        """A list that is handed to a call may come back changed: it is not followed any more."""
        lists = [name for name in self._lists if self._is_listed(env.get(name))]
        if lists and isinstance(value, ast.Call | ast.Await):
            words = set(WORD.findall(self._source.segment(value)))
            for name in lists:
                if name in words:
                    env = self._bind(name, UNKNOWN, env)
        return env

    def _walrus(self, node: ast.expr, env: Env) -> Env:
        """Names that `:=` binds inside an expression."""
        for inner in self._source.walruses(node):
            env = self._target(inner.target, bindings.Assigned(inner.value, env), env)
        return env

    # --- branches ---------------------------------------------------------------------------------------

    def _join(self, key: int, test: ast.expr | None, at: Env, since: int, then: Env, other: Env) -> Env:
        """The bindings after a branch; `since` is where the log of bindings stood before it."""
        joined = at
        for name in dict.fromkeys(name for name, _ in self._log[since:]):
            first, second = then.get(name), other.get(name)
            if first is second:
                joined = joined.discard(name) if first is None else joined.insert(name, first)
            else:
                either = bindings.Either(key, test, at, first, second)
                self._is_listed(either)
                joined = joined.insert(name, either)
        return joined

    def visit_If(self, node: ast.If, env: Env, scope: Scope) -> Outcome:
        env = self._walrus(node.test, env)
        since, key = len(self._log), self.lowering.asked(node.test, env)
        then = self.block(node.body, env.assume(node.test, True), scope)
        other = self.block(node.orelse, env.assume(node.test, False), scope)
        if then.falls and other.falls:
            joined = self._join(key, node.test, env, since, then.env, other.env)
        else:
            joined = other.env if other.falls else then.env
        result = None
        if self._results and (then.returns() or other.returns()):
            result = sym.Cond(key, self.lowering.test(node.test, env), then.ended(), other.ended(), "...")
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
            if self._results and (joined.returns() or outcome.returns()):
                result = sym.Cond(key, sym.Opaque("..."), joined.ended(), outcome.ended(), "...")
            joined = Outcome(env, joined.falls or outcome.falls, result)
        return joined or Outcome(at)

    def visit_With(self, node: ast.With | ast.AsyncWith, env: Env, scope: Scope) -> Outcome:
        for item in node.items:
            env = self._walrus(item.context_expr, env)
            if item.optional_vars is not None:
                env = self._target(item.optional_vars, UNKNOWN, env)
        return self.block(node.body, env, scope)

    def visit_Match(self, node: ast.Match, env: Env, scope: Scope) -> Outcome:
        env = self._walrus(node.subject, env)
        since = len(self._log)
        outcomes = []
        for case in node.cases:
            inner = env
            for name in captures(case.pattern):
                inner = self._bind(name, UNKNOWN, inner)
            outcomes.append(self.block(case.body, inner, scope))
        if not any(is_irrefutable(case) for case in node.cases):
            outcomes.append(Outcome(env))
        return self._fork(outcomes, env, since)

    def visit_For(self, node: ast.For | ast.AsyncFor | ast.While, env: Env, scope: Scope) -> Outcome:
        env = self._walrus(node.test if isinstance(node, ast.While) else node.iter, env)
        since, start = len(self._log), env
        rebound = assigned(node.body)
        carried: dict[str, Binding] = {name: bindings.Unknown() for name in rebound}
        inner = env
        for name, binding in carried.items():
            inner = self._bind(name, binding, inner)
        if not isinstance(node, ast.While):
            inner = self._target(node.target, UNKNOWN, inner)
        self._loops.append(_Loop())
        body = self.block(node.body, inner, scope)
        loop = self._loops.pop()
        again = [*loop.again, body.env] if body.falls else loop.again
        done = self._fork([Outcome(start), *(Outcome(_settled(e, carried, start)) for e in again)], start, since)
        env = done.env
        for name, text in self._added(node, rebound).items():
            env = self._bind(name, bindings.Looped(start.get(name), text), env)
        forever = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        after = self.block(node.orelse, env, scope)
        after = replace(after, falls=after.falls and not forever)
        if loop.exits:
            exits = [Outcome(_settled(e, carried, start)) for e in loop.exits]
            after = self._fork([*exits, after] if after.falls or after.result is not None else exits, start, since)
        result = after.result
        if self._results and body.returns():
            rest = after.ended()
            result = sym.Cond(self.lowering.key(node), sym.Opaque("..."), _fill(body.ended(), rest), rest, "...")
        return Outcome(after.env, after.falls, result)

    def visit_Try(self, node: ast.Try | ast.TryStar, env: Env, scope: Scope) -> Outcome:
        since = len(self._log)
        body = self.block(node.body, env, scope)
        torn = self._torn(env, since)
        rest = self.block(node.orelse, body.env, scope)
        if body.falls and node.orelse:
            body = Outcome(
                rest.env, rest.falls, rest.result if body.result is None else _fill(body.result, rest.ended())
            )
        ways = [body, *(self._handler(handler, torn, scope) for handler in node.handlers)]
        joined = self._fork(ways, env, since)
        if node.finalbody:
            final = self.block(node.finalbody, joined.env, scope)
            result = joined.result if final.falls else final.result
            joined = Outcome(final.env, joined.falls and final.falls, result)
        return joined

    def _handler(self, node: ast.ExceptHandler, env: Env, scope: Scope) -> Outcome:
        types = self._types(node)
        if node.name is not None:
            env = self._bind(node.name, bindings.Caught(types), env)
        outcome = self.block(node.body, env, replace(scope, handlers=(*scope.handlers, types)))
        return outcome if node.name is None else replace(outcome, env=outcome.env.discard(node.name))

    def _types(self, node: ast.ExceptHandler) -> str:
        """The types of a handler as `A | B`."""
        if node.type is None:
            return "BaseException"
        types = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        return " | ".join(self.lowering.code(t) for t in types)

    def _torn(self, env: Env, since: int) -> Env:
        """The bindings when a `try` body broke off somewhere: each of its assignments may be the last."""
        for name, binding in self._log[since:]:
            before = env.get(name)
            if before is not binding:
                env = env.insert(name, bindings.Either(self.lowering.key(binding), None, env, before, binding))
        return env

    def _added(self, node: ast.For | ast.AsyncFor | ast.While, rebound: Sequence[str]) -> dict[str, str]:
        """Text that a loop only ever adds to: the name, and one expression for all that is added."""
        found: dict[str, str] = {}
        counts = Counter(assigned(node.body, repeat=True))
        code = self.lowering.code
        for name in rebound:
            for value, conditions in additions(node.body, name, ()) if counts[name] == 1 else ():
                found[name] = "..."
                if not isinstance(node, ast.While):
                    tests = "".join(f" if {code(c)}" for c in conditions)
                    found[name] = f"''.join({code(value)} for {code(node.target)} in {code(node.iter)}{tests})"
        return found

    # --- definitions ------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef, env: Env, scope: Scope) -> Outcome:
        symbol = scope.inside(node.name)
        self.block(node.body, env, Scope(symbol, in_class=symbol, around=scope))
        return Outcome(env.discard(node.name))

    def visit_FunctionDef(self, node: FunctionNode, env: Env, scope: Scope) -> Outcome:
        owner = scope.owner
        if scope.in_class is not None:
            names = parameters(node)
            static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
            owner = (names[0], scope.in_class) if names and not static else None
        closure = self._closure(env, scope)
        loops, self._loops = self._loops, []
        self.block(
            node.body, _entered(node, closure), Scope(scope.inside(node.name), owner, function=node, around=scope)
        )
        self._loops = loops
        if scope.in_class is not None:
            return Outcome(env)
        source = self._source
        return Outcome(self._bind(node.name, bindings.Defined(lambda: summarise(node, source, closure)), env))

    def _closure(self, env: Env, scope: Scope) -> Env:
        """What a nested function sees: a name that its owner binds more than once may have changed since."""
        if scope.function is not None:
            counts = Counter([*parameters(scope.function), *assigned(scope.function.body, repeat=True)])
            for name, count in counts.items():
                if count > 1 or name not in env:
                    env = env.insert(name, UNKNOWN)
        return env


FALL = sym.Name("<falls>")  # where control goes on behind the statement

# by class, not by bound method: a reference cycle would keep every tree until a collection
VISITS: dict[type, Callable[[Walker, Any, Env, Scope], Outcome]] = {
    ast.If: Walker.visit_If,
    ast.For: Walker.visit_For,
    ast.AsyncFor: Walker.visit_For,
    ast.While: Walker.visit_For,
    ast.Try: Walker.visit_Try,
    ast.TryStar: Walker.visit_Try,
    ast.With: Walker.visit_With,
    ast.AsyncWith: Walker.visit_With,
    ast.Match: Walker.visit_Match,
    ast.FunctionDef: Walker.visit_FunctionDef,
    ast.AsyncFunctionDef: Walker.visit_FunctionDef,
    ast.ClassDef: Walker.visit_ClassDef,
    ast.Assign: Walker.visit_Assign,
    ast.AnnAssign: Walker.visit_AnnAssign,
    ast.AugAssign: Walker.visit_AugAssign,
    ast.Return: Walker.visit_Return,
    ast.Raise: Walker.visit_Raise,
    ast.Break: Walker.visit_Break,
    ast.Continue: Walker.visit_Break,
    ast.Assert: Walker.visit_Assert,
    ast.Delete: Walker.visit_Delete,
    ast.Import: Walker.visit_Import,
    ast.ImportFrom: Walker.visit_Import,
    ast.Expr: Walker.visit_Expr,
}


def _fill(result: sym.Expr, rest: sym.Expr) -> sym.Expr:
    """Puts `rest` where control goes on."""
    match result:
        case sym.Cond(key, test, then, other, src):
            return sym.Cond(key, test, _fill(then, rest), _fill(other, rest), src)
        case sym.Name("<falls>"):
            return rest
    return result


def _settled(env: Env, carried: Mapping[str, Binding], start: Env) -> Env:
    """Behind a loop, a name that an iteration left alone has what it had before, or what another way out gave it."""
    for name, binding in carried.items():
        found = env.get(name)
        settled = None if found is None else _without(found, binding, start.get(name))
        if settled is not found:
            env = env.discard(name) if settled is None else env.insert(name, settled)
    return env


def _without(binding: Binding, carried: Binding, before: Binding | None) -> Binding | None:
    """The binding with `before` for what the iteration began with."""
    if binding is carried:
        return before
    if isinstance(binding, bindings.Either):
        then = None if binding.then is None else _without(binding.then, carried, before)
        other = None if binding.other is None else _without(binding.other, carried, before)
        if then is not binding.then or other is not binding.other:
            return replace(binding, then=then, other=other)
    return binding


def _entered(node: FunctionNode, env: Env) -> Env:
    for name in parameters(node):
        env = env.insert(name, UNKNOWN)
    return env


def summarise(node: FunctionNode, source: Source, env: Env | None = None) -> sym.Function:
    """What the function returns and what it leaves on its first parameter."""
    walker = Walker(source, results=True)
    start = _entered(node, NO_NAMES if env is None else env)
    outcome = walker.block(node.body, start, Scope(node.name, function=node))
    names = parameters(node)
    own = names[0] + "." if names else None
    attributes = []
    for name, binding in outcome.env.names.items():
        if name == SUPER or (own and name.startswith(own)):
            attribute = name if name == SUPER else name.split(".", 1)[1]
            attributes.append((attribute, walker.lowering.binding(name, binding)))
    result = _fill(outcome.ended(), sym.NOTHING)
    return sym.Function(walker.lowering.signature(node.args), result, tuple(sorted(attributes)))
