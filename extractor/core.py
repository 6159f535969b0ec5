"""Owns the reading of a dataset's predicates as data: nothing in the dataset's folder is imported or run.

What a predicate may name is checked as well: of Python's own names only classes, so that no program, whoever
wrote it, gets at a function that does something.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from extractor import dataset
from extractor.errors import ToolError
from extractor.predicates import FOLDER
from extractor.runtime.registry import INDEX, Predicate, uncollected

ID = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Module:
    """The predicates of one source file, by their names."""

    path: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A predicate with the text that it was read from."""

    predicate: Predicate
    text: str


@dataclass(frozen=True, slots=True)
class Core:
    """The predicates of a dataset. A module is read when one of its predicates is asked for."""

    folder: Path
    modules: Mapping[str, Module]
    digests: Mapping[str, str]  # of all files of the dataset
    _read: dict[str, Mapping[str, Stored]] = field(default_factory=dict, repr=False, compare=False)

    def predicates(self, names: Mapping[str, Iterable[str]]) -> Iterator[Stored]:
        """Those with these names, given by module. Raises `ToolError`."""
        with uncollected(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the parser, about text that is data
            for module in names:
                if module not in self._read:
                    self._read[module] = _stored(self, module)
        for module, wanted in names.items():
            for name in wanted:
                try:
                    yield self._read[module][name]
                except KeyError:
                    raise _damaged(self.folder, INDEX) from None


class _Data(msgspec.Struct):
    """A predicate as `extractor.predicates` writes it."""

    name: str
    id: str
    params: tuple[str, ...]
    precision: str
    path: str
    line: int
    symbol: str
    exception: str
    message: str
    permalink: str | None
    guards: tuple[dict[str, str | int], ...]
    start: list[str]
    code: list[Any] | None
    site: int
    globals: dict[str, list[Any]]


def opened(folder: Path) -> Core:
    """The predicates of the dataset in a folder. Raises `ToolError`."""
    digests = dataset.read_manifest(folder).files
    if f"{FOLDER}/{INDEX}" not in digests:
        raise ToolError(f"{folder} has no predicates: {_again(folder)}")
    try:
        index = msgspec.json.decode(_checked(folder, digests, INDEX), type=dict[str, tuple[str, tuple[str, ...]]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise _damaged(folder, INDEX) from None
    return Core(folder, {name: Module(path, names) for name, (path, names) in index.items()}, digests)


def _stored(core: Core, module: str) -> Mapping[str, Stored]:
    name = f"{module}.py"
    try:
        found = {}
        for text in _texts(_checked(core.folder, core.digests, name)):
            data = msgspec.json.decode(text, type=_Data)
            if not _is_sound(data):
                raise ValueError(data.name)
            found[data.name] = Stored(Predicate(msgspec.structs.asdict(data)), text)
    except ToolError:
        raise
    except Exception:  # whatever the shape of what stands there makes Python say
        raise _damaged(core.folder, name) from None
    return found


def _is_sound(data: _Data) -> bool:
    named = ID.fullmatch(data.id) is not None  # it becomes the name of a file
    told = all({"text", "line"} <= guard.keys() for guard in data.guards)
    return named and told and all(map(_is_harmless, data.globals.values()))


def _texts(source: bytes) -> tuple[str, ...]:
    """What a module's PREDICATES holds, without running the module."""
    (statement,) = ast.parse(source).body
    if not isinstance(statement, ast.Assign):
        raise ValueError("not an assignment")
    return tuple(ast.literal_eval(statement.value))


def _is_harmless(kind: Any) -> bool:
    """Whether what a global name stands for is a value, or a class that is only compared with."""
    match kind[0]:
        case "b":
            return isinstance(getattr(builtins, kind[1]), type)
        case "t" | "l" | "s":
            return all(map(_is_harmless, kind[1]))
        case "d":
            return all(_is_harmless(part) for pair in kind[1] for part in pair)
        case "e":
            return _is_harmless(kind[2])
    return True


def _checked(folder: Path, digests: Mapping[str, str], name: str) -> bytes:
    """A file of the predicates, if it is as it was written."""
    path = folder / FOLDER / name
    try:
        data = path.read_bytes()
    except (OSError, ValueError):
        raise ToolError(f"{path} cannot be read: {_again(folder)}") from None
    if hashlib.sha256(data).hexdigest() != digests.get(f"{FOLDER}/{name}"):
        raise ToolError(f"{path} is not what its manifest lists: {_again(folder)}")
    return data


def _damaged(folder: Path, name: str) -> ToolError:
    return ToolError(f"{folder / FOLDER / name} does not hold predicates as this version writes them: {_again(folder)}")


def _again(folder: Path) -> str:
    try:
        release = dataset.read_manifest(folder, any_schema=True).source.release
    except ToolError:
        release = None
    how = f" --release {release}" if release else ""
    return f"extract the dataset again with vllm-errors extract{how}"
