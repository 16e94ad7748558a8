"""Every public file at hand loads."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.question import EntityRef, GoldPath
from kgqa.tests.support.cases import needs_data, public
from kgqa.tests.support.perfect import DATA

LISTS = {
    "formats/cwq_cor.json": ("cor", 25),
    "formats/cwq_pog.json": ("cwq", 25),
    "formats/grailqa_cor.json": ("cor", 25),
    "formats/grailqa_pog.json": ("grailqa", 25),
    "formats/qald10_cor.json": ("cor", 25),
    "formats/qald10_tog.json": ("qald", 25),
    "formats/webqsp_cor.json": ("cor", 25),
    "formats/webquestions_tog.json": ("webquestions", 25),
    "published/webqsp_gold.json.gz": ("cor", 1639),
}

NOT_OURS = ("published", "text2sparql")  # results, and questions in a form of their own
OWN = sorted(
    str(path.relative_to(DATA)) for path in DATA.glob("*/*.jsonl.gz") if path.parent.name not in NOT_OURS
)


@pytest.mark.parametrize("name", public(*LISTS))
def test_republished_lists_load(name: str) -> None:
    dataset = load(DATA / name)
    assert (dataset.format, len(dataset.questions)) == LISTS[name]
    assert len({question.id for question in dataset.questions}) == len(dataset.questions)
    assert all(question.topics for question in dataset.questions)


def written(items: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(item["id"], None if item["name"] == "UnName_Entity" else item["name"]) for item in items]


def paths_of(record: dict[str, Any]) -> list[list[str]]:
    branches = record.get("gold_paths") or [{"path": record.get("gold_path")}]
    paths = branches.values() if isinstance(branches, dict) else (branch["path"] for branch in branches)
    return [path for path in paths if path]


@pytest.mark.parametrize("name", OWN or public(""))
def test_own_files_load_as_they_are_written(name: str) -> None:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    dataset = load(DATA / name)
    assert dataset.format == "kgqa"
    assert [question.id for question in dataset.questions] == [record["id"] for record in records]
    for question, record in zip(dataset.questions, records, strict=True):
        assert [(answer.id, answer.name) for answer in question.gold] == written(record.get("answers", []))
        assert [(topic.id, topic.name) for topic in question.topics] == written(record["topic_entities"])
        assert [list(path.relations) for path in question.paths] == paths_of(record)


@needs_data
def test_the_empty_golds_of_webqsp_are_not_scored() -> None:
    questions = load(DATA / "published/webqsp_gold.json.gz").questions
    assert sum(not question.scored for question in questions) == 11
    assert Counter(question.kind for question in questions)["superlative"] == 24


@needs_data
def test_both_publications_of_a_dataset_agree() -> None:
    for name, other in (("cwq_cor", "cwq_pog"), ("grailqa_cor", "grailqa_pog")):
        first, second = (load(DATA / "formats" / f"{each}.json").questions for each in (name, other))
        assert [(q.id, q.topics) for q in first] == [(q.id, q.topics) for q in second]
    assert [set(q.gold) for q in first] == [set(q.gold) for q in second]


@needs_data
def test_short_topics_of_gold_paths_become_ids() -> None:
    question = load(DATA / "freebase/cwq_slice_union.jsonl.gz").questions[0]
    lou = EntityRef("http://freebase-slice.org/e/Lou_Seal", "Lou Seal")
    assert question.topics == (lou,)
    assert question.paths[0] == GoldPath(lou.id, question.paths[0].relations)


@needs_data
def test_published_results_are_no_questions() -> None:
    with pytest.raises(DatasetError, match="in no known format"):
        load(DATA / "published/pog_webqsp_gpt-3.5.jsonl.gz")


@needs_data
def test_the_files_are_there() -> None:
    assert len(OWN) == 23
    assert all(Path(DATA / name).is_file() for name in LISTS)
