"""The files under `data/` with the client that they are for: ErrLookup's own, from its registry, unchanged."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from extractor.model import Error, Provenance, Variant
from extractor.pages import errlookup
from extractor.pages.folder import Writer
from extractor.render.compose import card
from tests.browser import served  # noqa: F401  a fixture
from tests.releases import released

PACKAGE = "@standardbeagle/errlookup-mcp@0.1.2"
SAMPLE, RIGHT = 50, 0.6

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's script."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("the client needs node and npm: on Debian, apt-get install npm")
    folder = tmp_path_factory.mktemp("client")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry does not answer")
    if done.returncode:
        pytest.skip(f"{PACKAGE} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    return folder / "node_modules" / "@standardbeagle" / "errlookup-mcp" / "dist" / "index.js"


class Client:
    """The client as an agent runs it: JSON-RPC, one message a line."""

    def __init__(self, script: Path, base: str, cache: Path) -> None:
        self._asked = 0
        env = os.environ | {"ERRLOOKUP_BASE_URL": base, "ERRLOOKUP_CACHE_DIR": str(cache)}
        self._process = subprocess.Popen(
            ["node", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True
        )
        told = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
        self.ask("initialize", told)
        self._send({"method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        assert self._process.stdout is not None
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        return json.loads(self._process.stdout.readline())["result"]

    def call(self, tool: str, **arguments: Any) -> str:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), answer
        return str(answer["content"][0]["text"])

    def close(self) -> None:
        with self._process:  # closes its pipes
            self._process.terminate()


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Provenance, list[Error]]:
    return released("0.28.0", tmp_path_factory)


@pytest.fixture
def client(
    installed: Path,
    release: tuple[Provenance, list[Error]],
    served: Callable[[Path], str],  # noqa: F811
    tmp_path: Path,
) -> Iterator[Client]:
    """The client, and the files of `data/` as a site has them."""
    source, errors = release
    slugs = errlookup.slugs(errors)
    made = []
    for error in errors:
        record = errlookup.encode(errlookup.record(error, source, card(error, source), slugs[error.id]))
        made.append((errlookup.summary(error, slugs[error.id]), record))
    writer = Writer(tmp_path / "site", tmp_path / "none")
    for name, data in errlookup.files(source, made, 1, None):
        writer.put(name, data)
    started = Client(installed, served(tmp_path / "site"), tmp_path / "cache")
    yield started
    started.close()


def rendered(variant: Variant, chance: random.Random) -> str:
    """A message as a log has it."""
    values = ("7", "cuda:0", "llama", "(1, 2)", "/data/model", "None", "torch.float16", "0.9")
    return "".join(p.text if isinstance(p.text, str) else chance.choice(values) for p in variant.parts)


def test_the_client_finds_what_it_is_asked_for(client: Client, release: tuple[Provenance, list[Error]]) -> None:
    errors = release[1]
    refreshed = json.loads(client.call("refresh_dataset"))
    assert (refreshed["updated"], refreshed["errors"]) == (True, len(errors))
    assert json.loads(client.call("list_repos"))["repos"][0]["errorCount"] == len(errors)
    chance = random.Random(28)
    telling = [e for e in errors if sum(map(str.isalnum, re.sub(r"\{.*?\}", "", e.message))) >= 12]
    right = 0
    for error in chance.sample(telling, SAMPLE):
        message = f"{error.exception}: {rendered(error.variants[0], chance)}"
        matches = json.loads(client.call("search_error", message=message))["matches"]
        right += bool(matches) and matches[0]["id"] == error.id
    assert right >= RIGHT * SAMPLE, right
    print(f"{right} of {SAMPLE} first")
    error = telling[0]
    text = client.call("get_error", id=error.id)
    assert error.message in text and error.sites[0].path in text
