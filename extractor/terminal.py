"""Owns progress on a terminal: bars while something is under way, nothing at all anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from extractor.source import Silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


class _Shown:
    """One bar at a time; a stage's bar goes when it is done."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._task = bars.add_task("", visible=False, bytes=False)

    def another(self) -> _Shown:
        """A bar of its own, for what goes on at the same time."""
        return _Shown(self._bars)

    def start(self, what: str, total: int | None) -> None:
        self._bars.remove_task(self._task)
        self._task = self._bars.add_task(what, total=total, bytes=what.startswith("downloading"))

    def advance(self, amount: int) -> None:
        self._bars.advance(self._task, amount)

    def done(self) -> None:
        self._bars.update(self._task, visible=False)


@contextmanager
def progress_on(stream: TextIO, quiet: bool) -> Iterator[Silent | _Shown]:
    """A progress display for the stream, when a person is watching it."""
    if quiet or not stream.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Amount(ProgressColumn):
        """Bytes of a download, files or objects of anything else."""

        def render(self, task: Task) -> Text:
            shown = decimal if task.fields["bytes"] else "{:,}".format
            total = "" if task.total is None else f" of {shown(int(task.total))}"
            return Text(f"{shown(int(task.completed))}{total}")

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), Amount(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=stream), transient=True) as bars:
        yield _Shown(bars)
