"""Owns the evaluation of symbolic expressions to messages: what a user would see, all variants of it.

Evaluation runs once for each variant: where a branch cannot be decided, a run takes one side and notes it,
and the next run takes the other. A branch that was met before in the run decides alike, so pieces that
depend on one condition stay together. Nothing is dropped: what cannot be followed becomes a hole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from extractor import calls, construct, expr, judge, methods, values
from extractor import symbolic as sym
from extractor.expr import UnknownValue
from extractor.frames import Frame, Infeasible, Summaries, Undecided, arguments
from extractor.tree import ClassRef, External, FunctionRef, Names, ValueRef
from extractor.values import (
    Closure,
    Exception_,
    Gap,
    Known,
    Named,
    Series,
    Table,
    Text,
    Unknown,
    Value,
    shown,
    source_of,
    text,
)  # fmt: skip
from extractor.wording import substituted

MAX_VARIANTS = 16
MAX_RUNS = 32

BARE_WORDS = re.compile(r"\.\.\.|[a-z_.]+\(\)")  # a call without arguments is no constant
Assumed = tuple[tuple[int, sym.Expr, bool], ...]


def results(
    node: sym.Expr,
    frame: Frame,
    names: Names,
    summaries: Summaries,
    assumed: Assumed = (),
    none: Mapping[str, bool] = MappingProxyType({}),
) -> list[Exception_]:
    """What the site raises: its variants, each once. With too many, later branches stay holes.

    `assumed` are tests that were passed on the way: what contradicts them cannot be raised. `none` tells of
    expressions of the site's function whether they are None.
    """
    for forks in (None, 4, 0):
        found: list[Exception_] = []
        script: list[bool] | None = []
        runs = 0
        while script is not None and len(found) <= MAX_VARIANTS and runs < MAX_RUNS:
            run = Evaluation(names, summaries, script, forks, none)
            runs += 1
            try:
                made = run.under(assumed, node, frame)
                if made not in found:
                    found.append(made)
            except (Infeasible, RecursionError):
                pass
            script = run.next_script()
        if script is None and found and len(found) <= MAX_VARIANTS:
            return found
    if assumed and not found:
        return results(node, frame, names, summaries, none=none)
    src = sym.source(node)
    return found[:MAX_VARIANTS] or [Exception_(src, None, text(Gap(src)))]


class Evaluation:
    """One run over one variant."""

    def __init__(
        self,
        names: Names,
        summaries: Summaries,
        script: list[bool],
        forks: int | None,
        none: Mapping[str, bool],
    ) -> None:
        self.names = names
        self.summaries = summaries
        self._script = script
        self._forks = forks
        self._none = none
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
        while isinstance(node, sym.Cond) and self._forks is None:
            node = self.branch(node, frame)
        value = self.value(node, frame)
        match value:
            case Exception_():
                return value
            case Named(ClassRef() | External() as entity):
                return construct.exception(self, entity, value.src, (), {}, frame)
            case Known(None):
                raise Infeasible  # a variable that has a value by then
        if isinstance(node, sym.Call) and isinstance(value, Unknown) and _is_class_like(node.func):
            func = self.value(node.func, frame)
            args, kwargs = arguments(self, node, frame)
            if isinstance(func, Named) and isinstance(func.entity, ClassRef | External):
                return construct.exception(self, func.entity, func.src, args, kwargs, frame)
            return Exception_(source_of(func) or "...", None, _joined(args))
        src = source_of(value) or "..."
        return Exception_(src, None, text(Gap(src)))

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
            case sym.Percent():
                return self._percent(node, frame)
            case sym.Times(left, right, src):
                return self._times(self.value(left, frame), self.value(right, frame), self.written(src, frame))
            case sym.Sequence(kind, items, src):
                return self._series(kind, items, src, frame)
            case sym.Mapping(items, src):
                pairs = tuple((self.value(k, frame), self.value(v, frame)) for k, v in items)
                return Table(pairs, self.written(src, frame))
            case sym.Item():
                return self._item(node, frame)
            case sym.Attr(src=src):
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
        if isinstance(value, Text) and value.literal is None and node.conversion in ("r", "a"):
            value = Unknown(self.written(sym.source(node.value), frame))  # its quotes depend on what is in it
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
            key = self.value(inner.key, frame)
            if not isinstance(key, Text | Known):
                return None
        value = self.value(inner, frame)
        if isinstance(value, Known | Series) and isinstance(inner, sym.Cond):
            return None
        return value if isinstance(value, Text | Known | Series | Exception_) else None

    def _attribute(self, name: str, frame: Frame) -> Value | None:
        """`self.NAME`, where the class says once and for all what that is."""
        owner, exact = frame.exact or frame.owner, frame.exact is not None
        if owner is None or "." in name:
            return None
        entity = self.names.attribute(owner, name)
        if isinstance(entity, FunctionRef):
            if not exact and self.names.is_overridden(owner, name):
                return None
            if any(t.split(".")[-1] in ("property", "cached_property") for t in entity.span.traits):
                return calls.returned(self, entity, (), {}, frame, receiver=frame)
            return Named(entity, f"{frame.self_name}.{name}")
        if isinstance(entity, ValueRef) and self.names.is_fixed(owner, name, exact):
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
        member = ref is not None and ref.owner is not None and self.names.is_enum(ref.owner)
        if isinstance(value, list | dict | set) or (member and not name.endswith((".value", ".name"))):
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
            times = count.value if isinstance(count, Known) and isinstance(count.value, int) else None
            literal = value.literal if isinstance(value, Text) else None
            if times is not None and literal is not None and len(literal) * times <= 1000:
                return text(literal * times)
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
                return self._one_of([v for _, v in items], (frame.id, node.src)) or Unknown(
                    self.written(node.src, frame)
                )
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
                return judge.compared(op, self.value(left, frame), self.value(right, frame), self._none)
        return judge.truth(self.value(node, frame))

    # --- calls ------------------------------------------------------------------------------------------

    def _call(self, node: sym.Call, frame: Frame) -> Value:
        match node.func:
            case sym.Attr(sym.Call(sym.Name("super")), "__str__") if frame.base_text is not None:
                return frame.base_text()
        return calls.called(self, node, self.value(node.func, frame), frame) or Unknown(self.written(node.src, frame))

    # --- methods of text --------------------------------------------------------------------------------

    def _method(self, node: sym.Method, frame: Frame) -> Value:
        value = self.value(node.value, frame)
        if isinstance(value, Text):
            args, kwargs = arguments(self, node, frame)
            found = methods.call(value, node.name, args, kwargs)
            if found is not None:
                return found
        return Unknown(self.written(node.src, frame))

    def written(self, src: str, frame: Frame) -> str:
        """An expression of a helper in the words of its caller: parameters become what was given for them."""
        if not (frame.names or frame.attributes or frame.outer):
            return src
        return substituted(src, lambda name: self._replacement(name, frame))

    def _replacement(self, dotted: str, frame: Frame) -> str | None:
        bound = frame.lookup(dotted)
        if bound is None:
            root, _, rest = dotted.partition(".")
            if root != frame.self_name or rest not in frame.attributes:
                return None
            bound = frame.attributes[rest]
        return source_of(bound())


def _joined(args: tuple[Value, ...]) -> Text:
    """`str()` of an exception with these arguments."""
    return values.EMPTY if not args else shown(args[0]) if len(args) == 1 else values.tuple_text(args)


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
