"""Owns the names of a whole tree: which file, class, function or constant a dotted name stands for.

Imports are followed through any number of modules and re-exports. What leaves the tree is external: its
dotted name is all that is known. Answers are kept for the time of one run.
"""

from __future__ import annotations

import builtins
import http
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from extractor import expr
from extractor.expr import UnknownValue
from extractor.index import Class, Import, Index, Span, Value

BUILTIN_EXCEPTIONS = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
AUTO = re.compile(r"(?:enum\.)?auto\(\)")
DEPTH = 20


@dataclass(frozen=True, slots=True)
class Module:
    """A file of the tree, as what a name stands for."""

    path: str


@dataclass(frozen=True, slots=True)
class ClassRef:
    """A class of the tree."""

    path: str
    name: str

    def qualified(self, module: str) -> str:
        """The name that a traceback shows."""
        return f"{module}.{self.name}"


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function or method of the tree; `owner` is the class whose method it is."""

    path: str
    name: str
    span: Span
    owner: ClassRef | None = None


@dataclass(frozen=True, slots=True)
class ValueRef:
    """A constant of the tree; `owner` is the class whose body assigns it."""

    path: str
    name: str
    value: Value
    owner: ClassRef | None = None


@dataclass(frozen=True, slots=True)
class External:
    """A name that is not the tree's; builtins are `builtins.NAME`."""

    name: str


Entity = Module | ClassRef | FunctionRef | ValueRef | External


def module_name(path: str) -> str:
    """`vllm/a/__init__.py` is `vllm.a`."""
    parts = path.rsplit(".", 1)[0].split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


class Names:
    """Resolves names over the indexes of all files (by path)."""

    def __init__(self, indexes: Mapping[str, Index]) -> None:
        self.indexes = indexes
        self._modules: dict[str, str] = {}
        for path in sorted(indexes, key=lambda p: p.endswith(".pyi")):
            self._modules.setdefault(module_name(path), path)
        self._resolved: dict[tuple[str, str], Entity | None] = {}
        self._children: dict[ClassRef, list[ClassRef]] | None = None
        self._lineages: dict[ClassRef, tuple[ClassRef | External, ...]] = {}
        self._descents: dict[ClassRef, tuple[ClassRef, ...]] = {}
        self._values: dict[tuple[str, str, ClassRef | None], tuple[Any, ValueRef | None] | UnknownValue] = {}

    def class_(self, ref: ClassRef) -> Class:
        """What the class declares."""
        return self.indexes[ref.path].classes[ref.name]

    def qualified(self, ref: ClassRef) -> str:
        """`module.Class`."""
        return ref.qualified(module_name(ref.path))

    def resolve(self, path: str, dotted: str, depth: int = 0) -> Entity | None:
        """What the name stands for in the file; None when that cannot be told."""
        key = (path, dotted)
        if key not in self._resolved:
            self._resolved[key] = None  # an import that runs in a circle ends here
            if depth < DEPTH:
                self._resolved[key] = self._resolve(path, dotted, depth)
        return self._resolved[key]

    def _resolve(self, path: str, dotted: str, depth: int) -> Entity | None:
        root, *rest = dotted.split(".")
        entity = self._root(path, root, depth)
        for name in rest:
            entity = self._member(entity, name, depth)
        return entity

    def _root(self, path: str, name: str, depth: int) -> Entity | None:
        index = self.indexes[path]
        if name in index.classes:
            return ClassRef(path, name)
        if name in index.functions:
            return FunctionRef(path, name, index.functions[name])
        if name in index.imports:
            return self._imported(path, index.imports[name], depth)
        if name in index.values:
            return self._value(path, name, index.values[name], depth)
        for star in index.stars:
            module = self._module(path, star)
            if module is not None:
                found = self.resolve(module, name, depth + 1)
                if _is_declared(found):
                    return found
        return External(f"builtins.{name}") if hasattr(builtins, name) else None

    def _value(self, path: str, name: str, value: Value, depth: int) -> Entity | None:
        """`Alias = Other` stands for what Other does."""
        if value.src.replace(".", "").isidentifier() and value.src != name:
            target = self.resolve(path, value.src, depth + 1)
            if isinstance(target, ClassRef | FunctionRef | External):
                return target
        return ValueRef(path, name, value)

    def _module(self, path: str, target: Import) -> str | None:
        """The file of an imported module; a script also sees the files beside it."""
        here = path.split("/")[:-1]
        if target.level:
            base = here[: len(here) - target.level + 1]
            return self._modules.get(".".join([*base, *filter(None, [target.module])]))
        found = self._modules.get(target.module)
        return found or self._modules.get(".".join([*here, target.module]))

    def _imported(self, path: str, target: Import, depth: int) -> Entity | None:
        module = self._module(path, target)
        if target.attribute is None:
            return Module(module) if module is not None else External(target.module)
        if module is not None:
            found = self.resolve(module, target.attribute, depth + 1)
            if _is_declared(found):
                return found
        submodule = self._module(path, Import(f"{target.module}.{target.attribute}".strip("."), None, target.level))
        if submodule is not None:
            return Module(submodule)
        if module is not None or target.level:
            return None
        return External(f"{target.module}.{target.attribute}")

    def _member(self, entity: Entity | None, name: str, depth: int) -> Entity | None:
        match entity:
            case Module(path):
                found = self.resolve(path, name, depth + 1)
                if _is_declared(found):
                    return found
                child = self._modules.get(f"{module_name(path)}.{name}")
                return Module(child) if child is not None else None
            case ClassRef():
                return self.attribute(entity, name)
            case External(outer):
                return External(f"{outer}.{name}")
        return None

    def attribute(self, ref: ClassRef, name: str) -> Entity | None:
        """What a class attribute stands for, bases included."""
        for base in self.ancestry(ref):
            if isinstance(base, ClassRef):
                declared = self.class_(base)
                if name in declared.methods:
                    return FunctionRef(base.path, f"{base.name}.{name}", declared.methods[name], base)
                if name in declared.values:
                    return ValueRef(base.path, f"{base.name}.{name}", declared.values[name], base)
                inner = f"{base.name}.{name}"
                if inner in self.indexes[base.path].classes:
                    return ClassRef(base.path, inner)
        return None

    def ancestry(self, ref: ClassRef) -> tuple[ClassRef | External, ...]:
        """The class and its bases, depth first, as far as they are known."""
        if ref not in self._lineages:
            self._lineages[ref] = tuple(self._ancestry(ref))
        return self._lineages[ref]

    def _ancestry(self, ref: ClassRef) -> Iterator[ClassRef | External]:
        stack: list[ClassRef | External] = [ref]
        seen = set()
        while stack:
            current = stack.pop(0)
            if current in seen:
                continue
            seen.add(current)
            yield current
            if isinstance(current, ClassRef):
                bases = [self.resolve(current.path, b) for b in self.class_(current).bases]
                stack = [b for b in bases if isinstance(b, ClassRef | External)] + stack

    def bases(self, ref: ClassRef | External) -> tuple[str, ...]:
        """Qualified names of all bases, nearest first; those of builtins are known, of other libraries not."""
        found: list[str] = []
        for base in self.ancestry(ref) if isinstance(ref, ClassRef) else (ref,):
            name = self.qualified(base) if isinstance(base, ClassRef) else base.name
            found.append(name)
            if name.startswith("builtins."):
                builtin = BUILTIN_EXCEPTIONS.get(name.removeprefix("builtins."))
                found += [f"builtins.{b.__name__}" for b in (builtin.__mro__[1:-1] if builtin else ())]
        return tuple(dict.fromkeys(found[1:]))

    def is_fixed(self, ref: ClassRef, name: str, exact: bool = False) -> bool:
        """Whether `self.NAME` is what the class body says, in every object of the class; `exact`: of no subclass."""
        below = () if exact else self._descendants(ref)
        for base in (*self.ancestry(ref), *below):
            if not isinstance(base, ClassRef):
                continue
            declared = self.class_(base)
            if name in declared.stored or (name in declared.fields and name not in declared.values):
                return False
            if name in declared.values and declared.values[name].annotated:
                return False
        return not any(name in self.class_(d).values for d in below)

    def is_overridden(self, ref: ClassRef, method: str) -> bool:
        """Whether a class that derives from this one has a method of its own by that name."""
        return any(method in self.class_(d).methods for d in self._descendants(ref))

    def _descendants(self, ref: ClassRef) -> tuple[ClassRef, ...]:
        if ref not in self._descents:
            if self._children is None:
                self._children = self._inverted()
            found: dict[ClassRef, None] = {}
            stack = list(self._children.get(ref, ()))
            while stack:
                child = stack.pop()
                if child not in found and child != ref:
                    found[child] = None
                    stack += self._children.get(child, ())
            self._descents[ref] = tuple(found)
        return self._descents[ref]

    def _inverted(self) -> dict[ClassRef, list[ClassRef]]:
        """The classes that name a class as their base."""
        children: dict[ClassRef, list[ClassRef]] = {}
        for path, index in self.indexes.items():
            for name, declared in index.classes.items():
                for base in declared.bases:
                    parent = self.resolve(path, base)
                    if isinstance(parent, ClassRef):
                        children.setdefault(parent, []).append(ClassRef(path, name))
        return children

    def is_known(self, ref: ClassRef | External) -> bool:
        """Whether all bases of a class are known: those of the tree and of builtins are."""
        return (
            all(isinstance(b, ClassRef) or b.name.startswith("builtins.") for b in self.ancestry(ref))
            if isinstance(ref, ClassRef)
            else ref.name.startswith("builtins.")
        )

    def makes_dataclass(self, path: str, decorator: str) -> bool:
        """Whether a decorator of classes is `dataclass`, or one of the tree that is written to be like it."""
        entity = self.resolve(path, decorator)
        if isinstance(entity, FunctionRef):
            return any("dataclass_transform" in trait for trait in entity.span.traits)
        return isinstance(entity, External) and entity.name.split(".")[-1] == "dataclass"

    def never_returns(self, path: str, call: str) -> bool:
        """Whether a call in the file, by name or as `Class:method`, is of a function annotated never to return."""
        owner, _, name = call.rpartition(":")
        if not owner:
            entity = self.resolve(path, name)
        elif owner in self.indexes[path].classes:
            entity = self.attribute(ClassRef(path, owner), name)
        else:
            entity = None
        return isinstance(entity, FunctionRef) and entity.span.leaves

    def swallows(self, path: str, manager: str) -> bool:
        """Whether `with manager` may go on behind an exception, as far as the tree tells."""
        entity = self.resolve(path, manager)
        if isinstance(entity, ClassRef):
            exits = [self.attribute(entity, name) for name in ("__exit__", "__aexit__")]
            return any(isinstance(e, FunctionRef) and e.span.swallows for e in exits)
        return isinstance(entity, FunctionRef) and entity.span.swallows

    def is_enum(self, ref: ClassRef) -> bool:
        """Whether the class derives from `enum`'s."""
        return any(isinstance(b, External) and b.name in ENUMS for b in self.ancestry(ref))

    # --- values -----------------------------------------------------------------------------------------

    def constant(
        self, path: str, dotted: str, own: ClassRef | None = None, depth: int = 0
    ) -> tuple[Any, ValueRef | None]:
        """The value of a constant and where it is assigned. Raises `UnknownValue`."""
        key = (path, dotted, own)
        if key not in self._values:
            try:
                self._values[key] = self._constant(path, dotted, own, depth)
            except UnknownValue as e:
                self._values[key] = e.with_traceback(None)
        known = self._values[key]
        if isinstance(known, UnknownValue):
            raise known.with_traceback(None)
        return known

    def _constant(self, path: str, dotted: str, own: ClassRef | None, depth: int) -> tuple[Any, ValueRef | None]:
        if depth > DEPTH:
            raise UnknownValue(dotted)
        if own is not None and "." not in dotted and dotted in self.class_(own).values:
            entity: Entity | None = self.attribute(own, dotted)
        else:
            entity = self.resolve(path, dotted)
        if isinstance(entity, External):
            return _status(entity.name), None
        if entity is None:
            return self._enum_part(path, dotted, depth)
        if not isinstance(entity, ValueRef):
            raise UnknownValue(dotted)
        if entity.owner is not None and AUTO.fullmatch(entity.value.src) and self.is_enum(entity.owner):
            return self._numbered(entity, entity.owner), entity
        value = expr.evaluate(
            entity.value.src, lambda name: self.constant(entity.path, name, entity.owner, depth + 1)[0]
        )
        return value, entity

    def _numbered(self, member: ValueRef, owner: ClassRef) -> Any:
        """What `auto()` gives where each member before it has it too. Raises `UnknownValue`."""
        bases = [b.name for b in self.ancestry(owner) if isinstance(b, External) and b.name != "builtins.object"]
        name = member.name.rpartition(".")[2]
        before = list(takewhile(lambda other: other != name, self.class_(owner).values))
        if self.attribute(owner, "_generate_next_value_") is None:
            if bases == ["enum.StrEnum"]:
                return name.lower()
            numbered = all(AUTO.fullmatch(self.class_(owner).values[other].src) for other in before)
            if numbered and bases in (["enum.Enum"], ["enum.IntEnum"]):
                return len(before) + 1
        raise UnknownValue(member.name)

    def _enum_part(self, path: str, dotted: str, depth: int) -> tuple[Any, ValueRef | None]:
        """`Kind.MEMBER.value` and `Kind.MEMBER.name`."""
        member, _, part = dotted.rpartition(".")
        entity = self.resolve(path, member) if part in ("value", "name") and member else None
        if not isinstance(entity, ValueRef) or entity.owner is None or not self.is_enum(entity.owner):
            raise UnknownValue(dotted)
        if part == "name":
            return entity.name.rpartition(".")[2], entity
        return self.constant(path, member, None, depth + 1)


def _is_declared(entity: Entity | None) -> bool:
    """Whether a module says what the name is; a builtin is found in every module."""
    return entity is not None and not (isinstance(entity, External) and entity.name.startswith("builtins."))


def _status(name: str) -> Any:
    """The few constants of other libraries that say an HTTP status."""
    parts = name.split(".")
    if "HTTPStatus" in parts[:-1]:
        member = http.HTTPStatus.__members__.get(parts[parts.index("HTTPStatus") + 1])
        tail = parts[parts.index("HTTPStatus") + 2 :]
        if member is not None and tail in ([], ["value"]):
            return int(member)
        if member is not None and tail == ["phrase"]:
            return member.phrase
    if "status" in parts and parts[-1].startswith("HTTP_") and parts[-1][5:8].isdigit():
        return int(parts[-1][5:8])
    raise UnknownValue(name)
