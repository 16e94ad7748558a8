"""The questions that the sample graph cannot answer."""

import doctest
from collections import Counter

from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.datasets import load
from kgqa.kg.opening import open_graph
from kgqa.scripts.sample.questions import unanswerable


def test_half_ask_what_is_not_said_and_half_about_what_is_not_there() -> None:
    questions = load("unanswerable").questions
    assert Counter(each.kind for each in questions) == {"relation": 100, "topic": 100}
    assert len({each.text for each in questions}) == 200
    assert not any(each.scored for each in questions)
    assert all(bool(each.topics) == (each.kind == "relation") for each in questions)


async def test_their_topics_are_in_the_graph() -> None:
    graph = open_graph([SAMPLE_GRAPH])
    topics = [topic for each in load("unanswerable").questions for topic in each.topics]
    names = await graph.names([topic.id for topic in topics if topic.id])
    assert all(names[topic.id or ""] == topic.name for topic in topics)


def test_the_examples_of_the_builder_run() -> None:
    found = doctest.testmod(unanswerable)
    assert found.attempted
    assert not found.failed
