"""What Python really does: a function with its raises marked is run, and which of them left it is told.

Each `raise X` becomes `raise __mark__(line, X)` with all line numbers kept, so that the exception object that left the
function names every site that raised it (the first one and those that raised it again). Nothing else is changed.
"""

from __future__ import annotations

import ast
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import Any

RETURN, RAISE, OTHER, ENDLESS = "return", "raise", "other", "endless"
SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended; lines of the raises whose exception left it, and of all that were reached."""

    how: str
    left: frozenset[int] = frozenset()
    reached: frozenset[int] = frozenset()
    again: bool = False  # the exception that left was raised at more than one line


def narrowed(outcome: Outcome, lines: set[int]) -> Outcome:
    """The outcome as the function's own raises see it: what another function raised is another exception."""
    if outcome.how != RAISE or outcome.left & lines:
        return outcome
    return replace(outcome, how=OTHER, left=frozenset())


class Endless(BaseException):
    """The clock ran out."""


@contextmanager
def clock(seconds: float = SECONDS) -> Iterator[None]:
    """Ends what takes longer of the processor's time, even when it catches everything once."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise Endless

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def marked(tree: ast.Module, path: str) -> CodeType:
    """The tree compiled with its raises marked."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            called = ast.Name("__mark__" if node.exc is not None else "__again__", ast.Load())
            given: list[ast.expr] = [ast.Constant(node.lineno)] + ([node.exc] if node.exc is not None else [])
            node.exc = ast.copy_location(ast.Call(called, given, []), node)
            ast.copy_location(called, node)
            ast.copy_location(given[0], node)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(tree, path, "exec")


class Module:
    """The namespace of a marked module, and the log of its raises."""

    def __init__(self, code: CodeType, given: dict[str, Any] | None = None) -> None:
        self.hits: list[tuple[int, BaseException]] = []
        self.scope: dict[str, Any] = {"__name__": "generated", **(given or {})}
        self.scope |= {"__mark__": self.mark, "__again__": self.again}
        exec(code, self.scope)
        self.state = {name: copy(one) for name, one in self.scope.items() if type(one) in (list, dict, set)}

    def mark(self, line: int, raised: Any) -> Any:
        if isinstance(raised, type) and issubclass(raised, BaseException):
            raised = raised()
        if isinstance(raised, BaseException):
            self.hits.append((line, raised))
        return raised

    def again(self, line: int) -> BaseException | None:
        raised = sys.exc_info()[1]
        if raised is not None:
            self.hits.append((line, raised))
        return raised

    def function(self, symbol: str) -> Callable[..., Any]:
        found: Any = self.scope[symbol.split(".")[0]]
        for name in symbol.split(".")[1:]:
            found = found.__dict__[name]
        function: Callable[..., Any] = getattr(found, "__func__", found)  # of a static or class method
        return function

    def environment(self, code: CodeType) -> dict[str, Any]:
        """A fresh environment from its compiled expression."""
        values: dict[str, Any] = eval(code, self.scope, {})
        return values

    def reset(self) -> None:
        """The globals that a run may have changed, as they were when the module was made."""
        self.hits.clear()
        self.scope |= {name: copy(one) for name, one in self.state.items() if not name.startswith("__")}

    def run(self, symbol: str, values: dict[str, Any], seconds: float = SECONDS) -> Outcome:
        self.reset()
        left: BaseException | None = None
        try:
            with clock(seconds):
                finished(call(self.function(symbol), values))
            how = RETURN
        except Endless:
            return Outcome(ENDLESS)
        except BaseException as e:
            left, how = e, OTHER
        lines = [line for line, raised in self.hits if raised is left]
        reached = frozenset(line for line, _ in self.hits)
        self.hits.clear()
        return Outcome(RAISE if lines else how, frozenset(lines), reached, len(lines) > 1)


def call(function: Callable[..., Any], values: dict[str, Any]) -> Any:
    """The call with each parameter by its name; `*args` and `**kwargs` are given whole."""
    code = function.__code__
    names = code.co_varnames
    count = code.co_argcount + code.co_kwonlyargcount
    rest = iter(names[count:])
    many = values.get(next(rest), ()) if code.co_flags & 0x04 else ()
    more = values.get(next(rest), {}) if code.co_flags & 0x08 else {}
    first = code.co_argcount if many else code.co_posonlyargcount
    named = {name: values[name] for name in names[first:count] if name in values}
    return function(*[values[name] for name in names[:first]], *many, **named, **more)


def finished(value: Any) -> None:
    """A coroutine is driven to its end (nothing in it waits), a generator is consumed."""
    match value:
        case CoroutineType():
            try:
                while True:
                    value.send(None)
            except StopIteration:
                return
        case GeneratorType():
            for _ in value:
                pass
        case AsyncGeneratorType():

            async def drive() -> None:
                async for _ in value:
                    pass

            finished(drive())
