"""What the lookup in the browser costs: bytes sent, loading the index, a paste of 20 KB, one of 50 MB.

`make bench ARGS=--lookup`. Answers are timed in the page, from the paste to the answer in the document; `turns` is the
longest that the page itself stood still meanwhile.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import tempfile
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from extractor import serving
from extractor.lookup import files
from tests import pastes
from tests.browser import executable
from tests.errors_like import TREE
from tests.releases import released
from tests.sites import dataset_at, errors_of, provenance, site_of

LINE = pastes.INFO.format(19, 51)
ERROR = pastes.each(
    pastes.ENGINE,
    'Traceback (most recent call last):\n  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/worker/utils.py", line '
    "454, in request_memory\n    raise ValueError(\nValueError: Free memory on device cuda:0 (7.34/79.2 GiB) on startup is "
    "less than desired GPU memory utilization (0.9, 71.28 GiB). Decrease GPU memory utilization or reduce GPU memory used "
    "by other processes.",
)
TIMED = """
([before, times, after]) => new Promise((resolve) => {
  const text = before.repeat(times) + after;
  const box = document.getElementById("lookup-text");
  const results = document.getElementById("lookup-results");
  results.replaceChildren();
  let [longest, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    [longest, last] = [Math.max(longest, now - last), now];
  }, 5);
  const started = performance.now();
  new MutationObserver((_, observer) => {
    if (!results.querySelector(".answer")) return;
    observer.disconnect();
    clearInterval(timer);
    resolve([performance.now() - started, longest]);
  }).observe(results, { childList: true });
  const data = new DataTransfer();
  data.setData("text/plain", text);
  if (box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, cancelable: true }))) {
    box.value = text;
    box.form.requestSubmit();
  }
})
"""


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--release", default="0.28.0")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    place = Path(tempfile.mkdtemp(prefix="vllm-errors-bench-"))
    folder = site_of([dataset_at(place / "v1.0.0", errors_of(TREE), provenance())], place / "site").folder
    for name, data in files([released(options.release, place)]):
        (folder / name).write_bytes(data)
        print(f"{name:44} {len(data) / 1e3:7.0f} KB, {len(gzip.compress(data)) / 1e3:6.0f} KB compressed")
    server = serving.server(folder, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(serving.address(server))
        first = measured(page, "", 0, ERROR)
        print(f"{'the first answer, index and all':44} {first[0]:7.0f} ms")
        small = [measured(page, LINE, (20_000 - len(ERROR)) // len(LINE), ERROR)[0] for _ in range(options.rounds)]
        print(f"{'20 KB':44} {statistics.median(small):7.0f} ms, at most {max(small):.0f} ms")
        large = measured(page, LINE, 50_000_000 // len(LINE), ERROR)
        print(f"{'50 MB':44} {large[0]:7.0f} ms, page still for {large[1]:.0f} ms at most")
        browser.close()
    server.shutdown()


def measured(page: Any, before: str, times: int, after: str) -> tuple[float, float]:
    """Milliseconds until the answer, and the longest that the page did nothing else."""
    seconds, longest = page.evaluate(TIMED, [before, times, after])
    return float(seconds), float(longest)
