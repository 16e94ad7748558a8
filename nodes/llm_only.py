"""State and nodes of the methods that use no graph: IO, CoT and SC (self-consistency)."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from langgraph.channels import EphemeralValue
from pydantic import ConfigDict, with_config

from kgqa.kg.terms import is_iri
from kgqa.models.errors import MalformedReply, ModelError
from kgqa.nodes.record import complete_record, failure_outcome, parametric_answers
from kgqa.priors.answer_agreement import answer_key
from kgqa.prompts.base import Prompt
from kgqa.prompts.infer_from_evidence import AnswerBriefly, BriefAnswer, ReasonAloud, ReasonedAnswer
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import Ref, add_spend
from kgqa.runtime.state import FinalUpdate, State, Update


class LLMOnlyUpdate(Update, total=False):
    """What a node may change."""

    samples: Annotated[list[list[str]], EphemeralValue]
    """The answers of each reply that could be used, in the order of the samples; empty: it knows none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class LLMOnlyState(State, LLMOnlyUpdate):
    """The record in the making and what the model has said."""


class SamplesUpdate(LLMOnlyUpdate, total=False):
    """What the first node changes: it hands on the topics, which the state forgets after a step."""

    topics: list[Ref]


def given_topics(state: LLMOnlyState) -> list[Ref]:
    """Return the topics as they were given: nobody has looked them up."""
    topics: list[Ref] = []
    for topic in state.get("topics", []):
        if isinstance(topic, str):
            topics.append({"id": topic, "name": None} if is_iri(topic) else {"id": None, "name": topic})
        else:
            topics.append(topic)
    return topics


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


@node("answer")
async def answer_from_reply(state: LLMOnlyState, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record with the answers of the one reply."""
    said = [name for answers in state.get("samples", []) for name in answers_by_key(answers).values()]
    return await complete_unproved_record(said, state, runtime)


def answers_by_key(answers: Sequence[str]) -> dict[frozenset[str], str]:
    """Return answers as they are first spelt, by what they are compared by; names of nothing are left out."""
    named: dict[frozenset[str], str] = {}
    for answer in answers:
        if key := answer_key([answer]):
            named.setdefault(key, answer.strip())
    return named


async def complete_unproved_record(
    names: list[str], state: LLMOnlyState, runtime: NodeRuntime
) -> FinalUpdate:
    """Complete a record that no graph was asked for."""
    failed = failure_outcome(state)
    if not (names or failed or state["stopped_by"]):
        runtime.trace["reason"] = "the model does not know"
    outcome = "parametric" if names else failed or "none"
    update: Update = {"answers": parametric_answers(names), "outcome": outcome, "paths": [], "evidence": []}
    return {**await complete_record(update, state, runtime), "topics": given_topics(state)}


@node("vote")
async def vote(state: LLMOnlyState, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record with the answers that the samples elect."""
    votes, elected = count_votes(state.get("samples", []))
    runtime.trace["votes"] = votes
    return await complete_unproved_record(elected, state, runtime)


def count_votes(samples: Sequence[Sequence[str]]) -> tuple[dict[str, int], list[str]]:
    """Return the votes of the samples by answer, the most first, and the answers that are elected.

    A sample has one vote for each of its answers; one without an answer has none. Elected is what more than
    half of the voters give, the most votes first. Where nothing is, it is what has the most votes, as far as
    the earliest sample with such an answer gives it: for samples of one answer each that is the paper's
    plurality. Ties stand in the order of the samples, and an answer is spelt as it came first.

    >>> count_votes([["Ulm"], ["Bonn", "ulm."], [], ["Bonn", "Ulm", "Kiel"]])
    ({'Ulm': 3, 'Bonn': 2, 'Kiel': 1}, ['Ulm', 'Bonn'])
    >>> count_votes([["Kiel"], ["Ulm"], ["Bonn"], ["Ulm"]])[1]
    ['Ulm']
    """
    ballots = [ballot for ballot in map(answers_by_key, samples) if ballot]
    votes = Counter(key for ballot in ballots for key in ballot)
    spelt = {key: name for ballot in reversed(ballots) for key, name in ballot.items()}
    ranked = [key for key, _ in votes.most_common()]
    elected = [key for key in ranked if 2 * votes[key] > len(ballots)]
    if not elected:
        most = max(votes.values(), default=0)
        leading = ([key for key in ballot if votes[key] == most] for ballot in ballots)
        elected = next(filter(None, leading), [])
    return {spelt[key]: votes[key] for key in ranked}, [spelt[key] for key in elected]
