"""Owns the worker processes: tasks in, results out in any order, and a crash costs one task, not the run.

A task is a picklable function and its arguments. Workers run without the cycle collector, since syntax trees
hold no cycles and collecting them over and over costs a third of the time.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain
from multiprocessing import connection, forkserver, resource_tracker
from multiprocessing.context import BaseContext
from typing import Any, BinaryIO, ClassVar, NoReturn, Protocol, TypeVar

T = TypeVar("T")
P = TypeVar("P")


class Crashed(Exception):
    """The worker died on this task: out of memory, or a crash of a parser on hostile input."""


class Executor(Protocol):
    """Where tasks run: processes of this machine, this process, or a cluster. `near`: they see this machine's files."""

    near: ClassVar[bool]

    def run(self, function: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, T | Crashed]]:
        """`(number of the task, result)` as they come; a task that kills its worker gives `Crashed`."""
        ...


class Here:
    """Runs tasks in this process, one after the other: for what is a task itself."""

    near: ClassVar[bool] = True

    def run(self, function: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, T | Crashed]]:
        """In the order of the tasks."""
        for number, task in enumerate(tasks):
            yield number, function(*task)


def default_jobs() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool:
    """A pool of processes, started when it is first needed. Use it as a context manager."""

    near: ClassVar[bool] = True

    def __init__(self, jobs: int, preload: tuple[str, ...] = ()) -> None:
        self._jobs = max(1, jobs)
        self._preload = list(preload)
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Pool:
        if self._context().get_start_method() == "forkserver":
            forkserver.ensure_running()  # what workers need is imported while this process does something else
        return self

    def __exit__(self, *exc: object) -> None:
        if self._executor is not None:
            if exc[0] is not None:  # nobody waits for what they are at
                for process in list((self._executor._processes or {}).values()):
                    process.terminate()
            self._executor.shutdown(cancel_futures=True)
            self._executor = None

    def _context(self) -> BaseContext:
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        context = multiprocessing.get_context(method)
        context.set_forkserver_preload(self._preload)
        return context

    def _started(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(self._jobs, mp_context=self._context(), initializer=_prepare)
            with _undisturbed():
                self._executor.submit(_nothing)  # this starts the processes
        return self._executor

    def warm(self) -> None:
        """Has the processes start now, while this one does something else."""
        executor = self._started()
        for _ in range(self._jobs):
            executor.submit(_nothing)

    def run(self, function: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, T | Crashed]]:
        """`(number of the task, result)` as they come; a task that kills its worker gives `Crashed`.

        What is answered is forgotten, so tasks without end take no memory without end.
        """
        source = enumerate(tasks)
        todo: dict[int, tuple[Any, ...]] = {}
        try:
            executor = self._started()
            futures: dict[Future[T], int] = {}
            for number, task in source:  # work begins, and answers come, while tasks are still being made
                todo[number] = task
                futures[executor.submit(function, *task)] = number
                yield from _answered(wait(futures, timeout=0).done, futures, todo)
            while futures:
                yield from _answered(wait(futures, return_when=FIRST_COMPLETED).done, futures, todo)
        except BrokenProcessPool:
            self._executor = None
            for number, task in sorted(chain(todo.items(), source)):
                yield number, self._alone(function, task)

    def _alone(self, function: Callable[..., T], task: tuple[Any, ...]) -> T | Crashed:
        """After a crash each task that is left gets a process of its own when it needs one."""
        try:
            return self._started().submit(function, *task).result()
        except BrokenProcessPool:
            self._executor = None
            return Crashed("the process that read it died")


def shared_out(function: Callable[[P], bytes], parts: Sequence[P]) -> list[bytes]:
    """The function's answer for each part: the first is made here, each other one by a copy of this process.

    A copy sees all that this process knows, without its being packed and sent. It must not go on with what is open:
    a database, the place in a file. What a copy does not answer, and all where processes cannot be copied, is made
    here.
    """
    copies = [_copy(function, part) for part in parts[1:]]
    try:
        return [*map(function, parts[:1]), *(copy.answer() for copy in copies)]
    except BaseException:
        for copy in copies:
            copy.end()
        raise


def apart(function: Callable[[P], bytes], part: P) -> bytes:
    """The function's answer, made by a copy of this process (see `shared_out`) that takes what it used with it.

    Taking millions of objects apart, or looking for those that refer to each other, costs more than copying.
    """
    copy = _copy(function, part)
    answer = copy.answer()
    if not isinstance(copy, _Copy):
        gc.collect()
    return answer


class _Here:
    """What is made here, when it is asked for: no copy was made of this process, or it failed."""

    def __init__(self, function: Callable[[P], bytes], part: P) -> None:
        self._make = partial(function, part)

    def answer(self) -> bytes:
        return self._make()

    def end(self) -> None:
        """Nobody waits for the answer any more."""


class _Copy(_Here):
    """A copy of this process at work."""

    def __init__(self, function: Callable[[P], bytes], part: P, process: int, stream: BinaryIO) -> None:
        super().__init__(function, part)
        self._process: int | None = process
        self._stream = stream

    def answer(self) -> bytes:
        with self._stream:
            data = self._stream.read()
        return data if self._ended() == 0 else super().answer()

    def end(self) -> None:
        self._stream.close()
        if self._process is not None:
            os.kill(self._process, signal.SIGKILL)
            self._ended()

    def _ended(self) -> int:
        assert self._process is not None
        _, status = os.waitpid(self._process, 0)
        self._process = None
        return status


def _copy(function: Callable[[P], bytes], part: P) -> _Here:
    """A copy at work, where processes can be copied: not everywhere, not safely on macOS, not without memory."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return _Here(function, part)
    reading, writing = os.pipe()
    with _undisturbed(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: a copy uses nothing that they may hold
        try:
            process = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            return _Here(function, part)
        if not process:
            _work(function, part, writing)
    os.close(writing)
    return _Copy(function, part, process, os.fdopen(reading, "rb"))


def _work(function: Callable[[P], bytes], part: P, writing: int) -> NoReturn:
    """All that a copy does."""
    code = 1
    try:
        with os.fdopen(writing, "wb") as stream:
            stream.write(function(part))
        code = 0
    finally:
        os._exit(code)


def _answered(
    done: Iterable[Future[T]], futures: dict[Future[T], int], todo: dict[int, tuple[Any, ...]]
) -> Iterator[tuple[int, T]]:
    for future in done:
        result = future.result()
        number = futures.pop(future)
        del todo[number]
        yield number, result


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Processes that are started in here never see Ctrl-C: it is for this one to end them, without their tracebacks."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    gc.disable()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for its next task for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _nothing() -> None:
    """The task of a process that is only to be there."""
