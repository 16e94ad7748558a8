"""What CoR does at each turn, with a scripted model on tiny graphs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import kgqa
from kgqa.graphs import cor
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.prune_relations import UNMET
from kgqa.runtime.search_context import ONE_STEP_A_TIME
from kgqa.tests.support.frontier import written

ask = partial(kgqa.aask, method="cor")

FAMILY = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm ; r:employer e:mill .
e:ben rdfs:label "Ben"@en ; r:child e:dora ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm ; r:spouse e:ada .
e:dora rdfs:label "Dora"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en .
e:bonn rdfs:label "Bonn"@en .
e:mill rdfs:label "Mill"@en .
"""

MEDIATED = """
e:club rdfs:label "Club"@en ; r:membership e:x1, e:x2 .
e:x1 r:member e:ann ; r:since 1990 .
e:x2 r:member e:bob ; r:since 2001 .
e:ann rdfs:label "Ann"@en .
e:bob rdfs:label "Bob"@en .
"""

Open = Callable[[str], SparqlGraph]
Policy = Callable[[Any], dict[str, Any] | str]


def choose(*wanted: str) -> Callable[[Any], dict[str, Any]]:
    """Prune to the named hops, in this order, as far as they are offered."""

    def line(prompt: Any) -> dict[str, Any]:
        offered = [written(offer.hops) for offer in prompt.offers]
        return {"relations": [offered.index(name) + 1 for name in wanted if name in offered]}

    return line


def playing(
    prune: Policy,
    verify: Policy,
    filter_: Policy = lambda _: {"fits": "none"},
    recall: list[str] | None = None,
) -> ScriptedModel:
    """Script a model by one policy for each prompt."""
    policies: dict[str, Policy] = {
        "prune_relations": prune,
        "verify_chain": verify,
        "apply_conditions": filter_,
        "answer_directly": lambda _: {"answers": recall or []},
    }
    return ScriptedModel(lambda prompt: policies[prompt.name](prompt))


def shown(record: kgqa.Record) -> list[str | None]:
    return [answer["name"] for answer in record["answers"]]


def nodes(record: kgqa.Record) -> list[str]:
    return [entry["node"] for entry in record["trace"]]


def at_depth(*decisions: str) -> Policy:
    """Decide by the depth of the chain."""
    return lambda prompt: {"decision": decisions[prompt.chain.depth - 1]}


async def test_stop_answers_with_all_candidates_and_the_path(graph: Open) -> None:
    model = playing(choose("child"), at_depth("stop"))
    record = await ask("Who are Ada's children?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert shown(record) == ["Ben", "Cleo"]
    assert record["paths"] == [
        [
            {
                "head": {"id": "http://t/e/ada", "name": "Ada"},
                "relation": "http://t/r/child",
                "forward": True,
                "tail": {"id": None, "name": None},
            }
        ]
    ]
    assert {fact["tail"]["name"] for fact in record["evidence"]} == {"Ben", "Cleo"}
    assert (record["outcome"], record["usage"]["llm_calls"]) == ("grounded", 2)


async def test_a_shared_end_is_named_in_the_path(graph: Open) -> None:
    model = playing(choose("employer"), at_depth("stop"))
    record = await ask("Where does Ada work?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert record["paths"][0][0]["tail"] == {"id": "http://t/e/mill", "name": "Mill"}


async def test_forward_extends_the_chain(graph: Open) -> None:
    model = playing(
        lambda p: choose("child", "lives_in")(p) if not p.chain.hops else choose("lives_in")(p),
        at_depth("forward", "stop"),
    )
    record = await ask("Where do Ada's children live?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert shown(record) == ["Bonn", "Ulm"]
    assert record["usage"]["llm_calls"] == 4


async def test_backtrack_takes_the_next_best_chain(graph: Open) -> None:
    def verify(prompt: Any) -> dict[str, Any]:
        return {"decision": "stop" if prompt.chain.hops[0].words == "lives_in" else "backtrack"}

    model = playing(choose("employer", "lives_in", "child"), verify)
    record = await ask("Where does Ada live?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert shown(record) == ["Ulm"]
    assert "backtrack" in nodes(record)


async def test_children_of_a_chain_come_before_its_siblings(graph: Open) -> None:
    visited: list[str] = []

    def verify(prompt: Any) -> dict[str, Any]:
        visited.append(" ".join(hop.words for hop in prompt.chain.hops))
        return {"decision": "forward" if visited[-1] == "child" else "backtrack"}

    model = playing(lambda p: choose("child", "lives_in")(p), verify)
    await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, depth=2)
    assert visited == ["child", "child child", "child lives_in", "lives_in"]


async def test_filter_keeps_what_the_model_chooses_in_its_order(graph: Open) -> None:
    model = playing(choose("child"), at_depth("filter"), lambda _: {"chosen": [2, 1]})
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert shown(record) == ["Cleo", "Ben"]


async def test_an_empty_filter_goes_back_to_the_stack(graph: Open) -> None:
    def filter_(prompt: Any) -> dict[str, Any]:
        return {"fits": "none"} if prompt.chain.hops[0].words == "child" else {"chosen": [1]}

    model = playing(choose("child", "lives_in"), at_depth("filter"), filter_)
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert shown(record) == ["Ulm"]
    assert nodes(record)[-4:] == ["expand", "verify", "filter", "answer"]


async def test_filtering_is_a_step_of_its_own_whatever_the_verdict_names(graph: Open) -> None:
    verdict = {"decision": "filter", "chosen": [1]}
    model = playing(choose("child"), lambda _: verdict, lambda _: {"chosen": [2]})
    record = await ask("Which child lives in Ulm?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert (shown(record), record["usage"]["llm_calls"]) == (["Cleo"], 3)
    assert nodes(record)[-3:] == ["verify", "filter", "answer"]


async def test_a_count_is_computed_from_the_candidates(graph: Open) -> None:
    model = playing(choose("child"), lambda _: {"decision": "stop", "take": "count"})
    record = await ask("How many children has Ada?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert record["answers"] == [{"id": "2", "name": "2"}]
    assert len(record["evidence"]) == 2


async def test_unnamed_nodes_are_crossed_without_a_call(graph: Open) -> None:
    crossing = playing(choose("membership member"), lambda _: {"decision": "stop"})
    model = playing(
        lambda p: choose("member" if p.chain.hops else "membership")(p), at_depth("forward", "stop")
    )
    for each, cross in ((crossing, True), (model, False)):
        record = await ask("?", topics=["Club"], kg=graph(MEDIATED), model=each, cross_mediators=cross)
        assert shown(record) == ["Ann", "Bob"]
    assert [prompt.name for prompt in crossing.prompts] == ["prune_relations", "verify_chain"]
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "verify_chain"]
    assert crossing.prompts[0].case().splitlines()[-3:-1] == [
        '1. "Club" -membership-> ?1 -member-> ?2',
        '2. "Club" -membership-> ?1 -since-> ?2',
    ]


async def test_a_chain_chosen_as_the_whole_answer_needs_no_verdict(graph: Open) -> None:
    model = playing(lambda p: {**choose("child")(p), "then": "stop"}, lambda _: {"decision": "backtrack"})
    record = await ask("Who are Ada's children?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert (shown(record), record["outcome"]) == (["Ben", "Cleo"], "grounded")
    assert [prompt.name for prompt in model.prompts] == ["prune_relations"]
    said = {"relations": [1], "then": "stop"}
    model = playing(lambda p: said, lambda _: {"decision": "backtrack"}, recall=[])
    await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, outright_answers=False)
    assert [prompt.name for prompt in model.prompts][:2] == ["prune_relations", "verify_chain"]
    assert "then" not in model.prompts[0].case()


async def test_how_many_a_chain_leads_to_is_said_when_it_is_chosen(graph: Open) -> None:
    model = playing(lambda p: {**choose("child")(p), "then": "count"}, lambda _: {"decision": "backtrack"})
    record = await ask("How many children has Ada?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert (shown(record), record["outcome"]) == (["2"], "grounded")
    assert [prompt.name for prompt in model.prompts] == ["prune_relations"]


async def test_a_chain_chosen_as_on_the_way_is_gone_on_from_at_once(graph: Open) -> None:
    model = playing(
        lambda p: choose("lives_in")(p) if p.chain.hops else {**choose("child")(p), "then": "forward"},
        lambda _: {"decision": "stop"},
    )
    record = await ask("Where do Ada's children live?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert shown(record) == ["Bonn", "Ulm"]
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "prune_relations", "verify_chain"]
    assert 'Chain: "Ada" -child-> ?1 ("Ben", "Cleo")' in model.prompts[1].case().splitlines()


async def test_each_topic_may_have_its_own_part_said_when_it_is_chosen(graph: Open) -> None:
    model = playing(lambda p: {**choose("child")(p), "then": "stop"}, lambda _: {"decision": "stop"})
    options: dict[str, Any] = {"topics": ["Ada", "Ulm"], "kg": graph(FAMILY), "model": model}
    record = await ask("Who of them lives in Ulm?", **options, topic_conditions=False)
    assert (shown(record), record["outcome"]) == (["Cleo"], "grounded")
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "verify_chain"]
    assert model.prompts[1].chain.topic.name == "Ulm"  # there is one relation only, and no choice
    assert "Each topic entity is checked by itself" in model.prompts[0].case()


@pytest.mark.parametrize("last", [{"take": "count"}, {"take": "all"}, {"decision": "filter"}])
async def test_a_count_that_one_topic_has_said_is_of_what_all_share(graph: Open, last: Any) -> None:
    model = playing(
        lambda p: {**choose("child")(p), "then": "count"},
        lambda _: {"decision": "stop", **last},
        lambda _: {"fits": "all"},
    )
    record = await ask(
        "How many of Ada's children live in Ulm?",
        topics=["Ada", "Ulm"],
        kg=graph(FAMILY),
        model=model,
        topic_conditions=False,
    )
    assert (shown(record), record["outcome"]) == (["1"], "grounded")


async def test_all_that_is_there_is_said_beforehand_without_the_start(graph: Open) -> None:
    films = 'e:ran rdfs:label "Ran"@en ; r:by e:ak . e:ikiru rdfs:label "Ikiru"@en ; r:by e:ak . '
    films += 'e:ak rdfs:label "Akira"@en ; r:born 1910 ; r:in e:tokyo . e:ran r:year 1985 .'
    model = playing(
        lambda p: (
            {**choose("^by")(p), "then": "stop"} if p.chain.hops else {**choose("by")(p), "then": "forward"}
        ),
        lambda _: {"decision": "backtrack"},
    )
    record = await ask("Which other films are by its director?", topics=["Ran"], kg=graph(films), model=model)
    assert (shown(record), record["outcome"]) == (["Ikiru"], "grounded")
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "prune_relations"]
    assert '"stop" if all of it, without the start itself' in model.prompts[0].case()


async def test_what_does_not_meet_the_other_topics_is_said_to(graph: Open) -> None:
    family = FAMILY + 'e:ulm r:mayor e:zed . e:zed rdfs:label "Zed"@en ; r:town e:ulm ; r:age 50 .'
    model = playing(
        lambda p: choose("child" if p.chain.topic.name == "Ada" else "mayor")(p),
        lambda _: {"decision": "stop"},
    )
    options: dict[str, Any] = {"kg": graph(family), "model": model, "topic_conditions": False}
    await ask("Which child?", topics=["Ada", "Ulm"], **options, retry_search=False)
    drawn = [prompt.case() for prompt in model.prompts if prompt.name == "prune_relations"]
    assert [UNMET in each for each in drawn] == ['Chain: "Ulm" -mayor-> ?1 ("Zed")' in each for each in drawn]
    assert any(UNMET in each for each in drawn)


async def test_a_filter_is_not_said_of_a_relation_where_there_is_none(graph: Open) -> None:
    model = playing(lambda p: {**choose("child")(p), "then": "filter"}, lambda _: {"decision": "stop"})
    options: dict[str, Any] = {"topics": ["Ada"], "kg": graph(FAMILY), "model": model}
    record = await ask("?", **options, filtering=False, allow_parametric=False)
    assert record["trace"][2]["failure"] == "MalformedReply"
    assert '"filter"' not in model.prompts[0].case()


async def test_a_chain_chosen_with_a_condition_left_is_filtered_at_once(graph: Open) -> None:
    model = playing(
        lambda p: {**choose("child")(p), "then": "filter"},
        lambda _: {"decision": "backtrack"},
        lambda _: {"chosen": [2]},
    )
    record = await ask("Which child lives in Ulm?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert shown(record) == ["Cleo"]
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "apply_conditions"]


async def test_what_is_missing_is_looked_for_once_among_what_was_not_shown(
    graph: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.nodes.retrieve_relations.limit_extensions", lambda some: (some[:2], some[2:]))
    monkeypatch.setattr("kgqa.nodes.retrieve_relations.MAX_LOOKED_UP", 1)
    missing = {"relations": [], "missing": "town where somebody lives"}
    model = playing(
        lambda p: choose("lives_in")(p) if p.offers[0].hops[0].words == "lives_in" else missing,
        lambda _: {"decision": "stop"},
    )
    record = await ask("Where does Ben live?", topics=["Ben"], kg=graph(FAMILY), model=model)
    assert shown(record) == ["Bonn"]
    assert [len(prompt.offers) for prompt in model.prompts[:2]] == [2, 1]
    assert ["missing" in prompt.case() for prompt in model.prompts[:2]] == [True, False]
    model = playing(lambda _: missing, lambda _: {"decision": "stop"}, recall=[])
    await ask("?", topics=["Ben"], kg=graph(FAMILY), model=model, missing_relations=False)
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "answer_directly"]


async def test_what_describes_the_database_is_not_shown_where_it_is_not_what_is_missing(graph: Open) -> None:
    noise = FAMILY + 'e:ben <http://rdf.freebase.com/ns/common.webpage.uri> e:x . e:x rdfs:label "X" .'
    model = playing(lambda _: {"relations": [], "missing": "favourite colour"}, at_depth("stop"), recall=[])
    await ask("Which colour does Ben like?", topics=["Ben"], kg=graph(noise), model=model, retry_search=False)
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "answer_directly"]
    assert 'If none can help: "missing"' in model.prompts[0].case()


async def test_the_only_relation_is_followed_without_a_call_and_judged(graph: Open) -> None:
    model = playing(choose(), at_depth("backtrack"), recall=["somebody"])
    record = await ask("Who is in the club?", topics=["Club"], kg=graph(MEDIATED), model=model)
    assert [prompt.name for prompt in model.prompts][:2] == ["prune_relations", "answer_directly"]
    record = await ask("Where is Dora?", topics=["Bonn"], kg=graph(FAMILY), model=model)
    assert [prompt.name for prompt in model.prompts][2:] == ["verify_chain", "answer_directly"]
    assert record["outcome"] == "parametric"


async def test_the_paper_asks_at_every_step(graph: Open) -> None:
    model = playing(
        lambda p: choose("member" if p.chain.hops else "membership")(p), at_depth("forward", "stop")
    )
    kg = graph(MEDIATED)
    record = await ask("Who is it?", topics=["Club"], kg=kg, model=model, **ONE_STEP_A_TIME)
    assert shown(record) == ["Ann", "Bob"]
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "verify_chain"] * 2
    assert [candidate.term.name for candidate in model.prompts[1].candidates] == [None, None]
    model = playing(choose("^lives_in"), at_depth("backtrack"), recall=["somebody"])
    await ask("Where is Dora?", topics=["Bonn"], kg=graph(FAMILY), model=model, always_ask=True)
    assert [prompt.name for prompt in model.prompts] == ["prune_relations", "verify_chain", "answer_directly"]


@pytest.mark.parametrize(("always_ask", "seen"), [(True, ["Ada", "Cleo", "Dora"]), (False, ["Cleo", "Dora"])])
async def test_the_paper_filters_what_comes_back_to_the_topic_too(
    graph: Open, always_ask: bool, seen: list[str]
) -> None:
    model = playing(
        lambda p: choose("^lives_in" if p.chain.hops else "lives_in")(p),
        at_depth("forward", "filter"),
        lambda _: {"chosen": [1]},
    )
    await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, always_ask=always_ask)
    assert [candidate.term.name for candidate in model.prompts[-1].candidates] == seen


async def test_the_paper_s_candidates_are_all_that_a_chain_reaches(graph: Open) -> None:
    """CoR §4.2, step 1: those without a name as well."""
    model = playing(choose("membership"), at_depth("stop"))
    record = await ask("?", topics=["Club"], kg=graph(MEDIATED), model=model, **ONE_STEP_A_TIME)
    assert [answer["name"] for answer in record["answers"]] == [None, None]
    assert record["outcome"] == "grounded"


async def test_a_filter_sees_the_chains_of_the_other_topics(graph: Open) -> None:
    model = playing(
        lambda p: choose("^lives_in" if p.chain.topic.name == "Ulm" else "child")(p),
        lambda p: {"decision": "filter"},
        lambda _: {"chosen": [1]},
    )
    await ask("?", topics=["Ada", "Ulm"], kg=graph(FAMILY), model=model, topic_conditions=False)
    assert model.prompts[-1].name == "apply_conditions"
    assert [str(chain) for chain in model.prompts[-1].met] == ["Ada -child->"]
    assert 'The candidates are also the ends of: "Ada" -child-> ?1' in model.prompts[-1].case()


async def test_the_first_topic_alone_may_be_explored(graph: Open) -> None:
    model = playing(choose("child"), at_depth("stop"))
    kg = graph(FAMILY)
    record = await ask("?", topics=["Ada", "Ulm"], kg=kg, model=model, all_topics=False)
    assert shown(record) == ["Ben", "Cleo"]
    assert [topic["name"] for topic in record["topics"]] == ["Ada"]


async def test_two_topics_are_both_met(graph: Open) -> None:
    def verify(prompt: Any) -> dict[str, Any]:
        return {"decision": "filter" if not prompt.met else "stop"}

    model = playing(lambda p: choose("^lives_in" if str(p.chain.topic) == "Ulm" else "child")(p), verify)
    question, topics = "Which child of Ada lives in Ulm?", ["Ada", "Ulm"]
    record = await ask(question, topics=topics, kg=graph(FAMILY), model=model, topic_conditions=False)
    assert shown(record) == ["Cleo"]
    assert [path[0]["head"]["name"] for path in record["paths"]] == ["Ada", "Ulm"]
    assert record["usage"]["llm_calls"] == 3


async def test_a_second_topic_that_is_never_met_leaves_the_first_chain_standing(graph: Open) -> None:
    model = playing(
        lambda p: choose("child" if str(p.chain.topic) == "Ada" else "^employer")(p), at_depth("stop")
    )
    record = await ask("?", topics=["Ada", "Mill"], kg=graph(FAMILY), model=model, depth=1)
    assert shown(record) == ["Ben", "Cleo"]


async def test_after_an_empty_filter_the_other_topics_still_count(graph: Open) -> None:
    """Nobody is both a child of Ada and a mayor; an alternative of the second topic must not win alone."""
    town = FAMILY + 'e:ulm r:mayor e:zed . e:zed rdfs:label "Zed"@en .'

    def verify(prompt: Any) -> dict[str, Any]:
        return {"decision": "stop" if prompt.chain.hops[0].words == "child" else "filter"}

    model = playing(lambda p: choose("child", "^lives_in", "mayor")(p), verify)
    record = await ask("?", topics=["Ada", "Ulm"], kg=graph(town), model=model, depth=1)
    assert shown(record) == ["Ben", "Cleo"]


async def test_a_topic_that_is_never_met_does_not_hide_the_next(graph: Open) -> None:
    sport = FAMILY + 'e:ben r:plays e:chess . e:chess rdfs:label "Chess"@en .'
    model = playing(lambda p: choose("child", "^employer", "^plays")(p), at_depth("stop"))
    record = await ask("?", topics=["Ada", "Mill", "Chess"], kg=graph(sport), model=model, depth=1)
    assert shown(record) == ["Ben"]


@pytest.mark.parametrize("topics", [["Hub", "Zed"], ["Zed", "Hub"]])
async def test_a_list_that_was_cut_is_looked_up_in_the_graph(
    turtle: Callable[[str], Any], topics: list[str]
) -> None:
    many = 'e:hub rdfs:label "Hub" . e:zed rdfs:label "Zed" ; r:likes e:n250 .\n' + "\n".join(
        f'e:n{number:03} rdfs:label "N{number:03}" ; r:part_of e:hub .' for number in range(300)
    )
    model = playing(lambda p: choose("^part_of", "likes")(p), at_depth("stop"))
    record = await ask("?", topics=topics, kg=open_graph([turtle(many)], rows=50), model=model, depth=1)
    assert shown(record) == ["N250"]


async def test_nothing_is_computed_from_a_list_that_was_cut(turtle: Callable[[str], Any]) -> None:
    many = 'e:hub rdfs:label "Hub" .\n' + "\n".join(
        f'e:n{n} rdfs:label "N" ; r:part_of e:hub .' for n in range(99)
    )
    model = playing(choose("^part_of"), lambda _: {"decision": "stop", "take": "count"})
    record = await ask("How many?", topics=["Hub"], kg=open_graph([turtle(many)], rows=50), model=model)
    assert record["answers"] == []


async def test_who_is_the_topic_is_not_counted(graph: Open) -> None:
    model = playing(
        lambda p: choose("child" if p.chain.hops else "^child")(p),
        lambda p: {"decision": "forward"} if p.chain.depth < 2 else {"decision": "stop", "take": "count"},
    )
    record = await ask("How many siblings has Ben?", topics=["Ben"], kg=graph(FAMILY), model=model)
    assert record["answers"] == [{"id": "1", "name": "1"}]


async def test_a_thread_may_ask_a_second_question(turtle: Callable[[str], Any]) -> None:
    on_thread = cor.graph.builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    context = {"kg": [str(turtle(FAMILY))], "model": "offline"}
    await on_thread.ainvoke({"question": "Where does Ada live?", "id": "first"}, config, context=context)
    second = await on_thread.ainvoke({"question": "Where does Ben live?"}, config, context=context)
    fresh = await cor.graph.ainvoke({"question": "Where does Ben live?"}, context=context)
    assert shown(second) == ["Bonn"]
    assert [second[key] for key in ("id", "topics", "answers", "outcome")] == [
        fresh[key] for key in ("id", "topics", "answers", "outcome")
    ]
    assert nodes(second) == nodes(fresh)
    assert second["usage"]["kg_queries"] == fresh["usage"]["kg_queries"]


async def test_what_returns_to_the_topic_may_be_left_out(graph: Open) -> None:
    neighbours = playing(
        lambda p: choose("^lives_in" if p.chain.hops else "lives_in")(p),
        lambda p: {"decision": "forward"} if p.chain.depth < 2 else {"decision": "stop", "take": "others"},
    )
    record = await ask("Who lives where Ada lives?", topics=["Ada"], kg=graph(FAMILY), model=neighbours)
    assert shown(record) == ["Cleo", "Dora"]


async def test_without_backtracking_only_the_best_chain_is_followed(graph: Open) -> None:
    model = playing(choose("employer", "lives_in"), at_depth("backtrack"))
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, backtracking=False)
    assert (record["outcome"], record["answers"]) == ("none", [])
    assert len(model.prompts) == 3


async def test_without_filtering_the_model_is_not_offered_it(graph: Open) -> None:
    model = playing(choose("child"), at_depth("filter", "filter", "filter"))
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, filtering=False)
    assert record["answers"] == []
    assert any("filter is not available" in entry.get("error", "") for entry in record["trace"])


async def test_without_filtering_candidates_are_not_told_apart(graph: Open) -> None:
    model = playing(choose("child"), lambda _: {"decision": "stop", "take": "some", "chosen": [1]})
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, filtering=False)
    assert record["answers"] == []
    assert any('"some" is not available' in entry.get("error", "") for entry in record["trace"])


async def test_width_bounds_relations(graph: Open) -> None:
    model = playing(lambda _: {"relations": [1, 2]}, at_depth("stop"))
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, width=1)
    assert any("at most 1" in entry.get("error", "") for entry in record["trace"])


async def test_depth_is_a_limit_and_says_so(graph: Open) -> None:
    model = playing(choose("child"), at_depth("forward", "forward"))
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, depth=1)
    assert (record["outcome"], record["stopped_by"]) == ("none", "depth")


async def test_when_the_search_fails_the_model_may_answer_from_memory(graph: Open) -> None:
    model = playing(lambda _: {"relations": []}, at_depth("stop"), recall=["Ulm"])
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert (record["outcome"], record["answers"]) == ("parametric", [{"id": None, "name": "Ulm"}])
    closed = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model, allow_parametric=False)
    assert (closed["outcome"], closed["answers"]) == ("none", [])


@pytest.mark.parametrize(
    ("prompt", "outcome"),
    [("prune_relations", "none"), ("verify_chain", "none"), ("apply_conditions", "grounded_unverified")],
)
async def test_a_malformed_reply_turns_back_or_leaves_the_ends_unjudged(
    graph: Open, prompt: str, outcome: str
) -> None:
    good: dict[str, Policy] = {
        "prune_relations": choose("child"),
        "verify_chain": at_depth("filter"),
        "apply_conditions": lambda _: {"chosen": [1]},
        "answer_directly": lambda _: {"answers": []},
    }
    model = ScriptedModel(lambda p: "no JSON here" if p.name == prompt else good[p.name](p))
    record = await ask("?", topics=["Ada"], kg=graph(FAMILY), model=model)
    assert record["outcome"] == outcome
    assert any(entry.get("failure") == "MalformedReply" for entry in record["trace"])


def hub(ends: int, name: str = "N") -> str:
    """Write a hub with so many ends."""
    lines = (f'e:n{at:03} rdfs:label "{at:03}{name}" ; r:part_of e:hub .' for at in range(ends))
    return 'e:hub rdfs:label "Hub" .\n' + "\n".join(lines)


def offered(model: ScriptedModel) -> list[int]:
    """Return how many candidates each prompt of the filter has shown."""
    return [len(prompt.offered) for prompt in model.prompts if prompt.name == "apply_conditions"]


async def test_all_candidates_that_one_prompt_holds_are_filtered_at_once(graph: Open) -> None:
    model = playing(choose("^part_of"), at_depth("filter"), lambda p: {"chosen": [len(p.candidates)]})
    record = await ask("Which is the last?", topics=["Hub"], kg=graph(hub(250)), model=model)
    assert (shown(record), offered(model)) == (["249N"], [250])


@pytest.mark.parametrize(
    ("picked", "shown_by_prompts"),
    [
        (range(1, 2), [330, 330, 40, 3]),
        (range(1, 200), [330, 330, 40, 330, 108, 307]),
        (range(1, 400), [330, 330, 40]),  # no fewer prompts would hold what is left
        (range(1, 1), [330, 330, 40]),
    ],
)
async def test_what_is_left_of_several_prompts_is_judged_until_one_holds_it(
    graph: Open, picked: range, shown_by_prompts: list[int]
) -> None:
    model = playing(choose("^part_of"), at_depth("filter"), lambda p: {"chosen": [*picked][: len(p.offered)]})
    await ask("?", topics=["Hub"], kg=graph(hub(700, "x" * 110)), model=model)
    assert offered(model) == shown_by_prompts


@pytest.mark.parametrize(
    ("calls", "left", "outcome"), [(2, 1, "grounded_unverified"), (4, 3, "grounded_inference")]
)
async def test_when_the_budget_ends_on_the_way_what_was_chosen_stands(
    graph: Open, calls: int, left: int, outcome: str
) -> None:
    model = playing(choose("^part_of"), at_depth("filter"), lambda p: {"chosen": [1]})
    kg, budget = graph(hub(700, "x" * 110)), {"llm_calls": calls}
    record = await ask("?", topics=["Hub"], kg=kg, model=model, budget=budget)
    assert (len(record["answers"]), record["stopped_by"]) == (left, "llm_calls")
    assert record["outcome"] == outcome


async def test_an_unknown_topic_is_said_with_its_nearest(graph: Open) -> None:
    record = await ask("?", topics=["Adda Lovelace"], kg=graph(FAMILY), model=ScriptedModel([]))
    assert record["outcome"] == "none"
    assert "no entity of the graph is called 'Adda Lovelace'" in record["trace"][0]["error"]


async def test_topics_are_linked_from_the_question(graph: Open) -> None:
    model = playing(choose("child"), at_depth("stop"))
    record = await ask("Who are the children of Ada?", kg=graph(FAMILY), model=model)
    assert record["topics"] == [{"id": "http://t/e/ada", "name": "Ada"}]


async def test_the_graph_runs_without_the_api(turtle: Callable[[str], Any]) -> None:
    context = {"kg": [str(turtle(FAMILY))], "model": "offline"}
    record = await cor.graph.ainvoke({"question": "Where does Ada live?", "topics": ["Ada"]}, context=context)
    assert record.keys() == kgqa.Record.__annotations__.keys()
    assert shown(record) == ["Ulm"]


def test_the_drawing_is_the_figure(snapshot: Any) -> None:
    assert cor.graph.get_graph().draw_mermaid() == snapshot
