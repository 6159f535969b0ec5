"""Owns environments, read from JSON: values by name, whose objects note what they are asked and do not know.

An object is a namespace, `{"$type": "Class", …}` one of that class, `{"$dict": {…}}` a mapping as Python has them,
`{"$enum": "Class.NAME"}` a member of an enum. Lists stay lists, and so do text, numbers, true, false and null.
"""

from __future__ import annotations

import json
import keyword
import math
import os
import stat
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn

from extractor.errors import ToolError
from extractor.runtime.values import Typed, member

MAX_BYTES = 16 << 20  # a text of brackets alone is forty times as large in memory
MAX_DEPTH = 100
STDIN = "-"


class Environment(dict[str, Any]):
    """Values by name; `missing` are the dotted names of attributes that were asked for and are not told."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: set[str] = set()


class Noted(Typed):
    """An object of which some attributes are told. What it keeps for itself is in slots: no predicate sees it."""

    __slots__ = ("__missing", "__path")

    def __init__(self, type_: str, path: str, missing: set[str]) -> None:
        super().__init__(type_)
        self.__path = path
        self.__missing = missing

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("__"):
            self.__missing.add(f"{self.__path}.{name}")
        raise AttributeError(name)


def read(given: str) -> Environment:
    """The environment in a file, or on the standard input for `-`. Raises `ToolError`."""
    return parsed(_bytes(given))


def _bytes(given: str) -> bytes:
    try:
        if given == STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with open(given, "rb", opener=_without_waiting) as stream:
                data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as e:
        reason = getattr(e, "strerror", None) or str(e)
        raise ToolError(f"{given} cannot be read ({reason}): give --env a file of JSON, or - for stdin") from None
    if len(data) > MAX_BYTES:
        raise ToolError(f"the environment is larger than {MAX_BYTES >> 20} MB: tell only the names that matter")
    return data


def _without_waiting(path: str, flags: int) -> int:
    """Opens a file; a pipe that nobody writes into is one that has ended."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        os.set_blocking(descriptor, True)  # `--env <(…)`: what writes at the other end may take its time
    return descriptor


def parsed(data: bytes) -> Environment:
    """The environment in a JSON text. Raises `ToolError`."""
    try:
        found = json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_no_number, parse_float=_float
        )
    except UnicodeDecodeError as e:
        raise ToolError(f"the environment is not UTF-8 (byte {e.start}): write it as JSON in UTF-8") from None
    except json.JSONDecodeError as e:
        raise ToolError(
            f"the environment is not JSON ({e.msg}, line {e.lineno} column {e.colno}): write an object by its rules"
        ) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # Python's own limit
        digits = sys.get_int_max_str_digits()
        raise ToolError(f"the environment has a number of more than {digits} digits: leave it out") from None
    return environment(found)


def environment(data: Any) -> Environment:
    """The environment that a decoded JSON value means. Raises `ToolError`."""
    if not isinstance(data, dict):
        raise ToolError('the environment is not an object: write {"name": value, …} with the names of parameters')
    env = Environment()
    for name, value in data.items():
        env[_name(name, "")] = _value(value, name, env.missing, 1)
    return env


def _value(data: Any, path: str, missing: set[str], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(data, list):
        return [_value(item, f"{path}[{n}]", missing, depth + 1) for n, item in enumerate(data)]
    if not isinstance(data, dict):
        return data
    if "$enum" in data:
        return _member(data, path)
    if "$dict" in data:
        inner = data["$dict"]
        if len(data) > 1 or not isinstance(inner, dict):
            raise ToolError(f'{_cut(path)} is no mapping: write {{"$dict": {{…}}}} with nothing beside it')
        return {key: _value(value, f"{path}[{_cut(key)!r}]", missing, depth + 1) for key, value in inner.items()}
    made = Noted(_type(data, path), path, missing)
    for key, value in data.items():
        if key != "$type":
            setattr(made, _name(key, path), _value(value, f"{path}.{key}", missing, depth + 1))
    return made


def _member(data: Mapping[str, Any], path: str) -> Any:
    dotted = data["$enum"]
    if len(data) > 1 or not isinstance(dotted, str) or "." not in dotted or not _is_dotted(dotted):
        raise ToolError(f'{_cut(path)} is no member of an enum: write {{"$enum": "Class.NAME"}}')
    return member(dotted)


def _type(data: Mapping[str, Any], path: str) -> str:
    name = data.get("$type", "")
    if "$type" in data and (not isinstance(name, str) or not _is_dotted(name)):
        raise ToolError(f'{_cut(path)} names no class: write {{"$type": "Class", …}}')
    return str(name)


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _name(key: str, path: str) -> str:
    """A key that is a name. Those that begin with two underscores are Python's own, and no predicate reads them."""
    if key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__"):
        return key
    where = f" of {_cut(path)}" if path else ""
    raise ToolError(
        f"the key {_cut(key)!r}{where} is not a name that can be told: write a mapping with such keys as "
        f'{{"$dict": {{…}}}} (the other words are "$enum" and "$type")'
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise ToolError(f"the environment has the key {_cut(twice)!r} twice in one object: keep one of them")
    return found


def _no_number(text: str) -> NoReturn:
    raise ToolError(f"the environment has {text}, which is not JSON: write a number, or leave the name out")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ToolError(f"the environment has {_cut(text)}, which no float can hold: write a smaller number")
    return value


def _too_deep() -> ToolError:
    return ToolError(f"the environment nests deeper than {MAX_DEPTH} levels: tell only the attributes that matter")


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
