"""vllm-errors: every error that vLLM raises, read from its source without importing it.

From Python: `load` a dataset and `check` values against it; `member` and `Typed` stand for what is vLLM's.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extractor.checking import check, load
    from extractor.runtime.values import Typed, member

__version__ = "0.1.0"
__all__ = ["Typed", "__version__", "check", "load", "member"]

_HOMES = {
    "check": "extractor.checking",
    "load": "extractor.checking",
    "member": "extractor.runtime.values",
    "Typed": "extractor.runtime.values",
}


def __getattr__(name: str) -> Any:
    """What is offered to programs, imported when it is asked for: the command's help must not wait for it."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
