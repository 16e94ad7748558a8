import json
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import DatasetError
from kgqa.evaluation.datasets.training import load_training_material
from kgqa.priors.training_questions import RelationPath, Topic, TrainingQuestion


def line(number: int, **fields: Any) -> dict[str, Any]:
    topics = [{"id": "http://t/e/ulm", "name": "Ulm"}]
    return {"id": str(number), "question": f"q {number}?", "topic_entities": topics, "answers": [], **fields}


def written(path: Path, *lines: dict[str, Any]) -> str:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return str(path)


def test_a_question_is_learned_from_without_its_answers(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", line(1, gold_path=["^born_in"], sparql="SELECT"))
    (example,) = load_training_material([file]).examples
    topic = Topic("http://t/e/ulm", "Ulm")
    assert example == TrainingQuestion(
        "q 1?", (topic,), "SELECT", (RelationPath("http://t/e/ulm", ("^born_in",)),)
    )


def test_questions_of_a_test_split_are_used_only_if_asked_for(tmp_path: Path) -> None:
    parts = [line(1, split="train"), line(2, split="test"), line(3, split="train")]
    file = written(tmp_path / "a.jsonl", *parts)

    def asked(split: str | None) -> list[str]:
        return [example.question for example in load_training_material([file], split).examples]

    assert asked(None) == ["q 1?", "q 3?"]
    assert asked("test") == ["q 2?"]
    assert asked("all") == ["q 1?", "q 2?", "q 3?"]


def test_a_file_without_parts_is_used_as_a_whole(tmp_path: Path) -> None:
    assert len(load_training_material([written(tmp_path / "a.jsonl", line(1), line(2))]).examples) == 2


def test_a_file_without_a_train_part_has_to_be_asked_for(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", line(1, split="test"))
    with pytest.raises(DatasetError, match="no questions in the split 'train'; it has all, test"):
        load_training_material([file])


def test_several_files_are_read_each_once(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{n}.jsonl", line(n), line(n + 1)) for n in (1, 5)]
    found = load_training_material([*files, "sample"])
    assert [(source.name, source.questions) for source in found.sources] == [
        ("1", 2),
        ("5", 2),
        ("sample", 153),
    ]
    assert len(found.examples) == 157
    with pytest.raises(DatasetError, match="1 is the same file as 1"):
        load_training_material([files[0], files[0]])
