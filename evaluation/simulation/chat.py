"""A simulated model that is spoken to in messages: by an agent with tools, by a chain that writes SPARQL.

Its turn depends on the seed, the question and the number of the turn; it errs as `ErrorRates` says.
As an agent it goes relation by relation to the gold answers, from each topic, then answers. Where a
relation is wrong its end is followed as if it were right; the model sees that this is not what was asked,
unless it misjudges. If it recalls it goes back a step, else it has found nothing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from kgqa.evaluation.simulation.error_rates import Draws, ErrorRates
from kgqa.evaluation.simulation.oracle import Case, Oracle, TopicPlan
from kgqa.kg.proof.query import Aggregate, Condition
from kgqa.kg.proof.values import kind_of
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.prompts.chain import without_last_hop
from kgqa.tools.arguments import chain_arguments, write_hop
from kgqa.tools.conditions import FilteredChain

MAX_STEPS_BACK = 3  # how often the model goes back at most
FOLLOWING = ("follow_chain", "filter_chain")
UNKNOWN_ANSWER = "I do not know."
MALFORMED_TEXT = "This reply is malformed, as simulated."


class _ToolResult(NamedTuple):
    tool: str
    chain: Chain
    artifact: Any


async def next_tool_call(messages: Sequence[BaseMessage], tools: Sequence[BaseTool], case: Case) -> AIMessage:
    """Return the next call."""
    calls, plans = list(_read_tool_results(messages)), await case.oracle.plans()
    topics = list(dict.fromkeys(plan.topic for plan in plans))
    if not topics or not any(getattr(tool, "name", "") == "follow_chain" for tool in tools):
        return await _answer_message(calls, case)
    if not calls:
        return _call_tool("extend_chain", chain_arguments(Chain(topics[0])))
    last = calls[-1]
    if last.artifact is None:
        return await _answer_message(calls, case)
    if last.tool == "extend_chain":
        followed = [call.chain for call in calls if call.tool in FOLLOWING]
        whole = {*topics} <= {last.chain.topic, *(chain.topic for chain in followed)}
        return await _extend_chain(last, followed, case, whole=whole)
    if not await case.is_end(last.chain):
        before = without_last_hop(last.chain)
        back = sum(call.tool == "extend_chain" and call.chain == before for call in calls)
        if back <= MAX_STEPS_BACK and case.happens("recall"):
            return _call_tool("extend_chain", chain_arguments(before))
        return await _answer_message(calls if case.happens("judge") else (), case)
    done = {call.chain.topic for call in calls if call.tool in FOLLOWING}
    rest = [topic for topic in topics if topic not in done]
    if rest:
        return _call_tool("extend_chain", chain_arguments(Chain(rest[0])))
    return await _answer_message(calls, case)


async def _extend_chain(
    last: _ToolResult, followed: Sequence[Chain], case: Case, *, whole: bool
) -> AIMessage:
    """Take a relation of those shown: the right one, or where it errs another.

    At the end of the last gold path conditions are stated, where there are any.
    """
    offered: tuple[Hop, ...] = last.artifact.items
    right = await case.oracle.right_way(last.chain, [(hop,) for hop in offered])
    others = [hop for place, hop in enumerate(offered) if place != right]
    wrong = next(case.draws.shuffled("wrong relations", others), None)
    if right is not None and (wrong is None or case.happens("accuracy")):
        chain = last.chain.then(offered[right])
        if not await case.is_end(chain):
            return _call_tool("extend_chain", chain_arguments(chain))
        if whole and case.oracle.asks_of_nodes(chain):
            return _call_tool("filter_chain", _filter_arguments(chain, followed, case))
        return _call_tool("follow_chain", chain_arguments(chain))
    return _call_tool("follow_chain", chain_arguments(last.chain.then(wrong) if wrong else last.chain))


def _filter_arguments(chain: Chain, followed: Sequence[Chain], case: Case) -> dict[str, Any]:
    """Write what the question asks of the nodes of a chain, which the ends of others are as well."""
    computed = case.oracle.aggregate(chain)
    given = {"conditions": [_write_condition(each) for each in case.oracle.conditions(chain)]}
    extreme = {"extreme": _write_extreme(computed)} if computed and computed.function != "count" else {}
    meeting = {"meeting": list(map(chain_arguments, followed))} if followed else {}
    return {**chain_arguments(chain), **given, **extreme, **meeting}


def _write_condition(asked: Condition) -> dict[str, Any]:
    written = {"attribute": list(map(write_hop, asked.attribute)), "after": asked.place}
    if asked.value is None:
        return {**written, "operator": asked.operator}
    value = f"<{asked.value.id}>" if isinstance(asked.value, Entity) else asked.value.id
    by = {"by": "date"} if kind_of(asked.value) == "date" else {}
    return {**written, **by, "operator": asked.operator, "value": value}


def _write_extreme(asked: Aggregate) -> dict[str, Any]:
    place = {} if asked.place is None else {"after": asked.place}
    largest = asked.function in {"max", "argmax"}
    return {"attribute": list(map(write_hop, asked.attribute)), **place, "by": asked.by, "largest": largest}


async def _answer_message(calls: Sequence[_ToolResult], case: Case) -> AIMessage:
    """Say what is at the ends that were followed, or what the model remembers."""
    gold = case.gold
    known: list[dict[str, str | None]] = [{"id": None, "name": name} for name in gold.names]
    followed = [call for call in calls if call.tool in FOLLOWING and call.artifact is not None]
    if not followed:
        return _call_tool("Answer", {"answers": known if case.happens("memory") else []})
    found = followed[-1].artifact
    ends = [*found.ends] if isinstance(found, FilteredChain) else [candidate.term for candidate in found]
    right = gold.mark(ends).numbers
    if not right and await case.is_end(followed[-1].chain):
        return _call_tool("Answer", {"answers": known})
    chosen = [ends[n - 1] for n in case.choose(right or range(1, len(ends) + 1), len(ends))]
    return _call_tool("Answer", {"answers": [{"id": end.id, "name": str(end)} for end in chosen]})


def _call_tool(tool: str, arguments: Mapping[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": dict(arguments), "id": "1", "type": "tool_call"}])


def _read_tool_results(messages: Sequence[BaseMessage]) -> Iterator[_ToolResult]:
    """Read the calls of chains; every turn has one call."""
    for asked, told in pairwise(messages):
        if isinstance(asked, AIMessage) and isinstance(told, ToolMessage):
            for call in asked.tool_calls:
                if "hops" in (given := call["args"]):
                    hops = (Hop(text.removeprefix("^"), not text.startswith("^")) for text in given["hops"])
                    chain = Chain(Entity(given["topic"].strip("<>")), tuple(hops))
                    yield _ToolResult(call["name"], chain, told.artifact)


async def write_sparql_turn(prompt: str, case: Case) -> AIMessage:
    """Answer one of three prompts: say SELECT, write the gold paths as SPARQL, name the right rows."""
    if "identify the intent" in prompt.casefold():
        return AIMessage("SELECT")
    if "Generate a SPARQL" in prompt:
        return AIMessage(await _gold_query(case))
    rows = prompt.partition("\nInformation:\n")[2].rpartition("\n\nQuestion:")[0]
    right = [name for name in case.gold.names if name in rows]
    return AIMessage(", ".join(right) or (rows if rows.strip("[] ") else UNKNOWN_ANSWER))


async def _gold_query(case: Case) -> str:
    """Join the gold paths from all topics at their ends; where the model errs, a relation is another."""
    plans = await case.oracle.plans()
    if plans and not case.happens("accuracy"):
        plans = [_with_wrong_relation(plans[0], case), *plans[1:]]
    return write_paths(plans) or UNKNOWN_ANSWER


def _with_wrong_relation(plan: TopicPlan, case: Case) -> TopicPlan:
    at = int(case.draws.uniform("wrong hop") * len(plan.hops))
    relations = [each for each in case.cache.graph.relations if each != plan.hops[at].relation]
    wrong = next(case.draws.shuffled("wrong relation", relations), plan.hops[at].relation)
    hops = (*plan.hops[:at], Hop(wrong, plan.hops[at].forward), *plan.hops[at + 1 :])
    return TopicPlan(plan.topic, hops)


def write_paths(plans: Sequence[TopicPlan]) -> str | None:
    """Return the query for what several paths lead to; None without any."""
    patterns = [line for number, plan in enumerate(plans) for line in _triple_patterns(plan, number)]
    return f"SELECT DISTINCT ?answer WHERE {{ {' '.join(patterns)} }}" if patterns else None


def _triple_patterns(plan: TopicPlan, number: int) -> Iterator[str]:
    last = len(plan.hops)
    nodes = [f"<{plan.topic.id}>", *(f"?v{number}x{at}" for at in range(1, last)), "?answer"]
    for at, hop in enumerate(plan.hops):
        head, tail = (nodes[at], nodes[at + 1]) if hop.forward else (nodes[at + 1], nodes[at])
        yield f"{head} <{hop.relation}> {tail} ."


async def next_message(
    messages: Sequence[BaseMessage], tools: Sequence[BaseTool], oracle: Oracle, errors: ErrorRates, id: str
) -> AIMessage:
    """Return the next message of a conversation about a question, whose ``id`` its draws go by."""
    said = sum(isinstance(message, AIMessage) for message in messages)
    key = f"turn {said}" if tools else messages[-1].text
    case = Case(oracle, errors, Draws(errors.seed, id, key))
    turn = next_tool_call(messages, tools, case) if tools else write_sparql_turn(messages[-1].text, case)
    message = await turn
    return AIMessage(MALFORMED_TEXT) if case.happens("format") else message


def count_chars(messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = ()) -> int:
    """Count the characters of messages, with their calls and the descriptions of tools."""
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    texts: list[str] = [message.text for message in messages]
    texts += [json.dumps(convert_to_openai_tool(tool)) for tool in tools]
    texts += [call["name"] + json.dumps(call["args"]) for call in calls]
    return sum(map(len, texts))
