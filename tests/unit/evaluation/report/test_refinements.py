"""The tables on refinement and blueprints."""

from pathlib import Path

import pytest

from kgqa.evaluation.report.groups import ReportedRun, group_by_dataset
from kgqa.evaluation.report.run_folder import read_run
from kgqa.evaluation.report.tables import Table, method_tables
from kgqa.tests.support.pages import build_page
from kgqa.tests.unit.evaluation.report.conftest import Folder
from kgqa.tests.unit.evaluation.report.folders import HOSTILE, Json, refined, write_run


@pytest.fixture
def guided(town: dict[str, list[Json]], tmp_path: Path, dataset: Path) -> Path:
    return write_run(tmp_path / "guided", refined(town["far"]), dataset)


def entries(*folders: Path) -> tuple[ReportedRun, ...]:
    (group,) = group_by_dataset([read_run(folder) for folder in folders])
    return group.runs


def rows(sheet: Table) -> list[dict[str, str]]:
    texts = [[cell.text for cell in row.cells] for row in sheet.rows]
    return [dict(zip(sheet.columns, row, strict=True)) for row in texts]


def test_a_method_without_refinement_has_no_such_tables(folder: Folder) -> None:
    assert [table.about for table in method_tables(entries(folder("far")))] == ["pruning"]


def test_runs_with_refinement_have_a_row_each(folder: Folder, guided: Path) -> None:
    refinement, signals, blueprints, _ = method_tables(entries(folder("far"), guided))
    assert [row.runs[0].number for row in refinement.rows] == [2]
    (shown,) = rows(refinement)
    assert "1 unscored" in [cell.detail for cell in refinement.rows[0].cells]
    assert (shown["Triggered"], shown["Rate"], shown["Hits@1"]) == ("3", "50.0", "100.0")
    assert (shown["From the graph"], shown["No answer"], shown["Failed"]) == ("2 / 2", "0", "0")
    assert (shown["Re-routed"], shown["Recovered"], shown["Blueprint dropped"]) == ("3", "100.0", "0.0")
    assert {row["Signal"]: row["Triggered"] for row in rows(signals)} == {HOSTILE: "1", "no_gain": "2"}
    assert rows(blueprints)[0]["Copied"] == "100.0"
    assert rows(blueprints)[0]["Relations not in the graph"] == "6"


def test_where_nothing_was_triggered_the_rate_is_0(
    town: dict[str, list[Json]], tmp_path: Path, dataset: Path
) -> None:
    records = [{**one, "config": {**one["config"], "refinement": True}} for one in town["far"]]
    sheet, _ = method_tables(entries(write_run(tmp_path / "calm", records, dataset)))
    (shown,) = rows(sheet)
    assert (shown["Triggered"], shown["Rate"], shown["Hits@1"], shown["Diagnoses"]) == ("0", "0.0", "–", "–")


def test_the_page_shows_them_as_text(guided: Path) -> None:
    page = build_page([guided])
    assert "Failure signals" in page
    assert "How refinement ends" in page
    assert "<img src=x" not in page
