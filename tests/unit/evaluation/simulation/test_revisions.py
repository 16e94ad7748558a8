"""How a simulated model revises a plan in steps (VoG): what it is shown is put right, the rest stays."""

from typing import Any

import pytest

from kgqa.evaluation.question import EntityRef
from kgqa.kg.terms import Path
from kgqa.prompts.plans import SearchPlan
from kgqa.prompts.revise_plan import (
    ReviseAhead,
    RevisedSteps,
    ReviseGlobally,
    ReviseLocally,
    ReviseMixed,
    RevisePlan,
    merge_plans,
)
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, question
from kgqa.tests.unit.evaluation.simulation.stepping import offers, plan, rows, walk

ABOUT = question("rhine", "mother born_in river")
WRONG = plan("Ann likes Bob", "Ann friend Bob", "Bob country Rome", answers=["Tiber"])
MOTHER = walk("ann", "mother eve")
BORN = walk("ann", "mother eve born_in bonn")
RIVER = walk("ann", "mother eve born_in bonn river rhine")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def revised(family, prompt: RevisePlan, about=ABOUT, **errors: float) -> RevisedSteps:
    return await Interview(about, family, **errors).ask(prompt)


def locally(done: int, *facts: Path, of: SearchPlan = WRONG, **options: Any) -> ReviseLocally:
    return ReviseLocally("?", of, done, facts, **options)


async def test_locally_the_step_at_hand_is_put_right(family) -> None:
    reply = await revised(family, locally(1, MOTHER))
    assert (reply.first, rows(reply)) == (1, ["Ann mother Eve", "Ann friend Bob", "Bob country Rome"])
    reply = await revised(family, locally(2, BORN))
    assert (reply.first, rows(reply)) == (2, ["Eve born_in Bonn", "Bob country Rome"])
    assert reply.answers == ["Tiber"]


async def test_answers_are_put_right_where_the_facts_lead_to_them(family) -> None:
    reply = await revised(family, locally(3, RIVER))
    assert (rows(reply), reply.answers) == (["Bonn river Rhine"], ["Rhine"])


async def test_an_answer_that_is_right_stays_beside_those_that_are_shown(family) -> None:
    about = question("eve max", "parent")
    of = plan("Ann likes Bob", answers=["Max", "Bob"])
    reply = await revised(family, locally(1, walk("ann", "parent eve"), of=of), about)
    assert reply.answers == ["Max", "Eve"]


async def test_globally_all_steps_so_far_are_put_right(family) -> None:
    reply = await revised(family, ReviseGlobally("?", WRONG, 2, (BORN, MOTHER)))
    assert (reply.first, rows(reply)) == (1, ["Ann mother Eve", "Eve born_in Bonn", "Bob country Rome"])
    last = await revised(family, ReviseGlobally("?", WRONG, 3, (RIVER, BORN, MOTHER)))
    assert merge_plans(WRONG, last, "global").answers == ("Rhine",)
    assert rows(last) == ["Ann mother Eve", "Eve born_in Bonn", "Bonn river Rhine"]


async def test_ahead_the_step_to_come_is_put_right_by_the_relation_that_leads_on(family) -> None:
    prompt = ReviseAhead("?", WRONG, 1, (MOTHER,), (MOTHER,), offers("age", "born_in"))
    reply = await revised(family, prompt)
    assert rows(reply) == ["Ann mother Eve", "Eve born_in ?", "Bob country Rome"]
    astray = ReviseAhead("?", WRONG, 1, (MOTHER,), (MOTHER,), offers("age"))
    assert rows(await revised(family, astray)) == ["Ann mother Eve", "Ann friend Bob", "Bob country Rome"]


async def test_with_all_at_once_the_step_at_hand_and_the_one_to_come_are_put_right(family) -> None:
    of = plan("Ann mother Eve", "Eve age Bonn", "Bob country Rome", answers=["Tiber"])
    reply = await revised(family, ReviseMixed("?", of, 2, (BORN, MOTHER), (BORN,), offers("river")))
    assert (reply.first, rows(reply)) == (2, ["Eve born_in Bonn", "Bonn river ?"])


async def test_ahead_of_the_last_step_one_is_added(family) -> None:
    of = plan("Ann likes Bob", answers=["Tiber"])
    reply = await revised(family, ReviseAhead("?", of, 1, (MOTHER,), (MOTHER,), offers("born_in")))
    assert rows(reply) == ["Ann mother Eve", "Eve born_in ?"]


async def test_where_nothing_was_observed_the_step_is_planned_by_what_leads_on_or_by_the_question(
    family,
) -> None:
    prompt = ReviseAhead("Which?", WRONG, 0, (), (walk("ann"),), offers("mother", "friend"))
    reply = await revised(family, prompt)
    assert (reply.first, rows(reply)[0]) == (1, "Ann mother ?")
    lost = await revised(family, ReviseAhead("Which?", WRONG, 1, (), (MOTHER,), offers("age")))
    assert rows(lost) == ["Ann likes Bob", "", "Bob country Rome"]
    assert lost.steps[1].search == "Which?"
    assert (await revised(family, ReviseLocally("Which?", WRONG, 0, ()))).steps[0].search == "Which?"


async def test_facts_that_lead_astray_change_nothing(family) -> None:
    astray = walk("ann", "friend bob")
    for prompt in (locally(1, astray), ReviseGlobally("?", WRONG, 1, (astray,))):
        reply = await revised(family, prompt)
        assert merge_plans(WRONG, reply, prompt.arm).steps == WRONG.steps
        assert reply.answers == ["Tiber"]


async def test_a_number_is_computed_at_the_end_of_the_way(family) -> None:
    about = question("2", "parent")
    of = plan("Ann likes Bob", answers=["7"])
    both = (walk("ann", "parent eve"), walk("ann", "parent max"))
    assert (await revised(family, locally(1, *both, of=of), about)).answers == ["2"]
    assert (await revised(family, locally(1, both[0], of=of), about)).answers == ["7"]


async def test_yes_or_no_is_put_right_at_the_end_of_the_way(family) -> None:
    about = question("eve", "mother", readings=((EntityRef(None, "yes"),),))
    of = SearchPlan(WRONG.steps[:1], ("no",), whether=True)
    reply = await revised(family, locally(1, MOTHER, of=of), about)
    assert (reply.answers, reply.whether) == (["yes"], True)


@pytest.mark.parametrize("arm", [ReviseLocally, ReviseGlobally])
async def test_a_wrong_revision_predicts_other_relations_and_answers(family, arm) -> None:
    right = plan("Ann mother Eve", "Eve born_in Bonn", "Bonn river Rhine", answers=["Rhine"])
    for seed in range(5):
        prompt = arm("?", right, 2, (BORN,))
        reply = await revised(family, prompt, accuracy=0, seed=seed)
        steps = merge_plans(right, reply, prompt.arm).steps
        assert steps[1] != right.steps[1]
        assert (steps[0] == right.steps[0]) is (arm is ReviseLocally)
        assert steps[2] == right.steps[2]
        assert "Rhine" not in reply.answers


async def test_a_revised_plan_has_no_more_steps_than_allowed(family) -> None:
    of = plan("Ann likes Bob")
    prompt = ReviseAhead("?", of, 1, (MOTHER,), (MOTHER,), offers("born_in"), depth=1)
    assert rows(await revised(family, prompt)) == ["Ann mother Eve"]
