"""Owns what the matcher knows as data, written as a module of JavaScript: its patterns, steps, numbers and words.

Whatever a module of `extractor.match` names in capitals is there under the same name: a new threshold needs no line
here.
"""

from __future__ import annotations

import json
import re
from html.entities import name2codepoint
from types import ModuleType
from typing import Any

from extractor import printable
from extractor.lookup.dialect import translated
from extractor.match import (
    common,
    engine,
    find,
    found,
    judge,
    lexicon,
    log,
    normalise,
    places,
    rank,
    report,
    settle,
    stream,
    verify,
    versions,
)

MODULES = (
    common, engine, find, found, judge, lexicon, log, normalise, places, rank, report, settle, stream, verify, versions
)  # fmt: skip
EXTRA: dict[str, dict[str, Any]] = {
    "log": {"SOUGHT": [log.sought(False), log.sought(True)]},
    "normalise": {
        "STEPS": [
            {
                "name": step.name,
                "signs": step.signs,
                "pattern": step.compiled(),
                "replacement": step.replacement if isinstance(step.replacement, str) else None,
                "by": None if isinstance(step.replacement, str) else step.replacement.__name__,
                "only": None if step.only is None else step.only.__name__,
            }
            for step in normalise.STEPS
        ],
        "ENTITIES": {**name2codepoint, "apos": 39},
    },
    "printable": {"LINE": printable.LINE, "LINES": printable.LINES},
}


def script() -> str:
    """A module that exports the capitals of each module as one object of its name."""
    names = {module.__name__.rpartition(".")[2]: _capitals(module) for module in MODULES}
    for name, more in EXTRA.items():
        names.setdefault(name, {}).update(more)
    lines = ["/** Owns the numbers, words and patterns of the matcher: written from `extractor/match`. */"]
    for name, values in sorted(names.items()):
        fields = "".join(f"  {key}: {_said(value)},\n" for key, value in sorted(values.items()))
        lines.append(f"export const {name} = {{\n{fields}}};")
    return "\n\n".join(lines) + "\n"


def _capitals(module: ModuleType) -> dict[str, Any]:
    """A module's own constants; texts of patterns are parts of what `EXTRA` says."""
    own = {name: value for name, value in vars(module).items() if name.isupper() and not name.startswith("_")}
    texts = module not in (log, normalise)
    kinds = (bool, int, float, tuple, frozenset, dict, re.Pattern) + ((str,) if texts else ())
    return {
        name: value
        for name, value in own.items()
        if isinstance(value, kinds) and not (module is normalise and isinstance(value, (tuple, dict)))
    }


def _said(value: Any) -> str:
    """A value as an expression of JavaScript, in ASCII."""
    if isinstance(value, re.Pattern):
        source, flags = translated(value)
        return f"new RegExp({json.dumps(source)}, {json.dumps('g' + flags)})"
    if isinstance(value, frozenset):
        return f"new Set({json.dumps(sorted(value))})"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_said, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_said(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value)
