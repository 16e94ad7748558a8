"""What is read off a search with a plan: progress, goals, slots, decisions."""

from typing import Any, cast

import orjson
import pytest

from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.nodes.cog.state import (
    CoGState,
    Finding,
    PrunedChain,
    RankedRelation,
    passed_slots,
    plan_progress,
    standing_chains,
    standing_decisions,
    standing_findings,
    step_subgoals,
    topic_slots,
)
from kgqa.priors.slots import Blueprint, Slot
from kgqa.prompts.chain import Extension
from kgqa.prompts.diagnose import PastDecision
from kgqa.runtime.record import zero_spend
from kgqa.runtime.state import StateError, VerifiedChain, to_plain, to_typed

ADA, ULM, BEN, CLEO = (Entity(f"http://t/e/{name}", name.title()) for name in ("ada", "ulm", "ben", "cleo"))

PLAN = ["find a", "find b", "find c"]


def walk(topic: Entity, *relations: str) -> Chain:
    return Chain(topic, tuple(Hop(f"http://t/r/{relation}") for relation in relations))


CHILD, CHILD_HOME = walk(ADA, "child"), walk(ADA, "child", "home")
MAYOR = walk(ULM, "mayor")


def state(chain: Chain, **more: Any) -> CoGState:
    """A state with Ada and Ulm as topics and three subgoals."""
    given = {"question": "the question", "topic_entities": [ADA, ULM], "subgoals": PLAN, "chain": chain}
    empty: dict[str, Any] = {"memory": [], "findings": [], "blueprint": None, "pruned": [], "tried": []}
    return cast(CoGState, {**given, **empty, **more})


def verified(chain: Chain) -> VerifiedChain:
    return VerifiedChain(chain, (BEN,), "stop")


def texts(at: CoGState) -> list[str]:
    return [finding.text for finding in standing_findings(at)]


def test_the_chains_that_stand_are_those_in_memory_and_the_one_at_hand() -> None:
    assert standing_chains(state(MAYOR, memory=[verified(CHILD)])) == [CHILD, MAYOR]


def test_the_chain_at_hand_stands_once() -> None:
    assert standing_chains(state(CHILD, memory=[verified(CHILD)])) == [CHILD]


def test_what_was_found_on_the_way_stands() -> None:
    findings = [Finding(CHILD, "one"), Finding(CHILD_HOME, "two")]
    assert texts(state(CHILD_HOME, findings=findings)) == ["one", "two"]


def test_what_was_found_on_a_chain_that_was_left_does_not_stand() -> None:
    findings = [Finding(walk(ADA, "pet"), "left"), Finding(CHILD, "one")]
    assert texts(state(CHILD_HOME, findings=findings)) == ["one"]


def test_what_was_found_beyond_the_chain_does_not_stand() -> None:
    assert texts(state(CHILD, findings=[Finding(CHILD_HOME, "two")])) == []


def test_what_memory_rests_on_stands() -> None:
    findings = [Finding(CHILD, "one"), Finding(MAYOR, "two")]
    assert texts(state(MAYOR, memory=[verified(CHILD)], findings=findings)) == ["one", "two"]


def test_what_was_found_of_the_entities_a_chain_is_held_to_stands() -> None:
    held = CHILD.constrained_to([BEN])
    findings = [Finding(CHILD.constrained_to([CLEO]), "other"), Finding(held, "one")]
    assert texts(state(held.then(Hop("http://t/r/home")), findings=findings)) == ["one"]


@pytest.mark.parametrize(
    ("findings", "at", "verified"),
    [
        ([], 0, ()),
        ([Finding(CHILD, "one")], 1, ("one",)),
        ([Finding(CHILD, "")], 0, ()),
        ([Finding(CHILD, ""), Finding(CHILD_HOME, "two")], 1, ("two",)),
    ],
)
def test_a_subgoal_is_met_by_each_finding(
    findings: list[Finding], at: int, verified: tuple[str, ...]
) -> None:
    done = plan_progress(state(CHILD_HOME, findings=findings))
    assert (done.subgoals, done.at, done.findings) == (tuple(PLAN), at, verified)


def test_the_last_subgoal_remains_the_current_one() -> None:
    findings = [Finding(CHILD, "one"), Finding(CHILD_HOME, "two")]
    assert plan_progress(state(CHILD_HOME, subgoals=PLAN[:2], findings=findings)).at == 1


def test_a_search_without_subgoals_has_no_progress() -> None:
    assert plan_progress(state(CHILD, subgoals=[])).at == 0


def test_a_topic_has_the_first_subgoal() -> None:
    assert step_subgoals(state(Chain(ADA))) == ["find a"]


def test_each_step_that_finds_something_goes_on_in_the_plan() -> None:
    findings = [Finding(CHILD, "one"), Finding(CHILD_HOME, "two")]
    assert step_subgoals(state(CHILD_HOME, findings=findings)) == ["find a", "find b", "find c"]


def test_an_unnamed_node_keeps_the_subgoal() -> None:
    assert step_subgoals(state(CHILD_HOME, findings=[Finding(CHILD_HOME, "two")])) == [
        "find a",
        "find a",
        "find b",
    ]


def test_a_step_that_finds_nothing_keeps_the_subgoal() -> None:
    assert step_subgoals(state(CHILD, findings=[Finding(CHILD, "")])) == ["find a", "find a"]


def test_steps_beyond_the_plan_have_the_last_subgoal() -> None:
    findings = [Finding(CHILD, "one"), Finding(CHILD_HOME, "two")]
    at = state(CHILD_HOME, subgoals=["find a", "find b"], findings=findings)
    assert step_subgoals(at) == ["find a", "find b", "find b"]


def test_a_further_topic_goes_on_where_the_earlier_one_ended() -> None:
    at = state(MAYOR, memory=[verified(CHILD)], findings=[Finding(CHILD, "one"), Finding(MAYOR, "two")])
    assert step_subgoals(at) == ["find b", "find c"]


def test_without_a_plan_the_question_is_the_goal() -> None:
    assert step_subgoals(state(CHILD, subgoals=[])) == ["the question", "the question"]


def test_each_topic_has_its_branch_of_the_blueprint() -> None:
    blueprint = Blueprint.parse([["child", "home"], ["mayor"]])
    assert topic_slots(state(Chain(ADA), blueprint=blueprint)) == (Slot("child"), Slot("home"))
    assert topic_slots(state(Chain(ULM), blueprint=blueprint)) == (Slot("mayor"),)


def test_a_topic_without_a_branch_has_the_linear_reading() -> None:
    assert topic_slots(state(Chain(ULM), blueprint=Blueprint.parse([["child", "home"]]))) == (
        Slot("child"),
        Slot("home"),
    )


def test_without_a_blueprint_there_are_no_slots() -> None:
    assert topic_slots(state(Chain(ADA))) == ()


@pytest.mark.parametrize(
    ("relations", "behind"),
    [
        ((), 0),
        (("child",), 1),
        (("home",), 2),
        (("child", "home"), 2),
        (("pet",), 0),
        (("pet", "child", "pet"), 1),
        (("mayor", "child"), 3),
    ],
)
def test_slots_are_passed_up_to_the_last_that_was_taken(relations: tuple[str, ...], behind: int) -> None:
    assert passed_slots(walk(ADA, *relations), (Slot("child"), Slot("home", False), Slot("mayor"))) == behind


@pytest.mark.parametrize(("relations", "behind"), [(("child",), 1), (("child", "child"), 2)])
def test_a_relation_that_a_branch_takes_twice_is_passed_twice(
    relations: tuple[str, ...], behind: int
) -> None:
    assert passed_slots(walk(ADA, *relations), (Slot("child"), Slot("child"), Slot("home"))) == behind


def test_a_relation_is_known_by_what_the_graph_calls_it() -> None:
    assert passed_slots(Chain(ADA, (Hop("http://t/p1", name="child"),)), (Slot("child"),)) == 1


def test_the_trajectory_is_every_decision_with_what_it_found() -> None:
    at = state(CHILD_HOME, findings=[Finding(CHILD, "one")], tried=[CHILD])
    assert standing_decisions(at, undecided=False) == [
        PastDecision(Chain(ADA), CHILD, (), 0, "one"),
        PastDecision(CHILD, CHILD_HOME, (), 0, ""),
    ]


def test_two_hops_that_were_chosen_at_once_are_one_decision() -> None:
    [decided] = standing_decisions(state(CHILD_HOME), undecided=False)
    assert (decided.before, decided.after) == (Chain(ADA), CHILD_HOME)
    assert PrunedChain(CHILD_HOME, hops=2).before == Chain(ADA)


def test_a_decision_that_chose_nothing_is_the_last() -> None:
    assert standing_decisions(state(CHILD), undecided=True) == [
        PastDecision(Chain(ADA), CHILD, (), 0, ""),
        PastDecision(CHILD, None, (), 0, ""),
    ]


def test_the_decisions_of_earlier_topics_come_first() -> None:
    at = state(MAYOR, memory=[verified(CHILD)])
    assert [decided.after for decided in standing_decisions(at, undecided=False)] == [CHILD, MAYOR]


def test_what_was_held_stays_held_in_the_trajectory() -> None:
    held = CHILD.constrained_to([BEN])
    at = state(held.then(Hop("http://t/r/home")), tried=[CHILD])
    assert [decided.before for decided in standing_decisions(at, undecided=False)] == [Chain(ADA), held]


def test_a_branch_was_set_aside_before_its_last_hop() -> None:
    assert PrunedChain(CHILD_HOME).before == CHILD
    assert PrunedChain(CHILD.constrained_to([BEN])).before == Chain(ADA)


def full() -> CoGState:
    held = CHILD.constrained_to([BEN, CLEO])
    return state(
        held,
        memory=[VerifiedChain(MAYOR, (BEN,), "infer")],
        findings=[Finding(held, "one")],
        blueprint=Blueprint.parse([["child", "^home"], ["mayor"]]),
        ranking=[RankedRelation(Extension(CHILD), 0.5, 0.25, 0.75), RankedRelation(Extension(MAYOR))],
        pruned=[PrunedChain(CHILD_HOME, True, 0.5), PrunedChain(held)],
        tried=[CHILD, held],
        stack=[MAYOR],
        usage=zero_spend(),
        decision="infer",
    )


def test_a_state_is_the_same_after_it_was_stored_as_json() -> None:
    stored = orjson.loads(orjson.dumps(to_plain(full(), CoGState)))
    assert to_typed(stored, CoGState) == full()


def test_a_part_of_a_state_is_written_as_it_is() -> None:
    assert to_plain({"tried": [CHILD], "blueprint": None}, CoGState).keys() == {"tried", "blueprint"}


@pytest.mark.parametrize(
    ("key", "value", "where"),
    [
        ("subgoals", "one", "subgoals"),
        ("tried", ["Ada"], r"tried\.0"),
        ("blueprint", {"branches": [[{"relation": ""}]]}, r"blueprint\.branches\.0\.0"),
        ("blueprint", {"branches": []}, "blueprint"),
        ("findings", [{"text": "one"}], r"findings\.0\.chain"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(key: str, value: Any, where: str) -> None:
    stored = orjson.loads(orjson.dumps(to_plain(full(), CoGState)))
    with pytest.raises(StateError, match=where):
        to_typed({**stored, key: value}, CoGState)
