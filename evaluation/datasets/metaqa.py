"""MetaQA's text files: ``what films did [Name] act in``, a tab, ``answer|answer``.

Zhang et al. (2018), Variational Reasoning for Question Answering with Knowledge Graph.
Entities are names; the brackets mark the topic and go.
"""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.fields import Text, known, named, readings
from kgqa.evaluation.datasets.format import Format
from kgqa.evaluation.question import Question

TOPIC = re.compile(r"\[(.+)\]")
"""Greedy: a film is called ``[REC]``."""


def _split(value: object) -> object:
    return value.split("|") if isinstance(value, str) else value


class Record(TypedDict):
    """One line."""

    question: Text
    answers: Annotated[list[str], BeforeValidator(_split)]


def _question(record: Record) -> Question:
    return Question(
        id="",
        text=TOPIC.sub(r"\1", record["question"]),
        topics=known(named(None, name) for name in TOPIC.findall(record["question"])),
        readings=readings(named(None, name) for name in record["answers"]),
    )


def _knows(record: Any) -> bool:
    return isinstance(record, tuple) and len(record) == 2


FORMAT = Format("metaqa", _knows, TypeAdapter(Record), _question, columns=("question", "answers"))
