"""WebQSP, CWQ, GrailQA and WebQuestions, as released and as republished."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.question import EntityRef, GoldPath, Question

One = Callable[..., Question]
Write = Callable[..., Path]


def parse(*answers: tuple[str, str, str | None], **fields: Any) -> dict[str, Any]:
    listed = [
        {"AnswerType": kind, "AnswerArgument": argument, "EntityName": name}
        for kind, argument, name in answers
    ]
    return {"ParseId": "W-1.P0", "Answers": listed, "Constraints": [], **fields}


RIVER = ("Entity", "m.0r", "Danube")
LAKE = ("Entity", "m.0l", None)
TOPIC = {
    "TopicEntityMid": "m.0ulm",
    "TopicEntityName": "Ulm",
    "Sparql": "SELECT 1",
    "InferentialChain": ["r.on"],
}


def webqsp(*parses: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"QuestionId": "W-1", "RawQuestion": "which river?", "Parses": list(parses), **fields}


def test_the_official_webqsp(one: One) -> None:
    document = {
        "Version": "1.0",
        "FreebaseVersion": "2015",
        "Questions": [webqsp(parse(RIVER, LAKE, **TOPIC))],
    }
    assert one(document, "webqsp") == Question(
        id="W-1",
        text="which river?",
        topics=(EntityRef("m.0ulm", "Ulm"),),
        readings=((EntityRef("m.0r", "Danube"), EntityRef("m.0l", None)),),
        paths=(GoldPath("m.0ulm", ("r.on",)),),
        sparql="SELECT 1",
        hops=1,
    )


def test_parses_are_readings_and_the_first_with_a_topic_leads(one: One) -> None:
    parses = [
        parse(RIVER, TopicEntityMid=None, InferentialChain=None, Sparql="first"),
        parse(LAKE, **TOPIC),
        parse(RIVER),
        parse(),
    ]
    question = one([webqsp(*parses)], "webqsp")
    assert question.readings == ((EntityRef("m.0r", "Danube"),), (EntityRef("m.0l", None),))
    assert (question.topics, question.sparql) == ((EntityRef("m.0ulm", "Ulm"),), "SELECT 1")


def test_a_value_of_webqsp_is_its_own_id(one: One) -> None:
    untyped = {"AnswerArgument": "1841-03-04", "EntityName": None}
    parses = [parse(("Value", "2005", None)), {"Answers": [untyped, {"AnswerArgument": "m.0r"}]}]
    assert one([webqsp(*parses)], "webqsp").readings == (
        (EntityRef("2005", "2005"),),
        (EntityRef("1841-03-04", "1841-03-04"), EntityRef("m.0r", None)),
    )


def test_the_list_of_webqsp_with_topics(one: One) -> None:
    question = one(
        [webqsp(parse(RIVER, **TOPIC), topic_entity={"m.0x": "Ulm, Germany", "m.0y": ""})], "webqsp"
    )
    assert question.topics == (EntityRef("m.0x", "Ulm, Germany"), EntityRef("m.0y", None))


def test_a_question_of_webqsp_without_parses_is_not_scored(one: One) -> None:
    question = one([webqsp()], "webqsp")
    assert (question.topics, question.readings, question.hops) == ((), (), None)


CWQ = {"ID": "C-1_a", "question": "which?", "compositionality_type": "conjunction", "sparql": "SELECT 2"}


def test_the_official_cwq(one: One) -> None:
    answers = [
        {"answer_id": "m.0r", "answer": "Danube", "aliases": ["Donau", "Danube"]},
        {"answer_id": "1999", "answer": None, "aliases": []},
        {"answer_id": "m.0z", "answer": "UnName_Entity"},
        {"answer_id": None, "answer": None},
    ]
    question = one([{**CWQ, "answers": answers, "created": "2018"}], "cwq")
    assert question == Question(
        id="C-1_a",
        text="which?",
        readings=(
            (EntityRef("m.0r", "Danube", ("Donau",)), EntityRef("1999", "1999"), EntityRef("m.0z", None)),
        ),
        sparql="SELECT 2",
        kind="conjunction",
    )


def test_the_list_of_cwq_with_topics(one: One) -> None:
    both = {"topic_entity": {"m.0u": "Ulm"}, "qid_topic_entity": {"Q3012": "Ulm"}}
    question = one([{**CWQ, "answer": "Danube", **both}], "cwq")
    assert question.topics == (EntityRef("m.0u", "Ulm"),)
    assert question.other_topics == ((EntityRef("Q3012", "Ulm"),),)
    assert question.readings == ((EntityRef(None, "Danube"),),)


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        ({"topic_entity": {}, "qid_topic_entity": {"Q3012": "Ulm"}}, ()),
        ({"qid_topic_entity": {"Q3012": "Ulm"}}, (EntityRef("Q3012", "Ulm"),)),
        ({"topic_entity": None, "qid_topic_entity": None}, ()),
        ({}, ()),
    ],
)
def test_wikidata_topics_stand_in_only_where_the_others_are_absent(
    one: One, topics: dict[str, Any], expected: tuple[EntityRef, ...]
) -> None:
    assert one([{**CWQ, "answer": "Danube", **topics}], "cwq").topics == expected


GRAILQA = {
    "qid": 2101,
    "question": "which play?",
    "function": "count",
    "level": "i.i.d.",
    "sparql_query": "SELECT 3",
}
GRAPH = {
    "nodes": [
        {"nid": 0, "node_type": "class", "id": "theater.play", "friendly_name": "Play"},
        {"nid": 1, "node_type": "entity", "id": "m.0u", "friendly_name": "ulm"},
        {"nid": 2, "node_type": "literal", "id": "3^^int", "friendly_name": "3"},
    ]
}


def test_the_official_grailqa(one: One) -> None:
    answers = [
        {"answer_type": "Entity", "answer_argument": "m.0p", "entity_name": "Faust"},
        {"answer_type": "Entity", "answer_argument": "m.0n", "entity_name": "null"},
        {"answer_type": "Value", "answer_argument": 7},
    ]
    question = one([{**GRAILQA, "answer": answers, "graph_query": GRAPH}], "grailqa")
    assert question == Question(
        id="2101",
        text="which play?",
        topics=(EntityRef("m.0u", "ulm"),),
        readings=((EntityRef("m.0p", "Faust"), EntityRef("m.0n", None), EntityRef("7", "7")),),
        sparql="SELECT 3",
        kind="count",
        level="i.i.d.",
    )


def test_the_list_of_grailqa_with_topics(one: One) -> None:
    listed = {**GRAILQA, "answer": [], "graph_query": GRAPH, "topic_entity": {"m.0u": "Ulm"}, "hops": 2}
    question = one([listed], "grailqa")
    assert (question.topics, question.hops, question.scored) == ((EntityRef("m.0u", "Ulm"),), 2, False)


def test_the_public_test_set_of_grailqa_is_not_scored(one: One) -> None:
    question = one([{"qid": 5, "question": "which play?"}], "grailqa")
    assert (question.id, question.readings, question.topics) == ("5", (), ())


def test_the_official_webquestions(one: One) -> None:
    target = '(list (description "Jazmyn \\"J\\" (Bieber)") (description 1881) (description "Kid, The"))'
    question = one([{"url": "http://fb/en/x", "targetValue": target, "utterance": "who?"}], "webquestions")
    names = ('Jazmyn "J" (Bieber)', "1881", "Kid, The")
    assert question == Question(
        "webquestions-1", "who?", readings=(tuple(EntityRef(None, name) for name in names),)
    )


@pytest.mark.parametrize(
    "target", ["", "(list (description))", '(list (description "a") b)', 7, '(list "a")']
)
def test_a_target_value_that_is_none_is_named(write: Write, target: Any) -> None:
    with pytest.raises(DatasetError, match=r"record 1, field targetValue: should look like"):
        load(write([{"url": "u", "utterance": "who?", "targetValue": target}]))


def test_the_list_of_webquestions_with_topics(one: One) -> None:
    listed = {"url": "u", "question": "who?", "answers": ["Danube", 1881], "topic_entity": {"m.0u": "Ulm"}}
    question = one([listed], "webquestions")
    assert question.topics == (EntityRef("m.0u", "Ulm"),)
    assert question.readings == ((EntityRef(None, "Danube"), EntityRef(None, "1881")),)


def test_cor_s_schema(one: One) -> None:
    record = {
        "id": 3,
        "question": "which?",
        "sparql": "SELECT 4",
        "meta_data": {"compositionality_type": "other"},
        "answer": [
            {"id": "m.0r", "name": "Danube"},
            {"id": "", "name": "2005"},
            {"id": "g.1", "name": "UnName_Entity"},
            {"id": "Q5", "name": "Q5"},
            {"id": "99.98", "name": "99.98"},
            {"id": "", "name": ""},
        ],
        "topic_entity": [{"id": "m.0u", "name": "Ulm"}],
    }
    assert one([record], "cor") == Question(
        id="3",
        text="which?",
        topics=(EntityRef("m.0u", "Ulm"),),
        readings=(
            (
                EntityRef("m.0r", "Danube"),
                EntityRef(None, "2005"),
                EntityRef("g.1", None),
                EntityRef("Q5", None),
                EntityRef("99.98", "99.98"),
            ),
        ),
        sparql="SELECT 4",
        kind="other",
    )


def test_ids_that_repeat_or_miss_become_unique_and_stay_so(write: Write) -> None:
    records: list[dict[str, Any]] = [
        {"id": id, "question": "q", "answer": [{"name": "x"}]}
        for id in ("a", "a", None, "cor-3", "a-2", "", "a")
    ]
    first, second = (load(write(records)) for _ in range(2))
    assert [question.id for question in first.questions] == [
        "a",
        "a-2",
        "cor-3",
        "cor-3-4",
        "a-2-5",
        "cor-6",
        "a-7",
    ]
    assert first == second
