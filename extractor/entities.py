"""Owns what the global names of a program stand for, as the data that a predicate starts with.

A constant is written out, a member of an enum and a class get stand-ins, a builtin is itself. Any other name is
asked of the caller (`p`), but for functions and what is imported from outside and called: nobody calls those.
"""

from __future__ import annotations

import builtins
from typing import Any

import msgspec

from extractor.expr import UnknownValue
from extractor.predicates import UNKNOWN, Program
from extractor.programs import RawProgram
from extractor.tree import ClassRef, Entity, External, FunctionRef, Module, Names, ValueRef

MAX_CONSTANT = 20_000  # characters of a constant's form
NOBODY: list[Any] = ["?"]
EXACT, PARTIAL = "exact", "partial"


def linked(names: Names, path: str, raw: RawProgram | None) -> tuple[Program, tuple[str, ...], str]:
    """The program with its globals, the parameters of its predicate, and its precision."""
    if raw is None:
        return UNKNOWN, (), PARTIAL
    globals_: dict[str, Any] = {}
    params = dict.fromkeys(raw.told)
    exact = raw.exact
    for number, dotted in raw.globals:
        kind = globals_[str(number)] = _kind(names, path, dotted, number in raw.called)
        if kind[0] == "p":
            params.setdefault(kind[1])
        vague = kind is NOBODY or (kind[0] == "c" and not kind[3]) or (kind[0] == "e" and number in raw.called)
        exact = exact and not vague
    for number, dotted in raw.classes:
        globals_[str(number)] = _kind(names, path, dotted, False)
    return Program(msgspec.Raw(raw.code), raw.site, raw.start, globals_), tuple(params), EXACT if exact else PARTIAL


def _kind(names: Names, path: str, dotted: str, called: bool) -> list[Any]:
    entity = names.resolve(path, dotted)
    match entity:
        case ClassRef():
            return NOBODY if called else _class(names, entity)
        case External(name):
            return NOBODY if called else _external(name, dotted)
        case FunctionRef():
            return NOBODY
        case Module() if called:
            return NOBODY
    try:
        kind = constant(names, path, dotted, entity)
    except (UnknownValue, RecursionError):
        root, *attributes = dotted.split(".")
        return ["p", root, attributes]
    return kind if len(repr(kind)) <= MAX_CONSTANT else NOBODY


def constant(names: Names, path: str, dotted: str, entity: Entity | None) -> list[Any]:
    """The form of a constant. Raises `UnknownValue`."""
    value, _ = names.constant(path, dotted)
    if value in ([], {}, set()):
        raise UnknownValue("what begins empty is filled by somebody")
    if isinstance(entity, ValueRef) and entity.owner is not None and names.is_enum(entity.owner):
        return ["e", entity.name, form(value), enum_kind(names, entity.owner), _aliases(names, entity, value)]
    return form(value)


def _aliases(names: Names, member: ValueRef, value: Any) -> list[str]:
    """Other names of a member: those of the same value in its enum."""
    assert member.owner is not None
    own = member.name.rpartition(".")[2]
    found = []
    for other in names.class_(member.owner).values:
        try:
            if other != own and names.constant(member.path, f"{member.owner.name}.{other}")[0] == value:
                found.append(other)
        except UnknownValue:
            continue
    return found


def enum_kind(names: Names, owner: ClassRef) -> str:
    """`str` or `int` for an enum whose members are that too."""
    bases = names.bases(owner)
    if "enum.StrEnum" in bases or "builtins.str" in bases:
        return "str"
    return "int" if {"enum.IntEnum", "enum.IntFlag", "builtins.int"} & set(bases) else ""


def form(value: Any) -> list[Any]:
    """Plain data that keeps tuples and sets apart from lists. Raises `UnknownValue`."""
    match value:
        case None | bool() | int() | str():
            return ["k", value]
        case float() if value == value and abs(value) != float("inf"):
            return ["k", value]
        case tuple():
            return ["t", [form(v) for v in value]]
        case list():
            return ["l", [form(v) for v in value]]
        case set() | frozenset():
            return ["s", sorted((form(v) for v in value), key=repr)]
        case dict():
            return ["d", [[form(k), form(v)] for k, v in value.items()]]
    raise UnknownValue("not plain")


def _class(names: Names, ref: ClassRef) -> list[Any]:
    return ["c", names.qualified(ref), names.bases(ref), names.is_known(ref)]


def _external(name: str, dotted: str) -> list[Any]:
    """A name from outside the tree: a builtin class, any other class by its spelling, else the caller's."""
    if name.startswith("builtins."):
        short = name.removeprefix("builtins.")
        return ["b", short] if isinstance(getattr(builtins, short, None), type) else NOBODY
    last = name.rpartition(".")[2]
    if last[:1].isupper() and not last.isupper():
        return ["c", name, (), False]
    root, *attributes = dotted.split(".")
    return ["p", root, attributes]
