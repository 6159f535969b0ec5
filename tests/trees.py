"""Small source trees as dicts of text, and the errors in them, without a disk in between."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from extractor.assemble import Assembled, assembled, calls_that_leave
from extractor.model import Error, Provenance, Site
from extractor.predicates import package
from extractor.raises import extract, summary
from extractor.runtime.registry import Predicate
from extractor.symbolic import Function
from extractor.tree import Names

STDLIB = sorted(p for p in Path(sysconfig.get_paths()["stdlib"]).rglob("*.py") if "site-packages" not in p.parts)
SOURCE = Provenance(repo="vllm-project/vllm", label="test", permalink="https://example.org/blob/abc")


@dataclass(frozen=True)
class Found:
    """A site with the error that it belongs to."""

    error: Error
    site: Site

    @property
    def message(self) -> str:
        return self.error.message

    @property
    def messages(self) -> set[str]:
        return {v.message for v in self.error.variants} or {self.error.message}


def errors_in(files: Mapping[str, str | bytes]) -> tuple[Error, ...]:
    return assembled_in(files).errors


def predicates_in(files: Mapping[str, str | bytes]) -> list[Predicate]:
    """The predicates of all sites, as they would be read from the dataset."""
    made = assembled_in(files)
    found: list[Predicate] = []
    for name, data in package(made.errors, made.programs):
        if data.startswith(b"# Predicates"):
            scope: dict[str, Any] = {}
            exec(compile(data, name, "exec"), scope)
            found += [Predicate(json.loads(text)) for text in scope["PREDICATES"]]
    return sorted(found, key=lambda p: (p.path, p.line))


def assembled_in(files: Mapping[str, str | bytes]) -> Assembled:
    data = {path: text if isinstance(text, bytes) else dedent(text).encode() for path, text in files.items()}
    records = {path: extract(content) for path, content in data.items()}
    known: dict[tuple[str, int], Function | None] = {}

    def summaries(path: str, first: int, last: int) -> Function | None:
        if (path, first) not in known:
            known[path, first] = summary(data[path], first, last)
        return known[path, first]

    names = Names({path: record.index for path, record in records.items() if record.index is not None})
    for path, leaving in calls_that_leave({path: record.calls for path, record in records.items()}, names).items():
        records[path] = extract(data[path], leaving)
    return assembled(((path, records[path].sites) for path in sorted(records)), names, summaries, SOURCE)


def sites_in(files: Mapping[str, str | bytes]) -> list[Found]:
    """All sites in the order of files, then lines."""
    found = [Found(error, site) for error in errors_in(files) for site in error.sites]
    return sorted(found, key=lambda f: (f.site.path, f.site.line, f.site.column))


def only(text: str, **more: str) -> Found:
    """The one site of `a.py`; other files by name with `__` for `/`."""
    files = {"vllm/a.py": text} | {f"{name.replace('__', '/')}.py": other for name, other in more.items()}
    return next(f for f in sites_in(files) if f.site.path == "vllm/a.py")
