"""Owns the best pairing of many with many: the greatest sum of scores, each taken once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def best(scores: Mapping[tuple[int, int], float]) -> list[tuple[int, int]]:
    """The pairs, of those with a score above zero, whose scores add up to most; sorted.

    Pairs that share nothing with each other are solved apart, so the cost is that of the largest cluster.
    """
    edges = sorted(pair for pair, score in scores.items() if score > 0)
    if not edges:
        return []
    rows = {row: n for n, row in enumerate(dict.fromkeys(row for row, _ in edges))}
    columns = {column: n for n, column in enumerate(sorted({column for _, column in edges}), len(rows))}
    size = len(rows) + len(columns)
    links = ([rows[row] for row, _ in edges], [columns[column] for _, column in edges])
    _, cluster = connected_components(coo_array((np.ones(len(edges)), links), shape=(size, size)), directed=False)
    apart: dict[int, list[tuple[int, int]]] = {}
    for edge in edges:
        apart.setdefault(int(cluster[rows[edge[0]]]), []).append(edge)
    return sorted(pair for together in apart.values() for pair in _solved(together, scores))


def _solved(edges: list[tuple[int, int]], scores: Mapping[tuple[int, int], float]) -> list[tuple[int, int]]:
    if len(edges) == 1:
        return edges
    rows = sorted({row for row, _ in edges})
    columns = sorted({column for _, column in edges})
    at = {row: n for n, row in enumerate(rows)}, {column: n for n, column in enumerate(columns)}
    matrix = np.zeros((len(rows), len(columns)))
    for row, column in edges:
        matrix[at[0][row], at[1][column]] = scores[row, column]
    chosen = zip(*linear_sum_assignment(matrix, maximize=True), strict=True)
    return [(rows[r], columns[c]) for r, c in chosen if matrix[r, c] > 0]
