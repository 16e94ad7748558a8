"""Smart lookahead: do chains that solved similar questions answer this one at once? (EGP §4.3)."""

from collections.abc import Iterator

from kgqa.kg.terms import Chain
from kgqa.nodes.filter import filter_branch
from kgqa.nodes.frontier.state import FrontierState
from kgqa.nodes.frontier.verify import evaluate
from kgqa.nodes.recall_exemplars import KnownRelations, exemplar_hops, hop_text, known_relations
from kgqa.nodes.verdicts import accept_group, group_findings
from kgqa.prompts.assess_found import AssessFound
from kgqa.prompts.candidates import MAX_GROUPS_SHOWN, ChainFindings
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update, node_count
from kgqa.tools.arguments import chain_arguments


@node("smart_lookahead", option="looks_ahead")
async def smart_lookahead(state: State, runtime: NodeRuntime) -> Update:
    """Follow all chains of the exemplars that can set out from a topic, in one query, and judge them.

    It fires where a relation that leaves a topic is one that exemplars have (R_forward). What the model takes
    ends the question, filtered where a condition is left; else the search begins as if nothing had happened.
    """
    found = await _follow_exemplars(state, runtime)
    return await _judge_findings(state, found, runtime) if found else {"decision": "forward"}


@node("lookahead_by_path", option="looks_ahead_by_path")
async def lookahead_by_path(state: FrontierState, runtime: NodeRuntime) -> Update:
    """Try the exemplars' chains once relations were chosen in the first round, and judge each for itself.

    The first that the model takes ends the question (EGP §4.3).
    """
    if node_count(state, "lookahead_by_path"):
        runtime.trace["reason"] = "only the first round looks ahead"
        return {"decision": "forward"}
    for found in await _follow_exemplars(state, runtime):
        groups = group_findings([found], (), state["topic_entities"])
        if taken := await evaluate(groups, state, runtime, exemplars=tuple(state["exemplars"])):
            accepted = await _accept(taken, state, runtime)
            if accepted["decision"] == "stop":
                return accepted
    return {"decision": "forward"}


async def _follow_exemplars(state: State, runtime: NodeRuntime) -> list[ChainFindings]:
    """Return what the exemplars' chains lead to by name, the most similar exemplar's first."""
    guide = exemplar_hops(state["exemplars"])
    leaving = {hop_text(hop): None for lead in state["leads"] if not lead.chain.hops for hop in lead.hops}
    forward = [text for text in leaving if text in guide]
    runtime.trace |= {"fired": bool(forward), "forward": forward, "chains": [], "realised": 0}
    if not forward:
        return []
    relations = await known_relations(state, runtime)
    chains = list(dict.fromkeys(_exemplar_chains(state, relations, runtime)))[:MAX_GROUPS_SHOWN]
    runtime.trace["chains"] = [str(chain) for chain in chains]
    arguments = [chain_arguments(chain) for chain in chains]
    visits = await runtime.try_tool("visit_chains", chains=arguments, hops=False) if chains else None
    pairs = zip(chains, visits, strict=True) if visits else ()
    every = [ChainFindings(chain, visit.ends.items, visit.ends.truncated) for chain, visit in pairs]
    found = [each for each in every if each.named]
    runtime.trace["realised"] = len(found)
    return found


def _exemplar_chains(state: State, relations: KnownRelations, runtime: NodeRuntime) -> Iterator[Chain]:
    """Yield the chains of the exemplars from each topic that their first hop leaves."""
    leads = {lead.chain: set(lead.hops) for lead in state["leads"]}
    for branch in (branch for each in state["exemplars"] for branch in each.branches):
        first = relations.parse_hop(branch[0])
        hops = [relations.parse_hop(text, first) for text in branch[: runtime.context.depth + 1]]
        known = tuple(hop for hop in hops if hop)
        if len(known) == len(branch) <= runtime.context.depth:
            chains = (Chain(topic) for topic in state["topic_entities"])
            yield from (Chain(each.topic, known) for each in chains if known[0] in leads.get(each, ()))


async def _judge_findings(state: State, found: list[ChainFindings], runtime: NodeRuntime) -> Update:
    exemplars, topics = tuple(state["exemplars"]), tuple(state["topic_entities"])
    groups = group_findings(found, (), topics)
    shown = runtime.context.attributes
    prompt = AssessFound(state["question"], tuple(groups), shown, exemplars=exemplars, topics=topics)
    reply = await runtime.ask(prompt)
    if reply is None:
        return {"decision": "forward"}
    runtime.trace["reason"] = reply.rationale
    if reply.decision == "forward":
        return {"decision": "forward"}
    return await _accept(accept_group(groups, reply, runtime), state, runtime)


async def _accept(accepted: Update, state: State, runtime: NodeRuntime) -> Update:
    """Return what a reply takes, filtered where a condition is left; go on where nothing meets it."""
    if accepted["decision"] == "stop":
        return accepted
    *met, branch = accepted["memory"]
    kept, limit, _ = await filter_branch(branch, state, runtime, earlier=met)
    if kept is None:
        return {"decision": "forward"}
    return {"memory": [*met, kept], "stopped_by": limit, "decision": "stop"}
