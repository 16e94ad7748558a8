"""Answer: what is found, how it is proved, what it has cost."""

from kgqa.kg.errors import KGError
from kgqa.kg.terms import Chain, Path, Term, Triple
from kgqa.nodes.record import MAX_EVIDENCE_ANSWERS, answer_without_proof, complete_record, failure_outcome
from kgqa.runtime.node import BudgetExceeded, NodeRuntime, node
from kgqa.runtime.record import VARIABLE_REF, Fact, PathStep, Ref, fact, ref
from kgqa.runtime.state import FinalUpdate, KnownExtensions, State, Update, VerifiedChain
from kgqa.tools.arguments import chain_arguments


@node("answer")
async def answer(state: State, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record from working memory, or from the model where that is empty.

    When the budget ran out, candidates that were not judged yet are the evidence
    at hand. When the search has found nothing, the model may answer from memory
    (``allow_parametric``), and the record says ``parametric``. After a time-out only what was judged
    to be enough is an answer: a choice from what is left may miss the right one.
    """
    branches = state.get("memory") or _unjudged_branches(state)
    judged = bool(branches) and branches[-1].verdict != "infer"
    found = branches and not (state.get("outcome") if judged else failure_outcome(state))
    return complete_record(
        await (_prove_answers(branches, state, runtime) if found else answer_without_proof(state, runtime)),
        state,
        runtime,
    )


async def _prove_answers(branches: list[VerifiedChain], state: State, runtime: NodeRuntime) -> Update:
    last = branches[-1]
    answers: list[Term] = [last.value] if last.value else list(last.ends)
    proved = (last.value,) if last.value in last.ends else last.ends
    paths: list[list[PathStep]] = []
    evidence: list[Fact] = []
    for branch in branches:
        known = _known_facts(branch, proved[:MAX_EVIDENCE_ANSWERS], state["leads"])
        traced = known or await _trace_facts(branch.chain, proved[:MAX_EVIDENCE_ANSWERS], runtime)
        paths.append(_draw_chain(branch.chain, traced, proved))
        evidence += [fact(triple) for path in traced for triple in path]
    unique = {(f["head"]["id"], f["relation"], f["tail"]["id"]): f for f in evidence}
    return {
        "answers": list({(term.id, term.name): ref(term) for term in answers}.values()),
        "outcome": "grounded_inference" if last.verdict == "infer" else "grounded",
        "paths": paths,
        "evidence": list(unique.values()),
    }


def _known_facts(
    branch: VerifiedChain, ends: tuple[Term, ...], leads: list[KnownExtensions]
) -> list[tuple[Triple, ...]]:
    """Return the facts behind ends where there is one node on the way after each hop: no need to ask."""
    chain, nodes = branch.chain, {lead.chain: lead.node for lead in leads}
    way = [node for depth in range(1, chain.depth) if (node := nodes.get(chain.upto(depth)))]
    if len(way) + 1 < chain.depth or not {*ends} <= {*branch.ends}:
        return []
    return [Path(chain.topic, tuple(zip(chain.hops, (*way, end), strict=True))).triples for end in ends]


async def _trace_facts(
    chain: Chain, ends: tuple[Term, ...], runtime: NodeRuntime
) -> list[tuple[Triple, ...]]:
    try:
        paths: list[tuple[Triple, ...]] = await runtime.call_tool(
            "trace_chain", **chain_arguments(chain), ends=ends
        )
    except (BudgetExceeded, KGError) as error:
        runtime.trace["evidence"] = f"left out: {error}"
        if isinstance(error, BudgetExceeded):
            runtime.trace["limit"] = error.limit
        return []
    return paths


def _draw_chain(chain: Chain, traced: list[tuple[Triple, ...]], ends: tuple[Term, ...]) -> list[PathStep]:
    """Draw the chain; a node on the way is named where all answers share it."""
    nodes = [ref(chain.topic), *(_shared_node(traced, ends, chain, at) for at in range(chain.depth))]
    return [
        {"head": nodes[at], "relation": hop.relation, "forward": hop.forward, "tail": nodes[at + 1]}
        for at, hop in enumerate(chain.hops)
    ]


def _shared_node(traced: list[tuple[Triple, ...]], ends: tuple[Term, ...], chain: Chain, at: int) -> Ref:
    if len(traced) < len(ends) or not all(traced):
        return VARIABLE_REF
    forward = chain.hops[at].forward
    nodes = {path[at].tail if forward else path[at].head for path in traced}
    return ref(nodes.pop()) if len(nodes) == 1 else VARIABLE_REF


def _unjudged_branches(state: State) -> list[VerifiedChain]:
    """Return the ends of a chain that the budget left unjudged."""
    named = tuple(c.term for c in state.get("candidates", []) if c.term.name)
    return [VerifiedChain(state["chain"], named, "filter")] if named and state.get("stopped_by") else []
