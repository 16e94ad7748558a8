"""Verify: what is known now, and is it enough? (PoG: memory update and evaluation; EGP §4.4; CoG A.3)."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import cast

from kgqa.nodes.frontier.state import (
    FrontierState,
    FrontierUpdate,
    continue_from,
    explores_entities,
    held_chains,
    plans_when_needed,
    prompt_context,
    shown_plan,
    steers,
    updated_memory,
    uses_own_knowledge,
)
from kgqa.nodes.record import parametric_answers
from kgqa.nodes.topic_conditions import with_topics
from kgqa.nodes.verdicts import SAID_BEFORE, accept_group, group_findings, take_as_said, unite_groups
from kgqa.prompts.assess_found import AssessFound, Assessment, EvaluateFound
from kgqa.prompts.candidates import ChainFindings, can_unite
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.runtime.node import NodeRuntime, node


@node("verify")
async def verify(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model write down what is known, and say whether one of the groups is the answer.

    Where none is, it also says which to go on from, and without a plan writes one; only where it names none
    that leads on is it asked to reflect (``reflection``).

    Groups are the named ends of each chain that was just followed, and what of them chains from other topics
    lead to as well, followed now or before. After a malformed reply the search goes on.
    Of an entity frontier the memory was written before, and groups stand as they were found.
    """
    found = state["found"]
    if explores_entities(runtime.context):
        groups = unite_groups(found)
        triples = tuple(found) if len(groups) < len(found) else ()
        own = uses_own_knowledge(runtime.context)
        taken = await evaluate(groups, state, runtime, triples=triples, own_knowledge=own)
        return taken or {"candidates": [], "decision": "forward"}
    groups = group_findings(found, state["explored"], state["topic_entities"])
    if said := _said_before(groups, state, runtime):
        return said
    shown = runtime.context.attributes
    elsewhere = tuple(_not_shown(groups, state))
    prompt = AssessFound(state["question"], tuple(groups), shown, elsewhere, **prompt_context(state))
    reply = await runtime.ask(prompt)
    if reply is None:
        return {"decision": "forward"}
    known = updated_memory(reply.known, state)
    runtime.trace |= {"groups": len(groups), "known": known, "reason": reply.rationale}
    if reply.decision == "forward":
        noted: FrontierUpdate = {"known": known, "candidates": [], "decision": "forward"}
        if plans_when_needed(runtime.context) and not state["subgoals"]:
            noted["subgoals"] = shown_plan(reply.subgoals)
            runtime.trace["subgoals"] = noted["subgoals"]
        if not steers(runtime.context):
            return noted
        going = [number for number in reply.groups if groups[number - 1].chain.depth < runtime.context.depth]
        unnamed = [
            each.chain for each in found if not each.named and each.chain.depth < runtime.context.depth
        ]
        chains = [*held_chains(groups, going, reply.chosen), *unnamed]  # of these nothing could be said
        return {**noted, **continue_from(state, chains), "decision": "refine"} if chains else noted
    accepted = accept_group(groups, reply, runtime)
    memory = await with_topics(accepted["memory"], state, runtime)
    return cast(FrontierUpdate, {**accepted, "memory": memory, "known": known})


def _not_shown(groups: Sequence[ChainFindings], state: FrontierState) -> Iterator[ChainFindings]:
    """Yield the chains that have just led to nothing, and the last one of each topic that no group is of."""
    found = {each.chain for each in state["found"]}
    seen = {chain.topic for each in groups for chain in (each.chain, *each.met)}
    if not state["last_failure"]:
        yield from (ChainFindings(each.chain, ()) for each in state["offers"] if each.chain not in found)
    for topic in state["topic_entities"]:
        if topic not in seen:
            yield from islice((each for each in state["explored"] if each.chain.topic == topic), 1)


def _said_before(
    groups: Sequence[ChainFindings], state: FrontierState, runtime: NodeRuntime
) -> FrontierUpdate | None:
    """Do what the model has said when it chose the chains; None where it has not, or they do not meet.

    Of chains that were added to its choice it has said nothing, nor where one could not be followed.
    """
    said, topics, depth = state["outright"], {*state["topic_entities"]}, runtime.context.depth
    if said is None or state["last_failure"]:
        return None
    chosen, found = {said.chain, *said.beside}, [each.chain for each in state["found"]]
    if said.decision == "forward":
        chains = [chain for chain in found if chain.depth < depth] if chosen.issuperset(found) else []
        runtime.trace |= {"reason": SAID_BEFORE} if chains else {}
        return {**continue_from(state, chains), "decision": "refine"} if chains else None
    whole = [g for g in groups if g.chain in chosen and topics == {g.chain.topic, *(c.topic for c in g.met)}]
    if not whole or not can_unite(whole):
        return None
    runtime.trace["reason"] = SAID_BEFORE
    take = take_as_said(said, [end for each in whole for end in each.named])
    numbers = [groups.index(each) + 1 for each in whole]
    verdict = Assessment(
        decision=said.decision, groups=numbers, take=take if said.decision == "stop" else "all"
    )
    return cast(FrontierUpdate, accept_group(groups, verdict, runtime))


async def evaluate(
    groups: Sequence[ChainFindings],
    state: FrontierState,
    runtime: NodeRuntime,
    *,
    triples: tuple[ChainFindings, ...] = (),
    exemplars: tuple[SolvedQuestion, ...] = (),
    own_knowledge: bool = False,
) -> FrontierUpdate | None:
    """Return what the model takes of the groups, or answers from what it knows; None where it goes on."""
    reply = await runtime.ask(
        EvaluateFound(
            state["question"],
            tuple(groups),
            triples,
            own_knowledge,
            attributes=runtime.context.attributes,
            exemplars=exemplars,
            **prompt_context(state),
        )
    )
    runtime.trace |= {"groups": len(groups)} | ({"reason": reply.rationale} if reply else {})
    if reply is None or reply.decision == "forward":
        return None
    if reply.answers:
        said: FrontierUpdate = {"memory": [], "candidates": [], "outcome": "parametric", "decision": "stop"}
        known = parametric_answers(reply.answers)
        return {**said, "answers": known} if known else None
    return cast(FrontierUpdate, accept_group(groups, reply, runtime))
