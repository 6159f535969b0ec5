"""The other side of the comparison: a dataset's sites, and the answers of its predicates."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.oracle.running import Endless, clock

VLLM_ERRORS = Path(sys.executable).parent / "vllm-errors"
SLOW = 1.0  # seconds that one answer may take
Ask = Callable[["Site", dict[str, Any]], Any]


class Crash(Exception):
    """Asking raised, took too long, or the answer is neither True, False nor None."""


@dataclass(frozen=True, slots=True)
class Site:
    """One raise of the dataset; `name` is its predicate, None where it has none."""

    path: str
    line: int
    symbol: str
    name: str | None
    params: tuple[str, ...]
    precision: str
    guards: tuple[dict[str, Any], ...] = field(compare=False)
    complete: bool
    caught_by: str | None


def extract(source: Path, out: Path) -> Path:
    """The dataset of a tree, by the command itself."""
    command = [str(VLLM_ERRORS), "extract", "--source", str(source), "--out", str(out), "--label", "case", "--quiet"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if ran.returncode:
        raise RuntimeError(f"extract ended with {ran.returncode}: {ran.stderr[-3000:]}")
    return out / "case"


def sites(dataset: Path) -> dict[tuple[str, str], list[Site]]:
    """All sites by (path, symbol), in the order of lines."""
    found: dict[tuple[str, str], list[Site]] = {}
    for text in (dataset / "errors.jsonl").read_text().splitlines():
        for s in json.loads(text)["sites"]:
            told = s.get("predicate") or {"name": None, "params": [], "precision": "none"}
            site = Site(
                s["path"], s["line"], s["symbol"], told["name"], tuple(told["params"]), told["precision"],
                tuple(s["guards"]), s["complete"], s["caught_by"] or None,
            )  # fmt: skip
            found.setdefault((site.path, site.symbol), []).append(site)
    for several in found.values():
        several.sort(key=lambda site: site.line)
    return found


def load(dataset: Path) -> Any:
    """The dataset's `predicates` package, whatever one was imported before; None when it has none."""
    for name in [name for name in sys.modules if name.split(".")[0] == "predicates"]:
        del sys.modules[name]
    if not (dataset / "predicates").is_dir():
        return None
    sys.path.insert(0, str(dataset))
    importlib.invalidate_caches()
    try:
        return importlib.import_module("predicates")
    finally:
        sys.path.remove(str(dataset))


def opened(package: Any, site: Site) -> Any:
    """The site's predicate, its module imported: what that takes is not the first answer's fault."""
    predicate = package.REGISTRY[site.name]
    if tuple(predicate.params) != site.params or predicate.precision != site.precision:
        raise Crash(f"the registry says {predicate.params} {predicate.precision}")
    with suppress(BaseException), clock(10 * SLOW):
        predicate.evaluate({})
    return predicate


def asker(package: Any) -> Ask:
    """Asks a predicate within a second; sites without a predicate answer None."""
    known: dict[str, Any] = {}

    def ask(site: Site, values: dict[str, Any]) -> bool | None:
        if site.name is None or package is None:
            return None
        if site.name not in known:
            known[site.name] = opened(package, site)
        start = time.process_time()
        try:
            with clock(SLOW):
                predicate = known[site.name]
                answer = predicate.evaluate(values)
        except Endless:
            raise Crash(f"took over {SLOW} s") from None
        except Crash:
            raise
        except BaseException as e:
            raise Crash(f"evaluate raised {type(e).__name__}: {e}") from e
        if not any(answer is one for one in (True, False, None)):
            raise Crash(f"evaluate answered {answer!r}")
        if time.process_time() - start > SLOW:
            raise Crash(f"took {time.process_time() - start:.1f} s")
        return None if answer is None else bool(answer)

    return ask


def surroundings(package: Any, site: Site, values: dict[str, Any], answer: bool | None) -> str | None:
    """What is wrong with `holds` and `explain` where `evaluate` gave this answer."""
    if site.name is None or package is None:
        return None
    predicate = package.REGISTRY[site.name]
    try:
        with clock(3 * SLOW):
            held = predicate.holds(**values)
            predicate.explain(values)
    except BaseException as e:
        return f"holds or explain raised {type(e).__name__}: {e}"
    return f"holds {held!r}, evaluate {answer!r}" if held is not answer and held is not (answer is True) else None
