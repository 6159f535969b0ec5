"""Owns what a symbolic expression evaluates to, and how such values are written out as text.

A text is a tuple of pieces: literal strings and holes. Everything in here is a pure function of values.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extractor import symbolic as sym
    from extractor.tree import Entity


@dataclass(frozen=True, slots=True)
class Gap:
    """A hole of a message: an expression of the source with its conversion and format spec."""

    expr: str
    conversion: str | None = None
    spec: str | None = None

    def __str__(self) -> str:
        conversion = f"!{self.conversion}" if self.conversion else ""
        return f"{{{self.expr}{conversion}{':' + self.spec if self.spec else ''}}}"


Piece = str | Gap


@dataclass(frozen=True, slots=True)
class Text:
    """Text for certain."""

    pieces: tuple[Piece, ...]

    @property
    def literal(self) -> str | None:
        """The whole text when there is no hole in it."""
        return "".join(map(str, self.pieces)) if all(isinstance(p, str) for p in self.pieces) else None


@dataclass(frozen=True, slots=True)
class Known:
    """A number, a truth value or None."""

    value: int | float | bool | None


@dataclass(frozen=True, slots=True)
class Series:
    """A list, tuple or set written out in the source."""

    kind: str
    items: tuple[Value, ...]
    src: str


@dataclass(frozen=True, slots=True)
class Table:
    """A dict written out in the source."""

    items: tuple[tuple[Value, Value], ...]
    src: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """What cannot be followed, as the source has it."""

    src: str


@dataclass(frozen=True, slots=True)
class Named:
    """A class, function or module of the tree or of another library."""

    entity: Entity
    src: str


@dataclass(frozen=True, slots=True)
class Closure:
    """A nested function with the frame that it was met in."""

    function: sym.Function
    frame: Any
    src: str


@dataclass(frozen=True, slots=True)
class Exception_:
    """An exception that was made: its class, and the text that `str()` of it gives."""

    name: str
    entity: Entity | None
    text: Text
    http_status: int | None = None


Value = Text | Known | Series | Table | Unknown | Named | Closure | Exception_

EMPTY = Text(())
FIRST = 0xF0000  # private-use characters stand for holes while the text around them is worked on


def text(*pieces: Piece) -> Text:
    """Adjacent literals become one, empty ones go."""
    merged: list[Piece] = []
    for is_text, run in groupby(pieces, key=lambda p: isinstance(p, str)):
        if is_text:
            joined = "".join(map(str, run))
            if joined:
                merged.append(joined)
        else:
            merged.extend(run)
    return Text(tuple(merged))


def source_of(value: Value) -> str | None:
    """An expression that gives the value, for use inside another expression; None when there is none."""
    match value:
        case Known(known):
            return repr(known)
        case Text():
            return None if value.literal is None else repr(value.literal)
        case Exception_() | Closure():
            return None
        case _:
            return value.src


def shown(value: Value, conversion: str | None = None, spec: str | None = None) -> Text:
    """What `{value!conversion:spec}` shows."""
    match value:
        case Known(known):
            return _formatted(known, conversion, spec)
        case Text() if value.literal is not None:
            return _formatted(value.literal, conversion, spec)
        case Text(pieces) if not spec:
            return value if conversion is None or conversion == "s" else text(*_quoted(pieces))
        case Exception_() if not spec and conversion in (None, "s"):
            return value.text
        case Series(kind, items) if not spec and kind != "set":
            return text(*_display(kind, items))
    return text(Gap(source_of(value) or "...", conversion, spec or None))


def _formatted(value: Any, conversion: str | None, spec: str | None) -> Text:
    shapes: dict[str, Callable[[Any], Any]] = {"s": str, "r": repr, "a": ascii}
    convert = shapes.get(conversion or "", lambda v: v)
    try:
        if spec and any(int(run) > 1000 for run in re.findall(r"\d+", spec)):
            raise ValueError
        return text(format(convert(value), spec or ""))
    except (ValueError, TypeError):
        return text(Gap(repr(value), conversion, spec))


def _quoted(pieces: tuple[Piece, ...]) -> list[Piece]:
    """`repr` of a text with holes: Python prefers single quotes unless only those are in it."""
    literal = "".join(p for p in pieces if isinstance(p, str))
    quote = '"' if "'" in literal and '"' not in literal else "'"
    written = []
    for piece in pieces:
        if isinstance(piece, str):
            other = '"' if quote == "'" else "'"
            piece = repr(piece + other)[1:-2] if quote == "'" else repr("'" + piece)[2:-1]
        written.append(piece)
    return [quote, *written, quote]


def _display(kind: str, items: tuple[Value, ...]) -> list[Piece]:
    left, right = ("(", ")") if kind == "tuple" else ("[", "]")
    pieces: list[Piece] = [left]
    for n, item in enumerate(items):
        if n:
            pieces.append(", ")
        pieces += shown(item, "r").pieces
    return [*pieces, ",)" if kind == "tuple" and len(items) == 1 else right]


def tuple_text(items: tuple[Value, ...]) -> Text:
    """What `str()` of an exception with several arguments shows."""
    return text(*_display("tuple", items))


# --- work on a text with holes in it ---------------------------------------------------------------------


def masked(value: Text) -> tuple[str, list[Gap]]:
    """The text with one private-use character for each hole."""
    gaps: list[Gap] = []
    out = []
    for piece in value.pieces:
        if isinstance(piece, str):
            out.append(piece)
        else:
            out.append(chr(FIRST + len(gaps)))
            gaps.append(piece)
    return "".join(out), gaps


def unmasked(masked_text: str, gaps: list[Gap]) -> Text:
    """The inverse of `masked`."""
    if not gaps:
        return text(masked_text)
    pieces: list[Piece] = []
    for is_hole, run in groupby(masked_text, key=lambda c: FIRST <= ord(c) < FIRST + len(gaps)):
        if is_hole:
            pieces += [gaps[ord(c) - FIRST] for c in run]
        else:
            pieces.append("".join(run))
    return text(*pieces)


def apply(value: Text, change: Callable[[str], str]) -> Text:
    """Applies a change of white space or ends, which leaves holes alone."""
    whole, gaps = masked(value)
    return unmasked(change(whole), gaps)


_PERCENT = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+))?[hlL]?"
    r"(?P<type>[diouxXeEfFgGcrsa%])"
)


def percent(value: Text, right: Value) -> Text | None:
    """`value % right`; None when the two do not fit as far as can be told."""
    whole, gaps = masked(value)
    conversions = [m for m in _PERCENT.finditer(whole) if m["type"] != "%"]
    if any(m["width"] == "*" or m["precision"] == "*" for m in conversions):
        return None
    operands = _operands(right, conversions)
    if operands is None:
        return None
    pieces: list[Piece] = []
    last = 0
    for match in _PERCENT.finditer(whole):
        pieces += unmasked(whole[last : match.start()], gaps).pieces
        pieces += ("%",) if match["type"] == "%" else _converted(operands.pop(0), match).pieces
        last = match.end()
    return text(*pieces, *unmasked(whole[last:], gaps).pieces)


def _operands(right: Value, conversions: list[re.Match[str]]) -> list[Value] | None:
    keys = [m["key"] for m in conversions]
    if any(keys):
        if isinstance(right, Table):
            values = {k.literal: v for k, v in right.items if isinstance(k, Text)}
            return [values[k] for k in keys] if all(k in values for k in keys) else None
        src = source_of(right)
        return None if src is None else [Unknown(f"{src}[{key!r}]") for key in keys]
    if isinstance(right, Series) and right.kind == "tuple":
        return list(right.items) if len(right.items) == len(conversions) else None
    if len(conversions) == 1:
        return [right]
    src = source_of(right) if isinstance(right, Unknown) else None
    return None if src is None else [Unknown(f"{src}[{n}]") for n in range(len(conversions))]


def _converted(value: Value, match: re.Match[str]) -> Text:
    """`%5.2f` is `:5.2f`; `%-5s` is `:<5`, and text that is not flagged stands to the right."""
    kind, flags = match["type"], match["flags"] or ""
    conversion = kind if kind in "ra" else None
    width, precision = match["width"] or "", f".{match['precision']}" if match["precision"] else ""
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and "-" not in flags else ""
    align = "<" if "-" in flags else ">" if kind in "sra" and width else ""
    letter = kind if kind in "oxXeEfFgGc" or (kind in "diu" and (width or sign or zero)) else ""
    spec = f"{align if width else ''}{sign}{'#' if '#' in flags else ''}{zero}{width}{precision}"
    spec += "d" if letter in ("i", "u") else letter
    if isinstance(value, Known) and isinstance(value.value, float) and kind in "diu":
        value = Known(int(value.value))
    return shown(value, conversion, spec or None)


def formatted(value: Text, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Text | None:
    """`value.format(*args, **kwargs)`; fields that nothing is given for stay as they are."""
    try:
        return _fields(value, args, kwargs, count())
    except ValueError:
        return None


def _fields(value: Text, args: tuple[Value, ...], kwargs: Mapping[str, Value], auto: Iterator[int]) -> Text:
    whole, gaps = masked(value)
    pieces: list[Piece] = []
    for literal, field, spec, conversion in string.Formatter().parse(whole):
        pieces += unmasked(literal, gaps).pieces
        if field is None:
            continue
        if field == "" or field[0] in ".[":
            field = f"{next(auto)}{field}"
        inner = "".join(map(str, _fields(Text((spec,)), args, kwargs, auto).pieces)) if spec else ""
        pieces += _field(field, args, kwargs, conversion, inner).pieces
    return text(*pieces)


def _starred(args: tuple[Value, ...], position: int) -> Value | None:
    """What `*args` at the end gives at a position."""
    last = args[-1]
    if isinstance(last, Unknown) and last.src.startswith("*") and position >= len(args) - 1:
        return Unknown(f"{last.src[1:]}[{position - len(args) + 1}]")
    return None


def _field(field: str, args: tuple[Value, ...], kwargs: Mapping[str, Value], conversion: str | None, spec: str) -> Text:
    head = re.match(r"[^.\[]*", field)
    assert head is not None
    name, rest = head[0], field[head.end() :]
    value: Value | None = kwargs.get(name)
    if name.isdigit() and int(name) < len(args):
        value = args[int(name)]
        if isinstance(value, Unknown) and value.src.startswith("*"):
            value = None
    if value is None and name.isdigit() and args:
        value = _starred(args, int(name))
    if value is None:
        return text(Gap(field, conversion, spec or None))
    if rest:
        src = source_of(value)
        # {x[key]} looks up the text "key"
        rest = re.sub(r"\[([^\]]*)\]", lambda m: m[0] if m[1].isdigit() else f"[{m[1]!r}]", rest)
        value = Unknown(f"{src or name}{rest}")
    return shown(value, conversion, spec or None)
