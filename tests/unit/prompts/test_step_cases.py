"""What the prompts of a stepwise search say about the case at hand, and what they take for a reply."""

from dataclasses import replace
from typing import Any

import pytest

from kgqa.kg.terms import Entity, Literal
from kgqa.models.parsing import BadReply, check_reply, validate_reply
from kgqa.prompts.base import Prompt
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN
from kgqa.prompts.chain import draw_then
from kgqa.prompts.facts import MAX_FACTS_SHOWN
from kgqa.prompts.judge_claim import JudgeClaim
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.plans import PlanStep, SearchPlan
from kgqa.prompts.revise_plan import (
    MAX_RELATIONS_SHOWN,
    ReviseAhead,
    ReviseGlobally,
    ReviseLocally,
    ReviseMixed,
)
from kgqa.prompts.select_relations import SelectedRelations, SelectEntities, SelectRelations, VerifyStep
from kgqa.tests.unit.prompts.samples import offer, path, topics

STEPWISE = [
    JudgeClaim,
    PlanSteps,
    ReviseAhead,
    ReviseGlobally,
    ReviseLocally,
    ReviseMixed,
    SelectEntities,
    SelectRelations,
    VerifyStep,
]

STEP = PlanStep("The child comes first.", "child of Ada", (("Ada", "child", "Ben"),))
TOWN = PlanStep("Then the town.", "town of Ben")
PLAN = SearchPlan((STEP, TOWN), ("Ulm",))
BEN = path("Ada", "child", "Ben")
SEARCH = {"search": "x"}
BAD_ROW = {"search": "x", "observation": [["Ada", "child"]]}

PLANNED = PlanSteps("Where?", topics("Ada"), depth=2)
RELATIONS = SelectRelations(
    "Where?", TOWN, (BEN, path("Ada", "child", "Cleo")), (offer("lives_in", 0, 1), offer("^child", 0))
)
ENTITIES = SelectEntities("Who?", STEP, '"Ada" -child-> ?', (Entity("http://x/b", "Ben"), Literal("7")), 2)
VERIFY = VerifyStep("Where?", STEP, 1, (BEN,))
LOCAL = ReviseLocally("Where?", PLAN, 1, (BEN,), depth=3)
AHEAD = ReviseAhead("Where?", PLAN, 1, (BEN,), (BEN,), (offer("lives_in", 0),))
GLOBAL = ReviseGlobally("Where?", PLAN, 1, (BEN,))
CLAIM = JudgeClaim("Is it so?", (BEN, BEN, path("Ada", "spouse", "Don")))

DRAWN = (
    "Plan:\n"
    'Thought 1: "The child comes first."\n'
    'Action 1: Search["child of Ada"]\n'
    'Predicted observation 1: ("Ada", "child", "Ben")\n'
    "--- carried out up to here ---\n"
    'Thought 2: "Then the town."\n'
    'Action 2: Search["town of Ben"]\n'
    'Action 3: Finish["Ulm"]\n'
    "Facts:\n"
    '1. "Ada" -child-> "Ben"\n'
)


def test_planning_shows_question_topics_and_depth() -> None:
    assert PLANNED.case() == 'Question: "Where?"\nTopic entities: "Ada"\nSteps, at most: 2\nReply:'
    assert "Topic entities: none\n" in PlanSteps("Where?", ()).case()


def test_relations_are_shown_as_they_lead_on_from_the_frontier() -> None:
    assert RELATIONS.case() == (
        'Question: "Where?"\n'
        'Thought: "Then the town."\n'
        'Search: "town of Ben"\n'
        "Relations:\n"
        '1. "Ben", "Cleo" -lives_in-> ?\n'
        '2. "Ben" <-child- ?\n'
        "Reply:"
    )


def test_entities_are_shown_with_the_relation_that_led_to_them() -> None:
    assert ENTITIES.case() == (
        'Question: "Who?"\n'
        'Thought: "The child comes first."\n'
        'Search: "child of Ada"\n'
        'Predicted observation: ("Ada", "child", "Ben")\n'
        'Relation: "Ada" -child-> ?\n'
        "Found (2):\n"
        '1. "Ben"\n'
        '2. "7"\n'
        "Reply:"
    )


@pytest.mark.parametrize("number", [2, MAX_CANDIDATES_SHOWN + 5])
def test_of_many_entities_the_first_are_shown_and_all_are_counted(number: int) -> None:
    many = tuple(Literal(f"N{place}") for place in range(number))
    prompt = SelectEntities("Who?", TOWN, '"Ada" -child-> ?', many, 500)
    shown = min(number, MAX_CANDIDATES_SHOWN)
    assert f"Found (500, the first {shown} shown):" in prompt.case().splitlines()
    assert prompt.case().splitlines()[-2] == f'{shown}. "N{shown - 1}"'
    with pytest.raises(ValueError, match=f"choose from 1 to {shown}"):
        prompt.check(prompt.reply(keep="some", chosen=[shown + 1]))


def test_a_step_is_verified_against_the_facts() -> None:
    assert VERIFY.case() == (
        'Question: "Where?"\n'
        'Thought 1: "The child comes first."\n'
        'Action 1: Search["child of Ada"]\n'
        'Predicted observation 1: ("Ada", "child", "Ben")\n'
        "Facts:\n"
        '1. "Ada" -child-> "Ben"\n'
        "Reply:"
    )


def test_a_local_revision_shows_the_plan_and_what_was_observed() -> None:
    assert LOCAL.case() == f'Question: "Where?"\n{DRAWN}Next: step 2 of at most 3\nReply:'


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (ReviseLocally("?", PLAN, 1, (), empty=True), "step 2 of at most 10, which has found nothing"),
        (ReviseGlobally("?", PLAN, 2, (BEN,), depth=2), "none, all steps are carried out"),
    ],
)
def test_a_revision_is_told_of_the_step_that_found_nothing_and_of_the_end(
    prompt: Prompt[Any], said: str
) -> None:
    assert prompt.case().splitlines()[-2] == f"Next: {said}"


def test_a_lookahead_shows_the_relations_that_lead_on_as_well() -> None:
    assert AHEAD.case() == (
        f'Question: "Where?"\n{DRAWN}'
        'Relations that lead on:\n- "Ben" -lives_in-> ?\nNext: step 2 of at most 10\nReply:'
    )


def test_a_lookahead_says_where_nothing_leads_on() -> None:
    lines = ReviseAhead("Where?", PLAN, 0, (), (BEN,), ()).case().splitlines()
    assert lines[-5:] == [
        "Facts:",
        "none",
        "Relations that lead on: none",
        "Next: step 1 of at most 10",
        "Reply:",
    ]


def test_a_lookahead_shows_so_many_relations_and_no_more() -> None:
    many = tuple(offer(f"r{number}", 0) for number in range(MAX_RELATIONS_SHOWN + 5))
    shown = ReviseAhead("Where?", PLAN, 1, (BEN,), (BEN,), many).case()
    assert shown.count("\n- ") == MAX_RELATIONS_SHOWN


def test_a_claim_is_shown_with_each_fact_once() -> None:
    assert CLAIM.case() == (
        'Question: "Is it so?"\nFacts:\n1. "Ada" -child-> "Ben"\n2. "Ada" -spouse-> "Don"\nReply:'
    )


def test_facts_of_a_claim_go_by_the_numbers_they_are_shown_with() -> None:
    assert CLAIM.offered == (BEN, path("Ada", "spouse", "Don"))
    many = tuple(path("Ada", "knows", f"N{number}") for number in range(MAX_FACTS_SHOWN + 5))
    assert JudgeClaim("Is it so?", many).offered == many[:MAX_FACTS_SHOWN]


def test_the_choice_of_relations_may_say_that_it_is_all() -> None:
    said, unfiltered = (draw_then("a single choice leads", filtering=each) for each in (True, False))
    whole = replace(RELATIONS, outright=True)
    assert said in whole.case() and said not in RELATIONS.case()
    assert unfiltered in replace(whole, filtering=False).case()
    with pytest.raises(ValueError, match='"filter" is not available'):
        replace(whole, filtering=False).check(SelectedRelations(relations=[1], then="filter"))


@pytest.mark.parametrize(
    "prompt",
    [
        SelectRelations("?", TOWN, (BEN,), (), topics=topics("Ada", "Ulm")),
        SelectEntities("?", TOWN, "", (), 0, topics=topics("Ada", "Ulm")),
        VerifyStep("?", TOWN, 1, (), topics=topics("Ada", "Ulm")),
        ReviseGlobally("?", PLAN, 1, (), topics=topics("Ada", "Ulm")),
        JudgeClaim("?", (), topics=topics("Ada", "Ulm")),
    ],
    ids=lambda prompt: prompt.name,
)
def test_several_topics_are_named(prompt: Prompt[Any]) -> None:
    assert prompt.case().splitlines()[1] == 'Topic entities: "Ada", "Ulm"'


REFUSED: list[tuple[Prompt[Any], dict[str, Any], str]] = [
    (PLANNED, {"steps": [], "answers": []}, "the plan has 0 steps; give 1 to 2"),
    (PLANNED, {"steps": [SEARCH] * 3, "answers": []}, "the plan has 3 steps; give 1 to 2"),
    (
        PLANNED,
        {"steps": [SEARCH, {"search": " "}], "answers": []},
        'number 2 of the steps has an empty "search"',
    ),
    (PLANNED, {"steps": [BAD_ROW], "answers": []}, "each row of an observation has three strings"),
    (PLANNED, {"steps": [{"thought": "x"}], "answers": []}, "steps.0.search: "),
    (PLANNED, {"steps": [SEARCH], "answers": "Ulm"}, "answers: "),
    (PLANNED, {"steps": [SEARCH]}, "answers: "),
    (PLANNED, {"thought": "x", "search": "x"}, "steps: "),
    (PLANNED, {"steps": [SEARCH], "answers": [], "whether": "no"}, "whether: "),
    (RELATIONS, {"relations": [3]}, "relation 3 was not offered; choose from 1 to 2"),
    (RELATIONS, {"relations": [2, 2]}, "each relation may be named once"),
    (RELATIONS, {"rationale": "none"}, "relations: "),
    (ENTITIES, {"keep": "some", "chosen": [3]}, "entity 3 was not offered; choose from 1 to 2"),
    (ENTITIES, {"keep": "some"}, "name at least one number"),
    (ENTITIES, {"keep": "all", "chosen": [1]}, '"chosen" goes with keep "some"'),
    (ENTITIES, {"keep": "none"}, "keep: "),
    (ENTITIES, {"chosen": [1]}, "keep: "),
    (VERIFY, {"revise": "no"}, "revise: "),
    (VERIFY, {"revise": True, "observation": [["Ada"]]}, "three strings: head, relation, tail; one has 1"),
    (LOCAL, {"first": 0, "steps": [SEARCH], "answers": []}, '"first" is 0; it can be 1 to 3'),
    (LOCAL, {"first": 4, "steps": [SEARCH], "answers": []}, '"first" is 4; it can be 1 to 3'),
    (LOCAL, {"first": 3, "steps": [SEARCH] * 2, "answers": []}, "would have 4 steps; it can have 1 to 3"),
    (LOCAL, {"first": 1, "steps": [], "answers": []}, "would have 0 steps"),
    (LOCAL, {"first": 1, "steps": [BAD_ROW], "answers": []}, "each row of an observation"),
    (GLOBAL, {"first": 2, "steps": [SEARCH], "answers": []}, "write the whole plan anew, from step 1 on"),
    (CLAIM, {"verdict": "yes", "favour": [3]}, "fact 3 was not offered; choose from 1 to 2"),
    (CLAIM, {"verdict": "no", "against": [1, 1]}, "each fact may be named once"),
    (CLAIM, {"verdict": "yes", "against": [1]}, 'a "yes" needs a fact'),
    (CLAIM, {"verdict": "no", "favour": [1]}, 'a "no" needs a fact'),
    (CLAIM, {"verdict": "maybe"}, "verdict: "),
]


@pytest.mark.parametrize(("prompt", "reply", "reason"), REFUSED)
def test_a_reply_is_refused_with_a_reason(prompt: Prompt[Any], reply: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadReply) as refused:
        check_reply(validate_reply(reply, prompt.reply), prompt)
    assert reason in str(refused.value)


TAKEN: list[tuple[Prompt[Any], dict[str, Any]]] = [
    (PLANNED, {"steps": [SEARCH, SEARCH], "answers": ["Ulm"], "whether": False}),
    (PLANNED, {"steps": [SEARCH], "answers": []}),
    (RELATIONS, {"relations": [2, 1]}),
    (RELATIONS, {"relations": []}),
    (ENTITIES, {"keep": "all"}),
    (ENTITIES, {"keep": "some", "chosen": [2]}),
    (VERIFY, {"revise": False}),
    (VERIFY, {"revise": True, "observation": [["Ada", "child", "Cleo"]]}),
    (LOCAL, {"first": 3, "steps": [SEARCH], "answers": []}),
    (LOCAL, {"first": 2, "steps": [], "answers": ["Ben"]}),
    (AHEAD, {"first": 1, "steps": [SEARCH], "answers": []}),
    (GLOBAL, {"first": 1, "steps": [SEARCH], "answers": []}),
    (CLAIM, {"verdict": "unknown"}),
    (CLAIM, {"verdict": "yes", "favour": [1], "against": [2]}),
    (CLAIM, {"verdict": "no", "against": [2]}),
]


@pytest.mark.parametrize(("prompt", "reply"), TAKEN)
def test_a_reply_that_fits_is_taken(prompt: Prompt[Any], reply: dict[str, Any]) -> None:
    taken = check_reply(validate_reply(reply, prompt.reply), prompt).model_dump(exclude_unset=True)
    assert taken == reply
