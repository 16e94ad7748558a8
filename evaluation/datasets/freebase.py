"""The question sets on Freebase, as they were released and as PoG and ToG list them with topic entities.

* WebQSP: Yih et al. (2016), The Value of Semantic Parse Labeling for Knowledge Base Question
  Answering. Each parse is a reading of the question. Topic, path and SPARQL are those of the
  first parse that names a topic: paths of several parses are no branches of one question.
* CWQ: Talmor and Berant (2018), The Web as a Knowledge-base for Answering Complex Questions.
* GrailQA: Gu et al. (2021), Beyond I.I.D.: Three Levels of Generalization for Question Answering
  on Knowledge Bases. The public test set has questions only, so none of them is scored.
* WebQuestions: Berant et al. (2013), Semantic Parsing on Freebase from Question-Answer Pairs. Answers
  are names. The address in ``url`` is where annotators looked, and is not taken for a topic.
* CoR republishes the first three, and QALD-10, in a schema of its own.
"""

import re
from typing import Annotated, Any, Required

from pydantic import BeforeValidator, TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Hops,
    Item,
    Text,
    Value,
    WithTopics,
    answer_ref,
    entity_ref,
    gold_readings,
    has_fields,
    item_ref,
    named,
    unique_refs,
    with_topics,
)
from kgqa.evaluation.question import GoldPath, Question


class _WebQSPParse(TypedDict, total=False):
    """One way to understand the question; its chain leaves constraints out."""

    TopicEntityMid: str | None
    TopicEntityName: str | None
    InferentialChain: list[Text] | None
    Sparql: str | None
    Answers: list[Item] | None


class _WebQSPRecord(WithTopics, total=False):
    QuestionId: Value | None
    RawQuestion: Required[Text]
    Parses: Required[list[_WebQSPParse]]


def _read_webqsp(record: _WebQSPRecord) -> Question:
    parses = record["Parses"]
    first = parses[0] if parses else _WebQSPParse()
    main = next((parse for parse in parses if parse.get("TopicEntityMid")), first)
    mid, chain = main.get("TopicEntityMid"), main.get("InferentialChain")
    question = Question(
        id=record.get("QuestionId") or "",
        text=record["RawQuestion"],
        topics=unique_refs([entity_ref(mid, main.get("TopicEntityName"))]) if mid else (),
        readings=gold_readings(*(map(answer_ref, parse.get("Answers") or []) for parse in parses)),
        paths=(GoldPath(mid or None, tuple(chain)),) if chain else (),
        sparql=main.get("Sparql"),
        hops=len(chain) if chain else None,
    )
    return with_topics(question, record)


class _CWQRecord(WithTopics, total=False):
    """One question: ``answers`` is official, ``answer`` and the topics are PoG's."""

    ID: Value | None
    question: Required[Text]
    compositionality_type: str | None
    sparql: str | None
    answers: list[Item] | None
    answer: Value | None


def _read_cwq(record: _CWQRecord) -> Question:
    listed = record.get("answers")
    answers = [entity_ref(None, record.get("answer"))] if listed is None else map(answer_ref, listed)
    question = Question(
        id=record.get("ID") or "",
        text=record["question"],
        readings=gold_readings(answers),
        sparql=record.get("sparql"),
        kind=record.get("compositionality_type"),
    )
    return with_topics(question, record)


class _GrailQAQuery(TypedDict, total=False):
    nodes: list[Item] | None


class _GrailQARecord(WithTopics, total=False):
    qid: Value | None
    question: Required[Text]
    answer: list[Item] | None
    function: str | None
    level: str | None
    sparql_query: str | None
    graph_query: _GrailQAQuery | None
    hops: Hops | None


def _read_grailqa(record: _GrailQARecord) -> Question:
    nodes = (record.get("graph_query") or {}).get("nodes") or []
    entities = [node for node in nodes if node.get("kind") == "entity"]
    question = Question(
        id=record.get("qid") or "",
        text=record["question"],
        topics=unique_refs(map(item_ref, entities)),
        readings=gold_readings(map(answer_ref, record.get("answer") or [])),
        sparql=record.get("sparql_query"),
        hops=record.get("hops"),
        kind=record.get("function"),
        level=record.get("level"),
    )
    return with_topics(question, record)


_DESCRIPTION = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^()"\s]+))\)\s*')
_DESCRIPTIONS = re.compile(r"\(list\s*(.*)\)", re.DOTALL)


def _parse_descriptions(value: object) -> object:
    r"""Read the answers of a target value; a list is one.

    >>> _parse_descriptions('(list (description "Romania") (description 1881))')
    ['Romania', '1881']
    """
    if value is None or isinstance(value, list):
        return value
    listed = _DESCRIPTIONS.fullmatch(value.strip()) if isinstance(value, str) else None
    if listed is None or _DESCRIPTION.sub("", listed[1]):
        raise ValueError('should look like (list (description "name") ...)')
    return [re.sub(r"\\(.)", r"\1", quoted) or bare for quoted, bare in _DESCRIPTION.findall(listed[1])]


class _WebQuestion(WithTopics, total=False):
    """One question: ``utterance`` and ``targetValue`` are official, the other names ToG's."""

    question: Required[Annotated[Text, named("utterance", "question")]]
    answers: Annotated[
        list[Value] | None, named("targetValue", "answers"), BeforeValidator(_parse_descriptions)
    ]


def _read_webquestion(record: _WebQuestion) -> Question:
    answers = (entity_ref(None, name) for name in record.get("answers") or [])
    return with_topics(Question("", record["question"], readings=gold_readings(answers)), record)


def _is_listed_webquestion(record: Any) -> bool:
    return has_fields("url", "question")(record) and "id" not in record


class _CorAbout(TypedDict, total=False):
    compositionality_type: str | None


class _CorRecord(TypedDict, total=False):
    id: Value | None
    question: Required[Text]
    sparql: str | None
    meta_data: _CorAbout | None
    answer: list[Item] | None
    topic_entity: list[Item] | None


def _read_cor(record: _CorRecord) -> Question:
    return Question(
        id=record.get("id") or "",
        text=record["question"],
        topics=unique_refs(map(item_ref, record.get("topic_entity") or [])),
        readings=gold_readings(map(item_ref, record.get("answer") or [])),
        sparql=record.get("sparql"),
        kind=(record.get("meta_data") or {}).get("compositionality_type"),
    )


def _is_cor(record: Any) -> bool:
    lists = (record.get("answer"), record.get("topic_entity")) if has_fields("question")(record) else ()
    return any(
        isinstance(each, list) and each and all(isinstance(one, dict) for one in each) for each in lists
    )


FORMATS: tuple[Format[Any], ...] = (
    Format("webqsp", has_fields("Parses"), TypeAdapter(_WebQSPRecord), _read_webqsp),
    Format("cwq", has_fields("ID", "question"), TypeAdapter(_CWQRecord), _read_cwq),
    Format("grailqa", has_fields("qid", "question"), TypeAdapter(_GrailQARecord), _read_grailqa),
    Format("webquestions", has_fields("utterance"), TypeAdapter(_WebQuestion), _read_webquestion),
    Format("webquestions", _is_listed_webquestion, TypeAdapter(_WebQuestion), _read_webquestion),
)

COR_FORMAT = Format("cor", _is_cor, TypeAdapter(_CorRecord), _read_cor)
