"""Expand: what is at the end of the chain? (CoR §4.2, step 1: entity retrieval)."""

from collections.abc import Sequence
from typing import cast

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Candidate, ChainResult
from kgqa.kg.terms import Chain, Term
from kgqa.nodes.cog.state import CoGState
from kgqa.prompts.candidates import ChainFindings
from kgqa.prompts.chain import without_last_hop
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, State, Update, VerifiedChain, known_extensions
from kgqa.tools.arguments import chain_arguments

MAX_SIBLINGS = 4  # chains chosen beside the one at hand that are visited with it at most


@node("expand")
async def expand(state: State, runtime: NodeRuntime) -> Update:
    """Follow the chain, its nodes between left as variables, to all its candidates.

    Unless it is as deep as allowed, the same query tells what leads on from there. Chains that were chosen
    beside it and wait are followed as well (``unite``); where one cannot be that the model has said to be the
    answer with it, it has said nothing.
    Where another topic's chain has been verified, only the ends that both chains
    share are candidates. A time-out is no empty result: it turns back.
    """
    chain = state["chain"]
    runtime.trace["chain"] = str(chain)
    try:
        visit = await visit_chain(chain, chain.depth < runtime.context.depth, runtime)
        met = await _meet_memory(chain, visit, state, runtime)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        return {"candidates": [], "truncated": False, "decision": "backtrack"}
    candidates, cut = list(met.ends), met.truncated
    runtime.trace |= {"ends": len(visit.ends), "candidates": len(candidates), "truncated": cut}
    beside, whole = await _visit_siblings(state, runtime)
    return {
        **({} if whole else {"outright": None}),
        "candidates": candidates,
        "truncated": cut,
        "siblings": beside,
        "leads": updated_leads([chain], [visit], state),
        "decision": "forward",
    }


async def _visit_siblings(state: State, runtime: NodeRuntime) -> tuple[list[ChainFindings], bool]:
    """Return what chains that wait, chosen beside the one at hand, lead to; one query for all of them.

    And whether all were followed that the model has said to be the answer with it.
    """
    chain, before, said = state["chain"], without_last_hop(state["chain"]), state["outright"]
    beside = said.beside if said and said.chain == chain else ()
    pruned = cast(CoGState, state).get("pruned", [])
    waiting = [*reversed(state["stack"]), *(each.chain for each in pruned if each.waiting)]
    alike = [each for each in dict.fromkeys(waiting) if each in beside or without_last_hop(each) == before]
    chains = [each for each in alike if each != chain]
    chains = [each for each in chains if not each.constraints][:MAX_SIBLINGS]
    united = {*beside} if said and said.decision != "forward" and runtime.context.unite else set()
    if not (chains and runtime.context.unite):
        return [], not united
    arguments = [chain_arguments(each) for each in chains]
    visits = await runtime.try_tool("visit_chains", chains=arguments, hops=False) or ()
    met = [await _meet_memory(each, v, state, runtime) for each, v in zip(chains, visits, strict=False)]
    found = [each for each in met if each.named]
    runtime.trace["siblings"] = [f"{each.chain}: {len(each.ends)}" for each in found]
    return found, united <= {*chains[: len(visits)]}


async def _meet_memory(chain: Chain, visit: ChainResult, state: State, runtime: NodeRuntime) -> ChainFindings:
    """Return the ends of a chain that the branches in memory have as well."""
    candidates, cut = list(visit.ends.items), visit.ends.truncated
    for branch in state["memory"]:
        candidates, cut = await _intersect(candidates, cut, branch, chain, runtime)
    return ChainFindings(chain, tuple(candidates), cut)


def updated_leads(
    chains: Sequence[Chain], visits: Sequence[ChainResult | None], state: State
) -> list[KnownExtensions]:
    """Return what leads on from the topics, on the way along chains or verified ones, and from visits."""
    stand = [*chains, *(branch.chain for branch in state["memory"])]
    passed = {each.upto(depth) for each in stand for depth in range(1, each.depth)}
    kept = [lead for lead in state["leads"] if not lead.chain.hops or lead.chain in passed]
    pairs = zip(chains, visits, strict=True)
    return [*kept, *(known_extensions(chain, visit) for chain, visit in pairs if visit and len(visit.hops))]


async def visit_chain(chain: Chain, hops: bool, runtime: NodeRuntime) -> ChainResult:
    """Visit a chain; where that is too much at once, its ends alone."""
    try:
        visits: list[ChainResult] = await runtime.call_tool(
            "visit_chains", chains=[chain_arguments(chain)], hops=hops
        )
    except (KGTimeout, KGRejected):
        if not hops:
            raise
        return await visit_chain(chain, False, runtime)
    return visits[0]


async def _intersect(
    candidates: list[Candidate], cut: bool, branch: VerifiedChain, chain: Chain, runtime: NodeRuntime
) -> tuple[list[Candidate], bool]:
    """Return the candidates that are ends of a branch, too; a list that was cut is looked up in the graph."""
    if cut and not branch.truncated:
        reached = await _ends_reached(chain, branch.ends, runtime)
        return [Candidate(end) for end in branch.ends if end in reached], False
    ends = set(branch.ends)
    if not cut and branch.truncated:
        ends = set()
        for each in branch.chains:
            ends |= await _ends_reached(each, [c.term for c in candidates], runtime)
    return [c for c in candidates if c.term in ends], cut


async def _ends_reached(chain: Chain, ends: Sequence[Term], runtime: NodeRuntime) -> set[Term]:
    return set(await runtime.call_tool("check_ends", **chain_arguments(chain), ends=list(ends)))
