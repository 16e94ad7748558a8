"""The tables on smart lookahead and on pruning."""

from pathlib import Path

import pytest

from kgqa.evaluation.report.tables import method_tables
from kgqa.tests.support.pages import build_page
from kgqa.tests.unit.evaluation.report.conftest import Folder
from kgqa.tests.unit.evaluation.report.folders import Json, write_run
from kgqa.tests.unit.evaluation.report.test_refinements import entries, rows

PRUNE = {"node": "prune", "decision": "forward", "chosen": ["a"], "guided": ["b", "c", "d"]}


@pytest.fixture
def guided(town: dict[str, list[Json]], tmp_path: Path, dataset: Path) -> Path:
    look = {"node": "smart_lookahead", "decision": "forward"}
    traces = ([{**look, "fired": at > 0, "realised": at}, PRUNE] for at in range(len(town["far"])))
    records = [{**record, "trace": trace} for record, trace in zip(town["far"], traces, strict=True)]
    return write_run(tmp_path / "guided", records, dataset)


def test_a_method_without_lookahead_has_prunings_alone(folder: Folder) -> None:
    (kept,) = method_tables(entries(folder("far")))
    assert kept.title == "Relations after pruning"


def test_runs_with_lookahead_have_a_row_each(folder: Folder, guided: Path) -> None:
    looks, kept = method_tables(entries(folder("far"), guided))
    (shown,) = rows(looks)
    assert (shown["Questions"], shown["Fired"], shown["Ended"]) == ("6", "83.3", "0.0")
    *_, survived = rows(kept)  # a run without guidance stands beside it
    assert (survived["Prunings"], survived["Chosen"], survived["Kept"]) == ("6", "1.00", "4.00")


def test_the_page_shows_them(guided: Path) -> None:
    page = build_page([guided])
    assert "Smart lookahead" in page
    assert "Relations after pruning" in page
