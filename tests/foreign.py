"""Logs and tracebacks of other libraries, written by program from the messages in their source.

Every `raise` with a text in the standard library and in the installed packages gives lines and tracebacks such as
that library would print. None of them is vLLM's, so that nothing may be found in them.
"""

from __future__ import annotations

import ast
import random
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SKIPPED = {"test", "tests", "idle_test", "lib2to3", "extractor"}
LARGE = {
    "dask",
    "distributed",
    "matplotlib",
    "numpy",
    "playwright",
    "scipy",
}  # twice as much again, and one text that is vLLM's too
VALUES = ("3", "0.75", "'cuda'", "None", "float16", "torch.Size([3, 4])", "['a', 'b']", "<class 'int'>", "/tmp/x", "x")


class Foreign(NamedTuple):
    """A message of somebody else."""

    path: str
    line: int
    function: str
    exception: str
    message: str


def messages() -> Iterator[Foreign]:
    """The messages of the standard library and of the installed packages, values filled in by chance."""
    chance = random.Random(20261201)
    roots = [Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))]
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            inner = path.relative_to(root)
            if (SKIPPED | LARGE) & set(inner.parts) or (root == roots[0] and "site-packages" in inner.parts):
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            yield from _in(tree, str(path), chance)


def _in(tree: ast.AST, path: str, chance: random.Random) -> Iterator[Foreign]:
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                name = ast.unparse(node.exc.func).rpartition(".")[2]
                text = _text(node.exc.args[0], chance)
                if text and name.isidentifier():
                    yield Foreign(path, node.lineno, function.name, name, text)


def _text(node: ast.expr, chance: random.Random) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else chance.choice(VALUES) for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        text = node.left.value
        if not isinstance(text, str):
            return None
        for mark in ("%s", "%r", "%d"):
            while mark in text:
                text = text.replace(mark, chance.choice(VALUES), 1)
        return text
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        inner = _text(node.func.value, chance)
        return None if inner is None else inner.replace("{}", chance.choice(VALUES)).replace("{!r}", "'x'")
    return None


def traceback(found: Foreign) -> str:
    """As Python prints it, called from code of vLLM: the last frame is the library's."""
    return (
        "Traceback (most recent call last):\n"
        '  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 305, in __init__\n'
        "    self.model_executor = executor_class(vllm_config)\n"
        f'  File "{found.path}", line {found.line}, in {found.function}\n'
        f"    raise {found.exception}(\n"
        f"{found.exception}: {found.message}\n"
    )


def logged(found: Foreign) -> str:
    """As a line of a log."""
    return f"(EngineCore pid=211) ERROR 12-29 15:00:11 [core.py:305] {found.message}\n"


def bare(found: Foreign) -> str:
    """As the last line of a traceback, all that somebody pasted."""
    return f"{found.exception}: {found.message}\n"
