"""The tables on verification and revision."""

from pathlib import Path

import pytest

from kgqa.evaluation.report.tables import method_tables
from kgqa.tests.support.pages import build_page
from kgqa.tests.unit.evaluation.report.conftest import Folder
from kgqa.tests.unit.evaluation.report.folders import Json, revised, write_run
from kgqa.tests.unit.evaluation.report.test_refinements import entries, rows


@pytest.fixture
def planned(town: dict[str, list[Json]], tmp_path: Path, dataset: Path) -> Path:
    return write_run(tmp_path / "planned", revised(town["far"]), dataset)


def test_a_method_without_plans_in_steps_has_no_such_tables(folder: Folder) -> None:
    assert [table.about for table in method_tables(entries(folder("far")))] == ["pruning"]


def test_runs_with_plans_in_steps_have_a_row_each(folder: Folder, planned: Path) -> None:
    runs, steps, _, tokens, _ = method_tables(entries(folder("far"), planned))
    assert [row.runs[0].number for row in runs.rows] == [2]
    (shown,) = rows(runs)
    assert (shown["Questions"], shown["Verified"], shown["To be revised"]) == ("6", "6", "33.3")
    assert (shown["Model only"], shown["NLI only"], shown["Both"]) == ("33.3", "0.0", "0.0")
    assert (shown["Revisions"], shown["Searches"], shown["Entropy"]) == ("0.17", "1.17", "0.25")
    assert (shown["Best by task reward"], shown["Best by confidence"]) == ("100.0", "100.0")
    assert rows(steps) == [{"Step": "1", "No signal": "4", "Model only": "2", "NLI only": "0", "Both": "0"}]
    (spent,) = rows(tokens)
    assert (spent["Planning"], spent["Verification"], spent["Revision"]) == ("100", "300", "100")
    assert tokens.rows[0].cells[1].detail.startswith("20.0%; p50 100")


def test_each_strategy_and_the_first_plan_have_a_row(planned: Path) -> None:
    (arms,) = (sheet for sheet in method_tables(entries(planned)) if sheet.title == "Revision by strategy")
    first, local = rows(arms)
    assert (first["Plan"], first["Chosen"], first["Success"], first["Kept to the end"]) == (
        *("first plan", "–"),
        *("–", "5"),
    )
    assert (local["Plan"], local["Chosen"], local["With a reward"], local["Accepted"]) == (
        *("local", "0.17"),
        *("1", "1"),
    )
    assert (local["Mean reward"], local["Of a wrong plan"], local["Success"]) == ("0.80", "1", "100.0")
    assert (local["Kept to the end"], local["Hits@1"], local["Right answers"]) == ("1", "100.0", "20.0")


def test_the_page_shows_them_as_text(planned: Path) -> None:
    page = build_page([planned])
    for title in (
        "Revision by strategy",
        "Tokens by stage",
        "Who asks for a revision",
        "Whose plans are right",
    ):
        assert title in page
    assert "<img src=x" not in page
