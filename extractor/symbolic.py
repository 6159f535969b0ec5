"""Owns the symbolic form of an expression: what one file alone tells of a message, before linking.

`lower` writes it from a syntax tree, `message` evaluates it with the rest of the source tree at hand, and
`cache` keeps it, so it is plain data: immutable, comparable, and free of paths (two files of the same
content share one record). Each node that may turn out not to be known carries `src`, the expression as it
stands in the source, which is what a reader is shown then.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Node(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A symbolic expression."""


class Lit(Node, frozen=True):
    """A literal text, number, truth value or None."""

    value: str | int | float | bool | None


class Opaque(Node, frozen=True):
    """An expression that is not followed. `closed`: it mentions no local name, so constants may settle it."""

    src: str
    closed: bool = False


class Name(Node, frozen=True):
    """A dotted name. `local`: its root is a parameter or an unknown local; else it is the module's."""

    dotted: str
    local: bool = False

    @property
    def src(self) -> str:
        """The name as it stands in the source."""
        return self.dotted


class Hole(Node, frozen=True):
    """A formatted value: `{value!conversion:spec}` of an f-string, `str(value)`, `%r`."""

    value: Expr
    conversion: str | None = None
    spec: Expr | None = None


class Add(Node, frozen=True):
    """Operands joined by `+`."""

    items: tuple[Expr, ...]
    src: str


class Join(Node, frozen=True):
    """Pieces that are text for certain, one after the other: an f-string, adjacent literals."""

    items: tuple[Expr, ...]


class Percent(Node, frozen=True):
    """`left % right`."""

    left: Expr
    right: Expr
    src: str


class Times(Node, frozen=True):
    """`left * right`."""

    left: Expr
    right: Expr
    src: str


class Sequence(Node, frozen=True):
    """A list, tuple or set display; `kind` is its type's name. Items may be `Star`."""

    kind: str
    items: tuple[Expr, ...]
    src: str


class Mapping(Node, frozen=True):
    """A dict display with plain keys."""

    items: tuple[tuple[Expr, Expr], ...]
    src: str


class Star(Node, frozen=True):
    """`*value` in an argument list or a display."""

    value: Expr


class Item(Node, frozen=True):
    """`value[key]`."""

    value: Expr
    key: Expr
    src: str


class Attr(Node, frozen=True):
    """`value.name` where `value` is not itself a plain dotted name."""

    value: Expr
    name: str
    src: str


class Method(Node, frozen=True):
    """A call of a method that text has: `value.name(*args, **kwargs)`."""

    value: Expr
    name: str
    args: tuple[Expr, ...]
    kwargs: tuple[tuple[str, Expr], ...]
    src: str


class Call(Node, frozen=True):
    """A call of a function or class by name (or by any other expression, as in `type(e)(…)`)."""

    func: Expr
    args: tuple[Expr, ...]
    kwargs: tuple[tuple[str, Expr], ...]  # ("", value) is **value
    src: str


class Cond(Node, frozen=True):
    """Either of two values. Nodes with one `key` in one call always decide alike."""

    key: int
    test: Expr
    then: Expr
    other: Expr
    src: str


class Not(Node, frozen=True):
    """`not value`, in a test."""

    value: Expr


class Logic(Node, frozen=True):
    """`a and b` or `a or b`, in a test."""

    op: str
    items: tuple[Expr, ...]


class Compare(Node, frozen=True):
    """One comparison, in a test; `op` as Python writes it."""

    op: str
    left: Expr
    right: Expr


class Alias(Node, frozen=True):
    """A local name in a hole: its value where that is known text, else the name as the source has it."""

    value: Expr
    src: str


class Gone(Node, frozen=True):
    """What stands where control never arrives: a helper's path that raises itself or returns nothing."""


class Lambda(Node, frozen=True):
    """A function that is at hand: a nested one, or one fetched from elsewhere in the tree."""

    function: Function


class Param(msgspec.Struct, frozen=True, array_like=True):
    """A parameter; `kind` is one of `pos`, `kw`, `*`, `**`."""

    name: str
    kind: str
    default: Expr | None = None


class Function(msgspec.Struct, frozen=True, array_like=True):
    """What a function returns, and what it leaves on `self` (`super()` stands for the call of the base)."""

    params: tuple[Param, ...]
    result: Expr
    attributes: tuple[tuple[str, Expr], ...] = ()


Expr = (
    Lit | Opaque | Name | Hole | Add | Join | Percent | Times | Sequence | Mapping | Star | Item | Attr
    | Method | Call | Alias | Cond | Not | Logic | Compare | Gone | Lambda
)  # fmt: skip

NOTHING = Lit(None)


def source(node: Expr) -> str:
    """The node as a reader would write it, for a hole."""
    match node:
        case Lit(value):
            return repr(value)
        case Star(value):
            return "*" + source(value)
        case Hole(value, conversion, None):
            return source(value) if conversion is None else f"{'repr' if conversion == 'r' else 'str'}({source(value)})"
        case Join() | Hole() | Not() | Logic() | Compare() | Gone() | Lambda():
            return "..."
        case _:
            return node.src


def walk(node: Expr) -> Iterator[Node]:
    """The node and all nodes in it."""
    stack: list[object] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, Node):
            yield current
            stack += [getattr(current, name) for name in current.__struct_fields__]
        elif isinstance(current, tuple):
            stack += current
