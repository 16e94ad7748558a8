"""Sample: what does the model say, without the graph? Once, with its reasoning, or several times."""

import asyncio
from collections.abc import Sequence
from typing import Any

from kgqa.models.errors import MalformedReply, ModelError
from kgqa.prompts.answer_briefly import AnswerBriefly, BriefAnswer
from kgqa.prompts.base import Prompt
from kgqa.prompts.reason_aloud import ReasonAloud, ReasonedAnswer
from kgqa.session.record import add_spend
from kgqa.session.sampled import Drawn, Sampled, given
from kgqa.session.step import BudgetExceeded, Run, step

CALLS = 6
"""Calls that one prompt may cost: a reply and its repair, each tried three times."""

REPLY_TOKENS = 2048
"""Tokens of one reply at most."""

Said = BriefAnswer | ReasonedAnswer
Failed = BudgetExceeded | ModelError


@step("ask", opens=True)
async def ask(state: Sampled, run: Run) -> Drawn:
    """Ask for the answer alone (Brown et al. 2020)."""
    return await _drawn([AnswerBriefly(state["question"])], state, run)


@step("reason", opens=True)
async def reason(state: Sampled, run: Run) -> Drawn:
    """Ask for reasoning, then the answer (Wei et al. 2022)."""
    return await _drawn([ReasonAloud(state["question"])], state, run)


@step("sample", opens=True)
async def sample(state: Sampled, run: Run) -> Drawn:
    """Ask for reasoning several times, by chance differently (Wang et al. 2023, section 2)."""
    options = run.context
    prompts = [ReasonAloud(state["question"], at, options.temperature) for at in range(options.samples)]
    return await _drawn(prompts, state, run)


async def _drawn(prompts: Sequence[Prompt[Any]], state: Sampled, run: Run) -> Drawn:
    """Put the prompts to the model, side by side as far as the budget has room for them."""
    said: list[Said | Failed] = []
    while len(said) < len(prompts) and not any(map(_ends, said)):
        left = prompts[len(said) :]
        said += await asyncio.gather(*(_said(prompt, run) for prompt in left[: _room(left, run)]))
    return {**_noted(said, run), "topics": given(state)}


async def _said(prompt: Prompt[Any], run: Run) -> Said | Failed:
    try:
        said: Said = await run.ask(prompt)
    except (BudgetExceeded, ModelError) as error:
        return error
    return said


def _room(prompts: Sequence[Prompt[Any]], run: Run) -> int:
    """Count the prompts that the budget has room for, whatever they may cost; one may always be tried.

    Each is checked against what is spent when it begins, and those that run side by side have
    not spent anything by then.
    """
    budget, spent = run.context.budget, add_spend(run.before, run.spend)
    shown = len(f"{prompts[0].instructions}{prompts[0].case()}".encode())  # no token is less than a byte
    limits = (
        (budget.llm_calls, spent["llm_calls"], CALLS),
        (budget.tokens, spent["input_tokens"] + spent["output_tokens"], 2 * (shown + 2 * REPLY_TOKENS)),
    )
    rooms: list[int] = [(limit - used) // most for limit, used, most in limits if limit is not None]
    return max(1, min([len(prompts), *rooms]))


def _ends(said: Said | Failed) -> bool:
    """Tell whether there is no use in asking on: the budget is spent, or the model is away."""
    return isinstance(said, Failed) and not isinstance(said, MalformedReply)


def _noted(said: Sequence[Said | Failed], run: Run) -> Drawn:
    """Give what was said, and say what was not: a reply that cannot be used is left out."""
    replies = [each for each in said if isinstance(each, BriefAnswer | ReasonedAnswer)]
    drawn: Drawn = {"samples": [list(reply.answers) for reply in replies]}
    run.note["samples"] = [reply.model_dump() for reply in replies]
    for each in said:
        if isinstance(each, BudgetExceeded):
            run.note["reason"] = str(each)
            drawn |= {"decision": "stop", "stopped_by": each.limit}
        elif isinstance(each, ModelError):
            run.failed(each)
            run.note["lost"] = run.note.get("lost", 0) + 1
            if _ends(each):
                drawn |= {"decision": "stop", "outcome": "model_unavailable"}
    return drawn
