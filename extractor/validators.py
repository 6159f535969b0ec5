"""Owns which methods validate: those of pydantic with what they validate, and `__post_init__` of a dataclass."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from extractor.expr import dotted
from extractor.targets import FunctionNode

FIELD_VALIDATORS = frozenset({"field_validator", "validator"})
MODEL_VALIDATORS = frozenset({"model_validator", "root_validator"})


def validated(
    function: FunctionNode | None, classes: Sequence[ast.ClassDef]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a validator of pydantic validates; for `__post_init__`, how its class is decorated."""
    if function is None or not classes:
        return (), ()
    owner = ".".join(c.name for c in classes)
    if function.name == "__post_init__":
        decorators = (d.func if isinstance(d, ast.Call) else d for d in classes[-1].decorator_list)
        return (), tuple(name for d in decorators if (name := dotted(d)) is not None)
    found: list[str] = []
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        name = (dotted(call.func if call else decorator) or "").split(".")[-1]
        if name in MODEL_VALIDATORS:
            found.append(owner)
        elif name in FIELD_VALIDATORS and call is not None:
            fields = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            found += [f"{owner}.{f}" for f in fields]
    return tuple(dict.fromkeys(found)), ()
