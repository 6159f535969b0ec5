"""Owns running `match` and ending the process: notes on stderr, the result alone on stdout."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from typing import NoReturn

from extractor.errors import ToolError
from extractor.match.command import Options, run
from extractor.match.report import visible

INTERRUPTED = 130


def main(given: dict[str, str]) -> NoReturn:
    """Runs and ends: every failure is one sentence on stderr."""
    with contextlib.suppress(AttributeError, ValueError):
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as for what a shell has in the background
            signal.signal(signal.SIGINT, _interrupted)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        code = match(
            Options(
                file=given.get("file", "-"),
                dataset=given.get("--dataset"),
                out=given.get("--out", "output"),
                json="--json" in given,
                limit=int(given.get("--limit", "5")),
            )
        )
    except ToolError as e:
        _say(f"vllm-errors: {e}")
        code = e.exit_code
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _interrupted(*_: object) -> NoReturn:
    """At once: Python loses a `KeyboardInterrupt` that comes while it calls back, and the log may have no end."""
    os.write(2, b"vllm-errors: interrupted before the end of the log\n")
    os._exit(INTERRUPTED)


def match(options: Options) -> int:
    """Runs and says what was found."""
    gc.disable()  # a short run; what a long one keeps is bounded
    outcome = run(options, bold=sys.stdout.isatty())
    for note in outcome.notes:
        _say(note)
    sys.stdout.buffer.write(outcome.result)
    return outcome.code


def _say(text: str) -> None:
    sys.stderr.write(visible(text) + "\n")
