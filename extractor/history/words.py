"""Owns how two texts differ word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def marked(old: str, new: str) -> Iterator[tuple[str, str]]:
    """(`-`, `+` or nothing, text)."""
    a, b = _WORD.findall(old), _WORD.findall(new)
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "", "".join(a[i:j])
            continue
        if i < j:
            yield "-", "".join(a[i:j])
        if k < m:
            yield "+", "".join(b[k:m])
