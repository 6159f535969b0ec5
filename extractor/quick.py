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
    except KeyboardInterrupt:
        _say("vllm-errors: interrupted before the end of the log")
        code = INTERRUPTED
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


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
