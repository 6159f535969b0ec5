"""Owns the question before a deployment: which errors are raised for these values, and what else must be told.

    >>> from extractor import check, load
    >>> report = check(load("output/v0.28.0"), {"self": config}, symbol="LoRAConfig")
    >>> report.raised

An answer holds for a call of the function that a raise is in; several raises of one function may each be
answered for another call. What is raised whatever is told, as `raise NotImplementedError` in a method that others
override, is raised if somebody calls the function, which nothing told says: it is unknown, unless `symbol` or
`id` asks for it. Values of the environment are asked with their own methods: one that never returns
from `__eq__` is waited for, one that raises makes the answer unknown, and one that lies is believed.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from extractor import datasets
from extractor.core import Core, Stored, opened
from extractor.dataset import read_error
from extractor.environments import Environment
from extractor.errors import NothingFound, ToolError
from extractor.filled import filled
from extractor.printable import visible
from extractor.runtime.registry import Predicate

T = TypeVar("T")

OUT = Path("output")
SETTLE = 20  # names that are suggested
NOTHING: Mapping[str, Any] = {}
WORDS = {True: "holds", False: "does not hold", None: "not known"}


@dataclass(frozen=True, slots=True)
class Answered:
    """A guard with its own answer."""

    text: str
    line: int
    answer: bool | None


@dataclass(frozen=True, slots=True)
class Raised:
    """A raise that these values lead to."""

    id: str
    exception: str
    message: str
    path: str
    line: int
    symbol: str
    guards: tuple[Answered, ...]


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A name that is not told, and how many of the unknown answers ask for it."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Report:
    """All answers: `raised`, and how many raises cannot be reached or are not decided."""

    raised: tuple[Raised, ...]
    cannot: int
    unknown: int
    settle: tuple[Unsettled, ...]

    def as_json(self, limit: int | None = None) -> dict[str, Any]:
        """The report as `vllm-errors check --json` prints it, with at most so many of the raised."""
        return asdict(replace(self, raised=self.raised[:limit]))


def load(dataset: Path | str, out: Path = OUT) -> Core:
    """The predicates of a dataset: a folder, a label or a release under `out`. Raises `ToolError`."""
    return opened(datasets.locate(str(dataset), out))


def check(
    core: Core, env: Mapping[str, Any], symbol: str | None = None, id: str | None = None, path: str | None = None
) -> Report:
    """The answers for these values by name: of all raises, or those that the filters name. Raises `ToolError`.

    `symbol` is a function, or a class for all of its methods; `path` a pattern in which `*` stands for `/` too.
    """
    asked = symbol is not None or id is not None
    unknown: list[tuple[Stored, set[str]]] = []
    found: list[Stored] = []
    cannot = 0
    for stored in core.predicates(_wanted(core, symbol, id, path)):
        told = asked or not env.keys().isdisjoint(stored.predicate.params)
        answer, missing = _answer(stored, env) if told else (None, set())
        if answer is True and (asked or _answer(stored, NOTHING)[0] is not True):
            found.append(stored)
        elif answer is False:
            cannot += 1
        else:
            unknown.append((stored, missing))
    raised = sorted((_raised(core, stored, env) for stored in found), key=lambda r: (r.path, r.line))
    return Report(tuple(raised), cannot, len(unknown), _settling(unknown, env))


def _answer(stored: Stored, env: Mapping[str, Any]) -> tuple[bool | None, set[str]]:
    """The answer, and the attributes that were asked for in vain."""
    noted = env.missing if isinstance(env, Environment) else set()
    noted.clear()
    answer = _quietly(lambda: stored.predicate.evaluate(env), None)
    return answer, set(noted)


def _quietly(ask: Callable[[], T], otherwise: T) -> T:
    """What is asked for; `otherwise` where a value leaves by SystemExit, or a program is none."""
    try:
        return ask()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return otherwise


def _settling(unknown: Iterable[tuple[Stored, set[str]]], env: Mapping[str, Any]) -> tuple[Unsettled, ...]:
    counts: Counter[str] = Counter()
    for stored, missing in unknown:
        counts.update(name for name in stored.predicate.params if name not in env)
        counts.update(name for name in missing if _is_read(stored, name.rpartition(".")[2]))
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Unsettled(name, count) for name, count in most[:SETTLE])


def _is_read(stored: Stored, attribute: str) -> bool:
    """Whether the program reads the attribute, and does not only call it: JSON has no methods to tell."""
    return f'],"{attribute}"]' in stored.text or f'["k","{attribute}"]' in stored.text


# --- which ones ------------------------------------------------------------------------------------------


def _wanted(core: Core, symbol: str | None, id: str | None, path: str | None) -> dict[str, tuple[str, ...]]:
    """The names of the predicates that all filters name, by module."""
    wanted = {name: module.names for name, module in core.modules.items()}
    if path is not None:
        wanted = {name: wanted[name] for name in _matching(core, path)}
    if symbol is not None:
        wanted = _only(wanted, _of_symbol(core, symbol))
    if id is not None:
        wanted = _only(wanted, _of_error(core, id))
    if not wanted and core.modules:
        raise ToolError("no raise is of all that --symbol, --id and --path name: leave one of them out")
    return wanted


def _only(wanted: Mapping[str, tuple[str, ...]], names: set[str]) -> dict[str, tuple[str, ...]]:
    kept = {module: tuple(n for n in there if n in names) for module, there in wanted.items()}
    return {module: there for module, there in kept.items() if there}


def _matching(core: Core, glob: str) -> list[str]:
    found = [name for name, module in core.modules.items() if fnmatch.fnmatchcase(module.path, glob)]
    if not found:
        raise _unknown(core, f"nothing is raised in files like {glob!r}", glob, {m.path for m in core.modules.values()})
    return found


def _of_symbol(core: Core, symbol: str) -> set[str]:
    symbols = {name: _symbol(name) for module in core.modules.values() for name in module.names}
    found = {name for name, own in symbols.items() if own == symbol or own.startswith(f"{symbol}.")}
    if not found:
        raise _unknown(core, f"nothing is raised in {symbol!r}", symbol, set(symbols.values()))
    return found


def _symbol(name: str) -> str:
    """The symbol in a predicate's name, `module:symbol:line` or `module:symbol:line:column`."""
    parts = name.split(":")
    while len(parts) > 2 and parts[-1].isdigit():
        parts.pop()
    return parts[-1]


def _of_error(core: Core, id: str) -> set[str]:
    try:
        error = datasets.find(core.folder, id)
    except NothingFound as e:  # the question is another one here: without the error there is nothing to ask
        raise ToolError(str(e)) from None
    return {site.predicate.name for site in error.sites if site.predicate is not None}


def _unknown(core: Core, what: str, given: str, there: set[str]) -> ToolError:
    near = difflib.get_close_matches(given[:200], sorted(there), 3, 0.4) if given else []
    return ToolError(f"{what} (in {core.folder.name}); the nearest: {', '.join(near) or 'none'}")


# --- what is raised --------------------------------------------------------------------------------------


def _raised(core: Core, stored: Stored, env: Mapping[str, Any]) -> Raised:
    predicate = stored.predicate
    untold: list[dict[str, Any]] = [{**guard, "answer": None} for guard in predicate.guards]
    answers = _quietly(lambda: predicate.explain(env), untold)
    message = _quietly(lambda: _message(core, predicate, [g["answer"] for g in answers], env), predicate.message)
    return Raised(
        id=predicate.id,
        exception=predicate.exception,
        message=message,
        path=predicate.path,
        line=predicate.line,
        symbol=predicate.symbol,
        guards=tuple(Answered(guard["text"], guard["line"], guard["answer"]) for guard in answers),
    )


def _message(core: Core, predicate: Predicate, answers: Sequence[bool | None], env: Mapping[str, Any]) -> str:
    """The message with values where the dataset tells how it is made."""
    if "{" not in predicate.message:
        return predicate.message
    error = read_error(core.folder, predicate.id)
    site = next((s for s in error.sites if s.predicate is not None and s.predicate.name == predicate.name), None)
    variant = next((v for v in error.variants if v.message == error.message), None)
    if site is None or variant is None or len(site.guards) != len(answers):
        return predicate.message
    return filled(variant.parts, site, answers, predicate, env)


def lines(report: Report, label: str, limit: int) -> Iterator[str]:
    """The report for a person to read; all that others wrote is made visible."""
    for one in report.raised[:limit]:
        yield visible(f"{one.exception}: {one.message}" if one.message else one.exception)
        yield visible(f"  {one.path}:{one.line} in {one.symbol}   (vllm-errors show {one.id})")
        yield from (visible(f"  - {g.text}   (line {g.line}: {WORDS[g.answer]})") for g in one.guards)
        yield ""
    if len(report.raised) > limit:
        yield f"… {len(report.raised) - limit:,} more; see them with --limit"
    counts = f"{len(report.raised):,} raised, {report.cannot:,} cannot be raised, {report.unknown:,} unknown"
    yield f"{visible(label)}: {counts}"
    if report.settle:
        most = (visible(f"{s.name} ({s.count:,})") for s in report.settle)
        yield f"These names would settle the most: {', '.join(most)}"
