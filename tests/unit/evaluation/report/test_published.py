"""The papers' numbers beside ours: on their datasets, of the methods of the runs, marked as published."""

import json
from pathlib import Path

import pytest

from kgqa.evaluation.report import tables
from kgqa.evaluation.report.groups import DatasetGroup, group_by_dataset
from kgqa.evaluation.report.run_folder import read_run
from kgqa.evaluation.report.tables import published_tables
from kgqa.graphs import METHODS
from kgqa.tests.support.pages import build_page
from kgqa.tests.unit.evaluation.report.conftest import Folder
from kgqa.tests.unit.evaluation.report.test_ablation import configured
from kgqa.tests.unit.evaluation.report.test_refinements import rows


def group(name: str, *folders: Path, format: str = "kgqa") -> DatasetGroup:
    (found,) = group_by_dataset([read_run(folder) for folder in folders])
    for run in found.runs:
        run.folder.about["dataset"]["format"] = format  # type: ignore[index]
    return DatasetGroup(name, found.digest, found.runs, found.no_gold)


def test_a_run_stands_before_what_papers_print_of_its_method(folder: Folder) -> None:
    (table,) = published_tables(group("cwq_slice", folder("far")))
    ours, *printed = rows(table)
    assert (ours["Run or paper"], ours["Questions"], ours["Hit any"]) == ("cor", "6", "100.0")
    named = ("Run or paper", "Model", "Hit any", "Tokens of all")
    assert [tuple(row[name] for name in named) for row in printed] == [
        ("published", "GPT-4.1-mini", "60.3", "–"),
        ("published", "DeepSeek-V3.1", "57.9", "–"),
        ("published", "GPT-4.1-mini", "–", "55,495,295"),
    ]
    assert [row.cells[0].detail for row in table.rows[1:]] == ["CoR, Table 1"] * 2 + ["CoR, Table 4"]
    assert {row["Questions"] for row in printed} == {"3,531"}
    shown = dict(zip(table.columns, table.rows[1].cells, strict=True))
    assert (shown["Hit any"].detail, shown["Recall"].detail) == ("Hits@1", "R")


def test_runs_over_a_graph_for_each_question_are_not_compared_with_those_over_freebase(
    folder: Folder,
) -> None:
    own, whole = (configured(folder("far", name=name), method="pog") for name in ("own", "whole"))
    assert published_tables(group("webqsp", whole)) != []
    assert published_tables(group("webqsp", configured(own, kg=["own"]))) == []


@pytest.mark.parametrize(
    ("name", "format", "first"),
    [
        *(("WebQSP.test", "webqsp", "82.0"), ("webqsp_cor", "cor", "82.0")),
        *(("ComplexWebQuestions_test", "cwq", "63.2"), ("mine", "cwq", "63.2")),
        *(("grailqa", "grailqa", "68.9"), ("WebQuestions", "webquestions", "61.7")),
    ],
)
def test_a_dataset_is_known_by_its_name_or_format(name: str, format: str, first: str, folder: Folder) -> None:
    (table,) = published_tables(group(name, configured(folder("far"), method="pog"), format=format))
    assert first in [row.get("Hits@1") for row in rows(table)]


def test_on_any_other_dataset_or_of_any_other_method_nothing_is_published(folder: Folder) -> None:
    assert published_tables(group("town", folder("far"))) == []
    assert published_tables(group("webqsp", configured(folder("near"), method="agent"))) == []
    assert published_tables(group("WebQSP.train", folder("far", name="train"))) == []


def test_every_line_has_a_number_for_each_metric_of_each_dataset() -> None:
    content = Path(tables.__file__).with_name("published.json").read_text(encoding="utf-8")
    for table in json.loads(content)["tables"]:
        numbers = [line for lines in table["rows"].values() for line in lines.values()]
        assert {len(line) for line in numbers} == {len(table["datasets"]) * len(table["metrics"])}
        assert {method for lines in table["rows"].values() for method in lines} <= {*METHODS}


def test_the_page_marks_them(folder: Folder) -> None:
    run = folder("far")
    about = run / "run.json"
    about.write_text(about.read_text().replace('"name": "town"', '"name": "qald_10"'))
    page = build_page([run])
    assert "Published numbers" in page
    assert "CoR, Table 1" in page
