"""Owns the `predicates` package of a dataset: the runtime as it is, an index, and a module for each source file.

Source text is data in these modules, quoted by `repr`; there is no code of vLLM in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from extractor import runtime
from extractor.model import Error, Site

FOLDER = "predicates"
RUNTIME = tuple(
    f"{name}.py"
    for name in (
        "exits",
        "expressions",
        "machine",
        "matching",
        "memory",
        "operations",
        "registry",
        "relations",
        "values",
    )
)
INIT = '''"""Tells before a deployment whether an error of vLLM would be raised. Needs the standard library alone.

Written by vllm-errors; not to be edited.

    >>> from predicates import REGISTRY, member
    >>> REGISTRY[name].evaluate({"self": config})   # True: raises, False: cannot, None: unknown
"""

import os

from .registry import Predicate, Registry
from .values import Typed, member

REGISTRY = Registry(__name__, os.path.dirname(__file__))
__all__ = ["REGISTRY", "Predicate", "Typed", "member"]
'''


class Program(msgspec.Struct, frozen=True):
    """What a predicate runs: the slice as JSON, what its globals stand for, the names that it starts with."""

    code: msgspec.Raw
    site: int
    start: tuple[str, ...]
    globals: dict[str, Any]


UNKNOWN = Program(msgspec.Raw(b"null"), -1, (), {})


def package(errors: Iterable[Error], programs: Mapping[str, Program]) -> Iterator[tuple[str, bytes]]:
    """The files of the package by their path in the dataset."""
    here = Path(runtime.__file__).parent
    yield f"{FOLDER}/__init__.py", INIT.encode()
    for name in RUNTIME:
        yield f"{FOLDER}/{name}", (here / name).read_bytes()
    by_path: dict[str, list[tuple[Site, Error]]] = {}
    for error in errors:
        for site in error.sites:
            if site.predicate is not None:
                by_path.setdefault(site.path, []).append((site, error))
    index: dict[str, tuple[str, list[str]]] = {}
    modules = module_names(by_path)
    for path in sorted(by_path):
        found = sorted(by_path[path], key=lambda pair: (pair[0].line, pair[0].column))
        names = [site.predicate.name for site, _ in found if site.predicate is not None]
        index[modules[path]] = (path, names)
        yield f"{FOLDER}/{modules[path]}.py", _module(path, found, programs)
    yield f"{FOLDER}/index.json", msgspec.json.encode(index)


def module_names(paths: Iterable[str]) -> dict[str, str]:
    """A name for each file's module: the path with `_` for all that no name has, numbered where two come out alike."""
    found: dict[str, str] = {}
    taken = {"__init__", *(name.removesuffix(".py") for name in RUNTIME)}
    for path in sorted(paths):
        plain = re.sub(r"\W", "_", path.rpartition(".")[0], flags=re.ASCII)[:150]
        plain = f"in_{plain}" if not plain[:1].isalpha() else plain
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name.lower())
        found[path] = name
    return found


def _module(path: str, found: Iterable[tuple[Site, Error]], programs: Mapping[str, Program]) -> bytes:
    lines = [f"# Predicates of {path!r}. Written by vllm-errors; not to be edited.", "PREDICATES = ("]
    for site, error in found:
        assert site.predicate is not None
        data = _data(site, error, programs.get(site.predicate.name, UNKNOWN))
        lines.append(f"    {msgspec.json.encode(data).decode()!r},")
    lines.append(")\n")
    return "\n".join(lines).encode("ascii", "backslashreplace")


def _data(site: Site, error: Error, program: Program) -> dict[str, Any]:
    assert site.predicate is not None
    return {
        "name": site.predicate.name,
        "id": error.id,
        "params": site.predicate.params,
        "precision": site.predicate.precision,
        "path": site.path,
        "line": site.line,
        "symbol": site.symbol,
        "exception": site.exception,
        "message": error.message,
        "permalink": site.permalink,
        "guards": [{"kind": g.kind, "text": g.text, "line": g.line} for g in site.guards],
        "start": program.start,
        "code": program.code,
        "site": program.site,
        "globals": program.globals,
    }
