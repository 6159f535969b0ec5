"""Owns what a tree says of itself: the commit in its version file, the release in its PKG-INFO.

Version files are parsed and never run. Three forms exist among the releases:
    0.6.0            vllm/commit_id.py   __commit__ = "32e7db25365415841ebc7c4215851743fbb1bad1"
    0.8.0            vllm/_version.py    no commit
    since 0.11       vllm/_version.py    __commit_id__ = commit_id = 'g2cf0a6915'
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping

COMMIT_FILES = ("vllm/_version.py", "vllm/commit_id.py")
PKG_INFO = "PKG-INFO"
FILES = frozenset({*COMMIT_FILES, PKG_INFO})
LARGEST = 1 << 20  # bytes of a file that is looked into

_NAMES = {"commit_id", "__commit_id__", "__commit__"}
_COMMIT = re.compile(r"g?(?P<commit>[0-9a-f]{7,40})")


def commit(files: Mapping[str, bytes]) -> str | None:
    """The commit that the tree names as its own, maybe a short one."""
    for path in COMMIT_FILES:
        found = _commit_in(files.get(path, b""))
        if found is not None:
            return found
    return None


def _commit_in(data: bytes) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in somebody else's strings
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        if names & _NAMES and isinstance(node.value.value, str):
            match = _COMMIT.fullmatch(node.value.value)
            if match:
                return match["commit"]
    return None


def release(files: Mapping[str, bytes]) -> str | None:
    """The version in the metadata of an unpacked release of vLLM."""
    head = files.get(PKG_INFO, b"").decode("utf-8", "replace").replace("\r\n", "\n").split("\n\n", 1)[0]
    fields = dict(line.split(": ", 1) for line in reversed(head.split("\n")) if ": " in line and line[0] != " ")
    if fields.get("Name", "").strip().lower() != "vllm":
        return None
    version = fields.get("Version", "").strip()
    from packaging.version import InvalidVersion, Version

    try:
        return None if Version(version).local else version
    except InvalidVersion:
        return None
