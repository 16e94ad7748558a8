"""The page: whole, alone, the same each time, and deaf to what labels say."""

import asyncio
import base64
import hashlib
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kgqa.evaluation.report.run_folder import ReportError
from kgqa.evaluation.runs.evaluate import evaluate
from kgqa.tests.support.pages import build_page
from kgqa.tests.unit.evaluation.report.conftest import Folder
from kgqa.tests.unit.evaluation.report.folders import (
    GRAPH,
    HOSTILE,
    QUESTIONS,
    Json,
    multiplied,
    write_dataset,
    write_run,
)

BINDING = {"href", "src", "srcset", "action", "data", "poster", "formaction", "xlink:href"}
"""Attributes by which a page loads or leads to something."""


class Reader(HTMLParser):
    """Collects the elements of a page, and what is written in scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_data(self, data: str) -> None:
        if self._open in self.inside:
            self.inside[self._open][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


@pytest.fixture
def page(folder: Folder) -> str:
    return build_page([folder("far"), folder("near")])


def test_a_page_leads_nowhere_but_into_itself(page: str) -> None:
    bound = [value for _, given in Reader(page).elements for name, value in given.items() if name in BINDING]
    assert {value for value in bound if not str(value).startswith("#")} == {"data:,"}
    assert not re.search(r"@import|url\(", "".join(Reader(page).inside["style"]))
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import)\b", Reader(page).inside["script"][-1])


def test_the_policy_allows_this_script_and_this_style_and_nothing_else(page: str) -> None:
    read = Reader(page)
    (policy,) = [given["content"] for tag, given in read.elements if given.get("http-equiv")]
    script, style = (read.inside[kind][-1].encode() for kind in ("script", "style"))
    hashes = [base64.b64encode(hashlib.sha256(code).digest()).decode() for code in (script, style)]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not any("style" in given for _, given in read.elements)


def test_no_script_writes_markup(page: str) -> None:
    script = Reader(page).inside["script"][-1]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(", script
    )


def test_hostile_names_are_text(folder: Folder, town: dict[str, list[Json]], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    dataset = write_dataset(tmp_path / "other", [{**question, "kind": HOSTILE} for question in QUESTIONS])
    hostile = write_run(
        tmp_path / "hostile", town["far"], dataset, model=HOSTILE, kgqa=HOSTILE, started=HOSTILE
    )
    tame = Reader(build_page([folder("far")]))
    read = Reader(build_page([hostile]))
    assert "owned" not in "".join(read.inside["script"])
    assert [tag for tag, _ in read.elements].count("script") == [tag for tag, _ in tame.elements].count(
        "script"
    )
    assert not any(tag == "img" or name.startswith("on") for tag, given in read.elements for name in given)


def test_the_same_folders_make_the_same_page(folder: Folder) -> None:
    runs = folder("far"), folder("near")
    assert build_page(runs) == build_page(runs)


def test_the_head_tells_when_with_what_and_by_which_seeds(folder: Folder) -> None:
    runs = folder("far", seed=3), folder("near", seed=7, started="2026-01-03T01:00:00+02:00", kgqa="0.2.0")
    head = re.sub(r"<[^>]*>|\s+", " ", build_page(runs).partition("<main")[0])
    for said in ("2026-01-02 03:04 UTC to 2026-01-02 23:00 UTC", "0.1.0, 0.2.0", "3, 7", "town:1"):
        assert said in head


def test_a_folder_given_twice_is_one_run(folder: Folder) -> None:
    path = folder("far")
    assert build_page([path, path]) == build_page([path])


def test_without_gold_the_page_says_so(folder: Folder, dataset: Path) -> None:
    path = folder("far", measured=False)
    dataset.unlink()
    assert "Shown without gold answers: no such question file" in build_page([path])


def test_what_an_evaluation_leaves_is_a_run(tmp_path: Path) -> None:
    graph = tmp_path / "town.ttl"
    graph.write_text(GRAPH, encoding="utf-8")
    dataset, out = write_dataset(tmp_path), tmp_path / "run"
    asyncio.run(evaluate(dataset, out=out, kg=str(graph), model="simulated:accuracy=0.5,seed=2"))
    page = build_page([out], [dataset])
    assert "accuracy=<wbr>0.5,<wbr>seed=<wbr>2" in page
    assert "without gold answers" not in page
    assert "unfinished" not in page


def test_no_run_no_page(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="is no run"):
        build_page([tmp_path])


def test_four_thousand_records_take_seconds(town: dict[str, list[Json]], tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, multiplied(QUESTIONS, 1000))
    runs = [
        write_run(tmp_path / f"run{at}", multiplied(town["far"], 1000), dataset, options=at)
        for at in range(4)
    ]
    started = time.perf_counter()
    page = build_page(runs)
    assert time.perf_counter() - started < 15
    assert len(page) < 3_000_000
