"""Owns the evaluation of symbolic expressions to messages: what a user would see, all variants of it.

Evaluation runs once for each variant: where a branch cannot be decided, a run takes one side and notes it,
and the next run takes the other. A branch that was met before in the run decides alike, so pieces that
depend on one condition stay together. Nothing is dropped: what cannot be followed becomes a hole.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import cleandoc
from typing import Any

from extractor import expr, values
from extractor import symbolic as sym
from extractor.expr import UnknownValue
from extractor.tree import BUILTIN_EXCEPTIONS, ClassRef, External, FunctionRef, Names, ValueRef
from extractor.values import (
    Closure, Exception_, Gap, Known, Named, Series, Table, Text, Unknown, Value, shown, source_of, text,
)  # fmt: skip

MAX_VARIANTS = 16
MAX_RUNS = 32
MAX_CALLS = 8  # helpers within helpers

BARE_WORDS = re.compile(r"\.\.\.|[a-z_.]+\(\)")  # a call without arguments is no constant
Summaries = Callable[[str, int, int], sym.Function | None]


class Infeasible(Exception):
    """This run took a way on which control never arrives."""


class Undecided(Exception):
    """The run may not fork any further: the branch stays a hole."""


@dataclass(slots=True)
class Frame:
    """One call: what its names stand for. `attributes` are those of the object that its first parameter is."""

    path: str
    id: str = ""
    names: dict[str, Callable[[], Value]] = field(default_factory=dict)
    outer: Frame | None = None
    self_name: str | None = None
    owner: ClassRef | None = None
    attributes: dict[str, Callable[[], Value]] = field(default_factory=dict)
    base_text: Callable[[], Value] | None = None  # what `super().__str__()` gives
    calls: int = 0

    def lookup(self, name: str) -> Callable[[], Value] | None:
        """The binding of a parameter, in this call or one that it is nested in."""
        found = self.names.get(name)
        return found if found is not None or self.outer is None else self.outer.lookup(name)


Assumed = tuple[tuple[int, sym.Expr, bool], ...]


def results(
    node: sym.Expr, frame: Frame, names: Names, summaries: Summaries, assumed: Assumed = ()
) -> list[Exception_]:
    """What the site raises: its variants, each once. With too many, later branches stay holes.

    `assumed` are tests that were passed on the way: what contradicts them cannot be raised.
    """
    for forks in (None, 4, 0):
        found: list[Exception_] = []
        script: list[bool] | None = []
        runs = 0
        while script is not None and len(found) <= MAX_VARIANTS and runs < MAX_RUNS:
            run = Evaluation(names, summaries, script, forks)
            runs += 1
            try:
                made = run.under(assumed, node, frame)
                if made not in found:
                    found.append(made)
            except Infeasible:
                pass
            script = run.next_script()
        if script is None and found and len(found) <= MAX_VARIANTS:
            return found
    if assumed and not found:
        return results(node, frame, names, summaries)
    src = sym.source(node)
    return found[:MAX_VARIANTS] or [Exception_(src, None, text(Gap(src)))]


class Evaluation:
    """One run over one variant."""

    def __init__(self, names: Names, summaries: Summaries, script: list[bool], forks: int | None) -> None:
        self.names = names
        self.summaries = summaries
        self._script = script
        self._forks = forks
        self._decided: dict[object, bool] = {}
        self._choices: list[bool] = []

    def next_script(self) -> list[bool] | None:
        """The next run's choices; None when all have been taken."""
        choices = list(self._choices)
        while choices and not choices[-1]:
            choices.pop()
        return [*choices[:-1], False] if choices else None

    def _decide(self, key: object) -> bool:
        if key not in self._decided:
            at = len(self._choices)
            if self._forks is not None and at >= self._forks:
                raise Undecided
            choice = self._script[at] if at < len(self._script) else True
            self._choices.append(choice)
            self._decided[key] = choice
        return self._decided[key]

    # --- exceptions -------------------------------------------------------------------------------------

    def under(self, assumed: Assumed, node: sym.Expr, frame: Frame) -> Exception_:
        """What is raised when the assumed tests came out as they did. Raises `Infeasible`."""
        for key, _, holds in assumed:
            self._decided.setdefault((frame.id, key), holds)
        made = self.raised(node, frame)
        self._forks = 0  # a test is only asked whether it contradicts what was decided
        for _, test, holds in assumed:
            try:
                if self.truth(test, frame) is (not holds):
                    raise Infeasible
            except Undecided:
                continue
        return made

    def raised(self, node: sym.Expr, frame: Frame) -> Exception_:
        """What `raise node` raises."""
        value = self.value(node, frame)
        match value:
            case Exception_():
                return value
            case Named(ClassRef() | External() as entity):
                return self._made(entity, value.src, (), {}, frame)
            case Known(None):
                raise Infeasible  # a variable that has a value by then
        if isinstance(node, sym.Call) and isinstance(value, Unknown):
            func = self.value(node.func, frame)
            if _is_class_like(node.func):
                args, kwargs = self.arguments(node, frame)
                if isinstance(func, Named) and isinstance(func.entity, ClassRef | External):
                    return self._made(func.entity, func.src, args, kwargs, frame)
                return Exception_(source_of(func) or "...", None, _joined(args))
        src = source_of(value) or "..."
        return Exception_(src, None, text(Gap(src)))

    def _made(
        self, entity: ClassRef | External, src: str, args: tuple[Value, ...], kwargs: dict[str, Value], frame: Frame
    ) -> Exception_:
        from extractor import construct

        return construct.exception(self, entity, src, args, kwargs, frame)

    # --- values -----------------------------------------------------------------------------------------

    def value(self, node: sym.Expr, frame: Frame) -> Value:
        """The value of any expression."""
        match node:
            case sym.Lit(value):
                return text(value) if isinstance(value, str) else Known(value)
            case sym.Join(items):
                return text(*(p for item in items for p in self._text(item, frame).pieces))
            case sym.Hole():
                return self._text(node, frame)
            case sym.Name():
                return self._name(node, frame)
            case sym.Alias(inner, src):
                return self._alias(inner, frame) or Unknown(self.written(src, frame))
            case sym.Add():
                return self._add(node, frame)
            case sym.Cond():
                return self._cond(node, frame)
            case sym.Call():
                return self._call(node, frame)
            case sym.Method():
                return self._method(node, frame)
            case sym.Percent(left, right, src):
                return self._percent(node, frame)
            case sym.Times(left, right, src):
                return self._times(self.value(left, frame), self.value(right, frame), self.written(src, frame))
            case sym.Sequence(kind, items, src):
                return self._series(kind, items, src, frame)
            case sym.Mapping(items, src):
                pairs = tuple((self.value(k, frame), self.value(v, frame)) for k, v in items)
                return Table(pairs, self.written(src, frame))
            case sym.Item(value, key, src):
                return self._item(node, frame)
            case sym.Attr(value, name, src):
                return Unknown(self.written(src, frame))
            case sym.Lambda(function):
                return Closure(function, frame, "...")
            case sym.Gone():
                raise Infeasible
            case sym.Opaque():
                return self._opaque(node, frame)
        return Unknown(self.written(sym.source(node), frame))

    def _text(self, node: sym.Expr, frame: Frame) -> Text:
        if isinstance(node, sym.Lit) and isinstance(node.value, str):
            return Text((node.value,))
        if not isinstance(node, sym.Hole):
            return shown(self.value(node, frame))
        spec = None
        if node.spec is not None:
            spec = "".join(map(str, self._text(node.spec, frame).pieces)) or None
        value = self.value(node.value, frame)
        if isinstance(value, Series | Table) and not isinstance(node.value, sym.Sequence | sym.Alias):
            value = Unknown(value.src)
        return shown(value, node.conversion, spec)

    def _name(self, node: sym.Name, frame: Frame) -> Value:
        bound = frame.lookup(node.dotted) if node.local else None
        if bound is not None:
            return bound()
        if node.local:
            root, _, rest = node.dotted.partition(".")
            if root == frame.self_name and rest:
                if rest in frame.attributes:
                    return frame.attributes[rest]()
                found = self._attribute(rest, frame)
                if found is not None:
                    return found
            return Unknown(self.written(node.dotted, frame))
        return self._global(node.dotted, frame)

    def _alias(self, inner: sym.Expr, frame: Frame) -> Value | None:
        """A local in a hole: its text, if it has any. One of several numbers or lists, or of a table, is data:
        there the name says more, and it covers them all."""
        if isinstance(inner, sym.Item) and isinstance(self.value(inner.value, frame), Table):
            if not isinstance(self.value(inner.key, frame), Text | Known):
                return None
        value = self.value(inner, frame)
        if isinstance(value, Known | Series) and isinstance(inner, sym.Cond):
            return None
        return value if isinstance(value, Text | Known | Series | Exception_) else None

    def _attribute(self, name: str, frame: Frame) -> Value | None:
        """`self.NAME`, where the class says once and for all what that is."""
        if frame.owner is None or "." in name:
            return None
        entity = self.names.attribute(frame.owner, name)
        if isinstance(entity, FunctionRef):
            if self.names.is_overridden(frame.owner, name):
                return None
            if any(t.split(".")[-1] in ("property", "cached_property") for t in entity.span.traits):
                return self._returned(entity, (), {}, frame, receiver=frame)
            return Named(entity, f"{frame.self_name}.{name}")
        if isinstance(entity, ValueRef) and self.names.is_fixed(frame.owner, name):
            return self._constant(entity.path, entity.name)
        return None

    def _global(self, dotted: str, frame: Frame) -> Value:
        entity = self.names.resolve(frame.path, dotted)
        if isinstance(entity, ClassRef | FunctionRef | External):
            if isinstance(entity, External) and not entity.name.startswith("builtins."):
                found = self._constant(frame.path, dotted)
                if found is not None:
                    return found
            return Named(entity, dotted)
        if isinstance(entity, ValueRef) and entity.owner is not None and self.names.is_enum(entity.owner):
            return Unknown(self.written(dotted, frame))
        return self._constant(frame.path, dotted) or Unknown(self.written(dotted, frame))

    def _constant(self, path: str, dotted: str) -> Value | None:
        try:
            return _folded(self.names.constant(path, dotted)[0], dotted)
        except UnknownValue:
            return None

    def _opaque(self, node: sym.Opaque, frame: Frame) -> Value:
        if node.closed and not BARE_WORDS.fullmatch(node.src):
            try:
                value = _folded(expr.evaluate(node.src, lambda name: self._fixed(frame.path, name)), node.src)
                if not isinstance(value, Series | Table):
                    return value
            except UnknownValue:
                pass
        return Unknown(self.written(node.src, frame))

    def _fixed(self, path: str, name: str) -> Any:
        """A constant that nobody can have changed since: no list, no dict, no set, no enum member."""
        value, ref = self.names.constant(path, name)
        if isinstance(value, list | dict | set) or (ref is not None and ref.owner and self.names.is_enum(ref.owner)):
            if name.rpartition(".")[2] not in ("value", "name"):
                raise UnknownValue(name)
        return value

    def _series(self, kind: str, items: tuple[sym.Expr, ...], src: str, frame: Frame) -> Value:
        members: list[Value] = []
        for item in items:
            if isinstance(item, sym.Star):
                inner = self.value(item.value, frame)
                if not isinstance(inner, Series):
                    return Unknown(self.written(src, frame))
                members += inner.items
            else:
                members.append(self.value(item, frame))
        return Series(kind, tuple(members), self.written(src, frame))

    def _add(self, node: sym.Add, frame: Frame) -> Value:
        items = [self.value(item, frame) for item in node.items]
        if any(isinstance(i, Text) for i in items):
            return text(*(p for item in items for p in shown(item).pieces))
        if all(isinstance(i, Known) and isinstance(i.value, int | float) for i in items):
            return Known(sum(i.value for i in items))  # type: ignore[union-attr,misc]
        if all(isinstance(i, Series) for i in items):
            members = tuple(m for i in items if isinstance(i, Series) for m in i.items)
            return Series(items[0].kind, members, self.written(node.src, frame))  # type: ignore[union-attr]
        return Unknown(self.written(node.src, frame))

    def _times(self, left: Value, right: Value, src: str) -> Value:
        for value, count in ((left, right), (right, left)):
            if isinstance(value, Text) and isinstance(count, Known) and isinstance(count.value, int):
                if value.literal is not None and len(value.literal) * count.value <= 1000:
                    return text(value.literal * count.value)
        if isinstance(left, Known) and isinstance(right, Known):
            try:
                return Known(left.value * right.value)  # type: ignore[operator]
            except TypeError:
                pass
        return Unknown(src)

    def _percent(self, node: sym.Percent, frame: Frame) -> Value:
        left = self.value(node.left, frame)
        if isinstance(left, Text):
            found = values.percent(left, self.value(node.right, frame))
            if found is not None:
                return found
        return Unknown(self.written(node.src, frame))

    def _item(self, node: sym.Item, frame: Frame) -> Value:
        value, key = self.value(node.value, frame), self.value(node.key, frame)
        match value, key:
            case Table(items), Text() | Known():
                for k, v in items:
                    if k == key:
                        return v
            case Table(items), _ if items and all(isinstance(v, Text) for _, v in items):
                return self._one_of([v for _, v in items], (frame.id, node.src)) or Unknown(self.written(node.src, frame))
            case Series(_, items), Known(int() as at) if -len(items) <= at < len(items):
                return items[at]
        return Unknown(self.written(node.src, frame))

    def _one_of(self, candidates: list[Value], key: object) -> Value | None:
        try:
            for n, candidate in enumerate(candidates[:-1]):
                if self._decide((key, n)):
                    return candidate
        except Undecided:
            return None
        return candidates[-1]

    def _cond(self, node: sym.Cond, frame: Frame) -> Value:
        try:
            return self.value(self.branch(node, frame), frame)
        except Undecided:
            if node.src == "...":
                raise  # a helper's own branches: the call of it is what stays a hole
            return Unknown(self.written(node.src, frame))

    def branch(self, node: sym.Cond, frame: Frame) -> sym.Expr:
        """The side that this run takes. Raises `Undecided` when it may not fork any further."""
        answer = self.truth(node.test, frame)
        if answer is None:
            answer = self._decide((frame.id, node.key))
        return node.then if answer else node.other

    def truth(self, node: sym.Expr, frame: Frame) -> bool | None:
        """Whether a test holds; None when that cannot be told."""
        match node:
            case sym.Not(inner):
                answer = self.truth(inner, frame)
                return None if answer is None else not answer
            case sym.Logic(op, items):
                answers = [self.truth(i, frame) for i in items]
                decisive = op == "or"
                if decisive in answers:
                    return decisive
                return None if None in answers else not decisive
            case sym.Compare(op, left, right):
                return _compared(op, self.value(left, frame), self.value(right, frame))
        return _truth(self.value(node, frame))

    # --- calls ------------------------------------------------------------------------------------------

    def arguments(self, node: sym.Call | sym.Method, frame: Frame) -> tuple[tuple[Value, ...], dict[str, Value]]:
        args: list[Value] = []
        for arg in node.args:
            if isinstance(arg, sym.Star):
                inner = self.value(arg.value, frame)
                args += inner.items if isinstance(inner, Series) else [Unknown("*" + (source_of(inner) or "..."))]
            else:
                args.append(self.value(arg, frame))
        kwargs: dict[str, Value] = {}
        for name, arg in node.kwargs:
            value = self.value(arg, frame)
            if name:
                kwargs[name] = value
            elif isinstance(value, Table):
                kwargs.update({k.literal: v for k, v in value.items if isinstance(k, Text) and k.literal})
        return tuple(args), kwargs

    def _call(self, node: sym.Call, frame: Frame) -> Value:
        match node.func:
            case sym.Attr(sym.Call(sym.Name("super")), "__str__") if frame.base_text is not None:
                return frame.base_text()
        return self._called(node, self.value(node.func, frame), frame) or Unknown(self.written(node.src, frame))

    def _called(self, node: sym.Call, func: Value, frame: Frame) -> Value | None:
        """What the call gives, where that is known."""
        match func:
            case Named(External("textwrap.dedent" | "inspect.cleandoc" as name)) if node.args:
                value = self.value(node.args[0], frame)
                change = textwrap.dedent if name.startswith("textwrap") else cleandoc
                return values.apply(value, change) if isinstance(value, Text) else None
            case Named(External("builtins.list" | "builtins.tuple" | "builtins.sorted" as name)) if len(node.args) == 1:
                return _listed(name.removeprefix("builtins."), self.value(node.args[0], frame), node.src)
            case Named(ClassRef() | External() as entity) if self._is_exception(entity):
                args, kwargs = self.arguments(node, frame)
                return self._made(entity, func.src, args, kwargs, frame)
            case Named(FunctionRef() as entity):
                args, kwargs = self.arguments(node, frame)
                receiver = frame if entity.owner is not None and func.src.startswith(f"{frame.self_name}.") else None
                return self._returned(entity, args, kwargs, frame, receiver)
            case Closure(function, outer):
                args, kwargs = self.arguments(node, frame)
                inner = self.bind(function, outer.path, f"{frame.id}/{node.src}", args, kwargs, outer=outer)
                return self._within(inner, function, frame)
        return None

    def _is_exception(self, entity: ClassRef | External) -> bool:
        name = entity.name.rpartition(".")[2]
        if isinstance(entity, External):
            if entity.name.startswith("builtins."):
                return name in BUILTIN_EXCEPTIONS
            return name.endswith(("Error", "Exception", "Warning", "Exit", "Interrupt", "Iteration", "Timeout"))
        bases = (*self.names.bases(entity), self.names.qualified(entity))
        return any(b == "builtins.BaseException" for b in bases) or any(
            b.endswith(("Error", "Exception", "Warning")) for b in bases
        )

    def _returned(
        self, entity: FunctionRef, args: tuple[Value, ...], kwargs: dict[str, Value], frame: Frame, receiver: Frame | None
    ) -> Value | None:
        """What a function of the tree returns, where that is text or an exception."""
        if frame.calls >= MAX_CALLS:
            return None
        function = self.summaries(entity.path, entity.span.first, entity.span.last)
        if function is None:
            return None
        static = any(t == "staticmethod" for t in entity.span.traits)
        if entity.owner is not None and not static:
            args = (Unknown(receiver.self_name or "self") if receiver else Unknown("self"), *args)
        inner = self.bind(function, entity.path, f"{frame.id}/{entity.path}:{entity.span.first}", args, kwargs)
        if entity.owner is not None and function.params and not static:
            inner.self_name = function.params[0].name
            inner.owner = receiver.owner if receiver and receiver.owner else entity.owner
            inner.attributes = receiver.attributes if receiver else {}
        return self._within(inner, function, frame)

    def _within(self, inner: Frame, function: sym.Function, frame: Frame) -> Value | None:
        inner.calls = frame.calls + 1
        if inner.calls > MAX_CALLS:
            return None
        try:
            value = self.value(function.result, inner)
        except Undecided:
            return None
        # a value that is not text says less than the call does
        return value if isinstance(value, Text | Exception_ | Named | Series) else None

    def bind(
        self,
        function: sym.Function,
        path: str,
        id_: str,
        args: tuple[Value, ...],
        kwargs: Mapping[str, Value],
        outer: Frame | None = None,
    ) -> Frame:
        """A frame for a call: parameters by position, by name, by default."""
        frame = Frame(path, id_, outer=outer)
        rest = list(args)
        named = dict(kwargs)
        for param in function.params:
            if param.kind == "*":
                frame.names[param.name] = _given(Series("tuple", tuple(rest), param.name))
                rest = []
            elif param.kind == "**":
                pairs = tuple((text(k), v) for k, v in named.items())
                frame.names[param.name] = _given(Table(pairs, param.name))
            elif param.kind == "pos" and rest:
                frame.names[param.name] = _given(rest.pop(0))
            elif param.name in named:
                frame.names[param.name] = _given(named.pop(param.name))
            elif param.default is not None:
                frame.names[param.name] = _given(self.value(param.default, Frame(path, id_)))
        return frame

    # --- methods of text --------------------------------------------------------------------------------

    def _method(self, node: sym.Method, frame: Frame) -> Value:
        value = self.value(node.value, frame)
        if isinstance(value, Text):
            args, kwargs = self.arguments(node, frame)
            found = _text_method(value, node.name, args, kwargs)
            if found is not None:
                return found
        return Unknown(self.written(node.src, frame))

    def written(self, src: str, frame: Frame) -> str:
        """An expression of a helper in the words of its caller: parameters become what was given for them."""
        if not (frame.names or frame.attributes or frame.outer):
            return src
        return _substituted(src, lambda name: self._replacement(name, frame))

    def _replacement(self, dotted: str, frame: Frame) -> str | None:
        bound = frame.lookup(dotted)
        if bound is None:
            root, _, rest = dotted.partition(".")
            if root != frame.self_name or rest not in frame.attributes:
                return None
            bound = frame.attributes[rest]
        return source_of(bound())


def _given(value: Value) -> Callable[[], Value]:
    return lambda: value


def _joined(args: tuple[Value, ...]) -> Text:
    """`str()` of an exception with these arguments."""
    return values.EMPTY if not args else shown(args[0]) if len(args) == 1 else values.tuple_text(args)


def _listed(name: str, value: Value, src: str) -> Value | None:
    """`list`, `tuple` or `sorted` of what is written out in the source."""
    if not isinstance(value, Series):
        return None
    if name != "sorted":
        return None if value.kind == "set" else Series(name, value.items, src)
    texts = {i.literal: i for i in value.items if isinstance(i, Text) and i.literal is not None}
    return Series("list", tuple(texts[t] for t in sorted(texts)), src) if len(texts) == len(value.items) else None


def _is_class_like(node: sym.Expr) -> bool:
    """Whether a callee that is not known is more likely a class than a function that makes an exception."""
    match node:
        case sym.Call(sym.Name("type")):
            return True
        case sym.Name(dotted):
            last = dotted.rpartition(".")[2]
            lowered = last.lower()
            return last[0].isupper() or any(lowered.endswith(w) for w in ("cls", "class", "type", "exception", "exc"))
    return False


def _folded(value: Any, src: str) -> Value:
    """A constant of the tree as a value; collections keep their name, which says more than their text."""
    match value:
        case str():
            return text(value)
        case bool() | int() | float() | None:
            return Known(value)
        case tuple():
            return Series("tuple", tuple(_folded(v, repr(v)) for v in value), src)
        case dict():
            return Table(tuple((_folded(k, repr(k)), _folded(v, repr(v))) for k, v in value.items()), src)
    return Unknown(src)


def _truth(value: Value) -> bool | None:
    match value:
        case Known(known):
            return bool(known)
        case Text(pieces):
            return True if any(isinstance(p, str) for p in pieces) else (False if not pieces else None)
        case Series(_, items) | Table(items):
            return bool(items)
        case Exception_() | Closure():
            return True
    return None


def _compared(op: str, left: Value, right: Value) -> bool | None:
    if op in ("is", "is not", "==", "!="):
        if Known(None) in (left, right):
            other = right if left == Known(None) else left
            if isinstance(other, Unknown | Named):
                return None
            return (other == Known(None)) == (op in ("is", "=="))
        if isinstance(left, Known) and isinstance(right, Known):
            return (left.value == right.value) == (op in ("is", "=="))
        if isinstance(left, Text) and isinstance(right, Text) and None not in (left.literal, right.literal):
            return (left.literal == right.literal) == (op in ("is", "=="))
    if op in ("in", "not in") and isinstance(right, Series | Table):
        members = right.items if isinstance(right, Series) else tuple(key for key, _ in right.items)
        if all(_is_plain(i) for i in (left, *members)):
            return (left in members) == (op == "in")
    return None


def _is_plain(value: Value) -> bool:
    """Whether two such values are equal exactly when they are the same."""
    match value:
        case Known():
            return True
        case Text():
            return value.literal is not None
        case Series("tuple", items):
            return all(_is_plain(i) for i in items)
    return False


def _text_method(value: Text, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value | None:
    if name == "format":
        return values.formatted(value, args, kwargs)
    if name == "format_map" and len(args) == 1 and isinstance(args[0], Table):
        return values.formatted(value, (), {k.literal: v for k, v in args[0].items if isinstance(k, Text) and k.literal})
    if name == "join":
        return _join(value, args)
    plain = [a.literal for a in args if isinstance(a, Text) and a.literal is not None]
    if len(plain) != len(args) or kwargs:
        return None
    if name in ("strip", "lstrip", "rstrip", "removeprefix", "removesuffix"):
        return values.apply(value, lambda t: str(getattr(t, name)(*plain)))
    if name == "split" and not plain:
        whole, gaps = values.masked(value)
        return Series("list", tuple(values.unmasked(word, gaps) for word in whole.split()), "...")
    if value.literal is not None and name in ("lower", "upper", "title", "capitalize", "casefold", "replace", "expandtabs"):
        try:
            return text(str(getattr(value.literal, name)(*plain)))
        except TypeError:
            return None
    return None


def _join(value: Text, args: tuple[Value, ...]) -> Text | None:
    if len(args) != 1 or not isinstance(args[0], Series) or args[0].kind == "set":
        return None
    pieces: list[values.Piece] = []
    for n, item in enumerate(args[0].items):
        pieces += (*(value.pieces if n else ()), *shown(item).pieces)
    return text(*pieces)


def _substituted(src: str, replacement: Callable[[str], str | None]) -> str:
    """Replaces names in an expression; names that the expression binds itself are left alone."""
    out = src
    last = len(src) + 1
    for start, end, name, tight in _mentions(src):
        new = replacement(name) if end <= last else None
        if new is not None:
            out = out[:start] + (f"({new})" if tight and not _is_atom(new) else new) + out[end:]
            last = start
    return out


LOOSE = (ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Expression)


@lru_cache(maxsize=20_000)
def _mentions(src: str) -> tuple[tuple[int, int, str, bool], ...]:
    """Where an expression mentions a dotted name, last first, longer before shorter; `tight`: inside an operator.

    Not inside f-strings, whose columns are not to be trusted before Python 3.12.
    """
    try:
        tree = ast.parse(src, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found: list[tuple[int, int, str, bool]] = []
    bound: set[str] = set()
    stack: list[tuple[ast.AST, bool]] = [(tree.body, False)]
    while stack:
        node, tight = stack.pop()
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        if isinstance(node, ast.Name | ast.Attribute):
            if isinstance(node.ctx, ast.Store) and isinstance(node, ast.Name):
                bound.add(node.id)
            name = expr.dotted(node)
            if name is not None:
                found.append((node.col_offset, node.end_col_offset or 0, name, tight))
        for child in ast.iter_child_nodes(node):
            called = isinstance(node, ast.Call) and child is node.func
            stack.append((child, called or not isinstance(node, LOOSE)))
    if not src.isascii():
        data = src.encode()
        found = [(len(data[:a].decode()), len(data[:b].decode()), name, tight) for a, b, name, tight in found]
    kept = [mention for mention in found if mention[2].split(".")[0] not in bound]
    return tuple(sorted(kept, key=lambda m: (-m[0], -m[1])))


@lru_cache(maxsize=20_000)
def _is_atom(src: str) -> bool:
    """Whether the expression needs no parentheses inside another."""
    if src.isidentifier():
        return True
    try:
        node = ast.parse(src, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(
        node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set
    ) and not src.startswith("-")
