"""Conclude: who is the answer, of what the plan has led to? (beyond VoG, whose plan says it)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain as joined
from typing import Any, cast

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Path, Term
from kgqa.nodes.filter import filter_branch
from kgqa.nodes.record import failure_outcome
from kgqa.nodes.verdicts import accept_group, group_findings, take_as_said
from kgqa.nodes.vog.state import VoGState, VoGUpdate, entity_ids, is_cut, may_revise
from kgqa.priors.answer_agreement import answer_key, is_unanswered
from kgqa.prompts.assess_found import EvaluateFound, Evaluation
from kgqa.prompts.candidates import ChainFindings, aggregate
from kgqa.prompts.facts import MAX_HEADS_SHOWN, draw_owned_facts, last_named_node
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Decision, VerifiedChain


@node("conclude")
async def conclude(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model take the answer from what the steps have led to, or have the plan revised.

    Groups are the ends of each chain from which no later step has gone on, those of the last step first; the
    answer may be a node before them. Where the plan's answers are all ends of one chain, or a relation was
    said to lead to the answers, there is no call; nor where all groups were shown before. If
    nothing is taken and there is no revision left, the plan's answers are all there is.
    """
    context = runtime.context
    otherwise: Decision = "forward" if context.retry_search else "stop"
    paths = _open_ends(state)
    cut = is_cut(state)
    found = [ChainFindings(_held_chain(along, state), _ends_of(along), cut) for along in paths]
    groups = _unite_equal(group_findings(found, (), state["topic_entities"]))
    runtime.trace |= {"step": state["step_index"], "groups": len(groups)}
    update: VoGUpdate = {"outright": None}
    reply = _known_answer(groups, state)
    if reply is None:
        if {each.chain for each in found if each.named} <= {*state["concluded"]}:
            runtime.trace["reason"] = "nothing else was found"
            return {"decision": otherwise}
        update["concluded"] = [*state["concluded"], *(each.chain for each in found)]
        reply = await runtime.ask(_final_prompt(groups, paths, state, context))
    if reply:
        runtime.trace["reason"] = reply.rationale
        taken, reason = await _take_answer(groups, reply, [*joined(*paths)], state, runtime)
        if taken is not None:
            return {**update, **taken}
        if may_revise(state, context):
            update["unanswered"] = reason or "nothing that was found is the answer"
            return {**update, "skipped": 0, "decision": "refine"}
    return {**update, "skipped": 0, "decision": otherwise}


def _final_prompt(
    groups: Sequence[ChainFindings], paths: Sequence[Sequence[Path]], state: VoGState, context: Any
) -> EvaluateFound:
    """Show the plan, what its steps have found on the way, what they have led to, and what is whose."""
    steps, topics = state["plan"].steps, state["topic_entities"]
    known = [_found_on_the_way(observed, topics) for observed in state["feedback"][: len(steps) - 1]]
    return EvaluateFound(
        state["question"],
        tuple(groups),
        facts=tuple(draw_owned_facts(_owned_paths(paths))),
        subgoals=tuple(step.thought or step.search for step in steps),
        known=tuple(known),
        attributes=context.attributes,
        inner=any(node.name for along in paths for path in along for node in path.nodes[1:-1]),
        topics=tuple(topics),
    )


def _found_on_the_way(paths: Sequence[Path], topics: Sequence[Entity]) -> str:
    names = list(dict.fromkeys(path.end.name for path in paths if path.end.name and path.end not in topics))
    more = f" and {len(names) - MAX_HEADS_SHOWN} more" if len(names) > MAX_HEADS_SHOWN else ""
    return f"found: {', '.join(names[:MAX_HEADS_SHOWN])}{more}" if names else ""


def _owned_paths(paths: Sequence[Sequence[Path]]) -> list[Path]:
    """Return the paths, of those along each chain, that say whose the ends are, where it has to be said.

    That is where values are of several nodes, fewer ends than these, or several of one unnamed node.
    """
    every = [path for along in paths for path in along]
    fresh = {path.nodes: path for path in every if path.end.name and path.end not in path.nodes[:-1]}
    owned: dict[tuple[Term, ...], set[Hop]] = {}
    for path in fresh.values():  # one for each end, whatever relations lead to it
        owned.setdefault(path.nodes[:-1], set()).add(path.steps[-1][0])
    joined = {nodes for nodes, hops in owned.items() if len(hops) > 1 and not nodes[-1].name}
    shared = {  # they lead from more nodes to fewer ends
        along[0].chain
        for along in paths
        if len({path.end for path in along}) < len({last_named_node(path) for path in along})
    }
    several = fresh.values() if len(owned) > 1 else ()
    return [
        path
        for path in several
        if isinstance(path.end, Literal) or path.nodes[:-1] in joined or path.chain in shared
    ]


async def _take_answer(
    groups: Sequence[ChainFindings],
    reply: Evaluation,
    paths: Sequence[Path],
    state: VoGState,
    runtime: NodeRuntime,
) -> tuple[VoGUpdate | None, str]:
    """Return working memory with what a reply takes, filtered if it says so; None if nothing; and why."""
    if reply.decision == "forward":
        return None, reply.rationale
    accepted = cast(VoGUpdate, accept_group(groups, reply, runtime))
    *met, branch = accepted["memory"]
    if 0 < reply.node < branch.chain.depth:
        branch = _taken_inside(branch, reply.node, paths)
        met = met if branch.place else []
    if reply.decision == "stop":
        return {**accepted, "memory": [*met, branch]}, reply.rationale
    kept, limit, said = await filter_branch(branch, state, runtime, earlier=met)
    reason = reply.rationale if said is None else said
    if kept is None:
        return None, reason
    return {"memory": [*met, kept], "stopped_by": limit, "decision": "stop"}, reason


def _taken_inside(branch: VerifiedChain, node: int, paths: Sequence[Path]) -> VerifiedChain:
    """Return a branch of which a node on the way is the answer: what leads to the ends that were taken.

    Ends that were chosen are what the chain is held to. What a filter is to tell apart are the nodes.
    """
    chain, ends, computed, picked = branch.chain, {*branch.ends}, branch.aggregate, branch.picked
    if computed and computed.function != "count":
        first = computed.function == "min"
        ends = {aggregate("smallest" if first else "largest", branch.ends) or branch.ends[0]}
        computed = Aggregate("argmin" if first else "argmax", place=chain.depth, by=computed.by)
    along = [path for path in paths if (path.topic, path.chain.hops) == (chain.topic, chain.hops)]
    nodes = tuple(dict.fromkeys(path.nodes[node] for path in along if path.end in ends))
    if branch.verdict == "filter":
        return VerifiedChain(chain.upto(node), nodes, "filter")
    entities = [end for end in branch.ends if isinstance(end, Entity)]
    if picked is not None and len(entities) == len(branch.ends):
        chain, picked = chain.constrained_to(entities), None
    return replace(branch, chain=chain, ends=nodes, aggregate=computed, picked=picked, place=node)


def _known_answer(groups: Sequence[ChainFindings], state: VoGState) -> Evaluation | None:
    """Take the group that needs no call: the plan's answers, that all topics lead to, or said to be it.

    What was said when its relation was chosen is of a chain, with others of the same ends.
    """
    if failure_outcome(state):
        return None
    ids, topics, plan = entity_ids(state), set(state["topic_entities"]), state["plan"].answers
    answers = None if is_unanswered(plan) else answer_key(plan, ids)
    outright = state["outright"]
    for number, group in enumerate(groups, 1):
        chains = [group.chain, *group.met]
        names = [str(end.term) for end in group.ends]
        expected = topics == {chain.topic for chain in chains} and not group.truncated
        expected = expected and group.chain not in state["concluded"]  # the end has turned it down
        if expected and answer_key(names, ids) == answers:
            reason = "the plan's answers are what a chain leads to"
            return Evaluation(rationale=reason, decision="stop", groups=[number])
        if outright and outright.chain in [Chain(chain.topic, chain.hops) for chain in chains]:
            take = take_as_said(outright, group.ends)
            reason = "its last relation was said to lead to the answers"
            return Evaluation(rationale=reason, decision=outright.decision, groups=[number], take=take)
    return None


def _open_ends(state: VoGState) -> list[list[Path]]:
    """Return the paths along each chain that no later step goes on from, those of the last step first.

    What only leads back to its topic is left out.
    """
    found: dict[Chain, list[Path]] = {}
    gone_on: set[Chain] = set()
    for observed in reversed(state["feedback"]):
        chains = {path: path.chain for path in observed}
        for path, chain in chains.items():
            if chain not in gone_on:
                found.setdefault(chain, []).append(path)
        gone_on |= {chain.upto(depth) for chain in {*chains.values()} for depth in range(1, chain.depth)}
    return [paths for paths in found.values() if any(path.end != path.topic for path in paths)]


def _unite_equal(groups: Sequence[ChainFindings]) -> list[ChainFindings]:
    """Return groups of the same ends as one: that of the first, with the chains of the others."""
    alike: dict[frozenset[Term], ChainFindings] = {}
    for each in groups:
        ends = frozenset(end.term for end in each.ends)
        first = alike.setdefault(ends, each)
        if first is not each:
            alike[ends] = replace(first, met=tuple(dict.fromkeys([*first.met, each.chain, *each.met])))
    return list(alike.values())


def _held_chain(paths: Sequence[Path], state: VoGState) -> Chain:
    """Return the chain of paths, held to what was chosen where a filter has left something out."""
    whole = paths[0].chain
    chain = Chain(whole.topic)
    for depth, hop in enumerate(whole.hops, 1):
        chain = chain.then(hop)
        beginning = whole.upto(depth)
        if depth < whole.depth and any(path.chain == beginning for path in state["left_out"]):
            nodes = (path.nodes[depth] for path in paths)
            chain = chain.constrained_to(each for each in nodes if isinstance(each, Entity))
    return chain


def _ends_of(paths: Sequence[Path]) -> tuple[Candidate, ...]:
    """Return each end once; it returns to the topic where all paths to it do."""
    fresh = {path.end for path in paths if path.topic not in path.nodes[1:]}
    return tuple(Candidate(end, end not in fresh) for end in dict.fromkeys(path.end for path in paths))
