"""The plan that a reply writes, and how a revision is put together with the plan before it."""

from typing import Any

import pytest

from kgqa.prompts.plan_steps import StepsReply
from kgqa.prompts.plans import PlanStep, SearchPlan, StepReply, parse_plan, parse_statements
from kgqa.prompts.revise_plan import (
    ReviseAhead,
    RevisedSteps,
    ReviseGlobally,
    ReviseLocally,
    ReviseMixed,
    merge_plans,
)

OLD = SearchPlan(tuple(PlanStep(text, text) for text in "abc"), ("old",), "old thought")


def revised(first: int, searches: str, **more: Any) -> RevisedSteps:
    """A reply whose steps search for one letter each."""
    steps = [StepReply(search=letter) for letter in searches]
    return RevisedSteps(first=first, steps=steps, answers=["new"], **more)


def searches(plan: SearchPlan) -> str:
    return "".join(step.search for step in plan.steps)


def test_a_plan_is_read_from_a_reply() -> None:
    step = StepReply(thought=" Go. ", search=" Ulm river\n", observation=[["Ulm ", "river", "Danube"]] * 2)
    plan = parse_plan(
        StepsReply(steps=[step], thought=" So.", answers=[" Danube", "Danube ", " "], whether=True)
    )
    assert plan == SearchPlan(
        (PlanStep("Go.", "Ulm river", (("Ulm", "river", "Danube"),)),), ("Danube",), "So.", whether=True
    )


def test_statements_keep_their_order() -> None:
    assert parse_statements([["b", "r", "c"], ["a", "r", "b"]]) == (("b", "r", "c"), ("a", "r", "b"))


@pytest.mark.parametrize(
    ("first", "new", "whole"),
    [
        (1, "xyz", "xyz"),
        (1, "x", "x"),
        (2, "x", "ax"),
        (3, "xyz", "abxyz"),
        (4, "x", "abcx"),
        (4, "", "abc"),
        (2, "", "a"),
    ],
)
@pytest.mark.parametrize("arm", ["local", "lookahead", "mixed"])
def test_steps_before_the_first_revised_one_stay(arm: Any, first: int, new: str, whole: str) -> None:
    plan = merge_plans(OLD, revised(first, new), arm)
    assert (searches(plan), plan.answers, plan.thought) == (whole, ("new",), "")
    assert plan.steps[: first - 1] == OLD.steps[: first - 1]


@pytest.mark.parametrize("first", [1, 2, 4])
def test_a_global_revision_keeps_nothing(first: int) -> None:
    assert searches(merge_plans(OLD, revised(first, "xy"), "global")) == "xy"


def test_a_reply_that_does_not_say_whether_leaves_it_as_it_is() -> None:
    asked = SearchPlan(OLD.steps, ("yes",), whether=True)
    assert merge_plans(asked, revised(2, "x"), "local").whether
    assert not merge_plans(asked, revised(2, "x", whether=False), "local").whether
    assert merge_plans(OLD, revised(2, "x", whether=True), "local").whether


def test_each_arm_has_a_prompt() -> None:
    prompts = {kind.arm: kind.name for kind in (ReviseLocally, ReviseAhead, ReviseGlobally, ReviseMixed)}
    assert prompts == {
        "local": "revise_locally",
        "lookahead": "revise_ahead",
        "global": "revise_globally",
        "mixed": "revise_mixed",
    }


@pytest.mark.parametrize(
    ("answers", "whether"), [(["Yes"], True), (["no "], True), (["yes", "no"], False), (["Ulm"], False)]
)
def test_a_plan_that_answers_yes_or_no_need_not_say_that_it_was_asked_for(
    answers: list[str], whether: bool
) -> None:
    step = StepReply(search="Ulm river")
    assert parse_plan(StepsReply(steps=[step], answers=answers)).whether is whether
    assert not parse_plan(StepsReply(steps=[step], answers=answers, whether=False)).whether
