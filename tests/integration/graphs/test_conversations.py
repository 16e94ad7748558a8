"""Conversations over three graphs: how many follow-ups are answered right without a language model.

The part "dev" is what the rules were tuned on (asked with KGQA_EVERY_QUESTION=1, and made whole), "test" was
kept back, "fresh" was written by another hand when the rules stood; three of them were mended by it.
"""

from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from kgqa.data import SAMPLE_GRAPH
from kgqa.graphs.chat import Chat, graph
from kgqa.kg.opening import open_graph
from kgqa.tests.support.cases import EVERY_QUESTION, NO_DATA
from kgqa.tests.support.conversations import gold_names, named, read_conversations
from kgqa.tests.support.perfect import DATA

METAQA, WORLDCUP = DATA / "metaqa" / "metaqa.nt.gz", DATA / "worldcup" / "wc2014.nt.gz"

FOLLOW_UPS = {"dev": 10, "test": 10, "fresh": 9}  # of each graph, at least
MIN_RIGHT = {"dev": 8, "test": 8, "fresh": 6}
MIN_RIGHT_WHOLE = 19  # of the 20 of "dev" and "test"


def kept(name: str, path: Path) -> object:
    marks = pytest.mark.skipif(not path.is_file(), reason=NO_DATA)
    return pytest.param(name, str(path), path, id=name, marks=marks)


GRAPHS = pytest.mark.parametrize(
    ("name", "kg", "path"),
    [
        pytest.param("sample", "sample", SAMPLE_GRAPH, id="sample"),
        kept("metaqa", METAQA),
        kept("worldcup", WORLDCUP),
    ],
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("split", [*(["dev"] if EVERY_QUESTION else []), "test", "fresh"])
@GRAPHS
async def test_follow_ups_are_answered_offline(name: str, kg: str, path: Path, split: str) -> None:
    opened, right, asked = open_graph([path]), 0, 0
    for conversation in read_conversations(name, split):
        messages: list[object] = []
        for place, turn in enumerate(conversation):
            state = await graph.ainvoke(
                {"messages": [*messages, HumanMessage(turn.say)]}, context=Chat(kg=kg, model="offline")
            )
            messages = state["messages"]
            gold = await gold_names(opened, turn.gold)
            assert gold
            asked += place > 0
            right += place > 0 and named(state["record"]["answers"]) == gold
    assert asked >= FOLLOW_UPS[split]
    assert right >= MIN_RIGHT[split]


@pytest.mark.timeout(600)
@GRAPHS
async def test_follow_ups_that_are_made_whole_are_answered(name: str, kg: str, path: Path) -> None:
    """A perfect rewriter, and the offline model."""
    opened, right = open_graph([path]), 0
    for conversation in [*read_conversations(name, "dev"), *read_conversations(name, "test")]:
        for turn in conversation[1:]:
            context = Chat(kg=kg, model="offline", rewrite=False)
            state = await graph.ainvoke({"messages": [HumanMessage(turn.whole)]}, context=context)
            right += named(state["record"]["answers"]) == await gold_names(opened, turn.gold)
    assert right >= MIN_RIGHT_WHOLE
