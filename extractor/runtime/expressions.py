"""Owns expressions: their values, and whether they are true, with Kleene's logic where something is not known.

Nothing runs but operators, harmless methods of Python's own types, a short list of builtins, and methods of the
objects that the caller gave. Sizes are bounded. An expression that raises while asking is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .memory import MAX_ITEMS, UNBOUND, Env, Expr, OutOfBudget, either, from_all
from .operations import MAX_TEXT, UNARY, Operations
from .relations import is_hard
from .values import CONTAINERS, NEW, UNTOLD, Class, Member, Told, Unknown, is_atom, is_instance


class Expressions(Operations):
    """What expressions come to."""

    # --- tests ------------------------------------------------------------------------------------------

    def ask(self, node: Expr, env: Env) -> bool | None:
        """Whether an expression is true: None when that cannot be told."""
        self._left -= 1
        if self._left < 0:
            raise OutOfBudget
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
                one = self._is_item(value, self.value(node, env))
            if one:
                return True
            answer = None if one is None else answer
        return answer

    # --- values -----------------------------------------------------------------------------------------

    def value(self, node: Expr, env: Env) -> Any:
        """The value of an expression, `Unknown` when it cannot be told."""
        self._left -= 1  # as `_spend`, which is called too often here
        if self._left < 0:
            raise OutOfBudget
        return VALUES[node[0]](self, node, env)

    def _constant(self, node: Expr, env: Env) -> Any:
        return node[1]

    def _name(self, node: Expr, env: Env) -> Any:
        value = env.names.get(node[1], UNBOUND)
        self._unsure = self._unsure or value is UNBOUND
        return value

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

    def _unary(self, node: Expr, env: Env) -> Any:
        value = self.value(node[2], env)
        if self._changeable(value) or isinstance(value, Member | Class):
            self._unsure = True
            return from_all((value,))
        return self._try_value(lambda: UNARY[node[1]](value), value)

    def _binary(self, node: Expr, env: Env) -> Any:
        return self._operate(node[1], self.value(node[2], env), self.value(node[3], env))

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
            if any(isinstance(i, Unknown) or is_hard(i) for i in items):
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
            if key is None or isinstance(name, Unknown) or is_hard(name):
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
            return UNTOLD if any(map(is_hard, found)) else self._try_value(lambda: set(found))
        return UNTOLD if any(is_hard(k) for k, _ in found) else self._try_value(lambda: dict(found))

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
        given = [self.value(inner, env) for inner in node[3]]
        named = {key: self.value(inner, env) for key, inner in node[4]}
        return self._call_method(owner, node[2], given, named, env)

    def _builtin(self, node: Expr, env: Env) -> Any:
        name, nodes, named = node[1], node[2], node[3]
        if name == "isinstance" or (name in ("any", "all") and nodes[0][0] == "comp"):
            answer = self.ask(node, env)
            return NEW if answer is None else answer
        values = [self.value(inner, env) for inner in nodes]
        return self._call_builtin(name, values, {key: self.value(inner, env) for key, inner in named}, env)


VALUES: dict[str, Callable[[Expressions, Expr, Env], Any]] = {
    "k": Expressions._constant,
    "n": Expressions._name,
    "g": Expressions._global,
    "a": Expressions._dot,
    "i": Expressions._subscript,
    "sl": Expressions._slice,
    "u": Expressions._unary,
    "o": Expressions._binary,
    "c": Expressions._test,
    "not": Expressions._test,
    "and": Expressions._first,
    "or": Expressions._first,
    "if": Expressions._choose,
    "t": Expressions._display,
    "l": Expressions._display,
    "s": Expressions._display,
    "d": Expressions._dict,
    "f": Expressions._text,
    "comp": Expressions._comprehension,
    ":=": Expressions._walrus,
    "?": Expressions._unknown_call,
    "?l": Expressions._local,
    "~": Expressions._unfollowed,
    "v()": Expressions._call_value,
    "m": Expressions._method,
    "b()": Expressions._builtin,
}
