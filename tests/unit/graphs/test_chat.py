"""A conversation: follow-ups made whole, by a model or by rules, answered, and said with their proof."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from kgqa.graphs import context_of
from kgqa.graphs.chat import Chat, graph
from kgqa.models.errors import ModelUnavailable
from kgqa.models.scripted import ScriptedModel
from kgqa.runtime.context import OptionError
from kgqa.runtime.record import summarise_record
from kgqa.runtime.server_limits import InputLimits, Limits, NotServed, activate_limits
from kgqa.runtime.state import StateError

FAMILY = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm .
e:ben rdfs:label "Ben"@en ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:ulm a e:Town ; rdfs:label "Ulm"@en ; r:river e:danube .
e:bonn rdfs:label "Bonn"@en ; r:river e:rhine .
e:danube a e:River ; rdfs:label "Danube"@en .
e:rhine rdfs:label "Rhine"@en .
"""

Converse = Callable[..., Any]


@pytest.fixture
def kg(graph: Callable[[str], Any]) -> Any:
    return graph(FAMILY)


async def say(messages: Iterable[Any], context: Chat) -> dict[str, Any]:
    found: dict[str, Any] = await graph.ainvoke({"messages": list(messages)}, context=context)
    return found


async def converse(context: Chat, *said: str) -> dict[str, Any]:
    """Say one thing after the other; give the last state."""
    state: dict[str, Any] = {"messages": []}
    for text in said:
        state = await say([*state["messages"], HumanMessage(text)], context)
    return state


def scripted(kg: Any, rewritten: Any, **options: Any) -> tuple[Chat, ScriptedModel]:
    """A conversation whose model rewrites as told, and asks where somebody lives."""

    def line(prompt: Any) -> Any:
        if prompt.name == "rewrite_question":
            return rewritten
        if prompt.name == "prune_relations":
            return {"relations": [int(re.findall(r"(?m)^(\d+)\. .*lives_in", prompt.case())[0])]}
        return {"decision": "stop", "take": "all"}

    model = ScriptedModel(line)
    return Chat(kg=kg, model=model, answer_by="cor", **options), model


class TestReplies:
    async def test_an_answer_is_a_sentence_with_its_proof_as_plain_json(self, kg: Any) -> None:
        state = await converse(Chat(kg=kg, model="offline"), "Where do the children of Ada live?")
        reply = state["messages"][-1]
        said, way, others = reply.content.split("\n\n")
        assert others.splitlines()[0] == "or did you mean"
        assert said == "The children of Ada live in Bonn and Ulm (from the graph, if I read you right)."
        assert way == "Ada -child-> ? -lives_in-> Bonn and Ulm"
        proof = reply.additional_kwargs["kgqa"]
        assert json.loads(json.dumps(proof)) == proof
        assert [answer["name"] for answer in proof["answers"]] == ["Bonn", "Ulm"]
        assert proof["outcome"] == "grounded_unverified"
        assert "SELECT" in proof["query"]
        assert proof["evidence"]
        assert proof["conditions"] == []
        assert state["record"]["usage"]["kg_queries"] > 0

    @pytest.mark.parametrize("said", ["2", "No, I meant: What Ada lives in!", "what ada lives in"])
    async def test_another_reading_is_taken_by_its_number_or_its_words(self, kg: Any, said: str) -> None:
        context = Chat(kg=kg, model="offline")
        first = await converse(context, "Where do the children of Ada live?")
        others = first["record"]["alternatives"]
        other = next((each for each in others if each["reading"].lower() in said.lower()), others[0])
        state = await say([*first["messages"], HumanMessage(said)], context)
        assert state["record"]["answers"] == other["answers"]
        assert (other["sentence"] or other["reading"])[:-1] in state["messages"][-1].content
        proof = state["messages"][-1].additional_kwargs["kgqa"]
        assert (proof["query"], proof["question"]) == (other["query"], first["record"]["question"])
        assert state["record"]["id"] == first["record"]["id"]
        assert state["record"]["config"].keys() == first["record"]["config"].keys()
        assert state["record"]["config"]["method"] == "compose"
        back = await say([*state["messages"], HumanMessage("2")], context)
        assert summarise_record(back["record"]) == summarise_record(first["record"])

    @pytest.mark.parametrize("more", [True, False])
    async def test_other_words_than_those_of_a_reading_are_a_question(self, kg: Any, more: bool) -> None:
        context = Chat(kg=kg, model="offline", rewrite=False)
        first = await converse(context, "Where do the children of Ada live?")
        question = (
            "And is there something else beside what Ada lives in?" if more else first["record"]["reading"]
        )
        state = await say([*first["messages"], HumanMessage(question)], context)
        assert state["question"] == question

    @pytest.mark.parametrize("made", [{"alternatives": [{"answers": "x"}]}, {"alternatives": 5}, None])
    async def test_a_number_asks_where_it_takes_no_reading(self, kg: Any, made: Any) -> None:
        reply = AIMessage("Ulm.", additional_kwargs={"kgqa": made})
        messages = [HumanMessage("Where does Ada live?"), reply, HumanMessage("2")]
        state = await say(messages, Chat(kg=kg, model="offline", rewrite=False))
        assert (state["question"], state["record"]["answers"]) == ("2", [])

    @pytest.mark.parametrize("made", [{"answers": []}, {"answers": [], "truncated": True}])
    async def test_a_reading_that_a_client_has_emptied_is_taken(self, kg: Any, made: Any) -> None:
        context = Chat(kg=kg, model="offline")
        state = await converse(context, "Where do the children of Ada live?")
        proof = state["messages"][-1].additional_kwargs["kgqa"]
        emptied = [{**each, **made} for each in proof["alternatives"]]
        for each in emptied:
            del each["sentence"]  # which an earlier version did not say
        reply = AIMessage("", additional_kwargs={"kgqa": {**proof, "alternatives": emptied, "paths": [[]]}})
        taken = await say([state["messages"][0], reply, HumanMessage("2")], context)
        assert taken["record"]["answers"] == []
        back = await say([*taken["messages"], HumanMessage("2")], context)
        assert (back["record"]["answers"], back["record"]["paths"]) == (proof["answers"], [[]])

    @pytest.mark.parametrize("said", ["", "  ", "hello", "Good morning!", "Thanks a lot.", "ok"])
    async def test_what_asks_nothing_gets_one_line_of_help(self, kg: Any, said: str) -> None:
        state = await converse(Chat(kg=kg, model="offline"), said)
        assert state["messages"][-1].content.startswith("Ask me about what is in the knowledge graph")
        assert "\n" not in state["messages"][-1].content
        assert state["record"] is None

    async def test_a_decline_says_what_is_missing(self, kg: Any) -> None:
        state = await converse(
            Chat(kg=kg, model="offline", answer_options={"min_confidence": 1}), "Ada's age?"
        )
        assert state["messages"][-1].content.startswith("No answer found: nothing in the graph")

    async def test_an_outage_is_told_in_words(self) -> None:
        state = await converse(Chat(kg="http://127.0.0.1:1/sparql", model="offline"), "Where is Ulm?")
        assert state["messages"][-1].content.startswith("No answer: the knowledge graph is unavailable (")

    async def test_an_answer_that_is_not_proved_says_so(self, kg: Any) -> None:
        model = ScriptedModel(lambda prompt: {"answers": ["Ulm"]})
        state = await converse(Chat(kg=kg, model=model, answer_by="io"), "Where does Ada live?")
        assert state["messages"][-1].content == "Ulm (from the model, not proved by the graph)."


class TestRewriting:
    async def test_a_model_makes_a_follow_up_whole_by_one_call(self, kg: Any) -> None:
        context, model = scripted(kg, {"question": "Where does Cleo live?"})
        state = await converse(context, "Where does Ada live?", "and Cleo?")
        assert state["question"] == "Where does Cleo live?"
        assert [topic["name"] for topic in state["record"]["topics"]] == ["Cleo"]
        (prompt,) = [each for each in model.prompts if each.name == "rewrite_question"]
        assert prompt.question == "and Cleo?"
        (turn,) = prompt.turns
        assert turn.question == "Where does Ada live?"
        assert [str(term) for term in (*turn.topics, *turn.answers)] == ["Ada", "Ulm"]

    async def test_it_costs_what_the_record_says(self, kg: Any) -> None:
        context, model = scripted(kg, {"question": "Where does Cleo live?"})
        state = await converse(context, "Where does Ada live?")
        before = len(model.prompts)
        state = await say([*state["messages"], HumanMessage("and Cleo?")], context)
        assert state["record"]["usage"]["llm_calls"] == len(model.prompts) - before

    @pytest.mark.parametrize("reply", ["not JSON", {"question": " "}, ModelUnavailable("down")])
    async def test_a_question_stays_as_it_is_where_the_reply_is_no_use(self, kg: Any, reply: Any) -> None:
        context, _ = scripted(kg, reply)
        state = await converse(context, "Where does Ada live?", "Where does Cleo live?")
        assert state["question"] == "Where does Cleo live?"
        assert state["messages"][-1].content == "Cleo lives in Ulm.\n\nCleo -lives_in-> Ulm"

    async def test_a_first_message_is_not_rewritten(self, kg: Any) -> None:
        context, model = scripted(kg, {"question": "Where does Cleo live?"})
        state = await converse(context, "Where does Ada live?")
        assert state["question"] == "Where does Ada live?"
        assert "rewrite_question" not in [prompt.name for prompt in model.prompts]

    async def test_it_can_be_switched_off(self, kg: Any) -> None:
        context, model = scripted(kg, {"question": "Where does Cleo live?"}, rewrite=False)
        state = await converse(context, "Where does Ada live?", "Where does Ben live?")
        assert state["question"] == "Where does Ben live?"
        assert "rewrite_question" not in [prompt.name for prompt in model.prompts]

    async def test_a_name_of_several_is_that_of_whom_was_spoken_of(self, graph: Callable[[str], Any]) -> None:
        other = 'e:ben2 rdfs:label "Ben"@en ; r:lives_in e:ulm ; r:child e:ada . '
        eve = 'e:eve rdfs:label "Eve"@en ; r:son e:ben .'
        context = Chat(kg=graph(FAMILY + other + eve), model="offline")
        state = await converse(context, "Who is the son of Eve?", "Where does he live?")
        assert state["question"] == "Where does Ben live?"
        assert state["topics"] == ["http://t/e/ben"]
        assert state["messages"][-1].content == "Ben lives in Bonn.\n\nBen -lives_in-> Bonn"

    @pytest.mark.parametrize(
        ("said", "whole"),
        [
            (("Where does Ada live?", "And Ben?"), "Where does Ben live?"),
            (("Where does Ada live?", "what about Ben"), "Where does Ben live?"),
            (("Where does Ada live?", "Which river is there?"), "Which river is in Ulm?"),
            (("Where does Ada live?", "its river?"), "What is the river of Ulm?"),
            (("Where does Ada live?", "Who are her children?"), "Who are the children of Ada?"),
            (("Where does Ada live?", "Who is the child of Ada?"), "Who is the child of Ada?"),
            (("Who are the children of Ada?", "Where do they live?"), "Where do the children of Ada live?"),
            (("Who are the children of Ada?", "How many?"), "How many are the children of Ada?"),
            (("Where does Ada live?", "hello", "And Ben?"), "Where does Ben live?"),
            (("Where does Ada live?", "Thanks, and Ben?"), "Where does Ben live?"),
            (("Where does Ada live?", "Great! And for Ben?"), "Where does Ben live?"),
            (("Where does Ada live?", "and that of Ben?"), "Where does Ben live?"),
            (("Where does Ada live?", "Ben, where does he live?"), "where does Ben live?"),
            (("Where does Ada live?", "And Bonn: which river is there?"), "which river is in Bonn?"),
            (
                ("Who are the children of Ada?", "Where is their home?"),
                "Where is the home of the children of Ada?",
            ),
            (("Who are the children of Ada?", "Where does he live?"), "Where does Ada live?"),
            (("Which river is in Ulm?", "Where does he live?"), "Where does he live?"),
            (
                ("Who are the children of Ada?", "Where does the first one live?"),
                "Where does the first one live?",
            ),
        ],
    )
    async def test_rules_make_a_follow_up_whole(self, kg: Any, said: tuple[str, ...], whole: str) -> None:
        state = await converse(Chat(kg=kg, model="offline"), *said)
        assert state["question"] == whole


class TestGraph:
    async def test_a_checkpointer_keeps_the_conversation_of_a_thread(self, kg: Any) -> None:
        kept = graph.builder.compile(checkpointer=InMemorySaver())
        context = Chat(kg=kg, model="offline")
        for thread, first in (("1", "Where does Ada live?"), ("2", "Who are the children of Ada?")):
            config = {"configurable": {"thread_id": thread}}
            await kept.ainvoke({"messages": [("user", first)]}, config, context=context)
        state = await kept.ainvoke(
            {"messages": [("user", "And Ben?")]}, {"configurable": {"thread_id": "1"}}, context=context
        )
        assert state["question"] == "Where does Ben live?"
        assert len(state["messages"]) == 4

    async def test_what_a_sentence_names_beside_its_answer_is_no_answer(self, kg: Any) -> None:
        reply = AIMessage("The river of Ulm is Danube.\n\nCleo -lives_in-> Ulm -river-> Danube")
        messages = [HumanMessage("What is the river of the town where Cleo lives?"), reply]
        context, model = scripted(kg, {"question": "Where does Ben live?"})
        await say([*messages, HumanMessage("How long is it?")], context)
        (prompt,) = [each for each in model.prompts if each.name == "rewrite_question"]
        assert [answer.name for answer in prompt.turns[0].answers] == ["Danube"]

    async def test_a_client_that_keeps_words_alone_is_answered(self, kg: Any) -> None:
        messages = [
            HumanMessage("Where does Ada live?"),
            AIMessage("Ulm."),
            HumanMessage("Where does Ben live?"),
        ]
        state = await say(messages, Chat(kg=kg, model="offline"))
        for follow_up, whole in (
            ("And Ben?", "Where does Ben live?"),
            ("its river?", "What is the river of Ulm?"),
        ):
            read = await say([*messages[:2], HumanMessage(follow_up)], Chat(kg=kg, model="offline"))
            assert read["question"] == whole
        assert state["messages"][-1].content == "Ben lives in Bonn.\n\nBen -lives_in-> Bonn"

    async def test_the_answer_is_known_by_the_words_of_the_reply(self, kg: Any) -> None:
        context = Chat(kg=kg, model="offline")
        first = await converse(context, "Where does Ada live?")
        words = AIMessage(first["messages"][-1].text)
        assert words.text.startswith("Ada lives in Ulm.")
        for follow_up, whole in (
            ("Who lives there?", "Who lives in Ulm?"),
            ("its river?", "What is the river of Ulm?"),
        ):
            read = await say([first["messages"][0], words, HumanMessage(follow_up)], context)
            assert read["question"] == whole

    @pytest.mark.parametrize(
        "proof",
        [
            *(5, "x", [], {"question": 5, "topics": 5, "answers": "x"}),
            {"question": ["x"], "topics": [{"id": {"a": 1}}], "answers": [[1], None, {"id": 5, "name": [1]}]},
            {"question": "x", "topics": [{"id": "x> } DROP", "name": "Ada"}], "answers": [{"name": 5}]},
            {"question": "x" * 9_000, "answers": [{"id": "http://t/e/nobody", "name": "x" * 9_000}] * 200},
        ],
        ids=lambda proof: str(proof)[:20],
    )
    async def test_a_proof_that_a_client_has_changed_is_no_hindrance(self, kg: Any, proof: Any) -> None:
        reply = AIMessage("Ulm.", additional_kwargs={"kgqa": proof})
        messages = [HumanMessage("Where does Ada live?"), reply, HumanMessage("Where does Ben live?")]
        state = await say(messages, Chat(kg=kg, model="offline"))
        assert state["messages"][-1].content == "Ben lives in Bonn.\n\nBen -lives_in-> Bonn"

    @pytest.mark.parametrize(
        ("node", "edit"),
        [
            *(("rewrite", {"question": each}) for each in (5, [], {})),
            *(("rewrite", {"topics": each}) for each in (5, [5], [None], "x")),
            *(("rewrite", {"spend": each}) for each in (5, {}, {"seconds": -1}, None)),
            *(("answer_question", {"record": each}) for each in (5, {}, [], {"answers": 5})),
        ],
    )
    async def test_an_edited_state_is_refused_in_one_line_and_the_next_message_answered(
        self, kg: Any, node: str, edit: Any
    ) -> None:
        kept = graph.builder.compile(checkpointer=InMemorySaver())
        context, config = Chat(kg=kg, model="offline"), {"configurable": {"thread_id": "1"}}
        said: Any = {"messages": [("user", "Where does Ada live?")]}
        await kept.ainvoke(said, config, context=context)
        await kept.aupdate_state(config, {"question": "x", **edit}, as_node=node)
        with pytest.raises(StateError, match=r"^what is asked does not fit: ") as told:
            await kept.ainvoke(None, config, context=context)
        assert "\n" not in str(told.value)
        state = await kept.ainvoke(said, config, context=context)
        assert state["messages"][-1].content == "Ada lives in Ulm.\n\nAda -lives_in-> Ulm"

    @pytest.mark.parametrize("messages", [5, [5], [None], [{}], [{"role": "nobody", "content": "x"}]])
    async def test_messages_that_are_none_are_refused_in_one_line(self, messages: Any) -> None:
        with pytest.raises(StateError, match=r"^what is asked does not fit: messages: [^\n]*$"):
            await graph.ainvoke({"messages": messages}, context=Chat(model="offline"))

    async def test_the_budget_of_a_question_has_the_rewriting_in_it(self, kg: Any) -> None:
        context, _ = scripted(kg, {"question": "Where does Cleo live?"}, budget={"llm_calls": 1})
        state = await converse(context, "Where does Ada live?", "and Cleo?")
        assert state["record"]["stopped_by"] == "llm_calls"
        assert state["record"]["usage"]["llm_calls"] == 1

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"answer_by": "magic"}, "no method is called 'magic'"),
            ({"answer_by": "cor", "answer_options": {"values": True}}, "cor has no option 'values'"),
            ({"answer_options": {"model": "offline"}}, "model is an option of chat itself"),
            ({"width": 2}, "chat has no option 'width'"),
        ],
    )
    def test_an_option_that_is_not_taken_is_told_in_one_line(self, options: dict[str, Any], why: str) -> None:
        with pytest.raises(OptionError, match=why) as told:
            Chat(**options)
        assert "\n" not in str(told.value)

    async def test_options_go_on_to_the_method(self, kg: Any) -> None:
        context = Chat(kg=kg, model="offline", answer_by="cor", answer_options={"depth": 1})
        state = await converse(context, "Where does Ada live?")
        assert state["record"]["method"] == "cor"
        assert state["record"]["config"]["depth"] == 1

    async def test_a_context_of_another_kind_is_refused(self) -> None:
        class Other(BaseModel):
            model: str = "offline"

        for other in (Other(), context_of("cor")(model="offline")):
            with pytest.raises(OptionError, match="a context holds options by their names"):
                await graph.ainvoke({"messages": [("user", "x")]}, context=other)

    def test_it_works_without_await_as_a_part_of_an_app_and_by_configurable(self, kg: Any) -> None:
        class App(BaseModel):
            title: str = "an app"

        said = {"messages": [("user", "Where does Ben live?")]}
        assert "Bonn" in graph.invoke(said, context=Chat(kg=kg, model="offline"))["messages"][-1].text
        app = StateGraph(MessagesState, App).add_node("chat", graph).add_edge(START, "chat").compile()
        options = {"configurable": {"kg": kg, "model": "offline"}}
        assert "Bonn" in app.invoke(said, options, context=App())["messages"][-1].text  # type: ignore[call-overload]
        with pytest.raises(OptionError, match="model"):
            graph.invoke(said, {"configurable": {"model": 7}})

    async def test_a_message_is_held_to_the_limits_of_a_server(self, kg: Any) -> None:
        activate_limits(Limits(asked=InputLimits(question=20, topics=1, name=10)))
        try:
            with pytest.raises(NotServed, match="the question is longer than 20 characters"):
                await converse(Chat(kg=kg, model="offline"), "Ada " * 20)
        finally:
            activate_limits(Limits())

    def test_the_drawing_shows_both_ways(self) -> None:
        edges = {(edge.source, edge.target, edge.data) for edge in graph.get_graph().edges}
        assert ("rewrite", "answer_question", "ask") in edges
        assert ("rewrite", "reply", "say") in edges
