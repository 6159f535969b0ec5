"""Owns what `str()` of a newly made exception gives: its class's `__init__` and `__str__`, or its arguments.

`BaseException.__new__` keeps the positional arguments as `args`, `BaseException.__init__` replaces them, and
`str()` shows no, one, or the tuple of all of them. Classes of the tree are evaluated; of other libraries only
the few whose text follows from their arguments by a documented rule are known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from http import HTTPStatus

from extractor import symbolic as sym
from extractor import values
from extractor.frames import MAX_CALLS, Frame, Run, Undecided, arguments, bind, given
from extractor.index import Span
from extractor.tree import BUILTIN_EXCEPTIONS, ClassRef, External
from extractor.values import Exception_, Known, Series, Text, Unknown, Value, shown, source_of, text

Args = tuple[Value, ...]
Kwargs = dict[str, Value]

SUPER = "super()"
TEXT_KEYWORDS = (
    "detail",
    "message",
    "msg",
    "err_msg",
    "error_message",
    "description",
    "reason",
    "text",
    "error",
)
STATUS_KEYWORDS = ("status_code", "status")
HTTP_EXCEPTIONS = frozenset({"HTTPException", "WebSocketException"})


def exception(run: Run, entity: ClassRef | External, src: str, args: Args, kwargs: Kwargs, frame: Frame) -> Exception_:
    """The exception that `entity(*args, **kwargs)` makes."""
    if isinstance(entity, External):
        name = entity.name.rpartition(".")[2]
        return Exception_(name, entity, _external(name, args, kwargs), _status(name, args, kwargs))
    made = _Made(run, entity, (frame.id, src, args), frame.calls)
    made.initialise(0, args, kwargs)
    return Exception_(entity.name.rpartition(".")[2], entity, made.text(0), made.http_status())


class _Made:
    """One exception of a class of the tree, while its constructor and `__str__` are evaluated."""

    def __init__(self, run: Run, entity: ClassRef, id_: Hashable, calls: int) -> None:
        self._run = run
        self._id = id_
        self._calls = calls
        self._entity = entity
        self._order = list(run.names.ancestry(entity))
        self._attributes: dict[str, Callable[[], Value]] = {}
        self._args: Args = ()
        self._kwargs: Kwargs = {}
        self._base = "Exception"

    def initialise(self, start: int, args: Args, kwargs: Kwargs) -> None:
        """Runs the `__init__` that is found from position `start` of the class's ancestry on."""
        if start == 0:
            self._args, self._kwargs = args, kwargs
        at = self._find("__init__", start)
        if at is None:
            outside = [b.name.rpartition(".")[2] for b in self._order if isinstance(b, External)]
            self._base = outside[0] if outside else "Exception"
            self._args, self._kwargs = args, kwargs
            self._fields(args, kwargs)
            return
        owner, span = at[1], at[2]
        function = self._run.summaries(owner.path, span.first, span.last)
        if function is None or self._calls >= MAX_CALLS:
            return
        frame = self._frame(owner, function, (self._id, owner, "__init__"), (Unknown("self"), *args), kwargs)
        called: sym.Expr | None = None
        for name, node in function.attributes:
            if name == SUPER:
                called = node
            else:
                self._attributes[name] = _later(self._run, node, frame)
        if "args" in dict(function.attributes):
            value = self._attributes["args"]()
            if isinstance(value, Series):
                self._args = value.items
        if called is not None:
            self._call_base(called, frame, at[0])

    def _call_base(self, node: sym.Expr, frame: Frame, at: int) -> None:
        """`super().__init__(…)`; under a branch that is not taken there is no such call."""
        while isinstance(node, sym.Cond):
            node = self._run.branch(node, frame)
        if isinstance(node, sym.Call):
            args, kwargs = arguments(self._run, node, frame)
            own = dict(self._attributes)
            self.initialise(at + 1, args, kwargs)
            self._attributes.update(own)

    def _fields(self, args: Args, kwargs: Kwargs) -> None:
        """A dataclass's own constructor."""
        for base in self._order:
            if not isinstance(base, ClassRef):
                continue
            declared = self._run.names.class_(base)
            if not any(t.rstrip("()").split(".")[-1] == "dataclass" for t in declared.span.traits):
                continue
            fields = dict(zip(declared.fields, args, strict=False)) | kwargs
            for name, value in fields.items():
                self._attributes.setdefault(name, given(value))

    def _find(self, method: str, start: int) -> tuple[int, ClassRef, Span] | None:
        for n, base in enumerate(self._order[start:], start):
            if isinstance(base, ClassRef):
                span = self._run.names.class_(base).methods.get(method)
                if span is not None:
                    return n, base, span
        return None

    def _frame(self, owner: ClassRef, function: sym.Function, id_: Hashable, args: Args, kwargs: Kwargs) -> Frame:
        frame = bind(self._run, function, owner.path, id_, args, kwargs)
        frame.self_name = function.params[0].name if function.params else "self"
        frame.owner = owner
        frame.exact = self._entity
        frame.attributes = self._attributes
        frame.calls = self._calls + 1
        return frame

    def text(self, start: int) -> Text:
        """`str()` by the `__str__` that is found from position `start` on."""
        at = self._find("__str__", start)
        if at is None:
            return _external(self._base, self._args, self._kwargs)
        n, owner, span = at
        function = self._run.summaries(owner.path, span.first, span.last)
        if function is None or self._calls >= MAX_CALLS:
            return text(values.Gap(f"{owner.name}.__str__()"))
        frame = self._frame(owner, function, (self._id, owner, "__str__"), (Unknown("self"),), {})
        self._attributes.setdefault("args", given(Series("tuple", self._args, "self.args")))
        frame.base_text = lambda: self.text(n + 1)
        try:
            return shown(self._run.value(function.result, frame))
        except Undecided:
            return text(values.Gap(f"str({owner.name})"))

    def http_status(self) -> int | None:
        """The status that an HTTP exception of another library is given, or the class's own attribute."""
        for name in STATUS_KEYWORDS:
            if name in self._attributes:
                found = _number(self._attributes[name]())
                if found is not None:
                    return found
        return _status(self._base, self._args, self._kwargs)


def _later(run: Run, node: sym.Expr, frame: Frame) -> Callable[[], Value]:
    return lambda: run.value(node, frame)


def _number(value: Value | None) -> int | None:
    if isinstance(value, Known) and isinstance(value.value, int) and 100 <= value.value <= 599:
        return value.value
    return None


def _status(name: str, args: Args, kwargs: Kwargs) -> int | None:
    if name not in HTTP_EXCEPTIONS:
        return None
    given = next((kwargs[k] for k in STATUS_KEYWORDS if k in kwargs), args[0] if args else None)
    return _number(given)


def _external(name: str, args: Args, kwargs: Kwargs) -> Text:
    """`str()` of an exception of another library or a builtin one."""
    rule = RULES.get(name)
    found = rule(args, kwargs) if rule is not None else None
    if found is not None:
        return found
    builtin = BUILTIN_EXCEPTIONS.get(name)
    if builtin is not None and issubclass(builtin, OSError) and 2 <= len(args) <= 5:
        return _os_error(args)
    if not args:
        given = next((kwargs[k] for k in TEXT_KEYWORDS if k in kwargs), None)
        return values.EMPTY if given is None or builtin is not None else shown(given)
    return shown(args[0]) if len(args) == 1 else values.tuple_text(args)


def _os_error(args: Args) -> Text:
    """`[Errno 2] No such file: 'name'`."""
    pieces: list[values.Piece] = ["[Errno ", *shown(args[0]).pieces, "] ", *shown(args[1]).pieces]
    if len(args) > 2:
        pieces += [": ", *shown(args[2], "r").pieces]
    return text(*pieces)


def _http(args: Args, kwargs: Kwargs) -> Text | None:
    """The detail; without one, starlette shows the status's own phrase."""
    detail = kwargs.get("detail", kwargs.get("reason", args[1] if len(args) > 1 else None))
    if detail is not None:
        return shown(detail)
    status = _status("HTTPException", args, kwargs)
    return text(HTTPStatus(status).phrase) if status in set(HTTPStatus) else None


def _group(args: Args, kwargs: Kwargs) -> Text | None:
    """`message (2 sub-exceptions)`."""
    if len(args) != 2:
        return None
    many = args[1]
    count: values.Piece = str(len(many.items)) if isinstance(many, Series) else values.Gap(f"len({source_of(many)})")
    plural = "" if count == "1" else "s"
    return text(*shown(args[0]).pieces, " (", count, f" sub-exception{plural})")


def _called_process(args: Args, kwargs: Kwargs) -> Text | None:
    """`Command 'x' returned non-zero exit status 1.`"""
    given = dict(zip(("returncode", "cmd"), args, strict=False)) | kwargs
    if not {"returncode", "cmd"} <= given.keys():
        return None
    code, cmd = shown(given["returncode"]).pieces, shown(given["cmd"], "s").pieces
    return text("Command '", *cmd, "' returned non-zero exit status ", *code, ".")


def _argument(args: Args, kwargs: Kwargs) -> Text | None:
    """`argument --x: message`; the name is there when there is an argument."""
    if len(args) != 2:
        return None
    if args[0] == Known(None):
        return shown(args[1])
    src = source_of(args[0])
    return text("argument ", values.Gap(src or "..."), ": ", *shown(args[1]).pieces)


RULES: dict[str, Callable[[Args, Kwargs], Text | None]] = {
    "HTTPException": _http,
    "ExceptionGroup": _group,
    "BaseExceptionGroup": _group,
    "CalledProcessError": _called_process,
    "ArgumentError": _argument,
}
