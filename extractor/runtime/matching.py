"""Owns patterns of `match`: whether a value fits one, and what it binds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from .expressions import Expressions
from .memory import MISSING, Env, Expr, from_all
from .relations import is_hard
from .values import Member, Typed, Unknown, is_instance


class Matching(Expressions):
    """What patterns come to."""

    def _matches(self, pattern: Expr, value: Any, env: Env) -> bool | None:
        self._spend()
        match pattern[0]:
            case "as":
                answer = True if pattern[1] is None else self._matches(pattern[1], value, env)
                if pattern[2] is not None:
                    env.names[pattern[2]] = value
                return answer
            case "is":
                return self._same(value, pattern[1])
            case "=":
                return self._equal(value, self.value(pattern[1], env))
            case "or":
                answers = [self._matches(p, value, env) for p in pattern[1]]
                first = next((a for a in answers if a is not False), False)
                return True if first else (None if None in answers else False)
            case "seq":
                return self._matches_items(pattern[1], value, env)
            case "class":
                return self._matches_class(pattern, value, env)
            case "map":
                return self._matches_mapping(pattern, value, env)
        return None

    def _matches_mapping(self, pattern: Expr, value: Any, env: Env) -> bool | None:
        _, pairs, rest = pattern
        known = type(value) is dict and not self._is_tainted(value)
        if not known and _is_no(value, Mapping):
            return False
        answers: list[bool | None] = [True if known else None]
        keys = [self.value(key, env) for key, _ in pairs]
        for key, (_, inner) in zip(keys, pairs, strict=True):
            if known and not isinstance(key, Unknown) and not is_hard(key):
                answers.append(self._matches(inner, value[key], env) if key in value else False)
            else:
                answers += [None, self._matches(inner, from_all((value,)), env)]
        if rest is not None:
            env.names[rest] = {k: v for k, v in value.items() if k not in keys} if known else from_all((value,))
        return False if False in answers else None if None in answers else True

    def _matches_items(self, patterns: Sequence[Expr], value: Any, env: Env) -> bool | None:
        known = isinstance(value, list | tuple) and not self._is_tainted(value)
        if not known and _is_no(value, Sequence):
            return False
        star = next((i for i, p in enumerate(patterns) if p[0] == "*"), None)
        items: Any = value if known else None
        if known and len(value) != len(patterns) and (star is None or len(value) < len(patterns) - 1):
            return False
        answers: list[bool | None] = [True if known else None]
        for position, pattern in enumerate(patterns):
            if pattern[0] == "*":
                if pattern[1] is not None:
                    env.names[pattern[1]] = (
                        list(items[position : len(items) - (len(patterns) - position - 1)])
                        if known
                        else from_all((value,))
                    )
                continue
            back = position if star is None or position < star else position - len(patterns)
            answers.append(self._matches(pattern, items[back] if known else from_all((value,)), env))
        return False if False in answers else None if None in answers else True

    def _matches_class(self, pattern: Expr, value: Any, env: Env) -> bool | None:
        _, class_, positional, named = pattern
        type_ = self.value(class_, env)
        answer = None if isinstance(type_, Unknown) or isinstance(value, Unknown) else is_instance(value, type_)
        if answer is False:
            return False
        answers: list[bool | None] = [answer]
        if positional:
            whole = type_ in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple) and len(positional) == 1
            answers += [self._matches(inner, value if whole else from_all((value,)), env) for inner in positional]
            if not whole:
                answers.append(None)
        for name, inner in named:
            part = self._attribute(value, name, env, default=MISSING)
            answers.append(False if part is MISSING else self._matches(inner, part, env))
        return False if False in answers else None if None in answers else True


def _is_no(value: Any, kind: type) -> bool:
    """Whether no pattern for this kind fits the value. What stands for an object of vLLM may be of any class."""
    if isinstance(value, str | bytes | bytearray):
        return True
    if isinstance(value, Member) and value.aliases is not None and not isinstance(value.value, Unknown):
        return _is_no(value.value, kind)  # its enum is one of such values at most
    stands_in = isinstance(value, Unknown | Member | Typed) or type(value) is SimpleNamespace
    return not stands_in and not issubclass(type(value), kind)
