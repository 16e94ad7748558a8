"""The turns of an agent with tools: relation by relation along a way, from each topic, then the answer.

Where a relation is wrong its end is followed as if it were right; a model that recalls sees that this
is not what was asked, and goes back a step.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.kg.terms import Chain, Entity, Hop, Term
from kgqa.tools.arguments import chain_arguments

BACK = 3
"""How often the model goes back at most."""


class Called(NamedTuple):
    """A call of a tool and what came of it."""

    tool: str
    chain: Chain
    artifact: Any


async def walk(messages: Sequence[BaseMessage], tools: Sequence[BaseTool], case: Case) -> AIMessage:
    """Give the next call."""
    calls, plans = list(_called(messages)), await case.oracle.plans()
    topics = list(dict.fromkeys(plan.topic for plan in plans))
    if not topics or not any(getattr(tool, "name", "") == "follow_chain" for tool in tools):
        return await _answer(calls, case)
    if not calls:
        return _call("extend_chain", Chain(topics[0]))
    last = calls[-1]
    if last.artifact is None:
        return await _answer(calls, case)
    if last.tool == "extend_chain":
        return await _onward(last, case)
    if () not in await case.oracle.rests(last.chain):
        back = sum(call.tool == "extend_chain" and call.chain == before(last.chain) for call in calls)
        if back <= BACK and case.happens("recall"):
            return _call("extend_chain", before(last.chain))
        return await _answer(calls, case)
    done = {call.chain.topic for call in calls if call.tool == "follow_chain"}
    rest = [topic for topic in topics if topic not in done]
    return _call("extend_chain", Chain(rest[0])) if rest else await _answer(calls, case)


def before(chain: Chain) -> Chain:
    """Give the chain without its last hop."""
    return chain.upto(chain.depth - 1)


async def _onward(last: Called, case: Case) -> AIMessage:
    """Take a relation of those shown: the right one, or where it errs another."""
    offered: tuple[Hop, ...] = last.artifact.items
    right = await case.oracle.right_hop(last.chain, offered)
    others = [hop for place, hop in enumerate(offered) if place != right]
    wrong = next(case.draws.shuffled("wrong relations", others), None)
    if right is not None and (wrong is None or case.happens("accuracy")):
        chain = last.chain.then(offered[right])
        rests = await case.oracle.rests(chain)
        return _call("follow_chain" if () in rests else "extend_chain", chain)
    return _call("follow_chain", last.chain.then(wrong) if wrong else last.chain)


async def _answer(calls: Sequence[Called], case: Case) -> AIMessage:
    """Say what is at the ends that were followed, or what the model remembers."""
    gold = case.oracle.gold
    followed = [call for call in calls if call.tool == "follow_chain" and call.artifact is not None]
    if not followed:
        return _said([{"id": None, "name": name} for name in gold.names] if case.happens("memory") else [])
    ends: list[Term] = [candidate.term for candidate in followed[-1].artifact]
    right = [number for number, is_gold in enumerate(gold.mark(ends).right, 1) if is_gold]
    complete = () in await case.oracle.rests(followed[-1].chain)
    if complete and not right:
        return _said([{"id": None, "name": name} for name in gold.names])
    numbers = right or list(range(1, len(ends) + 1))
    if case.happens("entity"):
        numbers = wrong_choice(numbers, len(ends), case.draws)
    return _said([{"id": ends[n - 1].id, "name": str(ends[n - 1])} for n in numbers])


def _said(answers: list[dict[str, str | None]]) -> AIMessage:
    return _calling("Answer", {"answers": answers})


def _call(tool: str, chain: Chain) -> AIMessage:
    return _calling(tool, chain_arguments(chain))


def _calling(tool: str, arguments: Mapping[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": dict(arguments), "id": "1", "type": "tool_call"}])


def _called(messages: Sequence[BaseMessage]) -> Iterator[Called]:
    """Read the calls of chains; every turn has one call."""
    for asked, told in pairwise(messages):
        calls = asked.tool_calls if isinstance(asked, AIMessage) else []
        for call in calls:
            if isinstance(told, ToolMessage) and "hops" in call["args"]:
                yield Called(call["name"], _chain(call["args"]), told.artifact)


def _chain(arguments: Mapping[str, Any]) -> Chain:
    hops = (Hop(text.removeprefix("^"), not text.startswith("^")) for text in arguments["hops"])
    return Chain(Entity(arguments["topic"].strip("<>")), tuple(hops))
