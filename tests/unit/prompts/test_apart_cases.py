"""What the prompts that CoG's paper has apart say about the case at hand, and take for a reply."""

from dataclasses import replace
from typing import Any

import pytest

from kgqa.models.parsing import BadReply, check_reply, validate_reply
from kgqa.prompts.adapt_blueprint import AdaptFreely
from kgqa.prompts.assess_found import ALONE, BESIDE, EvaluateFound
from kgqa.prompts.base import Prompt
from kgqa.prompts.filter_found import FilterFound
from kgqa.prompts.infer_from_evidence import BESIDE as BRIDGE, InferFromEvidence, Segment
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.tests.unit.prompts.samples import chain, ends
from kgqa.tests.unit.prompts.test_frontier_cases import DRAWN, FOUND, GOALS, GROUPS, KNOWN, PLAN, TWO

APART = [AdaptFreely, EvaluateFound, FilterFound]

FILTER = FilterFound("Where?", FOUND, **PLAN, topics=TWO)
EVALUATE = EvaluateFound("Where?", FOUND, **PLAN, topics=TWO)
KNOWING = replace(EVALUATE, own_knowledge=True)
FREE = AdaptFreely("Where?", (SolvedQuestion("Who?", (("mother", "town"),)),), topics=TWO)
INFER = InferFromEvidence("Where?", (Segment(chain("Ada", "child"), ends("Ben")),), KNOWN, GOALS)
BRIDGING = replace(INFER, own_knowledge=True)


def test_they_show_the_plan_the_memory_and_what_was_found() -> None:
    case = f'Question: "Where?"\n{DRAWN}{GROUPS}'
    assert FILTER.case() == f"{case}Reply:"
    assert EVALUATE.case() == f"{case}{ALONE}\nReply:"
    assert KNOWING.case() == f"{case}{BESIDE}\nReply:"


def test_inference_with_knowledge_says_so() -> None:
    assert BRIDGING.case().splitlines()[-2] == BRIDGE
    assert replace(INFER, segments=(), unmet=()).case().splitlines()[1:3] == [
        "Segments: none",
        "Known so far:",
    ]


def test_a_free_blueprint_is_a_list_after_lists() -> None:
    assert FREE.case() == (
        'Question: "Where?"\nSolved questions and their blueprints:\n- "Who?" by ["mother", "town"]\nReply:'
    )


STOP = {"decision": "stop", "groups": [1]}


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        (FREE, {"relations": ["mother"]}),
        (FILTER, {"keep": []}),
        (FILTER, {"keep": [3, 1]}),
        (EVALUATE, {"decision": "forward"}),
        (EVALUATE, {**STOP, "take": "some", "chosen": [1]}),
        (KNOWING, {"decision": "stop", "answers": ["Ulm"]}),
        (INFER, {"chosen": [1]}),
        (BRIDGING, {"chosen": [], "answers": ["Ulm"]}),
    ],
)
def test_what_is_taken(prompt: Prompt[Any], reply: dict[str, Any]) -> None:
    check_reply(validate_reply(reply, prompt.reply), prompt)


@pytest.mark.parametrize(
    ("prompt", "reply", "said"),
    [
        (FREE, {"relations": []}, "the blueprint has 0 relations; give 1 to 8"),
        (FREE, {"relations": ["^ "]}, "the blueprint has a name that is blank"),
        (FILTER, {"keep": [4]}, "candidate 4 was not offered; choose from 1 to 3"),
        (FILTER, {"keep": [1, 1]}, "each candidate may be named once"),
        (EVALUATE, {"decision": "stop"}, "name one group, or several that have the same candidates, not 0"),
        (EVALUATE, {**STOP, "take": "some", "chosen": [3]}, "candidate 3 is of group 2, which is not in"),
        (EVALUATE, {**STOP, "take": "largest"}, '"largest" needs candidates that are all numbers'),
        (EVALUATE, {"decision": "stop", "answers": ["Ulm"]}, "go by what was found alone"),
        (KNOWING, {**STOP, "answers": ["Ulm"]}, '"answers" goes with decision "stop" and no group'),
        (KNOWING, {"decision": "forward", "answers": ["Ulm"]}, '"answers" goes with decision "stop"'),
        (BRIDGING, {"chosen": [1], "answers": ["Ulm"]}, 'where candidates are chosen, leave "answers" empty'),
        (INFER, {"chosen": [], "answers": ["Ulm"]}, "go by the evidence alone"),
        (INFER, {"chosen": [2]}, "candidate 2 was not offered"),
    ],
)
def test_what_is_refused(prompt: Prompt[Any], reply: dict[str, Any], said: str) -> None:
    with pytest.raises(BadReply, match=said):
        check_reply(validate_reply(reply, prompt.reply), prompt)
