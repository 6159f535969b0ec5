"""The pool: a task that kills its process costs that task alone."""

from __future__ import annotations

import os
import signal
import sys
import time

import psutil
import pytest

from extractor.pool import Crashed, Pool, apart, shared_out


def double(n: int) -> int:
    return 2 * n


def perhaps(n: int) -> int:
    if n == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * n


def packed(n: int) -> bytes:
    return b"%d %d" % (2 * n, os.getpid())


def test_parts_are_answered_in_order_by_copies_that_see_all() -> None:
    large = os.urandom(300_000)  # more than a pipe holds
    assert shared_out(lambda n: large[n:], [3, 2, 1]) == [large[n:] for n in (3, 2, 1)]
    numbers, processes = zip(*(answer.split() for answer in shared_out(packed, [1, 2, 3])), strict=True)
    assert numbers == (b"2", b"4", b"6")
    assert len(set(processes)) == (3 if sys.platform == "linux" else 1)
    assert shared_out(packed, []) == []


def test_what_a_copy_fails_at_is_made_here() -> None:
    here = os.getpid()

    def part(n: int) -> bytes:
        if n == 2 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return b"%d" % n

    assert shared_out(part, [1, 2, 3]) == [b"1", b"2", b"3"]
    with pytest.raises(ValueError, match="2"):
        shared_out(lambda n: packed(n) if n < 2 else packed(fails(n)), [1, 2, 3])


def test_what_cannot_be_copied_is_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", fork)
    here = b"%d" % os.getpid()
    assert {answer.split()[1] for answer in shared_out(packed, [1, 2])} == {here} == {apart(packed, 1).split()[1]}


def test_what_is_made_apart_stays_apart() -> None:
    made: list[int] = []

    def part(n: int) -> bytes:
        made.append(n)
        return b"%d" % len(made)

    assert [apart(part, n) for n in (1, 2)] == ([b"1", b"1"] if sys.platform == "linux" else [b"1", b"2"])
    assert len(made) == (0 if sys.platform == "linux" else 2)


def test_no_copy_is_left_when_this_process_gives_up() -> None:
    def part(n: int) -> bytes:
        if n == 1:
            raise KeyboardInterrupt
        time.sleep(60)
        return b""

    before = psutil.Process().children()
    with pytest.raises(KeyboardInterrupt):
        shared_out(part, [1, 2, 3])
    assert psutil.Process().children() == before


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
