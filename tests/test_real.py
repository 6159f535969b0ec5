"""The real thing: releases of vLLM from the package index, held against an independent reading by `ast`."""

from __future__ import annotations

import ast
import json
import warnings
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
import re2

from extractor import dataset
from extractor.cache import Cache
from extractor.pipeline import run
from extractor.runtime.registry import Predicate
from extractor.source import Silent, SourceOptions, Tree, open_tree
from tests import releases
from tests.releases import opened

pytestmark = pytest.mark.real

# release: (raise statements outside tests/, what the manifest must say of each; None where it is not known)
RELEASES = {"0.28.0": 5177, "0.8.0": None, "0.4.1": None}


@pytest.fixture(scope="module", params=RELEASES)
def extracted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tree, Path]:
    return opened(request.param), releases.extracted(request.param, tmp_path_factory)


def raises_in(tree: Tree) -> tuple[set[tuple[str, int, int]], set[str]]:
    """Every raise statement by the plainest reading, and the files that are newer than this Python."""
    found: set[tuple[str, int, int]] = set()
    newer = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, data in tree.read([entry.path for entry in tree.entries]):
            try:
                nodes = ast.walk(ast.parse(data))
            except SyntaxError:
                newer.add(path)
                continue
            found |= {(path, n.lineno, n.end_lineno or 0) for n in nodes if isinstance(n, ast.Raise)}
    return found, newer


def test_guards_parse_back_and_every_site_has_a_predicate_that_answers(extracted: tuple[Tree, Path]) -> None:
    _, folder = extracted
    sites = [site for error in dataset.read_errors(folder) for site in error.sites]
    for site in sites:
        for guard in site.guards:
            if guard.kind in ("if", "assert", "exit"):
                ast.parse(guard.text, mode="eval")
    found = read_all(folder)
    assert found.keys() == {site.predicate.name for site in sites if site.predicate is not None}
    assert len(found) == len(sites)
    answers = Counter(predicate.evaluate({}) for predicate in found.values())
    assert answers[None] > answers[True] > 0  # a raise that nothing stands before is raised whatever is told


def read_all(folder: Path) -> dict[str, Predicate]:
    """All predicates of a dataset, its modules read as the text that they are."""
    index = json.loads((folder / "predicates" / "index.json").read_text())
    trees = (ast.parse((folder / "predicates" / f"{module}.py").read_bytes()) for module in index)
    texts = (text for tree in trees for text in ast.literal_eval(tree.body[0].value))  # type: ignore[attr-defined]
    return {predicate.name: predicate for predicate in map(Predicate, map(json.loads, texts))}


def test_every_raise_is_a_site_and_every_site_a_raise(extracted: tuple[Tree, Path]) -> None:
    tree, folder = extracted
    wanted, newer = raises_in(tree)
    found = {(s.path, s.line, s.end_line) for e in dataset.read_errors(folder) for s in e.sites}
    assert {site for site in found if site[0] not in newer} == wanted
    assert len(newer) <= 1 and dataset.read_skipped(folder) == ()
    expected = RELEASES[tree.provenance.release or ""]
    assert expected is None or dataset.read_manifest(folder).counts.sites == expected


def test_every_record_fits_the_schema_and_every_pattern_is_re2(extracted: tuple[Tree, Path]) -> None:
    _, folder = extracted
    validator = jsonschema.Draft202012Validator(json.loads((folder / "schema.json").read_text()))
    ids = set()
    for line in (folder / "errors.jsonl").read_bytes().splitlines():
        record = json.loads(line)
        assert validator.is_valid(record), record["id"]
        ids.add(record["id"])
        if record["pattern"] is not None:
            pattern = re2.compile(record["pattern"])
            for variant in record["variants"]:
                rendered = "".join(p.get("text", "a value") for p in variant["parts"])
                assert pattern.search(rendered) or not rendered.replace("a value", "").strip(), record["id"]
    assert (
        ids
        == {p.stem for p in (folder / "errors").glob("*.json")}
        == {p.stem for p in (folder / "errors").glob("*.md")}
    )


def test_the_seeds_are_there(extracted: tuple[Tree, Path]) -> None:
    tree, folder = extracted
    if tree.provenance.release != "0.28.0":
        pytest.skip("the seeds are of the time of 0.28.0")
    seed = dataset.read_error(folder, "068fcf03e462d1f1")
    assert seed.title == "CUDAGraphMode.{cudagraph_mode.name} is not supported with {m"
    assert dataset.read_error(folder, "ddc0dd9b4500d875").exception == "NotImplementedError"


def test_a_folder_gives_the_bytes_of_the_archive(tmp_path: Path) -> None:
    tree = opened("0.8.0")
    for path, data in tree.read([entry.path for entry in tree.entries]):
        target = tmp_path / "vllm-0.8.0" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    folder = open_tree(SourceOptions(cache=tmp_path, source=tmp_path / "vllm-0.8.0"), Silent())
    assert folder.entries == tree.entries
    one, two = (
        run(t, tmp_path / name, Cache(None, b""), b"", 2, Silent()).folder
        for name, t in (("one", tree), ("two", folder))
    )
    strip = [tree.provenance.permalink or "", folder.provenance.permalink or ""]
    texts = [
        (f / "errors.jsonl").read_text().replace(s + "/", "") if s else ""
        for f, s in zip((one, two), strip, strict=True)
    ]
    assert not strip[1] or texts[0] == texts[1]
