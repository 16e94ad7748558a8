"""Sample: what does the model say, without the graph? Once, with its reasoning, or several times."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from kgqa.models.errors import MalformedReply, ModelError
from kgqa.nodes.llm_only.state import LLMOnlyState, SamplesUpdate, given_topics
from kgqa.prompts.answer_from_memory import AnswerBriefly, BriefAnswer, ReasonAloud, ReasonedAnswer
from kgqa.prompts.base import Prompt
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import add_spend

MAX_CALLS_PER_PROMPT = 6  # calls that one prompt may cost: a reply and its repair, each tried three times
MAX_REPLY_TOKENS = 2048  # tokens of one reply at most, where no option says


@node("ask", opens=True)
async def ask(state: LLMOnlyState, runtime: NodeRuntime) -> SamplesUpdate:
    """Ask for the answer alone (Brown et al. 2020)."""
    return await _draw_samples([AnswerBriefly(state["question"])], state, runtime)


@node("reason", opens=True)
async def reason(state: LLMOnlyState, runtime: NodeRuntime) -> SamplesUpdate:
    """Ask for reasoning, then the answer (Wei et al. 2022)."""
    return await _draw_samples([ReasonAloud(state["question"])], state, runtime)


@node("sample", opens=True)
async def sample(state: LLMOnlyState, runtime: NodeRuntime) -> SamplesUpdate:
    """Ask for reasoning several times, by chance differently (Wang et al. 2023, section 2)."""
    options = runtime.context
    prompts = [ReasonAloud(state["question"], at, options.temperature) for at in range(options.samples)]
    return await _draw_samples(prompts, state, runtime)


async def _draw_samples(
    prompts: Sequence[Prompt[Any]], state: LLMOnlyState, runtime: NodeRuntime
) -> SamplesUpdate:
    """Put the prompts to the model, side by side as far as the budget has room for them.

    A reply that cannot be used is left out, and the trace says so. Where the budget is spent, or
    the model is away, there is no use in asking on.
    """
    prompts = [await runtime.reword(prompt) for prompt in prompts]
    said: list[Any] = []
    update: SamplesUpdate = {"topics": given_topics(state)}
    runtime.trace["samples"] = []
    with suppress(BudgetExceeded, ModelError, OSError):  # the first prompt tells of it
        await runtime.open_resources()  # in one thread: prompts side by side would each take one to wait in
    while len(said) < len(prompts) and "decision" not in update:
        left = prompts[len(said) :]
        room = _count_affordable(left, runtime)
        asking = (runtime.prompt(prompt) for prompt in left[:room])
        fresh: list[Any] = await asyncio.gather(*asking, return_exceptions=True)
        said += fresh
        for each in fresh:
            if isinstance(each, BudgetExceeded):
                runtime.trace["reason"] = str(each)
                update |= {"decision": "stop", "stopped_by": each.limit}
            elif isinstance(each, ModelError):
                runtime.record_failure(each)
                runtime.trace["lost"] = runtime.trace.get("lost", 0) + 1
                if not isinstance(each, MalformedReply):
                    update |= {"decision": "stop", "outcome": "model_unavailable"}
            elif isinstance(each, BaseException):
                raise each
    replies = [each for each in said if isinstance(each, BriefAnswer | ReasonedAnswer)]
    runtime.trace["samples"] = [reply.model_dump() for reply in replies]
    return {**update, "samples": [list(reply.answers) for reply in replies]}


def _count_affordable(prompts: Sequence[Prompt[Any]], runtime: NodeRuntime) -> int:
    """Count the prompts that the budget has room for, whatever they may cost; one may always be tried.

    Each is checked against what is spent when it begins, and those that run side by side have
    not spent anything by then.
    """
    budget, spent = runtime.context.budget, add_spend(runtime.spent_before, runtime.spend)
    shown = len(f"{prompts[0].instructions}{prompts[0].case()}".encode())  # no token is less than a byte
    longest = runtime.context.max_tokens or MAX_REPLY_TOKENS
    limits = (
        (budget.llm_calls, spent["llm_calls"], MAX_CALLS_PER_PROMPT),
        (budget.tokens, spent["input_tokens"] + spent["output_tokens"], 2 * (shown + 2 * longest)),
    )
    rooms: list[int] = [(limit - used) // most for limit, used, most in limits if limit is not None]
    return max(1, min([len(prompts), *rooms]))
