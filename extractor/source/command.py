"""Owns running git: by GitPython, with nothing asked of the user, nothing run that a repository names, and
nothing written into it behind its back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extractor.errors import ToolError
from extractor.source.names import one_line, shown, without_secrets

if TYPE_CHECKING:
    from typing import BinaryIO

CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",  # may name a program
    "core.quotePath=false",
    "protocol.ext.allow=never",  # runs any program
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    "log.showSignature=false",
    "advice.detachedHead=false",
    "http.lowSpeedLimit=1000",  # bytes a second; less for a minute is a dead connection
    "http.lowSpeedTime=60",
)
NOISE = re.compile(
    r"(?:fatal: )?Could not read from remote|Please make sure|and the repository exists|warning: |hint: "
)
# a hook or an alias of git that runs this tool sets these for the repository that it is in
INHERITED = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_TRACE",
    "GIT_DEFAULT_HASH",
)


@dataclass(frozen=True, slots=True)
class Result:
    """What a command came to."""

    status: int
    output: bytes
    error: bytes


@dataclass(frozen=True, slots=True)
class Git:
    """Git in one folder. Without `network` it cannot fetch, not even what a partial clone lacks."""

    folder: Path
    network: bool = False
    config: tuple[str, ...] = ()
    ceiling: Path | None = None  # do not look for a repository in this folder or above

    def run(self, *arguments: str, stdin: BinaryIO | None = None) -> Result:
        """Runs one command to its end."""
        status, output, error = self._git().execute(
            self._command(arguments),
            istream=stdin,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            env=self._environment(),
        )
        return Result(status, output, error.encode("utf-8", "replace") if isinstance(error, str) else error)

    @contextmanager
    def process(self, *arguments: str) -> Iterator[Any]:
        """A command to talk with, ended in any case."""
        import subprocess

        process: Any = self._git().execute(
            self._command(arguments), istream=subprocess.PIPE, as_process=True, env=self._environment()
        )
        try:
            yield process
        finally:
            for stream in (process.stdin, process.stdout, process.stderr):
                try:
                    stream.close()
                except OSError:  # it has ended before it read all
                    continue
            process.proc.kill()
            process.proc.wait()

    def with_config(self, *settings: str) -> Git:
        """The same with more settings."""
        return replace(self, config=(*self.config, *settings))

    def without_filters(self) -> Git:
        """The same without the programs that the repository itself wants its files piped through."""
        listed = self.run("config", "--show-scope", "-z", "--name-only", "--get-regexp", r"^filter\.")
        words = listed.output.decode("utf-8", "surrogateescape").split("\0")
        keys = {key for scope, key in zip(words[::2], words[1::2], strict=False) if scope in ("local", "worktree")}
        drivers = {key.rsplit(".", 1)[0] for key in keys}
        return self.with_config(
            *(f"{driver}.{what}=" for driver in sorted(drivers) for what in ("clean", "smudge", "process")),
            *(f"{driver}.required=false" for driver in sorted(drivers)),
        )

    def _command(self, arguments: Collection[str]) -> list[str]:
        unset = [f"-u{name}" for name in INHERITED if name in os.environ]
        settings = [word for setting in (*CONFIG, *self.config) for word in ("-c", setting)]
        return [*(("env", *unset) if unset else ()), "git", *settings, *arguments]

    def _environment(self) -> dict[str, str]:
        variables = {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "GCM_INTERACTIVE": "never",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_PAGER": "",
            "TZ": "UTC",
        }
        if self.network and "GIT_SSH" not in os.environ:
            ssh = os.environ.get("GIT_SSH_COMMAND") or "ssh"
            variables["GIT_SSH_COMMAND"] = f"{ssh} -oBatchMode=yes"
        if not self.network:
            variables |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
        if self.ceiling is not None:
            variables["GIT_CEILING_DIRECTORIES"] = str(self.ceiling)
        return variables

    def _git(self) -> Any:
        try:
            import git
        except ImportError as e:  # what GitPython raises when there is no git
            raise no_git() from e
        return _Runner(git.Git(str(self.folder)), git.GitCommandNotFound)


@dataclass(frozen=True, slots=True)
class _Runner:
    """GitPython's runner, with a git that has gone missing as a sentence."""

    git: Any
    not_found: type[Exception]

    def execute(self, *arguments: Any, **keywords: Any) -> Any:
        try:
            return self.git.execute(*arguments, **keywords)
        except self.not_found as e:
            raise no_git() from e


def no_git() -> ToolError:
    """The sentence for a machine without git."""
    return ToolError("git is not installed: install it, or give --release, which does not need it")


def require(git: Git, *arguments: str) -> bytes:
    """The output of a command that has to go well. Raises `ToolError`."""
    result = git.run(*arguments)
    if result.status:
        raise trouble(git.folder, result.error)
    return result.output


def trouble(folder: Path, error: bytes) -> ToolError:
    """The sentence for a repository that git cannot or will not read."""
    place = shown(os.fsencode(folder))
    if b"dubious ownership" in error or b"safe.directory" in error:
        return ToolError(
            f"git does not trust {place}, which belongs to another user: "
            f"if you do, run git config --global --add safe.directory {place}"
        )
    return ToolError(f"git cannot read {place} ({reason(error)}): repair it, or give another source")


def reason(error: bytes) -> str:
    """The line in which git says what went wrong; the last ones are general advice."""
    text = without_secrets(error.decode("utf-8", "replace"))
    lines = [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip() and not NOISE.match(line)]
    fatal = [line for line in lines if line.startswith("fatal: ")]
    said = [line for line in lines if line.startswith(("error: ", "ssh: ", "remote: "))]
    best = (fatal or said or lines or ["it does not say why"])[0]
    return one_line(re.sub(r"^(?:fatal|error): ", "", best))[:300]
