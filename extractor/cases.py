"""Owns what the cases of a `match` say of its subject: what it is not where one is missed, which exclude each other."""

from __future__ import annotations

import ast
from typing import Any

from extractor.paths import Test


def missed(subject: ast.expr, case: ast.match_case) -> Test | None:
    """That the pattern did not match, where a comparison says so."""
    if case.guard is not None:
        return None
    match case.pattern:
        case ast.MatchValue(value=value):
            test = ast.Compare(subject, [ast.NotEq()], [value])
        case ast.MatchSingleton(value=value):
            test = ast.Compare(subject, [ast.IsNot()], [ast.Constant(value)])
        case ast.MatchOr(patterns=patterns) if all(isinstance(p, ast.MatchValue) for p in patterns):
            values = [p.value for p in patterns if isinstance(p, ast.MatchValue)]
            test = ast.Compare(subject, [ast.NotIn()], [ast.Tuple(values, ast.Load())])
        case _:
            return None
    for node in (test, *test.comparators):
        if not hasattr(node, "lineno"):
            node.lineno = node.end_lineno = case.pattern.lineno
            node.col_offset = node.end_col_offset = 0
    return Test(test, True)


def is_apart(one: ast.pattern, other: ast.pattern) -> bool:
    """Whether no value fits both patterns, as their constants tell."""
    values, others = _values_of(one), _values_of(other)
    return values is not None and others is not None and values.isdisjoint(others)


def _values_of(pattern: ast.pattern) -> set[Any] | None:
    match pattern:
        case ast.MatchSingleton(value=value):
            return {value}
        case ast.MatchValue(value=node):
            try:
                return {ast.literal_eval(node)}
            except ValueError:
                return None
        case ast.MatchOr(patterns=patterns):
            found = [_values_of(p) for p in patterns]
            return None if None in found else set().union(*(values for values in found if values is not None))
    return None
