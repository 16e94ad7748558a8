"""What is packed into the page."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.report.groups import group_by_dataset
from kgqa.evaluation.report.questions import MAX_LISTED_ITEMS, QUESTIONS_PER_PART, pack_questions
from kgqa.evaluation.report.run_folder import read_run
from kgqa.tests.support.tables import HUTS
from kgqa.tests.unit.evaluation.report.conftest import Folder
from kgqa.tests.unit.evaluation.report.folders import (
    HOSTILE,
    QUESTIONS,
    Json,
    multiplied,
    write_dataset,
    write_run,
)


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_the_index_tells_how_each_run_did(folder: Folder) -> None:
    packed = pack_questions(group_by_dataset([read_run(folder("far")), read_run(folder("near"))]))
    index = unpacked(packed.index)
    assert [run["number"] for run in index["runs"]] == [1, 2]
    assert [question["marks"] for question in index["questions"]] == ["rr", "rw", "rr", "rr", "uu", "rf"]
    assert index["questions"][1]["words"] == "Ulm Black Sea Danube"


def test_details_have_answers_paths_trace_and_cost(folder: Folder) -> None:
    packed = pack_questions(group_by_dataset([read_run(folder("far"))]))
    hostile = unpacked(packed.parts[0])[3]
    run = hostile["runs"][0]
    assert hostile["readings"] == [{"all": 1, "items": [{"id": "http://t/e/evil", "name": HOSTILE}]}]
    assert run["answers"]["items"] == [{"id": "http://t/e/evil", "name": HOSTILE, "right": True}]
    assert run["paths"][0][0]["relation"] == "http://t/r/twin"
    assert [step["node"] for step in run["trace"]][-2:] == ["verify", "answer"]
    assert (run["usage"]["llm_calls"], run["usage"]["seconds"]) == (2, 0.3)


def test_long_lists_are_cut_and_counted(folder: Folder, town: dict[str, list[Json]], dataset: Path) -> None:
    many = [{"id": f"http://t/e/{number}", "name": f"n{number}"} for number in range(250)]
    first, *others = town["far"]
    path = write_run(dataset.parent / "many", [{**first, "answers": many}, *others], dataset)
    answers = unpacked(pack_questions(group_by_dataset([read_run(path)])).parts[0])[0]["runs"][0]["answers"]
    assert (answers["all"], len(answers["items"])) == (250, MAX_LISTED_ITEMS)


def test_a_table_is_packed_and_cut(folder: Folder, town: dict[str, list[Json]], dataset: Path) -> None:
    first, *others = town["far"]
    path = write_run(dataset.parent / "tables", [{**first, "table": HUTS}, *others], dataset)
    run = unpacked(pack_questions(group_by_dataset([read_run(path)])).parts[0])[0]["runs"][0]
    assert run["table"] == {"columns": HUTS["columns"], "rows": {"all": 3, "items": HUTS["rows"]}}


@pytest.mark.parametrize(
    ("query", "none"), [({"query": None}, True), ({"query": "SELECT"}, False), ({}, False)]
)
def test_only_a_record_that_says_so_has_no_query(
    folder: Folder, town: dict[str, list[Json]], dataset: Path, query: Json, none: bool
) -> None:
    first, *others = town["far"]
    earlier = {key: value for key, value in first.items() if key not in ("reading", "query")}
    path = write_run(dataset.parent / "earlier", [{**earlier, **query}, *others], dataset)
    run = unpacked(pack_questions(group_by_dataset([read_run(path)])).parts[0])[0]["runs"][0]
    assert (run["reading"], run["no_query"]) == (None, none)


def test_what_json_cannot_hold_is_not_packed(folder: Folder) -> None:
    run = read_run(folder("far"))
    run.results[0].record["trace"].append(float("inf"))
    with pytest.raises(ValueError, match="Out of range float"):
        pack_questions(group_by_dataset([run]))


def test_questions_come_in_parts(town: dict[str, list[Json]], tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path, multiplied(QUESTIONS, QUESTIONS_PER_PART + 1))
    path = write_run(tmp_path / "run", multiplied(town["far"], QUESTIONS_PER_PART + 1), dataset)
    packed = pack_questions(group_by_dataset([read_run(path)]))
    assert [len(unpacked(part)) for part in packed.parts] == [QUESTIONS_PER_PART, 1]
    assert len(unpacked(packed.index)["questions"]) == QUESTIONS_PER_PART + 1


def test_a_run_that_was_not_asked_a_question_is_told_from_one_without_a_record(
    folder: Folder, town: dict[str, list[Json]], dataset: Path
) -> None:
    part = write_run(dataset.parent / "part", town["far"][:1], dataset, measured=False)
    about = json.loads((part / "run.json").read_text())
    about["dataset"] |= {"limit": 2, "questions": 2}
    (part / "run.json").write_text(json.dumps(about))
    index = unpacked(pack_questions(group_by_dataset([read_run(folder("far")), read_run(part)])).index)
    assert [question["marks"] for question in index["questions"]] == ["rr", "rm", "r.", "r.", "u.", "r."]
