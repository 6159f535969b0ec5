"""Owns guards: what must hold for control to get from the start of a function to each of its raises.

One walk in the order of the source. A `State` is what is known at a point: a chain of facts, each a test that
came out one way, and a number for each name that was bound, by which a fact tells later whether it still
speaks of the same values. Branches are walked apart; where both go on, what left on the way in one of them
becomes `not (test and …)`. What cannot be said so is left out, and the state is no longer `complete`: every
guard listed must hold, but then there is more to it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace
from rpds import HashTrieMap

from extractor.cases import is_apart, missed
from extractor.expr import dotted
from extractor.paths import Fact, Some, State, Test, denied, opposite, since
from extractor.phrasing import MAX_PARTIAL, Asked, RawGuard, Wording
from extractor.program import entered
from extractor.scan import Source, statements
from extractor.targets import EXITS, FunctionNode, captures, is_irrefutable, names_of, parameters, touched
from extractor.validators import validated


class Handler(msgspec.Struct, frozen=True, array_like=True):
    """A handler around a site in its function: the types as `A | B`, and whether it raises on in the end."""

    types: str
    again: bool | None  # None: on some of its ways


class Conditions(msgspec.Struct, frozen=True, array_like=True):
    """What is known of the way to one raise."""

    guards: tuple[RawGuard, ...] = ()
    definition: tuple[RawGuard, ...] = ()
    complete: bool = True
    tries: tuple[tuple[Handler, ...], ...] = ()  # the handlers of each `try` around it, innermost first
    validates: tuple[str, ...] = ()
    post_init: tuple[str, ...] = ()  # the decorators of the class whose `__post_init__` this is


@dataclass(slots=True)
class _Loop:
    breaks: list[State] = field(default_factory=list)


class _Handler(msgspec.Struct, frozen=True):
    """A way on from a `try` whose body broke off."""

    types: tuple[ast.expr, ...]
    text: str
    line: int
    name: str | None = None
    body: tuple[ast.stmt, ...] = ()


class _Place(msgspec.Struct, frozen=True):
    """The definitions and `try` statements around a statement."""

    classes: tuple[ast.ClassDef, ...] = ()
    function: FunctionNode | None = None
    definition: tuple[RawGuard, ...] = ()
    tries: tuple[tuple[Handler, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Walked:
    """By the id of a raise's node its conditions, and how each guard is asked; and the calls that would matter if
    they never returned."""

    conditions: dict[int, Conditions]
    asked: dict[int, tuple[Asked | None, ...]]
    calls: set[str]


def conditions(
    nodes: Iterable[ast.stmt], classes: tuple[ast.ClassDef, ...], source: Source, leaving: frozenset[str]
) -> Walked:
    """The conditions of each raise in these statements.

    `leaving` are those calls (`name`, or `Class:name` for a method of the object itself) that never return.
    """
    walker = _Walker(source, leaving)
    walker.block(nodes, State(), _Place(classes))
    return Walked(walker.found, walker.asked, walker.calls)


class _Walker:
    def __init__(self, source: Source, leaving: frozenset[str]) -> None:
        self.found: dict[int, Conditions] = {}
        self.asked: dict[int, tuple[Asked | None, ...]] = {}
        self.calls: set[str] = set()
        self._wording = Wording(source)
        self._source = source
        self._leaving = leaving
        self._loops: list[_Loop] = []
        self._left: list[tuple[State, bool]] = []  # the state at each way out of the function; whether it raises
        self._bound = 0

    # --- statements -------------------------------------------------------------------------------------

    def block(self, statements: Iterable[ast.stmt], state: State, place: _Place) -> State | None:
        """The state behind the statements, or None when control never gets there. What stands behind them then
        is walked all the same: it may hold raises."""
        falls = True
        for statement in statements:
            visit = VISITS.get(type(statement))
            after = state if visit is None else visit(self, statement, state, place)
            falls = falls and after is not None
            state = state.less() if after is None else after
        return state if falls else None

    def visit_simple(self, node: Any, state: State, place: _Place) -> State | None:
        """A statement without others in it: what it binds, and calls in it that never return."""
        terms = self._leaves(node.value, place) if node.value is not None else None
        if terms is not None:
            left = state
            for term in terms:
                left = left.tested("exit", node.lineno, term, at=node)
            self._left.append((left, False))
            if not terms:
                return None
            state = state.tested("exit", node.lineno, *((opposite(terms[0]),) if len(terms) == 1 else terms), at=node)
        return self._bind(state, self._changed([node]))

    def visit_binding(self, node: ast.stmt, state: State, place: _Place) -> State:
        return self._bind(state, self._changed([node]))

    def visit_import(self, node: ast.stmt, state: State, place: _Place) -> State:
        before = self._bound
        state = self._bind(state, self._changed([node]))
        self._wording.imported.update(range(before + 1, self._bound + 1))
        return state

    def visit_Return(self, node: ast.Return, state: State, place: _Place) -> None:
        self._left.append((state, False))

    def visit_Raise(self, node: ast.Raise, state: State, place: _Place) -> None:
        own = parameters(place.function)[:1] if place.function is not None and place.classes else []
        found, whole = self._wording.guards(state, node.lineno, *own)
        guards = tuple(guard for guard, _ in found)
        whole = whole and state.complete
        self.asked[id(node)] = tuple(asked for _, asked in found)
        self.found[id(node)] = Conditions(
            guards, place.definition, whole, place.tries, *validated(place.function, place.classes)
        )
        self._left.append((state, True))

    def visit_Break(self, node: ast.Break, state: State, place: _Place) -> None:
        if self._loops:
            self._loops[-1].breaks.append(state)

    def visit_Continue(self, node: ast.Continue, state: State, place: _Place) -> None:
        """Goes on with the next iteration: no way out, and no way on."""

    def visit_Assert(self, node: ast.Assert, state: State, place: _Place) -> State | None:
        state = self._asked(state, node.test)
        self._left.append((state.tested("if", node.lineno, Test(node.test, False), at=node), True))
        if isinstance(node.test, ast.Constant) and not node.test.value:
            return None
        return state.tested("assert", node.test.lineno, Test(node.test, True), at=node)

    # --- branches ---------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If, state: State, place: _Place) -> State | None:
        state = self._asked(state, node.test)
        line, until = node.test.lineno, node.end_lineno or node.lineno
        yes, no = Test(node.test, True), Test(node.test, False)
        then = self.block(node.body, state.tested("if", line, yes, at=node, until=until), place)
        other = self.block(node.orelse, state.tested("if", line, no, at=node, until=until), place)
        if then is None or other is None:
            return other if then is None else then
        joined = State(state.fact, self._joined(state, then, other), then.complete and other.complete)
        for way, test in ((then, yes), (other, no)):
            for fact in since(way.fact, state.fact)[1:]:
                if fact.terms and not fact.passing:
                    # `if a: if b: return`: not (a and b)
                    joined = joined.given(self._under(test, state, fact, way, joined, node))
                elif not fact.terms:
                    joined = joined.less()
        return joined

    def _under(self, test: Test, at: State, fact: Fact, way: State, joined: State, node: ast.If) -> Fact:
        """The fact of a way through the test, for those as well who did not come through it.

        What a name was on the way it is behind it too, as far as the fact goes: it says nothing of the others.
        """
        stale = fact.stale or any(at.names.get(n) != fact.names.get(n) for n in self._wording.mentions(test.node))
        names = fact.names
        for name in self._wording.named(fact):
            number = joined.names.get(name)
            if number is not None and number != names.get(name) == way.names.get(name):
                names = names.insert(name, number)
        return replace(fact, kind="exit", terms=(test, *denied(fact)), names=names, at=node, stale=stale)

    def visit_With(self, node: ast.With | ast.AsyncWith, state: State, place: _Place) -> State | None:
        """Transparent, but for `suppress`: a handler that does nothing."""
        suppressed: list[ast.expr] = []
        swallows = False
        for item in node.items:
            name = entered(item.context_expr)
            if name is not None:
                self.calls.add(name)
                swallows = swallows or name in self._leaving
            state = self._asked(state, item.context_expr)
            if item.optional_vars is not None:
                state = self._bind(state, names_of(item.optional_vars))
            match item.context_expr:
                case ast.Call(func=func, args=args) if (dotted(func) or "").split(".")[-1] == "suppress":
                    suppressed += args
        if swallows:
            return self._try(node.body, [self._handler((), node.lineno)], [], state, place)
        if not suppressed:
            return self.block(node.body, state, place)
        return self._try(node.body, [self._handler(tuple(suppressed), node.lineno)], [], state, place)

    def visit_Match(self, node: ast.Match, state: State, place: _Place) -> State | None:
        state = self._asked(state, node.subject)
        ways: list[State] = []
        left: list[Test | None] = []
        passed: list[ast.pattern] = []
        for case in node.cases:
            guard = "" if case.guard is None else f" if {self._wording.code(case.guard)}"
            inner = self._bind(state, captures(case.pattern))
            text = f"case {ast.unparse(case.pattern)}{guard}"
            inner = inner.entered("case", case.pattern.lineno, text, case.body[0], case.guard)
            way = self.block(case.body, inner, place)
            if way is not None:
                ways.append(way)
                passed.append(case.pattern)
            else:  # not even tried where an earlier case went on
                tried = all(is_apart(case.pattern, other) for other in passed)
                left.append(missed(node.subject, case) if tried else None)
        if not any(is_irrefutable(case) for case in node.cases):
            ways.append(state)
        elif len(ways) < 2:
            return ways[0] if ways else None
        joined = self._merged(state, ways)
        for test in left:  # no case that left has matched
            joined = joined.less() if test is None else joined.tested("exit", test.node.lineno, test, at=node)
        return joined

    # --- loops ------------------------------------------------------------------------------------------

    def visit_While(self, node: ast.While, state: State, place: _Place) -> State | None:
        rebound = self._changed(node.body)
        behind = self._asked(self._bind(state, rebound), node.test)
        text = f"while {self._wording.code(node.test)}"
        inner = self._asked(self._bind(state, rebound), node.test)
        inner = inner.entered("while", node.lineno, text, node.body[0], node.test)
        before = len(self._left)
        loop = self._body(node.body, inner, place)
        lossy = len(self._left) > before  # an iteration that left: no expression says that there was none
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        ended = behind.tested("exit", node.lineno, Test(node.test, False), passing=True)
        after = self.block(node.orelse, ended.less() if lossy or loop.breaks else ended, place)
        if not loop.breaks:
            return None if forever else after
        if forever or after is None:
            if len(loop.breaks) > 1:
                return State(state.fact, self._joined(behind, *loop.breaks), False)
            way = loop.breaks[0]  # the tests of the last iteration
            through = State(state.fact, way.names, way.complete and not lossy)
            for fact in since(way.fact, inner.fact):
                through = through.given(fact)
            return through
        joined = self._merged(behind, [behind, *loop.breaks], after)
        return joined.less() if lossy else joined

    def visit_For(self, node: ast.For | ast.AsyncFor, state: State, place: _Place) -> State | None:
        state = self._asked(state, node.iter)
        target = self._wording.target(node.target)
        word = "for" if isinstance(node, ast.For) else "async for"
        behind = self._bind(state, [*self._changed(node.body), *names_of(node.target)])
        inner = self._bind(state, self._changed(node.body))
        text = f"{word} {target} in {self._wording.code(node.iter)}"
        inner = inner.entered("for", node.lineno, text, node.body[0], node.iter)
        inner = self._bind(inner, names_of(node.target))
        if isinstance(node, ast.For):
            self._wording.loops[id(node.iter)] = node
        before = len(self._left)
        loop = self._body(node.body, inner, place)
        left = [way for way, _ in self._left[before:]]
        whole = self._never(node, inner, [*left, *loop.breaks], behind)
        after = self.block(node.orelse, whole, place)
        if not loop.breaks:
            return after
        if after is not None:  # a loop that was left early has not seen all: nothing is said of its ways out
            joined = self._merged(behind, [behind, *loop.breaks], after)
            return joined.less() if left else joined
        parts = self._parts(node, inner, loop.breaks[0]) if len(loop.breaks) == 1 else None
        through = State(behind.fact, self._joined(behind, *loop.breaks), behind.complete and not left)
        return through.less() if parts is None else through.tested("exit", node.lineno, Some(parts, True), at=node)

    def _body(self, statements: Sequence[ast.stmt], state: State, place: _Place) -> _Loop:
        self._loops.append(_Loop())
        self.block(statements, state, place)
        return self._loops.pop()

    def _never(self, node: ast.For | ast.AsyncFor, inner: State, ways: Sequence[State], state: State) -> State:
        """Behind a loop of which no iteration went one of these ways."""
        for number, way in enumerate(ways):
            parts = self._parts(node, inner, way) if number < MAX_PARTIAL else None
            if parts is None:
                return state.less()
            line = next((p.node.lineno for p in reversed(parts) if isinstance(p, Test)), node.lineno)
            state = state.tested("exit", line, Some(parts, False), at=node)
        return state

    def _parts(self, node: ast.For | ast.AsyncFor, inner: State, way: State) -> tuple[Test | ast.For, ...] | None:
        """What an iteration passed to go this way, if `any(…)` can say it: of names that the body leaves alone."""
        if not isinstance(node, ast.For) or not way.complete:
            return None
        parts: list[Test | ast.For] = [node]
        for fact in since(way.fact, inner.fact):
            loop = self._wording.loops.get(id(fact.node)) if fact.kind == "for" else None
            if loop is not None:
                parts.append(loop)
            elif fact.terms and len(fact.terms) == 1 and isinstance(fact.terms[0], Test) and not fact.stale:
                parts.append(fact.terms[0])
            else:
                return None
        own = Counter(name for part in parts if isinstance(part, ast.For) for name in names_of(part.target))
        rebound = Counter([*names_of(node.target), *self._changed(node.body, repeat=True)])
        inside = [part.node if isinstance(part, Test) else part.iter for part in parts]
        if any(isinstance(n, ast.Await | ast.NamedExpr | ast.Yield) for tree in inside for n in ast.walk(tree)):
            return None
        mentioned = {name for tree in inside[1:] for name in self._wording.mentions(tree)}
        return tuple(parts) if all(rebound[name] == own[name] for name in mentioned) else None

    # --- handlers ---------------------------------------------------------------------------------------

    def visit_Try(self, node: ast.Try | ast.TryStar, state: State, place: _Place) -> State | None:
        handlers = [
            self._handler(
                tuple(h.type.elts) if isinstance(h.type, ast.Tuple) else (h.type,) if h.type else (),
                h.lineno,
                h,
            )
            for h in node.handlers
        ]
        after = self._try(node.body, handlers, node.orelse, state, place)
        if not node.finalbody:
            return after
        torn = self._bind(state, self._changed([*node.body, *node.handlers, *node.orelse]))
        final = self.block(node.finalbody, torn, place)
        if after is None or final is None:
            return None
        after = self._bind(after, self._changed(node.finalbody))
        for fact in since(final.fact, torn.fact):
            after = after.given(fact)
        return after if final.complete else after.less()

    def _handler(self, types: tuple[ast.expr, ...], line: int, node: ast.ExceptHandler | None = None) -> _Handler:
        names = ", ".join(map(self._wording.code, types))
        text = "except" if not types else f"except {names}" if len(types) == 1 else f"except ({names})"
        return _Handler(types, text, line) if node is None else _Handler(types, text, line, node.name, tuple(node.body))

    def _try(
        self,
        statements: Sequence[ast.stmt],
        handlers: Sequence[_Handler],
        orelse: Sequence[ast.stmt],
        state: State,
        place: _Place,
    ) -> State | None:
        catching = tuple(
            Handler(" | ".join(map(self._wording.code, h.types)) or "BaseException", _raises_on(h)) for h in handlers
        )
        before = len(self._left)
        body = self.block(statements, state, replace(place, tries=(catching, *place.tries)) if catching else place)
        inside = len(self._left)
        if orelse:
            rest = self.block(orelse, body or state.less(), place)
            body = None if body is None else rest
        torn = self._bind(state, self._changed(statements))
        ways = [] if body is None else [body]
        entered: list[_Handler] = []
        for handler in handlers:
            inner = self._bind(torn, [handler.name] if handler.name else [])
            first = handler.body[0] if handler.body else None
            self._wording.tried[handler.line] = statements
            way = self.block(handler.body, inner.entered("except", handler.line, handler.text, first), place)
            if way is not None:
                ways.append(way)
                entered.append(handler)
        if entered:  # what the body raises may go on behind a handler
            self._left[before:inside] = [(w.less() if raised else w, raised) for w, raised in self._left[before:inside]]
        if len(ways) == 1:
            return ways[0]
        joined = self._merged(state, ways) if ways else None
        if joined is not None and body is None and all(h.types for h in entered):
            merged = self._handler(tuple(t for h in entered for t in h.types), entered[0].line)
            joined = joined.entered("except", merged.line, merged.text, None)
        return joined

    # --- definitions ------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: FunctionNode, state: State, place: _Place) -> State:
        loops, left = self._loops, self._left
        self._loops, self._left = [], []
        found, _ = self._wording.guards(state, node.lineno)
        definition = (*place.definition, *(guard for guard, _ in found))
        self._wording.share(node)
        inner = self._bind(State(names=state.names), parameters(node))
        self.block(node.body, inner, _Place(place.classes, node, definition))
        self._loops, self._left = loops, left
        return self._bind(state, [node.name])

    def visit_ClassDef(self, node: ast.ClassDef, state: State, place: _Place) -> State:
        around = place.classes if place.function is None else ()
        self.block(node.body, state, replace(place, classes=(*around, node), function=None))
        return self._bind(state, [node.name])

    # --- names ------------------------------------------------------------------------------------------

    def _bind(self, state: State, names: Iterable[str]) -> State:
        """Behind what binds these names."""
        known = state.names
        for name in names:
            self._bound += 1
            known = known.insert(name, self._bound)
        return state if known is state.names else replace(state, names=known)

    def _changed(self, nodes: Iterable[ast.AST], repeat: bool = False) -> list[str]:
        return touched(nodes, repeat, self._source)

    def _asked(self, state: State, node: ast.expr) -> State:
        """Behind the evaluation of an expression: names that `:=` binds."""
        return self._bind(state, self._wording.walrus(node))

    def _joined(self, at: State, *ways: State) -> HashTrieMap[str, int]:
        """The names where ways meet: those that are not the same on all of them are new."""
        first = ways[0].names
        if all(way.names is first for way in ways):
            return first
        names = at.names
        for name in dict.fromkeys(name for way in ways for name in way.names):
            numbers = {way.names.get(name) for way in ways}
            number = numbers.pop()
            if numbers:
                self._bound += 1
                number = self._bound
            if number is not None and number != names.get(name):
                names = names.insert(name, number)
        return names

    def _merged(self, at: State, ways: Sequence[State], *more: State) -> State:
        """Where ways meet that no test tells apart: what was known before them is known still.

        `more` are ways on from one of the others."""
        lost = any(f.terms and not f.passing for w in (*ways, *more) for f in _own_facts(w, at))
        whole = all(way.complete for way in (*ways, *more)) and not lost
        return State(at.fact, self._joined(at, *ways, *more), whole)

    # --- calls that never return ------------------------------------------------------------------------

    def _leaves(self, node: ast.expr, place: _Place) -> tuple[Test, ...] | None:
        """The tests under which an expression is never done: none for always; None: it is done."""
        match node:
            case ast.Await(value=value):
                return self._leaves(value, place)
            case ast.Call(func=func):
                name = self._called(func, place)
                if name is None:
                    return None
                if name in EXITS and place.function and name.split(".")[0] in parameters(place.function):
                    return None
                self.calls.add(name)
                return () if name in EXITS or name in self._leaving else None
            case ast.BoolOp(op=op, values=values):
                last = self._leaves(values[-1], place)
                if last is None:
                    return None
                return (*(Test(v, isinstance(op, ast.And)) for v in values[:-1]), *last)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                for branch, holds in ((body, True), (orelse, False)):
                    inner = self._leaves(branch, place)
                    if inner is not None:
                        return (Test(test, holds), *inner)
        return None

    def _called(self, func: ast.expr, place: _Place) -> str | None:
        name = dotted(func)
        if name is None or not place.classes or place.function is None:
            return name
        own, _, rest = name.partition(".")
        is_own = bool(rest) and own in parameters(place.function)[:1]
        return f"{'.'.join(c.name for c in place.classes)}:{rest}" if is_own else name


def _own_facts(way: State, at: State) -> list[Fact]:
    """The facts of a way since the point; those inside a loop that it broke out of are no ways out."""
    facts = since(way.fact, at.fact)
    inside = next((i for i, f in enumerate(facts) if f.kind in ("for", "while")), len(facts))
    return facts[:inside]


def _raises_on(handler: _Handler) -> bool | None:
    """Whether what the handler caught leaves it again: always, never, or on some of its ways (None)."""
    last = handler.body[-1] if handler.body else None
    if isinstance(last, ast.Raise) and _is_again(last, handler):
        return True
    inner = [s for node in handler.body for s in (node, *statements(node)) if isinstance(s, ast.Raise)]
    return None if any(_is_again(s, handler) for s in inner) else False


def _is_again(node: ast.Raise, handler: _Handler) -> bool:
    return node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == handler.name)


VISITS: dict[type, Callable[[_Walker, Any, State, _Place], State | None]] = {
    ast.If: _Walker.visit_If,
    ast.For: _Walker.visit_For,
    ast.AsyncFor: _Walker.visit_For,
    ast.While: _Walker.visit_While,
    ast.Try: _Walker.visit_Try,
    ast.TryStar: _Walker.visit_Try,
    ast.With: _Walker.visit_With,
    ast.AsyncWith: _Walker.visit_With,
    ast.Match: _Walker.visit_Match,
    ast.FunctionDef: _Walker.visit_FunctionDef,
    ast.AsyncFunctionDef: _Walker.visit_FunctionDef,
    ast.ClassDef: _Walker.visit_ClassDef,
    ast.Return: _Walker.visit_Return,
    ast.Raise: _Walker.visit_Raise,
    ast.Break: _Walker.visit_Break,
    ast.Continue: _Walker.visit_Continue,
    ast.Assert: _Walker.visit_Assert,
    ast.Assign: _Walker.visit_simple,
    ast.AnnAssign: _Walker.visit_simple,
    ast.AugAssign: _Walker.visit_simple,
    ast.Expr: _Walker.visit_simple,
    ast.Delete: _Walker.visit_binding,
    ast.Import: _Walker.visit_import,
    ast.ImportFrom: _Walker.visit_import,
}
