"""Owns tasks on a cluster of dask: the same functions as in the pool, for those who outgrow a machine.

A worker that dies gives its tasks back to the scheduler, and a task that kills one worker after the other is
`Crashed`, as in the pool.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import TracebackType
from typing import Any, ClassVar, TypeVar

from extractor.cache import fingerprint
from extractor.errors import ToolError
from extractor.pool import Crashed

T = TypeVar("T")

TIMEOUT = 20  # seconds to reach the scheduler
AHEAD = 4  # tasks under way for each thread of the cluster: what waits is held by the scheduler


class Cluster:
    """A client of a scheduler. Use it as a context manager."""

    near: ClassVar[bool] = False

    def __init__(self, address: str) -> None:
        """Raises `ToolError` when there is no scheduler, or its workers read source otherwise than this machine."""
        try:
            self._distributed: Any = import_module("distributed")
        except ImportError:
            raise ToolError("--executor dask needs dask: pip install 'vllm-errors[dask]'") from None
        try:
            self._client: Any = self._distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
            tools = self._client.run(fingerprint)
        except (OSError, ValueError, TypeError) as e:
            raise ToolError(f"there is no scheduler of dask at {address} ({e}): check --scheduler") from None
        except ImportError as e:
            raise ToolError(f"the workers of {address} do not have this tool ({e}): install it there") from None
        if not tools:
            raise ToolError(f"the scheduler at {address} has no workers: start one with dask worker {address}")
        other = sorted(name for name, tool in tools.items() if tool != fingerprint())
        if other:
            raise ToolError(f"the worker {other[0]} has another version of this tool: install the same there")
        self._most = AHEAD * sum(self._client.nthreads().values())

    @classmethod
    @contextlib.contextmanager
    def at(cls, address: str | None) -> Iterator[Cluster | None]:
        """A client for as long as it is needed; None without an address."""
        if address is None:
            yield None
            return
        with cls(address) as cluster:
            yield cluster

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(OSError, self._distributed.comm.CommClosedError):
            self._client.close(timeout=TIMEOUT)

    def run(self, function: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, T | Crashed]]:
        """`(number of the task, result)` as they come; a task that kills its workers gives `Crashed`."""
        under_way: dict[Any, tuple[int, tuple[Any, ...]]] = {}
        suspects: list[tuple[int, tuple[Any, ...]]] = []
        answers = self._distributed.as_completed(loop=self._client.loop, raise_errors=False)

        def answered() -> Iterator[tuple[int, T | Crashed]]:
            future = next(answers)
            number, task = under_way.pop(future)
            try:
                yield number, future.result()
            except self._distributed.KilledWorker:  # or one that only stood beside it
                suspects.append((number, task))

        for number, task in enumerate(tasks):
            future = self._client.submit(function, *task, pure=False)
            under_way[future] = number, task
            answers.add(future)
            if len(under_way) >= self._most:
                yield from answered()
        while under_way:
            yield from answered()
        for number, task in suspects:
            yield number, self._alone(function, task)

    def _alone(self, function: Callable[..., T], task: tuple[Any, ...]) -> T | Crashed:
        """With nothing beside it, a task that kills a worker is the one that did it."""
        try:
            result: T = self._client.submit(function, *task, pure=False).result()
            return result
        except self._distributed.KilledWorker:
            return Crashed("the workers that read it died")
