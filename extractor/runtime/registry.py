"""Owns the predicates of a dataset by name: read when they are asked for, one module for each file of vLLM.

What is needed to run one is imported when one is asked: whoever has no use for it is not kept waiting.
"""

from __future__ import annotations

import builtins
import gc
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .values import NEW, Class, Member, Told

INDEX = "index.json"  # module: [path of the source file, names of its predicates]


class Predicate:
    """Whether one raise of vLLM is reached, from what is known of the names that its function starts with.

    `params` are the names that can settle it, `precision` is `exact` or `partial`: with an outside event, or a
    call that is not made, in between. `True`: it raises; `False`: it cannot; `None`: what is told does not say.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.name: str = data["name"]
        self.id: str = data["id"]
        self.params: tuple[str, ...] = tuple(data["params"])
        self.precision: str = data["precision"]
        self.path: str = data["path"]
        self.line: int = data["line"]
        self.symbol: str = data["symbol"]
        self.exception: str = data["exception"]
        self.message: str = data["message"]
        self.permalink: str | None = data["permalink"]
        self.guards: tuple[dict[str, Any], ...] = tuple(data["guards"])
        self._start: list[str] = data["start"]
        self._code: list[Any] | None = data["code"]
        self._site: int = data["site"]
        self._globals = {int(number): _entity(kind) for number, kind in data["globals"].items()}

    def __repr__(self) -> str:
        return f"<predicate {self.name}({', '.join(self.params)})>"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        place = f"{self.path}:{self.line}" + (f" {self.permalink}" if self.permalink else "")
        held = [f"  {in_words(guard)}" for guard in self.guards]
        when = ["Raised when all of these hold:", *held] if held else ["Raised whenever the function gets there."]
        call = f"REGISTRY[{self.name!r}].holds({', '.join(f'{p}=…' for p in self.params)})"
        return "\n".join([f"{self.exception}: {self.message}", "", place, "", *when, "", f"Example: {call}"])

    def holds(self, /, **env: Any) -> bool | None:
        """The answer for these values."""
        return self.evaluate(env)

    def evaluate(self, env: Mapping[str, Any]) -> bool | None:
        """The answer for these values by name; names that are no parameter are of no matter."""
        return self._run(env)[0]

    def explain(self, env: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Each guard (kind, text, line) with its own `answer`: None where it cannot be told, or was not come to."""
        _, answers = self._run(env, watching=True)
        return [{**guard, "answer": _of_all(answers.get(n, []))} for n, guard in enumerate(self.guards)]

    def _run(self, env: Mapping[str, Any], watching: bool = False) -> tuple[bool | None, dict[int, list[bool | None]]]:
        from .machine import Machine
        from .memory import Env, OutOfBudget

        machine = Machine(self._globals, env)
        machine.watching = watching
        if self._code is None:
            return None, machine.answers
        try:
            start = Env({name: env[name] for name in self._start if name in env}, {})
            out = machine.block(self._code, start)
        except (OutOfBudget, RecursionError):
            return None, machine.answers
        reached = any(site == self._site for site, _, _ in out.raised) or self._site in machine.caught
        if not reached:
            return False, machine.answers
        others = out.falls or out.returns or out.error or out.breaks or out.again
        alone = all(site == self._site for site, _, _ in out.raised) and others is None
        return (True if alone and self._site not in machine.caught else None), machine.answers


@contextmanager
def uncollected() -> Iterator[None]:
    """What is made in here holds no cycles: looking for some over and over takes longer than making it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Registry(Mapping[str, Predicate]):
    """The predicates of a dataset by name."""

    def __init__(self, package: str, folder: str) -> None:
        self._package = package
        self._folder = folder
        self._modules: dict[str, str] | None = None
        self._made: dict[str, Predicate] = {}

    def _names(self) -> dict[str, str]:
        if self._modules is None:
            with open(os.path.join(self._folder, INDEX), encoding="utf-8") as stream:
                index = json.load(stream)
            self._modules = {name: module for module, (_, names) in index.items() for name in names}
        return self._modules

    def __getitem__(self, name: str) -> Predicate:
        if name not in self._made:
            module = import_module(f"{self._package}.{self._names()[name]}")
            with uncollected():
                for text in module.PREDICATES:
                    predicate = Predicate(json.loads(text))
                    self._made[predicate.name] = predicate
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


def _of_all(answers: list[bool | None]) -> bool | None:
    """One answer for all times that a guard was come to: it held once, or never."""
    return True if True in answers else False if answers and None not in answers else None


def in_words(guard: Mapping[str, Any]) -> str:
    """A guard as a line of a docstring."""
    text, line = guard["text"], guard["line"]
    match guard["kind"]:
        case "exit":
            return f"{text}   (else line {line} leaves)"
        case "except":
            return f"while handling `{text}`   (line {line})"
    return f"{text}   (line {line})"


def _entity(kind: list[Any]) -> Any:
    """What a global name stands for, from its form in JSON (see `extractor.predicates`)."""
    match kind[0]:
        case "k":
            return kind[1]
        case "t":
            return tuple(map(_entity, kind[1]))
        case "l":
            return list(map(_entity, kind[1]))
        case "s":
            members = [_entity(k) for k in kind[1]]
            return members if any(isinstance(m, Member) for m in members) else frozenset(members)
        case "d":
            return {_entity(key): _entity(value) for key, value in kind[1]}
        case "e":
            return Member(kind[1], _entity(kind[2]), kind[3], tuple(kind[4]))
        case "c":
            return Class(kind[1], tuple(kind[2]), kind[3])
        case "b":
            return getattr(builtins, kind[1])
        case "p":
            return Told(kind[1], tuple(kind[2]))
    return NEW
