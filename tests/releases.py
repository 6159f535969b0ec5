"""Real releases, fetched by name, and read once in a run of the tests whichever of its processes asks first."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from extractor import cache as caches
from extractor.console import cache_folder
from extractor.dataset import read_errors, read_manifest
from extractor.model import Error, Provenance
from extractor.pipeline import run
from extractor.pool import default_jobs
from extractor.source import Silent, SourceOptions, Tree, open_tree


def opened(release: str) -> Tree:
    return open_tree(SourceOptions(cache=cache_folder(), release=release), Silent())


def extracted(release: str, temporary: pytest.TempPathFactory) -> Path:
    """The dataset of a release."""
    base = temporary.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "releases"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tool = caches.fingerprint()
        cache = caches.Cache(shared / "cache", tool)
        try:
            return run(opened(release), shared, cache, tool, default_jobs(), Silent()).folder
        finally:
            cache.close()


def released(release: str, temporary: pytest.TempPathFactory) -> tuple[Provenance, list[Error]]:
    """What a release is, and its errors."""
    folder = extracted(release, temporary)
    return read_manifest(folder).source, list(read_errors(folder))
