"""WebQuestions: the official release, and ToG's list of it with topic entities.

Berant et al. (2013), Semantic Parsing on Freebase from Question-Answer Pairs. Answers are
names. The address in ``url`` is where annotators looked, and is not taken for a topic.
"""

import re
from typing import Annotated, Any, Required

from pydantic import BeforeValidator, TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Text,
    Value,
    WithTopics,
    entity_ref,
    gold_readings,
    has_fields,
    topics_and_others,
)
from kgqa.evaluation.question import Question

DESCRIPTION_PATTERN = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()"\s]+))\)\s*')
LIST_PATTERN = re.compile(r"\(list\s*(.*)\)", re.DOTALL)


def _parse_descriptions(value: object) -> object:
    r"""Read the answers of a target value.

    >>> _parse_descriptions('(list (description "Romania") (description 1881))')
    ['Romania', '1881']
    """
    listed = LIST_PATTERN.fullmatch(value.strip()) if isinstance(value, str) else None
    if listed is None or DESCRIPTION_PATTERN.sub("", listed[1]):
        raise ValueError('should look like (list (description "name") ...)')
    return [
        re.sub(r"\\(.)", r"\1", quoted) or bare for quoted, bare in DESCRIPTION_PATTERN.findall(listed[1])
    ]


class Official(TypedDict, total=False):
    """A question of the official release."""

    utterance: Required[Text]
    targetValue: Annotated[list[str], BeforeValidator(_parse_descriptions)]


class Listed(WithTopics, total=False):
    """A question of ToG's list."""

    question: Required[Text]
    answers: list[Value] | None


def _official_question(record: Official) -> Question:
    answers = (entity_ref(None, name) for name in record.get("targetValue", []))
    return Question(id="", text=record["utterance"], readings=gold_readings(answers))


def _listed_question(record: Listed) -> Question:
    topics, others = topics_and_others(record.get("topic_entity"), record.get("qid_topic_entity"))
    answers = (entity_ref(None, name) for name in record.get("answers") or [])
    return Question(
        id="",
        text=record["question"],
        topics=topics,
        other_topics=others,
        readings=gold_readings(answers),
    )


def _is_listed(record: Any) -> bool:
    return has_fields("url", "question")(record) and "id" not in record


OFFICIAL = Format("webquestions", has_fields("utterance"), TypeAdapter(Official), _official_question)
LISTED = Format("webquestions", _is_listed, TypeAdapter(Listed), _listed_question)
