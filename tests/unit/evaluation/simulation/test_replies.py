"""What holds for the replies to all prompts of CoG."""

from dataclasses import replace
from typing import Any

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, Decompose
from kgqa.prompts.base import Prompt
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.diagnose import Diagnose, PrunedBranch
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.prompts.progress import SolvedQuestion
from kgqa.tests.support.frontier import pruning
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, PROGRESS, Interview, chain, decided, question

ABOUT = question("bonn", "parent born_in")
SEEDS = range(12)


@pytest.fixture
def family(graph):
    return graph(FAMILY)


def people(*ids: str) -> tuple[Candidate, ...]:
    return tuple(Candidate(Entity(f"http://t/e/{id}", id.capitalize())) for id in ids)


def inferring(*segments: tuple[Chain, tuple[Candidate, ...]]) -> InferFromEvidence:
    return InferFromEvidence(
        "Where?", tuple(Segment(*segment) for segment in segments), ("found",), ("left",)
    )


INFER = inferring(
    (chain("ann", "parent"), people("eve", "max")), (chain("ann", "likes"), people("ulm", "bonn"))
)
PRUNED = tuple(
    PrunedBranch(1, chain("ann", path), waiting=False, relevance=0.5)
    for path in ("likes", "parent", "born_in")
)
PROMPTS: list[Prompt[Any]] = [
    Decompose("Where?"),
    AdaptBlueprint("Where?", (chain("ann").topic,), (SolvedQuestion("Who?", (("friend",),)),), ("age",)),
    CheckSufficiency("Where?", chain("ann", "parent"), people("eve", "max"), PROGRESS),
    CheckSufficiency("Where?", chain("ann", "parent born_in"), people("bonn", "ulm"), PROGRESS),
    Diagnose("Where?", "no_gain", PROGRESS, decided("ann", "friend mother"), PRUNED, "friend mother"),
    INFER,
]


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
async def test_the_same_prompt_has_the_same_reply_whatever_came_before(family, prompt: Prompt[Any]) -> None:
    for seed in SEEDS:
        errors = {"accuracy": 0.5, "entity": 0.5, "judge": 0.3, "seed": seed}
        first = await Interview(ABOUT, family, **errors).ask(prompt)
        late = Interview(ABOUT, family, **errors)
        for other in PROMPTS:
            await late.ask(other)
        assert await late.ask(prompt) == first


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
async def test_a_worse_model_errs_where_a_better_one_does_and_elsewhere(family, prompt: Prompt[Any]) -> None:
    right = await Interview(ABOUT, family).ask(prompt)
    erring = 0
    for seed in SEEDS:
        replies = [
            await Interview(ABOUT, family, accuracy=1 - rate, entity=rate, judge=rate, seed=seed).ask(prompt)
            for rate in (0, 0.3, 0.7, 1)
        ]
        as_right = [reply == right for reply in replies]
        assert as_right == sorted(as_right, reverse=True)
        assert (as_right[0], as_right[-1]) == (True, False)
        erring += not as_right[1]
    assert 0 < erring < len(SEEDS)


async def test_what_is_verified_so_far_does_not_change_which_relation_is_right(family) -> None:
    hops = (await family.extend_chain(chain("ann"))).items
    bare = pruning("Where?", chain("ann"), hops)
    about = Interview(ABOUT, family)
    assert await about.ask(replace(bare, progress=PROGRESS)) == await about.ask(bare)


async def test_gold_answers_are_inferred_from_all_segments(family) -> None:
    assert (await Interview(ABOUT, family).ask(INFER)).chosen == [4]
    assert (await Interview(question("eve ulm"), family).ask(INFER)).chosen == [1, 3]


async def test_nothing_is_inferred_where_no_gold_answer_was_reached(family) -> None:
    assert (await Interview(question("rome"), family).ask(INFER)).chosen == []
    assert (await Interview(question("rome"), family).ask(inferring())).chosen == []


async def test_a_wrong_inference_is_of_others(family) -> None:
    for seed in SEEDS:
        reply = await Interview(question("eve ulm"), family, entity=1, seed=seed).ask(INFER)
        assert reply.chosen == [2, 4]


async def test_only_candidates_that_are_shown_are_inferred(family) -> None:
    many = people(*(f"n{number}" for number in range(70)))
    both = inferring(
        (chain("ann", "parent"), many), (chain("ann", "likes"), (*many[:29], *people("eve", "max")))
    )
    assert (await Interview(question("eve max"), family).ask(both)).chosen == [100]
