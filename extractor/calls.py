"""Owns calls of what is known: helpers of the tree and nested functions, exception classes, a few builtins."""

from __future__ import annotations

import textwrap
from inspect import cleandoc

from extractor import construct, values
from extractor import symbolic as sym
from extractor.frames import MAX_CALLS, Frame, Run, Undecided, arguments, bind
from extractor.tree import BUILTIN_EXCEPTIONS, ClassRef, External, FunctionRef
from extractor.values import Closure, Exception_, Named, Series, Text, Unknown, Value


def called(run: Run, node: sym.Call, func: Value, frame: Frame) -> Value | None:
    """What the call gives, where that is known."""
    match func:
        case Named(External("textwrap.dedent" | "inspect.cleandoc" as name)) if node.args:
            value = run.value(node.args[0], frame)
            change = textwrap.dedent if name.startswith("textwrap") else cleandoc
            return values.apply(value, change) if isinstance(value, Text) else None
        case Named(External("builtins.list" | "builtins.tuple" | "builtins.sorted" as name)) if len(node.args) == 1:
            return _listed(name.removeprefix("builtins."), run.value(node.args[0], frame), node.src)
        case Named(ClassRef() | External() as entity) if _is_exception(run, entity):
            args, kwargs = arguments(run, node, frame)
            return construct.exception(run, entity, func.src, args, kwargs, frame)
        case Named(FunctionRef() as entity):
            args, kwargs = arguments(run, node, frame)
            receiver = frame if entity.owner is not None and func.src.startswith(f"{frame.self_name}.") else None
            return returned(run, entity, args, kwargs, frame, receiver)
        case Closure(function, outer):
            args, kwargs = arguments(run, node, frame)
            inner = bind(run, function, outer.path, (frame.id, node.src, args), args, kwargs, outer=outer)
            return _within(run, inner, function, frame)
    return None


def returned(
    run: Run,
    entity: FunctionRef,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
    frame: Frame,
    receiver: Frame | None,
) -> Value | None:
    """What a function of the tree returns, where that is text or an exception."""
    if frame.calls >= MAX_CALLS:
        return None
    function = run.summaries(entity.path, entity.span.first, entity.span.last)
    if function is None:
        return None
    static = any(t == "staticmethod" for t in entity.span.traits)
    if entity.owner is not None and not static:
        args = (Unknown(receiver.self_name or "self") if receiver else Unknown("self"), *args)
    inner = bind(
        run,
        function,
        entity.path,
        (frame.id, entity.path, entity.span.first, args, tuple(kwargs.items())),
        args,
        kwargs,
    )
    if entity.owner is not None and function.params and not static:
        inner.self_name = function.params[0].name
        inner.owner = receiver.owner if receiver and receiver.owner else entity.owner
        inner.attributes = receiver.attributes if receiver else {}
    return _within(run, inner, function, frame)


def _within(run: Run, inner: Frame, function: sym.Function, frame: Frame) -> Value | None:
    inner.calls = frame.calls + 1
    if inner.calls > MAX_CALLS:
        return None
    try:
        value = run.value(function.result, inner)
    except Undecided:
        return None
    # a value that is not text says less than the call does
    return value if isinstance(value, Text | Exception_ | Named | Series) else None


def _is_exception(run: Run, entity: ClassRef | External) -> bool:
    name = entity.name.rpartition(".")[2]
    if isinstance(entity, External):
        if entity.name.startswith("builtins."):
            return name in BUILTIN_EXCEPTIONS
        return name.endswith(("Error", "Exception", "Warning", "Exit", "Interrupt", "Iteration", "Timeout"))
    bases = (*run.names.bases(entity), run.names.qualified(entity))
    return any(b == "builtins.BaseException" for b in bases) or any(
        b.endswith(("Error", "Exception", "Warning")) for b in bases
    )


def _listed(name: str, value: Value, src: str) -> Value | None:
    """`list`, `tuple` or `sorted` of what is written out in the source."""
    if not isinstance(value, Series):
        return None
    if name != "sorted":
        return None if value.kind == "set" else Series(name, value.items, src)
    texts = {i.literal: i for i in value.items if isinstance(i, Text) and i.literal is not None}
    return Series("list", tuple(texts[t] for t in sorted(texts)), src) if len(texts) == len(value.items) else None
