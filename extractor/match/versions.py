"""Owns which release of vLLM a log says it comes from: a banner, a path, a requirement."""

from __future__ import annotations

import re

_VERSION = r"v?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?(?:\.?(?:rc|post|dev)\d{1,8})?)(?![\w.]*\d{4,})"
SAYS = re.compile(
    rf"vllm[ \w]{{0,30}}version[ :=]{{1,3}}{_VERSION}|\bLLM engine \({_VERSION}\)"
    rf"|vllm-{_VERSION}(?:\.dist-info|-cp|\.tar|\+)"
    rf"|\bvllm ?[=~]= ?{_VERSION}|vllm/vllm-openai:{_VERSION}|\bvllm {_VERSION}(?=[\s,)])",
    re.IGNORECASE | re.ASCII,
)


def stated(text: str) -> str | None:
    """The first release that a text names."""
    if "llm" not in text and "LLM" not in text:
        return None
    m = SAYS.search(text)
    return next(g for g in m.groups() if g) if m else None
