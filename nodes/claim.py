"""Claim: does the graph say what a question for yes or no claims? (beyond the papers, which ask what)."""

from collections.abc import Sequence

from kgqa.kg.pages import ChainResult
from kgqa.kg.terms import Chain, Hop, Path, Term
from kgqa.nodes.drafting import can_draft, names_no_entity
from kgqa.nodes.proof import prove_claim
from kgqa.nodes.record import NO, YES, build_proof, group_ends, trace_evidence
from kgqa.prompts.judge_claim import JudgeClaim, Judgement, is_yes_no_question
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import RecordedCondition
from kgqa.runtime.state import State, Update
from kgqa.tools.arguments import chain_arguments

MAX_CHAINS = 8
"""Chains that are followed at each of two hops: those that may join topics first, then what is alike."""

MAX_ENDS_SHOWN = 5  # of a chain that joins no topics


@node("claim", option="claims")
async def claim(state: State, runtime: NodeRuntime) -> Update:
    """Let the model judge what a question for yes or no claims by the facts that may say or deny it.

    They are those that join the topics, by one hop or two past a node without a name, and those of the
    relations that are most alike to the question. Where they say neither, or it asks for no yes or no, the
    search begins; so it does where a query can be drafted and no entity is named, of which facts would be.
    """
    if not is_yes_no_question(state["question"]) or (names_no_entity(state) and await can_draft(runtime)):
        runtime.idle = True
        return {}
    if not (facts := await _collect_facts(state, runtime)):
        runtime.trace["reason"] = "nothing of it was found"
        return {}
    prompt = JudgeClaim(state["question"], facts, topics=tuple(state["topic_entities"]))
    reply = await runtime.ask(prompt)
    if reply is None:
        return {}
    supporting, against = weighed_facts(prompt, reply, runtime)
    if reply.verdict == "unknown":
        return {}
    holds = reply.verdict == "yes"
    said = await claim_update(supporting, against, reply.rationale, holds=holds, state=state, runtime=runtime)
    return {**said, "decision": "stop"}


def weighed_facts(
    prompt: JudgeClaim, reply: Judgement, runtime: NodeRuntime
) -> tuple[list[Path], list[Path]]:
    """Return the facts that speak for and against a claim, and say so in the trace."""
    supporting = [prompt.offered[number - 1] for number in reply.favour]
    against = [prompt.offered[number - 1] for number in reply.against]
    runtime.trace |= {
        "verdict": reply.verdict,
        "for": list(map(str, supporting)),
        "against": list(map(str, against)),
        "reason": reply.rationale,
    }
    return supporting, against


async def claim_update(
    supporting: Sequence[Path],
    against: Sequence[Path],
    reason: str,
    *,
    holds: bool,
    state: State,
    runtime: NodeRuntime,
) -> Update:
    """Return what a record says of a claim that holds, or does not, by the facts for and against it."""
    paths = [*supporting, *against]
    evidence = build_proof(group_ends(paths), paths)
    proof = await prove_claim(supporting if holds else against, holds=holds, state=state, runtime=runtime)
    judged = RecordedCondition(words=reason or "judged by the model", query=None, by="model")
    said: Update = {} if "query" in proof else {"query": None, "reading": None, "conditions": [judged]}
    return {**evidence, **said, **proof, "answers": [YES if holds else NO]}


def claimed_answer(state: State) -> Update | None:
    """Return what a claim has come to in this run; None where there was none, or it is unknown."""
    if state["last_node"] == "claim" and state["answers"]:
        return {
            "answers": state["answers"],
            "outcome": state["outcome"],
            "paths": state["paths"],
            "evidence": state["evidence"],
            "query": state["query"],
            "reading": state["reading"],
            "sentence": state["sentence"],
            "conditions": state["conditions"],
        }
    return None


async def _collect_facts(state: State, runtime: NodeRuntime) -> tuple[Path, ...]:
    """Return facts about topics, those that join two of them first."""
    topics = state["topic_entities"]
    known = {each.chain.topic: each.hops for each in state["leads"] if not each.chain.hops}
    first = [chain for topic in known for chain in await _choose(Chain(topic), known[topic], state, runtime)]
    visits = await _visit(first[:MAX_CHAINS], runtime, hops=True)
    unnamed = {
        chain: visit.hops.items
        for chain, visit in visits.items()
        if not any(end.term.name for end in visit.ends)
    }
    further = [longer for chain, on in unnamed.items() for longer in await _choose(chain, on, state, runtime)]
    visits |= await _visit(further[:MAX_CHAINS], runtime)
    paths: list[Path] = []
    for chain, visit in visits.items():
        named = [end.term for end in visit.ends if end.term.name and not end.returning]
        shown = [term for term in named if term in topics] or named[:MAX_ENDS_SHOWN]
        paths += await _trace(Chain(chain.topic, chain.hops), shown, runtime)
    return tuple(sorted(paths, key=lambda path: path.end not in topics))


async def _choose(chain: Chain, hops: Sequence[Hop], state: State, runtime: NodeRuntime) -> list[Chain]:
    """Return how a chain goes on: to each topic that a hop may lead to, then by what is most alike."""
    back = {each.chain.topic: {hop.inverse for hop in each.hops} for each in state["leads"]}
    joining = [
        chain.then(hop).constrained_to([other])
        for other in state["topic_entities"]
        for hop in hops
        if other != chain.topic and (hop in back.get(other, ()) or chain.topic.id in state["classes"])
    ]
    words = [hop.words.replace("_", " ") for hop in hops]
    (question, *rows) = await runtime.encode([state["question"], *words])
    ranked = sorted(range(len(hops)), key=lambda at: (-float(question @ rows[at]), at))
    alike = [chain.then(hops[at]) for at in ranked[: MAX_CHAINS // max(1, len(state["topic_entities"]))]]
    return [*joining, *alike]


async def _visit(
    chains: Sequence[Chain], runtime: NodeRuntime, *, hops: bool = False
) -> dict[Chain, ChainResult]:
    arguments = [chain_arguments(chain) for chain in chains]
    found = await runtime.try_tool("visit_chains", chains=arguments, hops=hops) if chains else None
    return dict(zip(chains, found or (), strict=False))


async def _trace(chain: Chain, ends: Sequence[Term], runtime: NodeRuntime) -> list[Path]:
    """Return the paths along a chain to some of its ends: known where it is one hop."""
    if chain.depth == 1:
        return [Path(chain.topic, ((chain.hops[0], end),)) for end in ends]
    found = (
        await trace_evidence(runtime, "trace_chain", **chain_arguments(chain), ends=ends) if ends else None
    )
    return [Path.of(chain, facts) for facts in found or () if facts]
