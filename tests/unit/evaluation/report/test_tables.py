"""The table of runs and the table of comparisons."""

import json
from pathlib import Path
from typing import Any

from kgqa.evaluation.report.cells import Cell
from kgqa.evaluation.report.groups import DatasetGroup, ReportedRun, RunName, group_by_dataset
from kgqa.evaluation.report.run_folder import RunFolder, read_run
from kgqa.evaluation.report.tables import comparison_tables, run_table
from kgqa.tests.unit.evaluation.report.conftest import Folder

SHARE = {"value": 0.6667, "low": 0.5, "high": 0.8}


def entry(**metrics: Any) -> ReportedRun:
    run = RunFolder(Path("a"), {"config": {"method": "cor", "model": "m"}, "dataset": {}}, (), None)
    return ReportedRun(1, RunName("cor", "cor", "cor"), {"depth": "3"}, run, (), {}, metrics)


def cells(entry: ReportedRun) -> dict[str, Cell]:
    made = run_table([entry])
    return dict(zip(made.columns, made.rows[0].cells, strict=True))


def compared(group: DatasetGroup) -> list[dict[str, Cell]]:
    """Return the cells of each comparison by the titles of their columns."""
    tables = comparison_tables(group.runs)
    return [dict(zip(table.columns, row.cells, strict=True)) for table in tables for row in table.rows]


def test_a_share_is_shown_in_per_cent_with_its_interval() -> None:
    shown = cells(entry(f1=SHARE))["F1"]
    assert (shown.text, shown.detail, shown.key) == ("66.7", "50.0 – 80.0", "0.6667")


def test_a_cost_is_shown_with_median_and_percentile() -> None:
    costs = {"mean": 4.25, "p50": 4, "p95": 1234.5, "max": 2000}
    shown = cells(entry(llm_calls=costs, cached_calls=7, seconds=costs))
    assert (shown["LLM calls"].text, shown["LLM calls"].detail) == (
        "4.2",
        "p50 4.0, p95 1,234.5; 7 more from the cache",
    )
    assert (shown["Seconds"].text, shown["Seconds"].detail) == ("4.25", "p50 4.00, p95 1,234.50")


def test_tokens_that_a_server_did_not_tell_make_a_lower_bound() -> None:
    tokens = {"input_tokens": {"mean": 1200.4}, "output_tokens": {"mean": 80.0}}
    assert cells(entry(**tokens))["Tokens"].text == "1,280"
    shown = cells(entry(**tokens, total_tokens={"total": 25_608.0}))["Tokens"]
    assert shown.detail == "in 1,200, out 80; all questions 25,608"
    assert cells(entry(**tokens, unknown_calls=2))["Tokens"].text == "≥ 1,280"


def test_what_is_known_of_no_run_has_no_column() -> None:
    shown = cells(entry(f1=SHARE, precision={"value": None, "low": None, "high": None}, seconds=None))
    assert list(shown) == ["Method", "Model", "Options", "Questions", "F1"]


def test_what_is_known_of_one_run_only_is_a_dash_in_the_others() -> None:
    made = run_table([entry(f1=SHARE), entry()])
    at = made.columns.index("F1")
    assert [(row.cells[at].text, row.cells[at].key) for row in made.rows] == [("66.7", "0.6667"), ("–", "")]


def test_failed_missing_and_unscored_questions_are_counted(folder: Folder) -> None:
    paths = folder("near"), folder("far", first=2, measured=False)
    (group,) = group_by_dataset([read_run(path) for path in paths])
    made = run_table(group.runs)
    counts = [made.columns.index(title) for title in ("Questions", "Failed", "Missing", "Unscored")]
    assert [[row.cells[at].text for at in counts] for row in made.rows] == [
        ["6", "1", "0", "1"],
        ["6", "0", "4", "1"],
    ]
    assert [row.remark for row in made.rows] == ["", "unfinished: 2 of 6 questions"]


def test_two_runs_are_compared_on_the_questions_with_gold(folder: Folder) -> None:
    (group,) = group_by_dataset([read_run(folder("far")), read_run(folder("near"))])
    (shown,) = compared(group)
    assert (shown["A"].run, shown["B"].run, shown["Questions"].text) == (1, 2, "5")
    assert shown["Hits@1"].text == "+40.0"
    assert (shown["Only A / only B"].text, shown["McNemar p"].text) == ("2 / 0", "0.500")
    assert not shown["McNemar p"].is_sure


def test_the_worse_run_first_makes_the_difference_negative(folder: Folder) -> None:
    (group,) = group_by_dataset([read_run(folder("near")), read_run(folder("far"))])
    assert compared(group)[0]["Hits@1"].text == "−40.0"


def test_an_unfinished_run_is_compared_on_what_it_has_done(folder: Folder) -> None:
    paths = folder("near"), folder("far", first=2, measured=False)
    (group,) = group_by_dataset([read_run(path) for path in paths])
    shown = compared(group)[0]["Questions"]
    assert (shown.text, shown.detail) == ("2", "3 not in B")


def test_runs_of_other_parts_are_compared_on_what_both_have(folder: Folder) -> None:
    part = folder("far", first=1, measured=False)
    about = json.loads((part / "run.json").read_text())
    about["dataset"] |= {"limit": 1, "questions": 1}
    (part / "run.json").write_text(json.dumps(about))
    for runs in ([part, folder("near")], [folder("near", name="again"), part]):
        (group,) = group_by_dataset([read_run(path) for path in runs])
        shown = compared(group)[0]["Questions"]
        assert (shown.text, shown.detail) == ("1", f"4 not in {'AB'[runs.index(part)]}")


def test_of_many_runs_those_with_the_same_model_are_compared(folder: Folder) -> None:
    models = ["a", "a", "b", "c", "d", "e", "f"]
    folders = [folder("far", name=f"r{at}", model=model) for at, model in enumerate(models)]
    (group,) = group_by_dataset([read_run(path) for path in folders])
    assert [(pair["A"].run, pair["B"].run) for pair in compared(group)] == [(1, 2)]


def test_without_gold_nothing_is_compared(folder: Folder, dataset: Path) -> None:
    runs = [read_run(folder("far")), read_run(folder("near"))]
    dataset.unlink()
    assert comparison_tables(group_by_dataset(runs)[0].runs) == []
