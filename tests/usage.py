"""What a command and all processes below it take, sampled: workers are children of a server that nobody waits for."""

from __future__ import annotations

import threading

import psutil

INTERVAL = 0.05  # seconds


class Usage(threading.Thread):
    """The most memory held together, in bytes, and the processors' time of all, in seconds."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(pid)
        self._stopped = threading.Event()
        self._seconds: dict[int, float] = {}
        self.peak = 0

    def run(self) -> None:
        while not self._stopped.wait(INTERVAL):
            try:
                family = [self._process, *self._process.children(recursive=True)]
                self.peak = max(self.peak, sum(p.memory_info().rss for p in family))
                self._seconds |= {p.pid: (times := p.cpu_times()).user + times.system for p in family}
            except psutil.Error:
                continue

    def stop(self) -> Usage:
        self._stopped.set()
        self.join()
        return self

    @property
    def seconds(self) -> float:
        return sum(self._seconds.values())
