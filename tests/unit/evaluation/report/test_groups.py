"""Runs on one dataset stand together, with its questions where they are at hand."""

import json
from pathlib import Path

import pytest

from kgqa.evaluation.datasets import DatasetError
from kgqa.evaluation.report.groups import DatasetGroup, group_by_dataset
from kgqa.evaluation.report.run_folder import ReportError, read_run
from kgqa.tests.unit.evaluation.report.conftest import Folder
from kgqa.tests.unit.evaluation.report.folders import QUESTIONS, write_dataset


def group(*folders: Path) -> DatasetGroup:
    only, *others = group_by_dataset([read_run(folder) for folder in folders])
    assert not others
    return only


def test_runs_on_one_dataset_are_one_group(folder: Folder) -> None:
    found = group(folder("far"), folder("near"))
    assert [entry.number for entry in found.runs] == [1, 2]
    assert [question.id for question in found.questions] == [question["id"] for question in QUESTIONS]
    assert found.no_gold is None


def test_runs_on_two_datasets_are_two_groups_numbered_on(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = write_dataset(tmp_path / "other", QUESTIONS[:2])
    folders = folder("far"), folder("near", name="b", first=2, dataset=other), folder("far", name="c")
    one, two = group_by_dataset([read_run(path) for path in folders])
    assert [[entry.number for entry in found.runs] for found in (one, two)] == [[1, 2], [3]]


def test_a_run_without_metrics_is_measured_and_what_is_missing_is_wrong(folder: Folder) -> None:
    (entry,) = group(folder("far", first=2, measured=False)).runs
    assert entry.metrics is not None
    assert (entry.metrics["n"], entry.metrics["missing"], entry.metrics["unscored"]) == (6, 4, 1)
    assert entry.metrics["hits_at_1"]["value"] == 0.4


def test_a_run_on_a_part_of_the_dataset_has_the_questions_of_that_part(folder: Folder) -> None:
    path = folder("far", first=2)
    about = json.loads((path / "run.json").read_text())
    about["dataset"] |= {"limit": 2, "questions": 2}
    (path / "run.json").write_text(json.dumps(about))
    found = group(path)
    assert [question.id for question in found.questions] == ["q1", "q2"]
    assert found.runs[0].folder.finished


def test_without_its_dataset_a_run_is_shown_without_gold(folder: Folder, dataset: Path) -> None:
    path = folder("far")
    dataset.unlink()
    found = group(path)
    assert found.no_gold is not None
    assert "no such question file" in found.no_gold
    assert [question.gold for question in found.questions] == [()] * 6
    assert [question.text for question in found.questions] == [question["question"] for question in QUESTIONS]


def test_a_dataset_that_has_changed_is_not_taken(folder: Folder, dataset: Path) -> None:
    path = folder("far")
    write_dataset(dataset.parent, QUESTIONS[:3])
    assert group(path).no_gold == f"{dataset} has changed since the runs"


def test_a_dataset_that_has_moved_is_taken_from_where_it_is(folder: Folder, dataset: Path) -> None:
    run = read_run(folder("far"))
    moved = dataset.rename(dataset.with_name("moved.jsonl"))
    (found,) = group_by_dataset([run], [moved])
    assert found.no_gold is None
    assert len(found.questions) == 6


def test_another_dataset_is_refused(folder: Folder, tmp_path: Path) -> None:
    run = read_run(folder("far"))
    (tmp_path / "other").mkdir()
    other = write_dataset(tmp_path / "other", QUESTIONS[:2])
    with pytest.raises(ReportError, match=r"town\.jsonl is not the dataset of any of these runs"):
        group_by_dataset([run], [other])


def test_a_recorded_split_that_the_dataset_does_not_have_is_one_line(folder: Folder) -> None:
    path = folder("far")
    about = json.loads((path / "run.json").read_text())
    about["dataset"]["split"] = "dev"
    (path / "run.json").write_text(json.dumps(about))
    with pytest.raises(DatasetError, match="no questions in the split 'dev'"):
        group_by_dataset([read_run(path)])
