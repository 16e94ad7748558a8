"""MetaQA's text files: ``what films did [Name] act in``, a tab, ``answer|answer``.

Zhang et al. (2018), Variational Reasoning for Question Answering with Knowledge Graph.
Entities are names; the brackets mark the topic and go.
"""

from typing import Annotated

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Text,
    entity_ref,
    gold_readings,
    has_columns,
    split_at,
    unique_refs,
)
from kgqa.evaluation.question import Question


def _split_at_brackets(text: str) -> tuple[str, str, str]:
    """Return what is before, within and after the outermost brackets: a film is called ``[REC]``.

    >>> _split_at_brackets("who is in [[REC]]?")
    ('who is in ', '[REC]', '?')
    """
    start, end = text.find("["), text.rfind("]")
    return (text[:start], text[start + 1 : end], text[end + 1 :]) if 0 <= start < end - 1 else (text, "", "")


class Record(TypedDict):
    """One line."""

    question: Text
    answers: Annotated[list[str], split_at("|")]


def _to_question(record: Record) -> Question:
    parts = _split_at_brackets(record["question"])
    return Question(
        id="",
        text="".join(parts),
        topics=unique_refs([entity_ref(None, parts[1] or None)]),
        readings=gold_readings(entity_ref(None, name) for name in record["answers"]),
    )


FORMAT = Format(
    "metaqa", has_columns(2, 2), TypeAdapter(Record), _to_question, columns=("question", "answers")
)
