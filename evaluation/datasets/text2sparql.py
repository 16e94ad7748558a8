"""The question files of the TEXT2SPARQL challenge (https://text2sparql.aksw.org): YAML, and as lines of JSON.

A question is asked in each of its languages. Its gold is a query, and the rows that this gives on the graph
that is asked, unless the record has them.
"""

from typing import Any, Required

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import Format, Id, Text, Value, describe_error, has_fields
from kgqa.evaluation.question import Question
from kgqa.evaluation.scoring.tables import with_rows

MAX_YAML_CHARS = 1 << 22  # characters of a file at most: YAML is read slowly

ORDERED = "RESULT_ORDER_MATTERS"  # the feature of a question whose answers have an order


class _Dataset(BaseModel):
    id: str
    prefix: str | None = None


class _Query(BaseModel):
    sparql: Text


class _Question(BaseModel):
    id: int | str | None = None
    question: dict[str, Text]
    query: _Query
    features: list[str] = []


class _File(BaseModel):
    dataset: _Dataset
    questions: list[_Question]


class _Record(TypedDict, total=False):
    """A question in one language, as a line of JSON."""

    id: Required[Id]
    question: Required[Text]
    language: str | None
    features: Required[list[str]]
    sparql: Required[Text]
    rows: list[list[Value | None]] | None


def read_challenge(text: str) -> list[dict[str, Any]]:
    """Read a file of the challenge: a record for each question in each language.

    Raises:
        ValueError: in one line, if it is none.
    """
    if len(text) > MAX_YAML_CHARS:
        raise ValueError(f"longer than {MAX_YAML_CHARS:,} characters; give it in parts, or as JSON")
    try:
        document = yaml.safe_load(text)
        file = _File.model_validate(document)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"not readable as YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise ValueError(describe_error(error, document)) from None
    prefix = file.dataset.prefix or file.dataset.id
    return [
        {
            "id": f"{prefix}:{place if each.id is None else each.id}-{language}",
            "question": question,
            "language": language,
            "split_language": language,
            "features": each.features,
            "sparql": each.query.sparql,
        }
        for place, each in enumerate(file.questions, 1)
        for language, question in each.question.items()
    ]


def _to_question(record: _Record) -> Question:
    features, rows = record["features"], record.get("rows")
    question = Question(
        record["id"], record["question"], sparql=record["sparql"], ordered=ORDERED in features
    )
    if rows is None:
        return question
    return with_rows(question, rows == [["true"]] if "ASK" in features else rows)


FORMAT = Format(
    "text2sparql",
    has_fields("id", "question", "features", "sparql"),
    TypeAdapter(_Record),
    _to_question,
    unique=True,
)
