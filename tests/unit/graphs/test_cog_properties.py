"""Whatever valid replies a model gives, and whenever the graph is slow, CoG keeps its promises."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import kgqa
from kgqa.api import extract_record, make_input, stream_states
from kgqa.graphs.cog import CoG
from kgqa.kg.errors import KGTimeout
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.candidates import check_take, numbered_candidates
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.support.doubles import timeless
from kgqa.tests.support.guided import FAMILY, FailingVisits, Shelf
from kgqa.tests.support.method_fixtures import Lend

GRAPH = (
    FAMILY
    + """
e:ben r:pet e:rex ; r:job e:x1 . e:x1 r:title e:smith ; r:since 1990 .
e:smith rdfs:label "Smith"@en . e:dora r:job e:x2 . e:x2 r:title e:smith ; r:since 2001 .
"""
)

RUNS = {
    "depth": st.integers(1, 4),
    "width": st.integers(1, 3),
    "shortlist": st.integers(1, 6),
    "refinements": st.integers(0, 5),
    "guidance": st.booleans(),
    "adaptation": st.sampled_from([True, False, "free"]),
    "reranking": st.booleans(),
    "refinement": st.booleans(),
    "alignment": st.sampled_from(["semantic", "positional"]),
    "safeguard": st.sampled_from(["union", "sparse", "none"]),
    "exploration": st.sampled_from(["chain", "frontier"]),
    "own_knowledge": st.booleans(),
    "planning": st.sampled_from(["needed", "first"]),
    "tau": st.sampled_from([0.1, 0.9]),
    "budget": st.fixed_dictionaries({"llm_calls": st.sampled_from([None, 60, 12, 3])}),
}


def anything(seed: int) -> ScriptedModel:
    """A model that gives any valid reply, and now and then one that is not."""
    choice = random.Random(seed)
    some = lambda count, most=99: choice.sample(range(1, count + 1), choice.randint(0, min(count, most)))  # noqa: E731

    def check(prompt: Any) -> dict[str, Any]:
        decision = choice.choice(["stop", "filter", "forward", "forward", "backtrack", "backtrack"])
        reply: dict[str, Any] = {"decision": decision, "finding": choice.choice(["", "found"])}
        if decision == "forward" and not prompt.truncated:
            reply["keep"] = some(len(prompt.candidates))
        if decision == "stop":
            reply["take"] = choice.choice(["all", "others", "some", "count", "smallest"])
            reply["chosen"] = some(len(prompt.candidates)) if reply["take"] == "some" else []
            try:
                check_take(reply["take"], reply["chosen"], prompt.candidates)
            except ValueError:
                reply |= {"take": "all", "chosen": []}
        return reply

    def evaluate(prompt: Any) -> dict[str, Any]:
        if prompt.own_knowledge and choice.random() < 0.2:
            return {"decision": "stop", "answers": ["from memory"]}
        group = choice.randint(1, len(prompt.found))
        return {
            "decision": choice.choice(["stop", "filter", "forward", "forward", "forward"]),
            "groups": [group],
        }

    def infer(prompt: Any) -> dict[str, Any]:
        chosen = some(len(prompt.offered))
        return {"chosen": chosen, "answers": ["from memory"] if prompt.own_knowledge and not chosen else []}

    def diagnose(prompt: Any) -> dict[str, Any]:
        step = choice.randint(0, len(prompt.trajectory))
        there = [number for number, branch in enumerate(prompt.pruned, 1) if branch.step == step]
        recall = choice.sample(there, choice.randint(0, min(3, len(there))))
        return {"step": step, "recall": recall, "blueprint": choice.choice(["keep", "keep", "drop"])}

    policies: dict[str, Callable[[Any], dict[str, Any]]] = {
        "decompose": lambda p: {"subgoals": [f"goal {number}" for number in range(choice.randint(1, 3))]},
        "adapt_blueprint": lambda p: {
            "branches": [choice.choices([*p.relations, "school", "^child"], k=2) for _ in p.topics]
        },
        "outline_search": lambda p: {
            "subgoals": [f"goal {number}" for number in range(choice.randint(1, 3))],
            "branches": [choice.choices([*p.relations, "school", "^child"], k=2) for _ in p.topics],
        },
        "adapt_freely": lambda p: {"relations": choice.choices(["child", "school", "^child"], k=2)},
        "prune_relations": lambda p: {"relations": some(len(p.offers), p.width)},
        "check_sufficiency": check,
        "apply_conditions": lambda p: {"chosen": some(len(p.candidates))},
        "diagnose": diagnose,
        "infer_from_evidence": infer,
        "pick_relations": lambda p: {"relations": some(len(p.offers), 3)},
        "filter_found": lambda p: {"keep": some(len(numbered_candidates(p.found)))},
        "update_memory": lambda p: {"known": choice.choices(["more", "some", ""], k=len(p.subgoals))},
        "evaluate_found": evaluate,
        "answer_directly": lambda p: {"answers": ["from memory"]},
        "connect_topic": lambda p: {"relation": choice.randint(0, len(p.offers))},
    }
    return ScriptedModel(lambda p: "rambling" if choice.random() < 0.03 else policies[p.name](p))


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> SparqlGraph:
    path: Path = tmp_path_factory.mktemp("family") / "graph.ttl"
    path.write_text(PREFIXES + GRAPH, encoding="utf-8")
    return open_graph([path])


async def run(kg: Any, seed: int, topics: list[str], options: dict[str, Any]) -> list[dict[str, Any]]:
    """The state after each step of a run."""
    context = CoG(kg=kg, model=anything(seed), **options)
    return [state async for state in stream_states(make_input("the question", topics), context)]


def library() -> Shelf:
    return Shelf((0.5, [["child", "lives_in"], ["^lives_in"]]), (0.4, [["pet"]]))


def check_trace(record: kgqa.Record, options: dict[str, Any]) -> None:
    """One record; diagnoses within their budget, each of the signal before it, none of an outage."""
    assert [entry["node"] for entry in record["trace"]].count("answer") == 1
    diagnosed = 0
    for before, entry in zip(record["trace"], record["trace"][1:], strict=False):
        if entry["node"] == "diagnose" and "signal" in entry:
            assert "failure" not in before
            otherwise = "wrong_type" if before["node"] == "filter" else "no_candidates"
            assert entry["signal"] == before.get("signal", otherwise)
            diagnosed += 1
    assert diagnosed <= (options["refinements"] if options["refinement"] else 0)
    limit = options["budget"]["llm_calls"]
    assert limit is None or record["usage"]["llm_calls"] <= limit


def check_visits(states: list[dict[str, Any]]) -> None:
    """No chain is followed twice to meet the same, and what was tried is noted once."""
    visits = [
        json.dumps([[branch["chain"] for branch in state["memory"]], state["chain"]])
        for state in states
        if state["trace"][-1]["node"] == "expand" and "chains" not in state["trace"][-1]
    ]
    assert len(visits) == len(set(visits))
    for state in states:
        tried = [json.dumps(chain) for chain in state.get("tried") or ()]
        assert len(tried) == len(set(tried))


async def check_answers(kg: SparqlGraph, record: kgqa.Record) -> None:
    """Grounded answers are at the end of every path, and the evidence is of the graph."""
    if record["outcome"] not in {"grounded", "grounded_inference", "grounded_unverified"}:
        assert all(answer["id"] is None for answer in record["answers"])
        return
    ids = {answer["id"] for answer in record["answers"] if str(answer["id"]).startswith("http")}
    for path in record["paths"]:
        hops = tuple(Hop(step["relation"], step["forward"]) for step in path)
        page = await kg.follow_chain(Chain(Entity(str(path[0]["head"]["id"])), hops))
        assert ids <= {candidate.term.id for candidate in page}
    for fact in record["evidence"]:
        head = Chain(Entity(str(fact["head"]["id"])), (Hop(fact["relation"]),))
        assert fact["tail"]["id"] in {candidate.term.id for candidate in await kg.follow_chain(head)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from(["Ada", "Ulm", "Ben", "Smith"]), min_size=1, max_size=3, unique=True),
    st.fixed_dictionaries(RUNS),
)
async def test_every_run_keeps_the_promises(
    lend: Lend, family: SparqlGraph, seed: int, topics: list[str], options: dict[str, Any]
) -> None:
    lend(library())
    states = await run(family, seed, topics, options)
    record: Any = extract_record(states[-1])
    check_trace(record, options)
    check_visits(states)
    await check_answers(family, record)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.sampled_from(["ends", "hops"]), st.fixed_dictionaries(RUNS))
async def test_a_slow_graph_is_never_taken_for_a_failure_of_the_search(
    lend: Lend, family: SparqlGraph, seed: int, what: str, options: dict[str, Any]
) -> None:
    lend(library())
    slow = random.Random(seed)
    flaky = FailingVisits(family, what, KGTimeout("slow"), lambda chain: slow.random() < 0.3)
    states = await run(flaky, seed, ["Ada", "Ulm"], options)
    record: Any = extract_record(states[-1])
    check_trace(record, options)
    check_visits(states)
    timed_out = any(entry.get("failure") == "KGTimeout" for entry in record["trace"])
    assert record["outcome"] not in ({"none", "parametric"} if timed_out else {"kg_unavailable"})


@pytest.mark.parametrize("seed", range(10))
async def test_the_same_replies_leave_the_same_record(lend: Lend, family: SparqlGraph, seed: int) -> None:
    lend(library())
    options = {"tau": 0.9, "refinements": 5}
    first, second = [extract_record((await run(family, seed, ["Ada", "Ulm"], options))[-1]) for _ in range(2)]
    assert timeless(first) == timeless(second)
