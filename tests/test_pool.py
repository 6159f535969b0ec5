"""The pool: a task that kills its process costs that task alone."""

from __future__ import annotations

import os
import signal

import pytest

from extractor.pool import Crashed, Pool


def double(n: int) -> int:
    return 2 * n


def perhaps(n: int) -> int:
    if n == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * n


def fails(n: int) -> int:
    raise ValueError(n)


def test_every_task_has_its_result() -> None:
    with Pool(2) as pool:
        assert sorted(pool.run(double, ((n,) for n in range(20)))) == [(n, 2 * n) for n in range(20)]
        assert list(pool.run(double, [])) == []


@pytest.mark.parametrize("made", [list, iter], ids=["a list of tasks", "tasks made on the way"])
def test_a_crash_costs_one_task(made) -> None:  # type: ignore[no-untyped-def]
    with Pool(2) as pool:
        results = dict(pool.run(perhaps, made([(n,) for n in range(12)])))
    assert isinstance(results.pop(7), Crashed)
    assert results == {n: 2 * n for n in range(12) if n != 7}


def test_an_error_of_the_function_is_raised() -> None:
    with Pool(1) as pool, pytest.raises(ValueError, match="3"):
        list(pool.run(fails, [(3,)]))
