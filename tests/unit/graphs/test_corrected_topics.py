"""Topics that a hand corrects after they were linked, as in Studio: the search sets out from the new ones."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from kgqa.api import make_context
from kgqa.graphs import METHODS, context_of, graph_of
from kgqa.models.scripted import ScriptedModel
from kgqa.runtime.state import StateError
from kgqa.tests.support.workshop import E, open_workshop

SEARCHING = [
    name for name in METHODS if context_of(name).asks_graph and name not in ("agent", "draft", "sparql_qa")
]

QUESTION = "Which currency is used in the country whose capital is Lima?"
LIMA = {"id": "https://kgqa.example/e/Lima_3936456", "name": "Lima"}

every_method = pytest.mark.parametrize("method", SEARCHING)


class Thread:
    """One run of a method on the sample, step by step."""

    def __init__(self, method: str, kg: Any = "sample", model: Any = "offline", **options: Any) -> None:
        self.graph = graph_of(method).copy({"checkpointer": InMemorySaver()})
        self.context = make_context(method, {"kg": kg, "model": model, **options})
        self.config: Any = {"configurable": {"thread_id": method}}

    async def go(self, given: Any = None, **how: Any) -> Any:
        return await self.graph.ainvoke(given, self.config, context=self.context, **how)

    async def correct(self, node: str, **values: Any) -> None:
        await self.graph.aupdate_state(self.config, values, as_node=node)

    async def values(self) -> dict[str, Any]:
        return dict((await self.graph.aget_state(self.config)).values)


def told(record: Any) -> dict[str, Any]:
    """Return what is the same, however the topics came."""
    return {key: record[key] for key in ("answers", "outcome", "paths", "query", "topics", "confidence")}


@every_method
async def test_corrected_topics_are_searched_as_given_ones_are(method: str) -> None:
    given = await Thread(method).go({"question": QUESTION, "topics": [LIMA["id"]]})
    thread = Thread(method)
    await thread.go({"question": QUESTION, "topics": ["Mongolia"]}, interrupt_after=["link"])
    await thread.correct("link", topic_entities=[LIMA])
    record = await thread.go()
    assert given["answers"][0]["name"] == "Peruvian Sol"
    assert told(record) == told(given)
    corrected = [entry for entry in record["trace"] if entry.get("corrected")]
    assert [entry["topics"] for entry in corrected] == [[LIMA]]


@every_method
async def test_a_topic_may_be_added_or_taken_away(method: str) -> None:
    topics = [LIMA["id"], "Mongolia"]
    given = await Thread(method).go({"question": QUESTION, "topics": topics})
    thread = Thread(method)
    await thread.go({"question": QUESTION, "topics": topics[:1]}, interrupt_after=["link"])
    (lima,) = (await thread.values())["topic_entities"]
    await thread.correct("link", topic_entities=[lima, {"id": given["topics"][1]["id"], "name": "Mongolia"}])
    assert told(await thread.go()) == told(given)


async def test_nothing_is_begun_anew_where_nothing_was_corrected() -> None:
    thread = Thread("cor")
    await thread.go({"question": QUESTION, "topics": [LIMA["id"]]}, interrupt_after=["link"])
    before = await thread.values()
    await thread.correct("link", topic_entities=before["topic_entities"])
    record = await thread.go()
    assert not [entry for entry in record["trace"] if "corrected" in entry]
    assert before["searched_topics"] == before["topic_entities"] and before["leads"]


@pytest.mark.parametrize("node", ["retrieve_relations", "prune", "expand", "verify"])
async def test_on_the_way_a_chain_begins_anew(node: str) -> None:
    thread = Thread("cor")
    await thread.go({"question": QUESTION, "topics": ["Mongolia"]}, interrupt_after=[node])
    await thread.correct(node, topic_entities=[LIMA], decision="backtrack" if node == "verify" else "forward")
    record = await thread.go()
    assert record["topics"] == [LIMA]
    assert record["outcome"] in ("grounded", "grounded_unverified", "none")
    assert not [entry for entry in record["trace"] if "error" in entry]
    assert all(path[0]["head"] == LIMA for path in record["paths"])


async def test_another_question_on_the_thread_has_its_own_topics() -> None:
    thread = Thread("cor")
    await thread.go({"question": QUESTION, "topics": ["Mongolia"]}, interrupt_after=["link"])
    await thread.correct("link", topic_entities=[LIMA])
    await thread.go()
    record = await thread.go({"question": "What is the capital of Mongolia?"})
    assert [answer["name"] for answer in record["answers"]] == ["Ulan Bator"]
    assert not [entry for entry in record["trace"] if "corrected" in entry]


ACME, BOLT = ({"id": f"{E}m{number}", "name": name} for number, name in ((1, "Acme"), (2, "Bolt")))


@pytest.mark.parametrize("node", ["describe", "draft", "validate", "run"])
async def test_a_draft_of_other_topics_is_begun_anew(node: str) -> None:
    def made_by(prompt: Any) -> dict[str, Any]:
        maker = "e:m2" if any("Bolt" in line for line in prompt.found) else "e:m1"
        return {"sparql": f"SELECT ?t {{ ?t r:madeBy {maker} }}"}

    thread = Thread("draft", open_workshop(), ScriptedModel(made_by), claims=False)
    await thread.go({"question": "Which tools are of it?", "topics": [ACME["id"]]}, interrupt_after=[node])
    await thread.correct(node, topic_entities=[BOLT], decision="refine" if node == "run" else "forward")
    record = await thread.go()
    assert sorted(answer["name"] for answer in record["answers"]) == ["Felling axe", "Fine saw", "Hatchet"]
    assert [entry["node"] for entry in record["trace"]].count("describe") == 2


async def test_rows_of_other_topics_are_no_answer() -> None:
    model = ScriptedModel(lambda prompt: {"sparql": "SELECT ?t { ?t r:madeBy e:m1 }"})
    thread = Thread("draft", open_workshop(), model, claims=False, allow_parametric=False)
    await thread.go({"question": "Which tools are of it?", "topics": [ACME["id"]]}, interrupt_after=["run"])
    await thread.correct("run", topic_entities=[BOLT])
    assert (await thread.go())["answers"] == []


async def test_what_is_no_entity_is_told() -> None:
    thread = Thread("cor")
    await thread.go({"question": QUESTION}, interrupt_after=["link"])
    await thread.correct("link", topic_entities=["Lima"])
    with pytest.raises(StateError, match=r"what is asked does not fit: topic_entities\.0"):
        await thread.go()
