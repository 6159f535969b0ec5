"""The cluster: the same bytes as from the pool, though a worker dies on the way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extractor.cache import Cache
from extractor.cluster import Cluster
from extractor.errors import ToolError
from extractor.pipeline import run
from extractor.pool import Crashed
from extractor.source import Silent, SourceOptions, open_tree
from tests.test_dataset import contents, write_tree

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of dask, about processes that are killed

FILE = "def f{n}(x):\n    if x > {n}:\n        raise ValueError(f'{{x}} is more than {n}')\n"


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """Two workers, each a process of its own."""
    settings = {"distributed.scheduler.allowed-failures": 1}
    import dask

    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
    ):
        yield cluster


def perhaps(n: int) -> int:
    if n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * n


def test_no_scheduler_and_another_tool(local: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extractor.cluster.TIMEOUT", 1)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(ToolError, match="there is no scheduler of dask at"):
            Cluster(address)
    monkeypatch.setattr("extractor.cache.version", lambda _: "another")  # here, and not on the workers
    with pytest.raises(ToolError, match="has another version of this tool: install the same there"):
        Cluster(local.scheduler_address)


def test_the_same_bytes_though_a_worker_dies(local: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extractor.pipeline.BATCH_BYTES", 100)  # many tasks
    write_tree(tmp_path / "tree", {f"vllm/a{n}.py": FILE.format(n=n) for n in range(120)})
    tree = open_tree(SourceOptions(cache=tmp_path, source=tmp_path / "tree", label="x"), Silent())
    pool = run(tree, tmp_path / "pool", Cache(None, b"tool"), b"tool", 1, Silent()).folder
    victims: list[int] = []

    class Killing(Cluster):
        """Kills a worker as soon as the first answers are there."""

        def run(self, function: Any, tasks: Any) -> Iterator[tuple[int, Any]]:
            for count, answer in enumerate(super().run(function, tasks)):
                if count == 10:
                    victims.extend(self._client.run(os.getpid).values())
                    os.kill(victims[0], signal.SIGKILL)
                yield answer

    with Killing(local.scheduler_address) as cluster:
        made = run(tree, tmp_path / "dask", Cache(None, b"tool"), b"tool", 1, Silent(), cluster).folder
    assert victims and contents(made) == contents(pool)


def test_a_task_that_kills_its_workers_costs_itself_alone(local: Any) -> None:
    with Cluster(local.scheduler_address) as cluster:
        results = dict(cluster.run(perhaps, [(n,) for n in range(8)]))
    assert isinstance(results.pop(3), Crashed)
    assert results == {n: 2 * n for n in range(8) if n != 3}


def test_without_an_address_there_is_none() -> None:
    with Cluster.at(None) as cluster:
        assert cluster is None
