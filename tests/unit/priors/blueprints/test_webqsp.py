"""The blueprints of WebQSP's training questions, as the paper has them (CoG appendix E.2.1)."""

from typing import Any

import pytest

from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import (
    BlueprintLesson,
    extract_lessons,
    read_relations,
    read_training_questions,
)
from kgqa.tests.support.cases import EVERY_QUESTION
from kgqa.tests.support.perfect import DATA, questions

SCHEMA = DATA / "train" / "freebase_schema.tsv.gz"
EACH, BLUEPRINTS, TEMPLATES = (1, 3080, 512) if EVERY_QUESTION else (6, 515, 182)
TEXT = (3092, 600) if EVERY_QUESTION else (516, 202)
"""Which questions are read, and what of; the paper has 569 templates of all of them."""

pytestmark = [
    pytest.mark.skipif(not SCHEMA.exists(), reason=f"the training questions are not in {DATA}"),
]


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    return questions("train/webqsp_train")[::EACH]


@pytest.fixture(scope="module")
def learned(lines: list[dict[str, Any]]) -> list[BlueprintLesson]:
    return list(extract_lessons(read_training_questions(lines)))


@pytest.fixture(scope="module")
def relations() -> frozenset[str]:
    return read_relations(SCHEMA)


def blueprints(learned: list[BlueprintLesson]) -> list[Blueprint]:
    return [lesson.blueprint for lesson in learned if isinstance(lesson.blueprint, Blueprint)]


def names(blueprint: Blueprint) -> set[str]:
    return {slot.relation for branch in blueprint for slot in branch}


def test_there_are_about_as_many_templates_as_in_the_paper(learned: list[BlueprintLesson]) -> None:
    assert len(blueprints(learned)) == BLUEPRINTS
    assert len({blueprint.template for blueprint in blueprints(learned)}) == TEMPLATES


def test_the_text_of_the_queries_has_more_templates(lines: list[dict[str, Any]]) -> None:
    read = blueprints(list(extract_lessons(read_training_questions(lines), reading="text")))
    assert (len(read), len({blueprint.template for blueprint in read})) == TEXT


def test_order_and_direction_are_those_of_the_gold_paths(
    lines: list[dict[str, Any]], learned: list[BlueprintLesson]
) -> None:
    same = []
    for line, lesson in zip(lines, learned, strict=True):
        if gold := {tuple(path) for path in line["gold_paths"].values()}:
            found = lesson.blueprint if isinstance(lesson.blueprint, Blueprint) else ()
            same.append(gold <= {tuple(map(str, branch)) for branch in found})
    assert sum(same) / len(same) > 0.99


def test_every_relation_is_of_the_schema(learned: list[BlueprintLesson], relations: frozenset[str]) -> None:
    assert set().union(*map(names, blueprints(learned))) <= relations


def test_with_the_schema_nothing_but_its_relations_is_left(
    lines: list[dict[str, Any]], relations: frozenset[str]
) -> None:
    some = lines[:20]
    given = relations - {"film.actor.film", "people.person.sibling_s"}
    left = blueprints(list(extract_lessons(read_training_questions(some), given)))
    every = blueprints(list(extract_lessons(read_training_questions(some))))
    assert left == [blueprint for blueprint in every if names(blueprint) <= given]
    assert len(left) < len(every)
