"""What the prompts of a search over a frontier say about the case at hand, and take for a reply."""

from dataclasses import replace
from typing import Any

import pytest

from kgqa.kg.terms import Entity
from kgqa.models.parsing import BadReply, check_reply, validate_reply
from kgqa.prompts.assess_found import ALONE, AssessFound, EvaluateFound
from kgqa.prompts.base import Prompt
from kgqa.prompts.candidates import ChainFindings
from kgqa.prompts.choose_entities import ChooseEntities
from kgqa.prompts.decompose import Decompose, DecomposeAlong
from kgqa.prompts.pick_relations import PickRelations
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.recall_entities import JudgeDirection, RecallEntities
from kgqa.prompts.reflect import MAX_EARLIER_CHAINS, Reflect
from kgqa.prompts.score_entities import ScoreEntities
from kgqa.prompts.score_relations import ScoreRelations
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.prompts.update_memory import BESIDE, UpdateMemory
from kgqa.tests.support.frontier import picking, scoring
from kgqa.tests.unit.prompts.samples import chain, ends, held, topics, values

OVER_A_FRONTIER = [AssessFound, PickRelations, Reflect, ScoreEntities, ScoreRelations]
OVER_ENTITIES = [ChooseEntities, DecomposeAlong, JudgeDirection, RecallEntities, UpdateMemory]

GOALS, KNOWN = ("Find the child.", "Find its town."), ("Ben is the child.",)
PLAN: dict[str, Any] = {"subgoals": GOALS, "known": (*KNOWN, "")}
DRAWN = (
    'Topic entities: "Ada", "Ulm"\n'
    'Subgoals:\n- "Find the child."\n- "Find its town."\n'
    'Known so far:\n- "Ben is the child."\n'
)
OFFERS = (
    chain("Ada", "child", "lives_in"),
    chain("Ada", "child", "^child"),
    chain("Ulm", "^lives_in"),
)
OFFERED = 'From "Ada" -child-> ?1:\n1. -lives_in-> ?2\n2. <-child- ?2\nFrom "Ulm":\n3. <-lives_in- ?1\nReply:'
FOUND = (
    ChainFindings(
        chain("Ada", "child"), ends("Ben", "Ada", returning=("Ada",)), met=(chain("Ulm", "^lives_in"),)
    ),
    ChainFindings(chain("Ada", "age"), values("36")),
)
GROUPS = (
    'Group 1: "Ada" -child-> ?1 (2)\n'
    '  these are also the ends of: "Ulm" <-lives_in- ?1\n'
    '1. "Ben"\n2. "Ada" *\n'
    'Group 2: "Ada" -age-> ?1 (1)\n3. "36"\n'
)
HISTORY = (ChainFindings(chain("Ada"), ()), ChainFindings(chain("Ada", "spouse"), ends("Cy"), truncated=True))
SOLVED = (SolvedQuestion("Where does [person] live?", (("lives_in",),)),)
TWO = topics("Ada", "Ulm")

PICK = picking("Where?", OFFERS, **PLAN, topics=TWO)
ASSESS = AssessFound("Where?", FOUND, **PLAN, topics=TWO)
REFLECT = Reflect("Where?", FOUND, HISTORY, **PLAN, topics=TWO)
SCORE = scoring("Where?", OFFERS, 1)
RATE = ScoreEntities("Where?", FOUND)
PART = Reflect("Where?", (ChainFindings(chain("Ada", "child"), ends("Ben"), truncated=True),), ())


def test_offers_are_numbered_through_under_the_chains_that_they_extend() -> None:
    assert PICK.case() == f'Question: "Where?"\n{DRAWN}{OFFERED}'


def test_scoring_says_how_many_relations_of_one_chain_may_be_scored() -> None:
    assert SCORE.case() == f'Question: "Where?"\nRelations, score at most 1 for each chain:\n{OFFERED}'


def test_an_offer_shows_what_its_chain_is_held_to() -> None:
    held = chain("Ada", "child").constrained_to([Entity("http://x/b", "Ben")])
    lines = picking("Where?", (held.then(OFFERS[0].hops[-1]),)).case().splitlines()
    assert lines[1:-1] == ['From "Ada" -child-> ?1 (only "Ben"):', "1. -lives_in-> ?2"]


@pytest.mark.parametrize(
    "prompt", [PICK, ASSESS, Decompose("Where?"), PlanSteps("Where?", TWO)], ids=lambda prompt: prompt.name
)
def test_solved_questions_come_first_and_change_nothing_else(prompt: Any) -> None:
    shown = replace(prompt, exemplars=SOLVED).case()
    heading, line, rest = shown.split("\n", 2)
    assert heading.startswith("Similar questions and the relations")
    assert line == '- "Where does [person] live?" by ["lives_in"]'
    assert rest == prompt.case()


def test_assessing_shows_the_plan_and_the_groups() -> None:
    assert ASSESS.case() == f'Question: "Where?"\n{DRAWN}{GROUPS}Reply:'


def test_without_a_plan_the_groups_are_all() -> None:
    expected = f'Question: "Where?"\n{GROUPS}Reply:'
    assert [AssessFound("Where?", FOUND).case(), RATE.case()] == [expected] * 2


BEN = held(chain("Ada", "child"), "Ben")
OF_EACH = (ChainFindings(BEN.then(OFFERS[0].hops[-1]), ends("Bonn")),)


def test_evaluating_shows_what_each_entity_led_to_and_then_the_groups() -> None:
    drawn = EvaluateFound("Where?", FOUND, OF_EACH, **PLAN, topics=TWO).case()
    assert drawn == f'Question: "Where?"\n{DRAWN}Found:\n- "Ben" -lives_in-> "Bonn"\n{GROUPS}{ALONE}\nReply:'


def test_memory_is_written_from_triples() -> None:
    lines = UpdateMemory("Where?", (*OF_EACH, ChainFindings(BEN.then(OFFERS[1].hops[-1]), ()))).case()
    assert lines.splitlines()[1:-1] == [
        "Found:",
        '- "Ben" -lives_in-> "Bonn"',
        '- "Ben" <-child- nodes without a name',
        ALONE,
    ]


def test_memory_has_a_sentence_for_each_subgoal() -> None:
    prompt = UpdateMemory("Where?", OF_EACH, True, **PLAN)
    assert prompt.case().splitlines()[-2] == BESIDE
    assert (
        check_reply(validate_reply({"known": ["Ben is the child.", ""]}, prompt.reply), prompt).known[1] == ""
    )
    with pytest.raises(BadReply, match='one sentence for each subgoal, or "": 2 in all, not 1'):
        check_reply(validate_reply({"known": ["Ben is the child."]}, prompt.reply), prompt)


def test_reflection_names_what_is_explored_next_and_then_all_that_was_ever_reached() -> None:
    next_ = (BEN, chain("Ada", "pet").constrained_to([Entity("http://x/m")]))
    lines = JudgeDirection("Where?", next_, HISTORY[1:]).case().splitlines()
    assert lines[1:4] == ["Explored next:", '- "Ada" -child-> "Ben"', '- "Ada" -pet-> a node without a name']
    lines = RecallEntities("Where?", (chain("Ada"), BEN), "left out").case().splitlines()
    assert lines[1:-1] == ['Reason: "left out"', "Entities:", '1. "Ada"', '2. "Ada" -child-> "Ben"']


def test_reflecting_shows_what_was_reached_earlier_as_well() -> None:
    assert REFLECT.case() == (
        f'Question: "Where?"\n{DRAWN}{GROUPS}'
        "Reached earlier:\n"
        'Chain 1: "Ada"\n'
        'Chain 2: "Ada" -spouse-> ?1 (more than 1): "Cy"\n'
        "Reply:"
    )


def test_earlier_chains_that_are_not_shown_cannot_be_recalled() -> None:
    prompt = Reflect("Where?", (), HISTORY[1:] * (MAX_EARLIER_CHAINS + 1))
    assert prompt.case().count("\nChain ") == MAX_EARLIER_CHAINS
    with pytest.raises(ValueError, match=f"earlier chain {MAX_EARLIER_CHAINS + 1} was not offered"):
        prompt.check(prompt.reply(go_on=[], recall=[MAX_EARLIER_CHAINS + 1]))


def scores(*pairs: tuple[int, float]) -> dict[str, Any]:
    return {"scores": [{"number": number, "score": score} for number, score in pairs]}


REFUSED: list[tuple[Prompt[Any], dict[str, Any], str]] = [
    (PICK, {"relations": [4]}, "relation 4 was not offered; choose from 1 to 3"),
    (PICK, {"relations": [1, 1]}, "each relation may be named once"),
    (PICK, {"rationale": "none given"}, "relations: "),
    (ASSESS, {"decision": "stop"}, "name one group, or several that have the same candidates, not 0"),
    (ASSESS, {"decision": "filter", "groups": [3]}, "group 3 was not offered"),
    (ASSESS, {"decision": "backtrack", "groups": [1]}, "decision: "),
    (
        ASSESS,
        {"decision": "stop", "groups": [1], "take": "some", "chosen": [3]},
        "candidate 3 is of group 2,",
    ),
    (
        ASSESS,
        {"decision": "stop", "groups": [2], "take": "some", "chosen": [4]},
        "candidate 4 was not offered",
    ),
    (ASSESS, {"decision": "stop", "groups": [1], "take": "some"}, "name at least one candidate number"),
    (ASSESS, {"decision": "stop", "groups": [1], "take": "largest"}, "needs candidates that are all numbers"),
    (REFLECT, {"go_on": [3]}, "group 3 was not offered"),
    (REFLECT, {"go_on": [1, 1]}, "each group may be named once"),
    (REFLECT, {"go_on": [1], "recall": [3]}, "earlier chain 3 was not offered; choose from 1 to 2"),
    (REFLECT, {"go_on": [1], "keep": [4]}, "candidate 4 was not offered"),
    (REFLECT, {"go_on": [1], "keep": [3]}, "candidate 3 is of group 2, which is not gone on from"),
    (PART, {"go_on": [1], "keep": [1]}, "not all of group 1 are shown"),
    (SCORE, scores((4, 0.5)), "relation 4 was not offered"),
    (SCORE, scores((3, 0.5), (3, 0.6)), "each relation may be named once"),
    (SCORE, scores((3, 1.5)), "relation 3 has the score 1.5; give one from 0 to 1"),
    (SCORE, scores((1, 0.5), (2, 0.1)), '2 scores are for "Ada" -child-> ?1; give at most 1'),
    (SCORE, {"scores": [{"number": 1}]}, "scores.0.score: "),
    (RATE, scores((4, 0.5)), "candidate 4 was not offered; choose from 1 to 3"),
    (RATE, scores((1, -0.5)), "candidate 1 has the score -0.5"),
]


@pytest.mark.parametrize(("prompt", "reply", "reason"), REFUSED)
def test_a_reply_is_refused_with_a_reason(prompt: Prompt[Any], reply: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadReply) as refused:
        check_reply(validate_reply(reply, prompt.reply), prompt)
    assert reason in str(refused.value)


TAKEN: list[tuple[Prompt[Any], dict[str, Any]]] = [
    (PICK, {"relations": [3, 1]}),
    (PICK, {"relations": []}),
    (ASSESS, {"decision": "forward", "known": ["Ben is the child."]}),
    (ASSESS, {"decision": "forward", "groups": [1, 2], "chosen": [2]}),
    (ASSESS, {"decision": "filter", "groups": [2]}),
    (ASSESS, {"decision": "stop", "groups": [1], "take": "others"}),
    (ASSESS, {"decision": "stop", "groups": [1], "take": "some", "chosen": [2, 1]}),
    (ASSESS, {"decision": "stop", "groups": [2], "take": "largest"}),
    (REFLECT, {"go_on": [2, 1], "keep": [1, 3], "recall": [2, 1]}),
    (REFLECT, {"go_on": []}),
    (PART, {"go_on": [1]}),
    (SCORE, scores((2, 1), (3, 0.0))),
    (RATE, scores((3, 0.25), (1, 1.0))),
    (RATE, {"scores": []}),
]


@pytest.mark.parametrize(("prompt", "reply"), TAKEN)
def test_a_reply_that_fits_is_taken(prompt: Prompt[Any], reply: dict[str, Any]) -> None:
    taken = check_reply(validate_reply(reply, prompt.reply), prompt)
    assert reply.items() <= taken.model_dump().items()


def test_what_a_reply_leaves_empty_is_as_if_it_were_left_out() -> None:
    empty = {"decision": "forward", "take": "", "chosen": "", "unsure": None, "known": None, "rationale": ""}
    taken = check_reply(validate_reply(empty, ASSESS.reply), ASSESS)
    assert taken == ASSESS.reply(decision="forward", rationale="")
    with pytest.raises(BadReply, match="decision"):
        validate_reply({"decision": "", "groups": [1]}, ASSESS.reply)


@pytest.mark.parametrize("kind", OVER_A_FRONTIER + OVER_ENTITIES, ids=lambda kind: kind.name)
def test_instructions_cost_few_tokens(kind: type[Prompt[Any]]) -> None:
    assert len(kind.instructions) <= (3_500 if kind is AssessFound else 2_000)  # it plans and steers as well
