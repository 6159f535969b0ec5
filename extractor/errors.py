"""Owns the exceptions of this tool: each is one sentence that says what is wrong and what to do next.

`cli` prints the sentence on stderr and exits with `exit_code`; nothing else catches them.
"""


class ToolError(Exception):
    """Bad use or bad input: exit code 2."""

    exit_code = 2


class NothingFound(ToolError):
    """The answer to a question is "none": exit code 1."""

    exit_code = 1
