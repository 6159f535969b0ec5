"""Owns the run of a predicate: the part of a function that decides about a raise, with what is told of its names.

A program is plain data (see `extractor.program`). It is run like the function, but for three things. A test
whose answer is not known sends control both ways; where the ways meet, what differs is unknown. A call that is
not known to be harmless is not made: its result is unknown, and so is from then on all that it was given and
could have changed. And nothing runs away: there is a budget of steps, and sizes are bounded.

Effects and aliases. Objects are told apart by identity, so two names of one object are one. Attributes that the
function sets are kept beside the objects (`Env.heap`), which are never written to. What was given to a call, or
had a method called that is not one of the harmless ones, is `tainted` together with all that can be reached from
it: reading its attributes, items, length or truth gives an unknown value. A call on an object that nobody told
taints everything that can be changed. Numbers, texts and enum members cannot be changed.

Exceptions. An expression that raises while asking is unknown, and the function may have ended there. In a `try`,
whatever works on unknown values may raise, which sends control to the handlers as well.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from .values import (
    CONTAINERS,
    NEW,
    UNTOLD,
    Class,
    Member,
    Typed,
    Unknown,
    is_atom,
    is_instance,
    member_equals,
)  # fmt: skip

STEPS = 20_000
MAX_ITEMS = 10_000  # of a collection that is made or walked
MAX_TEXT = 100_000
MAX_BITS = 2_048
UNDECIDED = 200  # such tests in a loop, from which on its turns are not told apart
MAX_REACHED = 5_000  # objects followed from one that may be changed

Expr = list[Any]
Code = list[Expr]


class OutOfBudget(Exception):
    """The answer would take too long."""


class Env:
    """What the names stand for at a point, and attributes that the function itself has set."""

    __slots__ = ("heap", "names")

    def __init__(self, names: dict[str, Any], heap: dict[tuple[int, str], tuple[Any, Any]]) -> None:
        self.names = names
        self.heap = heap

    def copy(self) -> Env:
        return Env(dict(self.names), dict(self.heap))


class Exits:
    """The ways out of some statements, each with what is known there; None for those that cannot happen."""

    __slots__ = ("again", "breaks", "error", "falls", "raised", "returns")

    def __init__(self, falls: Env | None = None) -> None:
        self.falls = falls
        self.breaks: Env | None = None
        self.again: Env | None = None
        self.returns: Env | None = None
        self.error: Env | None = None
        self.raised: list[tuple[int | None, Class | None, Env]] = []

    def take(self, other: Exits) -> None:
        """The other's ways out as well, all but `falls`."""
        if other.breaks is not None:
            self.breaks = join(self.breaks, other.breaks)
        if other.again is not None:
            self.again = join(self.again, other.again)
        if other.returns is not None:
            self.returns = join(self.returns, other.returns)
        if other.error is not None:
            self.error = join(self.error, other.error)
        if other.raised:
            self.raised += other.raised


def join(first: Env | None, second: Env | None) -> Env | None:
    """What is known where two ways meet."""
    if first is None or second is None or first is second:
        return first if second is None else second
    names = {
        name: either(first.names.get(name, NEW), second.names.get(name, NEW)) for name in first.names | second.names
    }
    heap = {}
    for key in first.heap | second.heap:
        one, other = first.heap.get(key), second.heap.get(key)
        owner = (one or other or (None,))[0]
        if one is not None and other is not None:
            heap[key] = (owner, either(one[1], other[1]))
        else:
            heap[key] = (owner, UNTOLD)
    return Env(names, heap)


def either(first: Any, second: Any) -> Any:
    """One of two values."""
    if first is second:
        return first
    if is_atom(first) and type(first) is type(second) and not isinstance(first, Unknown):
        if isinstance(first, Member):
            return first if member_equals(first, second) else NEW
        if first == second:
            return first
    return from_all((first, second))


def from_all(values: Sequence[Any]) -> Unknown:
    """An unknown value that may have to do with any of these."""
    held: list[Any] = []
    for value in values:
        if isinstance(value, Unknown):
            if value.anything:
                return UNTOLD
            held += value.held
        elif not is_atom(value):
            held.append(value)
    return Unknown(tuple(held)) if held else NEW


class Machine:
    """One run. `answers` are those of the guards that the program watches, by number."""

    def __init__(self, globals_: Mapping[int, Any], given: Mapping[str, Any]) -> None:
        self.answers: dict[int, list[bool | None]] = {}
        self.caught: set[int] = set()
        self.watching = False
        self._globals = globals_
        self._given = given
        self._left = STEPS
        self._tainted: dict[int, Any] = {}
        self._all_tainted = False
        self._views: dict[int, tuple[Any, Any]] = {}  # of dicts, which change with them
        self._raised = False  # an expression raised while it was asked for
        self._unsure = False  # an expression may raise: it works on what is unknown
        self._tries = 0
        self._undecided = 0  # tests that sent control both ways

    # --- statements -------------------------------------------------------------------------------------

    def block(self, code: Code, env: Env) -> Exits:
        """Runs statements one after the other. `env` is used up."""
        total = Exits()
        for statement in code:
            self._spend()
            self._raised = self._unsure = False
            out: Exits = STATEMENTS[statement[0]](self, statement, env)
            total.take(out)
            if out.falls is None:
                return total
            env = out.falls
        total.falls = env
        return total

    def _spend(self, steps: int = 1) -> None:
        self._left -= steps
        if self._left < 0:
            raise OutOfBudget

    def _done(self, env: Env, out: Exits | None = None) -> Exits:
        """Behind expressions: control goes on, unless one of them raised."""
        out = Exits(env) if out is None else out
        if self._raised or (self._unsure and self._tries):
            out.error = join(out.error, env.copy())
        self._raised = self._unsure = False
        return out

    def _assign(self, statement: Expr, env: Env) -> Exits:
        _, target, value = statement
        self._bind(target, self.value(value, env), env)
        return self._done(env)

    def _bind(self, target: Expr, value: Any, env: Env) -> None:
        match target[0]:
            case "n":
                env.names[target[1]] = value
            case "a":
                self._store(self.value(target[1], env), target[2], value, env)
            case "i":
                owner = self.value(target[1], env)
                self._unsure = True
                self._raised = self._raised or (is_atom(owner) and not isinstance(owner, Unknown))
                self._taint_one(owner)
            case "t":
                self._unpack(target[1], value, env)
            case _:
                raise ValueError(target[0])

    def _store(self, owner: Any, name: str, value: Any, env: Env) -> None:
        if is_atom(owner) and not isinstance(owner, Unknown):
            self._raised = True
        elif isinstance(owner, Unknown):  # any object may be meant
            for key, (held, _) in list(env.heap.items()):
                if key[1] == name:
                    env.heap[key] = (held, UNTOLD)
            env.heap[0, name] = (None, UNTOLD)
        else:
            env.heap[id(owner), name] = (owner, value)

    def _unpack(self, targets: Sequence[Expr], value: Any, env: Env) -> None:
        items = self._items(value)
        star = next((i for i, t in enumerate(targets) if t[0] == "*"), None)
        if items is not None and len(items) != len(targets) and (star is None or len(items) < len(targets) - 1):
            self._raised = True
            items = None
        for position, target in enumerate(targets):
            if items is None:
                part: Any = from_all((value,))
            elif star is None or position < star:
                part = items[position]
            elif position == star:
                part = items[star : len(items) - (len(targets) - star - 1)]
            else:
                part = items[len(items) - (len(targets) - position)]
            self._bind(target[1] if target[0] == "*" else target, part, env)

    def _expression(self, statement: Expr, env: Env) -> Exits:
        self.value(statement[1], env)
        return self._done(env)

    def _augment(self, statement: Expr, env: Env) -> Exits:
        _, target, op, value = statement
        before, right = self.value(target, env), self.value(value, env)
        if is_atom(before) or type(before) is tuple:
            result = self._operate(op, before, right)
        else:  # changed in place, if it can be
            self._taint((before,))
            result = from_all((before, right))
            self._unsure = True
        self._bind(target, result, env)
        return self._done(env)

    def _if(self, statement: Expr, env: Env) -> Exits:
        answer = self.ask(statement[1], env)
        out = self._done(env)
        out.falls = None
        if answer is not False:
            self._undecided += answer is None
            then = self.block(statement[2], env if answer else env.copy())
            out.take(then)
            out.falls = then.falls
        if answer is not True:
            other = self.block(statement[3], env)
            out.take(other)
            out.falls = join(out.falls, other.falls)
        return out

    def _assert(self, statement: Expr, env: Env) -> Exits:
        answer = self.ask(statement[1], env)
        out = self._done(env)
        if answer is not True:
            out.raised.append((None, statement[2] and self._class(statement[2]), env.copy()))
        if answer is False:
            out.falls = None
        return out

    def _return(self, statement: Expr, env: Env) -> Exits:
        if len(statement) > 1:
            self.value(statement[1], env)
        out = self._done(env)
        out.returns, out.falls = env, None
        return out

    def _break(self, statement: Expr, env: Env) -> Exits:
        out = Exits()
        out.breaks = env
        return out

    def _continue(self, statement: Expr, env: Env) -> Exits:
        out = Exits()
        out.again = env
        return out

    def _raise(self, statement: Expr, env: Env) -> Exits:
        out = Exits()
        out.raised.append((statement[1], self._class(statement[2]), env))
        return out

    def _class(self, node: Expr | None) -> Class | None:
        """The class that a raise or a handler names; None when it cannot be told."""
        value = None if node is None else self._globals[node[1]] if node[0] == "g" else None
        if isinstance(value, type):
            return Class(
                f"builtins.{value.__name__}", tuple(f"builtins.{b.__name__}" for b in value.__mro__[1:-1]), True
            )
        return value if isinstance(value, Class) else None

    def _risk(self, statement: Expr, env: Env) -> Exits:
        out = Exits(env)
        out.error = env.copy()
        return out

    def _forget(self, statement: Expr, env: Env) -> Exits:
        for name in statement[1]:
            env.names[name] = UNTOLD
        return Exits(env)

    def _watch(self, statement: Expr, env: Env) -> Exits:
        if self.watching:
            risks = self._raised, self._unsure
            self.answers.setdefault(statement[1], []).append(self.ask(statement[2], env))
            self._raised, self._unsure = risks
        return Exits(env)

    # --- loops ------------------------------------------------------------------------------------------

    def _for(self, statement: Expr, env: Env) -> Exits:
        _, target, iterable, body, _, _, _ = statement
        collection = self.value(iterable, env)
        items = self._items(collection)
        if items is None:
            return self._some(statement, env, target, from_all((collection,)))
        out = self._done(env)
        current: Env = env
        undecided = self._undecided
        for item in items:
            self._spend()
            if self._is_tainted(collection) or self._undecided - undecided > UNDECIDED:
                return self._rest(out, self._some(statement, current, target, from_all((collection,))))
            self._bind(target, item, current)
            bound = self._done(current)
            out.error = join(out.error, bound.error)
            after = self._turn(body, current, out)
            if after is None:
                return self._ended(out, None, [])
            current = after
        return self._ended(out, current, statement[4])

    def _turn(self, body: Code, env: Env, out: Exits) -> Env | None:
        """One turn of a loop: what the next one starts with; the ways out of it are added to `out`."""
        turn = self.block(body, env)
        after = join(turn.falls, turn.again)
        turn.again = None
        out.take(turn)
        return after

    def _rest(self, out: Exits, rest: Exits) -> Exits:
        """Behind turns that were taken and the rest, of which nobody knows how many there are."""
        out.falls, out.breaks = join(out.breaks, rest.falls), None
        out.take(rest)
        return out

    def _while(self, statement: Expr, env: Env) -> Exits:
        _, test, body, orelse, _, _ = statement
        out = Exits()
        current: Env | None = env
        undecided = self._undecided
        while current is not None:
            self._spend()
            answer = self.ask(test, current)
            out.take(self._done(current))
            if answer is None or self._undecided > undecided:  # nothing tells how long it goes on
                return self._rest(out, self._some(statement, current, None, None))
            if not answer:
                break
            current = self._turn(body, current, out)
        return self._ended(out, current, orelse)

    def _some(self, statement: Expr, env: Env, target: Expr | None, item: Any) -> Exits:
        """A loop of nobody knows how many turns: what its body binds is unknown all along."""
        *_, body, orelse, names, attributes = statement
        out = self._done(env)
        for name in names:
            env.names[name] = UNTOLD
        for name in attributes:
            self._store(UNTOLD, name, UNTOLD, env)
        inner = env.copy()
        if target is not None:
            self._bind(target, item, inner)
        tainted = len(self._tainted), self._all_tainted
        turned = Exits()
        after = self._turn(body, inner.copy(), turned)
        if (len(self._tainted), self._all_tainted) != tainted:  # a later turn sees what an earlier one changed
            turned = Exits()
            after = self._turn(body, inner, turned)
        out.take(turned)
        return self._ended(out, join(env, after), orelse)

    def _ended(self, out: Exits, current: Env | None, orelse: Code) -> Exits:
        """Behind a loop: by its end and what stands in `else`, or by `break`."""
        broken, out.breaks = out.breaks, None
        out.falls = None
        if current is not None:
            last = self.block(orelse, current)
            out.take(last)
            out.falls = last.falls
        out.falls = join(out.falls, broken)
        return out

    # --- handlers ---------------------------------------------------------------------------------------

    def _try(self, statement: Expr, env: Env) -> Exits:
        _, body, handlers, orelse, final = statement
        self._tries += bool(handlers)
        tried = self.block(body, env)
        self._tries -= bool(handlers)
        out = Exits()
        error, tried.error = tried.error, None
        raised, tried.raised = tried.raised, []
        out.take(tried)
        if tried.falls is not None:
            rest = self.block(orelse, tried.falls)
            out.take(rest)
            out.falls = rest.falls
        for types, name, code in handlers:
            entered, error, raised = self._entered(types, error, raised)
            if entered is None:
                continue
            if name is not None:
                entered.names[name] = NEW
            way = self.block(code, entered)
            if name is not None and way.falls is not None:
                way.falls.names.pop(name, None)
            out.take(way)
            out.falls = join(out.falls, way.falls)
        out.error = join(out.error, error)
        out.raised += raised
        return self._finally(out, final) if final else out

    def _entered(
        self, types: Sequence[Expr] | None, error: Env | None, raised: list[tuple[int | None, Class | None, Env]]
    ) -> tuple[Env | None, Env | None, list[tuple[int | None, Class | None, Env]]]:
        """What a handler sees, and what gets past it."""
        classes = [Class("builtins.BaseException", (), True)] if types is None else [self._class(t) for t in types]
        every = any(c is not None and c.name in ("builtins.BaseException", "builtins.Exception") for c in classes)
        entered = None if error is None else error.copy()
        past: list[tuple[int | None, Class | None, Env]] = []
        for site, class_, env in raised:
            answer = _catches(classes, class_)
            if answer is not True:
                past.append((site, class_, env))
            if answer is not False:
                entered = join(entered, env.copy())
                if site is not None:
                    self.caught.add(site)
        return entered, None if every else error, past

    def _finally(self, out: Exits, final: Code) -> Exits:
        env = out.falls
        for other in (out.breaks, out.again, out.returns, out.error, *(e for _, _, e in out.raised)):
            env = join(env, other)
        if env is None:
            return out
        last = self.block(final, env.copy())
        if last.falls is None:
            self.caught.update(site for site, _, _ in out.raised if site is not None)
            return last
        made = Exits()
        made.take(last)
        after = last.falls
        for way in ("falls", "breaks", "again", "returns", "error"):
            if getattr(out, way) is not None:
                setattr(made, way, join(getattr(made, way), after.copy()))
        made.raised += [(site, class_, after.copy()) for site, class_, _ in out.raised]
        if last.returns or last.breaks or last.again or last.error or last.raised:  # may go another way instead
            self.caught.update(site for site, _, _ in out.raised if site is not None)
        return made

    # --- match ------------------------------------------------------------------------------------------

    def _match(self, statement: Expr, env: Env) -> Exits:
        _, subject, cases = statement
        value = self.value(subject, env)
        out = self._done(env)
        out.falls = None
        current: Env | None = env
        for pattern, guard, body in cases:
            assert current is not None
            inner = current.copy()
            matched = answer = self._matches(pattern, value, inner)
            if answer is not False and guard is not None:
                holds = self.ask(guard, inner)
                answer = False if holds is False else None if None in (answer, holds) else True
                if answer is not True:  # what the pattern bound stays bound
                    current = inner.copy() if matched else join(current, inner.copy())
            bound = self._done(inner)
            out.error = join(out.error, bound.error)
            if answer is False:
                continue
            way = self.block(body, inner)
            out.take(way)
            out.falls = join(out.falls, way.falls)
            if answer is True:
                current = None
                break
        out.falls = join(out.falls, current)
        return out

    def _matches(self, pattern: Expr, value: Any, env: Env) -> bool | None:
        self._spend()
        match pattern[0]:
            case "as":
                answer = True if pattern[1] is None else self._matches(pattern[1], value, env)
                if pattern[2] is not None:
                    env.names[pattern[2]] = value
                return answer
            case "is":
                return self._same(value, pattern[1])
            case "=":
                return self._equal(value, self.value(pattern[1], env))
            case "or":
                answers = [self._matches(p, value, env) for p in pattern[1]]
                first = next((a for a in answers if a is not False), False)
                return True if first else (None if None in answers else False)
            case "seq":
                return self._matches_items(pattern[1], value, env)
            case "class":
                return self._matches_class(pattern, value, env)
            case "map":
                return self._matches_mapping(pattern, value, env)
        return None

    def _matches_mapping(self, pattern: Expr, value: Any, env: Env) -> bool | None:
        _, pairs, rest = pattern
        known = type(value) is dict and not self._is_tainted(value)
        if not known and (is_atom(value) or type(value) in CONTAINERS) and type(value) is not dict:
            return False
        answers: list[bool | None] = [True if known else None]
        keys = [self.value(key, env) for key, _ in pairs]
        for key, (_, inner) in zip(keys, pairs, strict=True):
            if known and not isinstance(key, Unknown) and not _is_hard(key):
                answers.append(self._matches(inner, value[key], env) if key in value else False)
            else:
                answers += [None, self._matches(inner, from_all((value,)), env)]
        if rest is not None:
            env.names[rest] = {k: v for k, v in value.items() if k not in keys} if known else from_all((value,))
        return False if False in answers else None if None in answers else True

    def _matches_items(self, patterns: Sequence[Expr], value: Any, env: Env) -> bool | None:
        known = isinstance(value, list | tuple) and not self._is_tainted(value)
        if not known and (is_atom(value) or isinstance(value, dict | set)):
            return False
        star = next((i for i, p in enumerate(patterns) if p[0] == "*"), None)
        items: Any = value if known else None
        if known and len(value) != len(patterns) and (star is None or len(value) < len(patterns) - 1):
            return False
        answers: list[bool | None] = [True if known else None]
        for position, pattern in enumerate(patterns):
            if pattern[0] == "*":
                if pattern[1] is not None:
                    env.names[pattern[1]] = (
                        list(items[position : len(items) - (len(patterns) - position - 1)])
                        if known
                        else from_all((value,))
                    )
                continue
            back = position if star is None or position < star else position - len(patterns)
            answers.append(self._matches(pattern, items[back] if known else from_all((value,)), env))
        return False if False in answers else None if None in answers else True

    def _matches_class(self, pattern: Expr, value: Any, env: Env) -> bool | None:
        _, class_, positional, named = pattern
        type_ = self.value(class_, env)
        answer = None if isinstance(type_, Unknown) or isinstance(value, Unknown) else is_instance(value, type_)
        if answer is False:
            return False
        answers: list[bool | None] = [answer]
        if positional:
            whole = type_ in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple) and len(positional) == 1
            answers += [self._matches(inner, value if whole else from_all((value,)), env) for inner in positional]
            if not whole:
                answers.append(None)
        for name, inner in named:
            part = self._attribute(value, name, env, default=MISSING)
            answers.append(False if part is MISSING else self._matches(inner, part, env))
        return False if False in answers else None if None in answers else True

    # --- tests ------------------------------------------------------------------------------------------

    def ask(self, node: Expr, env: Env) -> bool | None:
        """Whether an expression is true: None when that cannot be told."""
        self._spend()
        match node[0]:
            case "not":
                answer = self.ask(node[1], env)
                return None if answer is None else not answer
            case "and" | "or":
                return self._logic(node[0] == "or", node[1], env)
            case "c":
                return self._compare(node, env)
            case "if":
                return self._either(node, env)
            case "b()" if node[1] in ("any", "all") and len(node[2]) == 1 and node[2][0][0] == "comp":
                return self._any(node[1] == "any", node[2][0], env)
            case "b()" if node[1] == "isinstance" and len(node[2]) == 2:
                return self._isinstance(node[2], env)
        return self._truth(self.value(node, env))

    def _logic(self, stops: bool, nodes: Sequence[Expr], env: Env) -> bool | None:
        """`or` stops at the first that is true, `and` at the first that is not."""
        answer: bool | None = not stops
        for node in nodes:
            one = self.ask(node, env)
            if one is stops:
                return stops
            if one is None:
                answer = None
        return answer

    def _either(self, node: Expr, env: Env) -> bool | None:
        test = self.ask(node[1], env)
        if test is not None:
            return self.ask(node[2] if test else node[3], env)
        first, second = self.ask(node[2], env), self.ask(node[3], env)
        return first if first is second else None

    def _any(self, wanted: bool, node: Expr, env: Env) -> bool | None:
        """`any` or `all` over a comprehension, no further than Python would go."""
        unknown = False
        for inner, sure in self._turns(node[3], env):
            one = self.ask(node[2][0], inner)
            if one is wanted and sure:
                return wanted
            unknown = unknown or one is None or one is wanted
        return None if unknown else not wanted

    def _turns(self, clauses: Sequence[Expr], env: Env, sure: bool = True) -> Iterator[tuple[Env, bool]]:
        """The turns of a comprehension, and whether each is taken for certain: one for all when nobody knows them."""
        if not clauses:
            yield env, sure
            return
        target, iterable, tests = clauses[0]
        collection = self.value(iterable, env)
        items = self._items(collection)
        sure = sure and items is not None
        for item in (from_all((collection,)),) if items is None else items:
            self._spend()
            inner = Env(dict(env.names), env.heap)
            self._bind(target, item, inner)
            holds = self._logic(False, tests, inner)
            if holds is not False:
                yield from self._turns(clauses[1:], inner, sure and holds is True)

    def _isinstance(self, nodes: Sequence[Expr], env: Env) -> bool | None:
        value, class_ = self.value(nodes[0], env), self.value(nodes[1], env)
        if isinstance(value, Unknown) or isinstance(class_, Unknown):
            return None
        if isinstance(class_, tuple) and any(isinstance(c, Unknown) for c in class_):
            known = tuple(c for c in class_ if not isinstance(c, Unknown))
            return True if is_instance(value, known) else None
        return is_instance(value, class_)

    def _compare(self, node: Expr, env: Env) -> bool | None:
        left = self.value(node[1], env)
        answer: bool | None = True
        for op, right_node in node[2]:
            if op in ("in", "not in") and right_node[0] in ("t", "l", "s"):
                one = self._among(left, right_node[1], env)
                one = one if one is None or op == "in" else not one
                right: Any = NEW
            else:
                right = self.value(right_node, env)
                one = self._related(op, left, right)
            if one is False:
                return False
            if one is None:
                answer = None
            left = right
        return answer

    def _among(self, value: Any, nodes: Sequence[Expr], env: Env) -> bool | None:
        """`value in (a, b)`, where some of those may be unknown."""
        answer: bool | None = False
        for node in nodes:
            if node[0] == "*":
                one = self._related("in", value, self.value(node[1], env))
            else:
                one = self._equal(value, self.value(node, env))
            if one:
                return True
            answer = None if one is None else answer
        return answer

    def _related(self, op: str, left: Any, right: Any) -> bool | None:
        match op:
            case "==" | "!=":
                same = self._equal(left, right)
                return same if same is None or op == "==" else not same
            case "is" | "is not":
                same = self._same(left, right)
                return same if same is None or op == "is" else not same
            case "in" | "not in":
                inside = self._contains(left, right)
                return inside if inside is None or op == "in" else not inside
        if self._changeable(left) or self._changeable(right):
            self._unsure = True
            return None
        return self._bool(lambda: ORDERINGS[op](_plain(left), _plain(right)))

    def _changeable(self, value: Any) -> bool:
        """Whether the value, or something in it, is unknown or may have been changed."""
        if isinstance(value, Unknown):
            return True
        if is_atom(value):
            return False
        if isinstance(value, Typed) or self._all_tainted:
            return True
        if type(value) in VIEWS and self._is_tainted(value):
            return True
        if type(value) in CONTAINERS or type(value) in VIEWS or self._tainted:
            reached = _reached((value,))
            return reached is None or any(isinstance(o, Unknown) or id(o) in self._tainted for o in reached)
        return False

    def _equal(self, left: Any, right: Any) -> bool | None:
        if isinstance(left, Member) or isinstance(right, Member):
            own, other = (left, right) if isinstance(left, Member) else (right, left)
            return None if isinstance(other, Unknown) else member_equals(own, other)
        if isinstance(left, Class | type) and isinstance(right, Class | type):
            return self._same(left, right)
        if isinstance(left, Class) or isinstance(right, Class):
            return None if isinstance(left, Unknown) or isinstance(right, Unknown) else False
        if None in (left, right) if is_atom(left) and is_atom(right) else left is None or right is None:
            other = right if left is None else left
            if other is None or is_atom(other) or type(other) in CONTAINERS:
                return left is right
        if self._changeable(left) or self._changeable(right):
            return None
        if _has_member(left) or _has_member(right):
            return self._deep_equal(left, right)
        return self._bool(lambda: left == right)

    def _deep_equal(self, left: Any, right: Any) -> bool | None:
        if isinstance(left, list | tuple) and type(left) is type(right):
            if len(left) != len(right):
                return False
            answers = [self._equal(a, b) for a, b in zip(left, right, strict=True)]
            return False if False in answers else None if None in answers else True
        return None

    def _same(self, left: Any, right: Any) -> bool | None:
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return None
        if isinstance(left, Member) or isinstance(right, Member):
            own, other = (left, right) if isinstance(left, Member) else (right, left)
            same = member_equals(own, other)
            return (
                None
                if same and isinstance(other, str | int) and not (isinstance(other, str) and "." in other)
                else same
            )
        if isinstance(left, Class) and isinstance(right, Class):
            return left.name == right.name
        if isinstance(left, Class) or isinstance(right, Class):
            return False if isinstance(left, type) and left.__module__ == "builtins" else None
        if left is right:
            return True
        if type(left) is type(right) and is_atom(left) and not isinstance(left, bool | None | type):
            return None if left == right else False  # one object or two: Python's own affair
        return False

    def _contains(self, item: Any, collection: Any) -> bool | None:
        if isinstance(collection, Unknown) or self._is_tainted(collection) or self._is_tainted(item):
            self._unsure = True
            return None
        if type(collection) in CONTAINERS or type(collection) in VIEWS:
            if len(collection) > MAX_ITEMS:
                self._spend(MAX_ITEMS)
            if isinstance(item, Unknown):
                return None if len(collection) else False
            if not _is_hard(item) and not any(map(_is_hard, collection)):
                return self._bool(lambda: item in collection)
            answer: bool | None = False
            for other in collection:
                self._spend()
                one = self._equal(item, other)
                if one:
                    return True
                answer = None if one is None else answer
            return answer
        if isinstance(item, Unknown) or isinstance(collection, Typed | Member | Class):
            self._unsure = True
            return None
        if isinstance(collection, str) and isinstance(item, Member):
            return None
        if self._changeable(collection):
            return None
        return self._bool(lambda: item in collection)

    def _truth(self, value: Any) -> bool | None:
        if isinstance(value, Unknown):
            self._unsure = True
            return None
        if isinstance(value, Member):
            if value.kind:
                return None if isinstance(value.value, Unknown) else bool(value.value)
            return None if isinstance(value.value, Unknown) else True
        if isinstance(value, Class) or value is None or value is True or value is False:
            return bool(value)
        if self._is_tainted(value):
            return None if type(value) in CONTAINERS or _has_truth(value) else True
        if isinstance(value, Typed):
            return True if not value._type_name else None
        return self._bool(lambda: value)

    def _bool(self, ask: Callable[[], Any]) -> bool | None:
        try:
            return bool(ask())
        except RecursionError:
            raise
        except Exception:
            self._raised = True
            return None

    # --- values -----------------------------------------------------------------------------------------

    def value(self, node: Expr, env: Env) -> Any:
        """The value of an expression, `Unknown` when it cannot be told."""
        self._spend()
        return VALUES[node[0]](self, node, env)

    def _constant(self, node: Expr, env: Env) -> Any:
        return node[1]

    def _name(self, node: Expr, env: Env) -> Any:
        return env.names.get(node[1], UNTOLD)

    def _global(self, node: Expr, env: Env) -> Any:
        found = self._globals[node[1]]
        if type(found) is Told:
            value = self._given.get(found.name, UNTOLD)
            for name in found.attributes:
                value = self._attribute(value, name, env)
            return value
        return found

    def _dot(self, node: Expr, env: Env) -> Any:
        return self._attribute(self.value(node[1], env), node[2], env)

    def _attribute(self, owner: Any, name: str, env: Env, default: Any = None) -> Any:
        """An attribute as the function would read it. With a `default`, one that is not there is no error."""
        if isinstance(owner, Unknown):
            self._unsure = True
            return from_all((owner,))
        if name.startswith("__"):
            return UNTOLD
        known = env.heap.get((id(owner), name))
        if known is not None:
            return known[1]
        if (0, name) in env.heap and not is_atom(owner):
            return UNTOLD
        if isinstance(owner, Member):
            return owner.name if name == "name" else owner.value if name == "value" else UNTOLD
        if isinstance(owner, Class):
            return UNTOLD
        if self._is_tainted(owner):
            self._unsure = True
            return from_all((owner,))
        try:
            return getattr(owner, name)
        except AttributeError:
            if default is not None and not isinstance(owner, Typed):
                return default
        except RecursionError:
            raise
        except Exception:
            pass
        self._raised = True
        return from_all((owner,))

    def _subscript(self, node: Expr, env: Env) -> Any:
        owner, key = self.value(node[1], env), self.value(node[2], env)
        if self._changeable(owner) and not (type(owner) in CONTAINERS and not self._is_tainted(owner)):
            self._unsure = True
            return from_all((owner,))
        if isinstance(key, Unknown | Member) or self._changeable(key):
            self._unsure = True
            return from_all((owner,))
        return self._try_value(lambda: owner[key], owner)

    def _slice(self, node: Expr, env: Env) -> Any:
        parts = [None if part is None else self.value(part, env) for part in node[1:]]
        return from_all(parts) if any(isinstance(p, Unknown) for p in parts) else slice(*parts)

    def _try_value(self, compute: Callable[[], Any], *given: Any) -> Any:
        """The result, or an unknown value when computing it raises."""
        try:
            value = compute()
        except RecursionError:
            raise
        except Exception:
            self._raised = True
            return from_all(given)
        return from_all(given) if value is NotImplemented else value

    def _unary(self, node: Expr, env: Env) -> Any:
        value = self.value(node[2], env)
        if self._changeable(value) or isinstance(value, Member | Class):
            self._unsure = True
            return from_all((value,))
        return self._try_value(lambda: UNARY[node[1]](value), value)

    def _binary(self, node: Expr, env: Env) -> Any:
        return self._operate(node[1], self.value(node[2], env), self.value(node[3], env))

    def _operate(self, op: str, left: Any, right: Any) -> Any:
        left, right = _plain(left), _plain(right)
        if self._changeable(left) or self._changeable(right) or isinstance(left, Member) or isinstance(right, Member):
            self._unsure = True
            return from_all((left, right))
        if isinstance(left, Class) or isinstance(right, Class):
            return _union(left, right) if op == "|" else from_all((left, right))
        if not _is_bounded(op, left, right):
            return from_all((left, right))
        if type(left) not in BUILTIN or type(right) not in BUILTIN:
            self._taint((left, right))  # a method of theirs is called
        return self._try_value(lambda: BINARY[op](left, right), left, right)

    def _choose(self, node: Expr, env: Env) -> Any:
        """`a if t else b`."""
        test = self.ask(node[1], env)
        if test is not None:
            return self.value(node[2] if test else node[3], env)
        return either(self.value(node[2], env), self.value(node[3], env))

    def _first(self, node: Expr, env: Env) -> Any:
        """`a or b`, `a and b` as values."""
        stops = node[0] == "or"
        maybe: list[Any] = []
        for inner in node[1][:-1]:
            value = self.value(inner, env)
            answer = self._truth(value)
            if answer is stops:
                return from_all((*maybe, value)) if maybe else value
            if answer is None:
                maybe.append(value)
        value = self.value(node[1][-1], env)
        return from_all((*maybe, value)) if maybe else value

    def _test(self, node: Expr, env: Env) -> Any:
        answer = self.ask(node, env)
        return NEW if answer is None else answer

    def _display(self, node: Expr, env: Env) -> Any:
        """A tuple, list or set; unknown when one of its items is, but for a tuple of classes."""
        items: list[Any] = []
        for inner in node[1]:
            if inner[0] == "*":
                spread = self._items(self.value(inner[1], env))
                if spread is None:
                    return UNTOLD
                items += spread
            else:
                items.append(self.value(inner, env))
        if node[0] == "s":
            if any(isinstance(i, Unknown) or _is_hard(i) for i in items):
                return from_all(items)
            return self._try_value(lambda: set(items), *items)
        return tuple(items) if node[0] == "t" else items

    def _dict(self, node: Expr, env: Env) -> Any:
        found: dict[Any, Any] = {}
        values: list[Any] = []
        for key, inner in node[1]:
            value = self.value(inner, env)
            values.append(value)
            name = None if key is None else self.value(key, env)
            if key is None and type(value) is dict and not self._is_tainted(value):
                found |= value
                continue
            if key is None or isinstance(name, Unknown) or _is_hard(name):
                return from_all((*values, name))
            try:
                found[name] = value
            except TypeError:
                self._raised = True
                return from_all(values)
        return found

    def _text(self, node: Expr, env: Env) -> Any:
        """An f-string."""
        pieces: list[str] = []
        for piece in node[1]:
            if isinstance(piece, str):
                pieces.append(piece)
                continue
            value = self.value(piece[0], env)
            if type(value) not in (str, int, float, bool, type(None)):
                return NEW
            pieces.append(str(value) if piece[1] is None else repr(value) if piece[1] == "r" else ascii(value))
        return "".join(pieces)[:MAX_TEXT]

    def _comprehension(self, node: Expr, env: Env) -> Any:
        kind, elements, clauses = node[1:]
        found: list[Any] = []
        known = True
        for inner, sure in self._turns(clauses, env):
            values = [self.value(element, inner) for element in elements]
            known = known and sure and not any(isinstance(v, Unknown) for v in values)
            found.append(tuple(values) if kind == "d" else values[0])
            if len(found) > MAX_ITEMS:
                raise OutOfBudget
        if not known:
            return UNTOLD
        if kind in ("l", "g"):
            return found
        if kind == "s":
            return UNTOLD if any(map(_is_hard, found)) else self._try_value(lambda: set(found))
        return UNTOLD if any(_is_hard(k) for k, _ in found) else self._try_value(lambda: dict(found))

    def _walrus(self, node: Expr, env: Env) -> Any:
        value = self.value(node[2], env)
        env.names[node[1]] = value
        return value

    # --- calls ------------------------------------------------------------------------------------------

    def _unknown_call(self, node: Expr, env: Env) -> Any:
        """A call that is not made: it may have changed what it was given."""
        given = [self.value(inner, env) for inner in node[1]]
        self._unsure = True
        self._taint(given)
        return from_all(given)

    def _local(self, node: Expr, env: Env) -> Any:
        """What a call that is not made gave to a local name, if the caller told."""
        result = self._unknown_call([None, node[2]], env)
        return self._given.get(node[1], result)

    def _unfollowed(self, node: Expr, env: Env) -> Any:
        """An expression that only reads, and is not followed."""
        self._unsure = True
        return from_all([self.value(inner, env) for inner in node[1]])

    def _call_value(self, node: Expr, env: Env) -> Any:
        """A call of a callable that the caller gave."""
        function = self.value(node[1], env)
        given = [self.value(inner, env) for inner in node[2]]
        return self._made(function, None, given, {k: self.value(v, env) for k, v in node[3]})

    def _method(self, node: Expr, env: Env) -> Any:
        owner = self.value(node[1], env)
        name = node[2]
        given = [self.value(inner, env) for inner in node[3]]
        named = {key: self.value(inner, env) for key, inner in node[4]}
        values = (owner, *given, *named.values())
        kind = type(owner)
        if kind in HARMLESS:
            if name not in HARMLESS[kind]:
                self._taint(values)
                return from_all(values)
            if any(isinstance(v, Unknown | Member) for v in values[1:]) or self._is_tainted(owner):
                self._unsure = True
                return from_all(values)
            if any(isinstance(v, int) and abs(v) > MAX_TEXT for v in values[1:]) or _is_long(name, owner, given):
                return NEW
            result: Any = self._try_value(lambda: getattr(owner, name)(*given, **named), *values)
            if type(result) in VIEWS:
                self._views[id(result)] = (result, owner)
            return result
        if isinstance(owner, Unknown | Member | Class | Typed) and not (
            isinstance(owner, Typed) and callable(getattr(owner, name, None))
        ):
            self._unsure = True
            self._taint(values)
            return from_all(values)
        function = self._attribute(owner, name, env)
        return self._made(function, owner, given, named)

    def _made(self, function: Any, owner: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Calls what the caller gave, if all that it is given is known. Afterwards all of that may have changed."""
        values = (owner, *given, *named.values())
        if isinstance(function, Unknown) or not callable(function) or isinstance(function, Class):
            self._unsure = True
            self._taint(values)
            return from_all(values)
        if any(isinstance(v, Class | Member) or self._changeable(v) for v in values[1:]) or isinstance(function, type):
            self._taint(values)
            self._unsure = True
            return from_all(values)
        result = self._try_value(lambda: function(*given, **named), *values)
        bound = getattr(function, "__self__", None)
        self._taint((*given, *named.values(), None if isinstance(bound, ModuleType) else bound))
        return result

    def _builtin(self, node: Expr, env: Env) -> Any:
        name, nodes, named = node[1], node[2], node[3]
        if name in ("any", "all", "isinstance"):
            answer = self.ask(node, env) if name == "isinstance" or nodes[0][0] == "comp" else None
            if name == "isinstance" or nodes[0][0] == "comp":
                return NEW if answer is None else answer
        values = [self.value(inner, env) for inner in nodes]
        keywords = {key: self.value(inner, env) for key, inner in named}
        if name in ("getattr", "hasattr"):
            return self._getattr(name, values, env)
        if name == "bool" and len(values) == 1:
            answer = self._truth(values[0])
            return NEW if answer is None else answer
        if name == "callable":
            return NEW if isinstance(values[0], Unknown | Typed) else callable(values[0])
        if name == "type":
            return _type_of(values[0])
        if name == "len" and type(values[0]) in (*CONTAINERS, *VIEWS) and not self._is_tainted(values[0]):
            return len(values[0])
        everything = (*values, *keywords.values())
        if name in ("str", "repr", "int", "float") and any(not is_atom(v) for v in everything):
            self._unsure = True
            return from_all(everything)
        if any(self._changeable(v) or isinstance(v, Class) or _is_hard(v) for v in everything):
            self._unsure = True
            return from_all(everything)
        for value in everything:
            size = len(value) if type(value) in (*CONTAINERS, range) else 0
            if (size > MAX_ITEMS and name != "range") or (isinstance(value, str) and len(value) > MAX_TEXT):
                return from_all(everything)
        result = self._try_value(lambda: BUILTINS[name](*values, **keywords), *everything)
        if name in ("enumerate", "zip", "reversed") and not isinstance(result, Unknown):
            return list(result)
        return result

    def _getattr(self, name: str, values: Sequence[Any], env: Env) -> Any:
        if len(values) < 2 or not isinstance(values[1], str):
            return from_all(values)
        default = values[2] if len(values) > 2 else None
        found = self._attribute(values[0], values[1], env, MISSING if name == "hasattr" or len(values) > 2 else None)
        if name == "hasattr":
            return NEW if isinstance(found, Unknown) else found is not MISSING
        return default if found is MISSING else found

    # --- what may have been changed ---------------------------------------------------------------------

    def _items(self, value: Any) -> Sequence[Any] | None:
        """The items of a collection that can be walked without changing it."""
        if (isinstance(value, WALKABLE) or type(value) in VIEWS) and not self._is_tainted(value):
            if len(value) > MAX_ITEMS:
                raise OutOfBudget
            return list(value)
        self._unsure = True
        if isinstance(value, int | float | bool) or value is None:
            self._raised = True
        return None

    def _is_tainted(self, value: Any) -> bool:
        if id(value) in self._tainted or (id(value) in self._views and self._is_tainted(self._views[id(value)][1])):
            return True
        return self._all_tainted and not is_atom(value) and type(value) is not tuple

    def _taint_one(self, value: Any) -> None:
        """The object itself may have changed: an item was set."""
        if isinstance(value, Unknown):
            self._taint((value,))
        else:
            self._tainted[id(value)] = value

    def _taint(self, values: Sequence[Any]) -> None:
        """All that can be reached from these may have changed."""
        reached = _reached(values)
        if reached is None:
            self._all_tainted = True
            return
        for value in reached:
            if isinstance(value, Unknown):
                self._all_tainted = self._all_tainted or value.anything
                self._taint(value.held)
            elif type(value) is not tuple:
                self._tainted[id(value)] = value


class Told:
    """A global name of the function that the caller may tell, and what is read from it."""

    __slots__ = ("attributes", "name")

    def __init__(self, name: str, attributes: tuple[str, ...]) -> None:
        self.name = name
        self.attributes = attributes


def _reached(values: Sequence[Any]) -> list[Any] | None:
    """The objects themselves, and what can be got at from them; None when those are too many."""
    seen: dict[int, Any] = {}
    stack = [v for v in values if not is_atom(v)]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if len(seen) > MAX_REACHED:
            return None
        if isinstance(value, dict):
            stack += [o for pair in value.items() for o in pair if not is_atom(o)]
        elif isinstance(value, list | tuple | set | frozenset) or type(value) in VIEWS:
            stack += [o for o in value if not is_atom(o)]
        elif not isinstance(value, Unknown | ModuleType) and not callable(value):
            try:
                inner = object.__getattribute__(value, "__dict__")
                stack += [o for o in inner.values() if not is_atom(o)]
            except Exception:
                continue
    return list(seen.values())


class _Missing:
    pass


MISSING: Any = _Missing()


def _catches(handlers: Sequence[Class | None], raised: Class | None) -> bool | None:
    """Whether handlers of these classes take what is raised."""
    names = {h.name for h in handlers if h is not None}
    if "builtins.BaseException" in names:
        return True
    if raised is None:
        return None
    if names & {raised.name, *raised.bases}:
        return True
    return False if raised.known and None not in handlers else None


def _plain(value: Any) -> Any:
    """A member of an enum of numbers or strings, as such."""
    if isinstance(value, Member) and value.kind and not isinstance(value.value, Unknown):
        return value.value
    return value


def _is_hard(value: Any) -> bool:
    """Whether Python's own equality would not do."""
    return isinstance(value, Member | Class | Unknown) or (isinstance(value, tuple) and any(map(_is_hard, value)))


def _has_member(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset | dict) and any(map(_is_hard, value))


def _has_truth(value: Any) -> bool:
    return hasattr(type(value), "__bool__") or hasattr(type(value), "__len__")


def _type_of(value: Any) -> Any:
    if isinstance(value, Unknown | Typed | Member | SimpleNamespace):
        return NEW
    return type(value)


def _union(left: Any, right: Any) -> Any:
    """`A | B` in `isinstance`."""
    first = left if isinstance(left, tuple) else (left,)
    return (*first, *(right if isinstance(right, tuple) else (right,)))


def _is_long(name: str, text: Any, given: Sequence[Any]) -> bool:
    """Whether a method of texts would take or give too much."""
    if not isinstance(text, str | bytes):
        return False
    sizes = [len(v) for v in given if isinstance(v, str | bytes)]
    return len(text) * (max(sizes, default=0) if name in ("replace", "join") else 1) > MAX_TEXT


def _is_bounded(op: str, left: Any, right: Any) -> bool:
    """Whether the result is of a size that is worth having."""
    numbers = isinstance(left, int) and isinstance(right, int)
    if numbers and (left.bit_length() > MAX_BITS or right.bit_length() > MAX_BITS):
        return False
    if op == "**":
        if isinstance(left, int) and isinstance(right, int):
            return abs(right) * max(1, left.bit_length()) <= MAX_BITS
        return isinstance(left, int | float) and isinstance(right, int | float)
    if op == "<<":
        return not numbers or right <= MAX_BITS
    if op in ("*", "+"):
        sizes = [len(v) for v in (left, right) if isinstance(v, str | bytes | list | tuple)]
        count = next((v for v in (left, right) if isinstance(v, int)), 1) if op == "*" else 1
        return sum(sizes) * max(1, count) <= MAX_TEXT
    return not (op == "%" and isinstance(left, str | bytes))


WALKABLE = (list, tuple, range, dict, set, frozenset, str)
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
BUILTIN = frozenset(
    {int, float, bool, complex, str, bytes, list, tuple, dict, set, frozenset, type(None), range, *VIEWS}
)
ORDERINGS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "|": operator.or_,
    "&": operator.and_, "^": operator.xor,
}  # fmt: skip
BUILTINS: dict[str, Callable[..., Any]] = {
    name: getattr(builtins, name)
    for name in (
        "abs all any bool callable dict divmod enumerate float frozenset getattr hasattr int isinstance len list max "
        "min ord range repr reversed round set sorted str sum tuple type zip"
    ).split()
}
_SEQUENCE = frozenset("count index copy".split())
_SET = frozenset("copy difference intersection isdisjoint issubset issuperset symmetric_difference union".split())
_TEXT = frozenset(
    "capitalize casefold count encode endswith find index isalnum isalpha isascii isdecimal isdigit isidentifier "
    "islower isnumeric isspace istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex "
    "rpartition rsplit rstrip split splitlines startswith strip swapcase title upper".split()
)
# what may be called on values of Python's own types: it changes nothing and is done soon
HARMLESS: dict[type, frozenset[str]] = {
    str: _TEXT,
    bytes: frozenset("count endswith find isdigit startswith".split()),
    int: frozenset({"bit_count", "bit_length"}),
    bool: frozenset(),
    float: frozenset({"is_integer"}),
    type(None): frozenset(),
    list: _SEQUENCE,
    tuple: _SEQUENCE,
    range: _SEQUENCE,
    set: _SET,
    frozenset: _SET,
    dict: frozenset("copy get items keys values".split()),
}

STATEMENTS: dict[str, Callable[[Machine, Expr, Env], Exits]] = {
    "=": Machine._assign,
    "o=": Machine._augment,
    "e": Machine._expression,
    "if": Machine._if,
    "for": Machine._for,
    "while": Machine._while,
    "try": Machine._try,
    "match": Machine._match,
    "ret": Machine._return,
    "brk": Machine._break,
    "cont": Machine._continue,
    "raise": Machine._raise,
    "assert": Machine._assert,
    "risk": Machine._risk,
    "hav": Machine._forget,
    "w": Machine._watch,
}
VALUES: dict[str, Callable[[Machine, Expr, Env], Any]] = {
    "k": Machine._constant,
    "n": Machine._name,
    "g": Machine._global,
    "a": Machine._dot,
    "i": Machine._subscript,
    "sl": Machine._slice,
    "u": Machine._unary,
    "o": Machine._binary,
    "c": Machine._test,
    "not": Machine._test,
    "and": Machine._first,
    "or": Machine._first,
    "if": Machine._choose,
    "t": Machine._display,
    "l": Machine._display,
    "s": Machine._display,
    "d": Machine._dict,
    "f": Machine._text,
    "comp": Machine._comprehension,
    ":=": Machine._walrus,
    "?": Machine._unknown_call,
    "?l": Machine._local,
    "~": Machine._unfollowed,
    "v()": Machine._call_value,
    "m": Machine._method,
    "b()": Machine._builtin,
}
