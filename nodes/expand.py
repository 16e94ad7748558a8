"""Expand: what is at the end of the chain? (CoR §4.2, step 1: entity retrieval)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Candidate, ChainResult
from kgqa.kg.terms import Chain, Term
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, State, Update, VerifiedChain, known_extensions
from kgqa.tools.arguments import chain_arguments


@node("expand")
async def expand(state: State, runtime: NodeRuntime) -> Update:
    """Follow the chain, its nodes between left as variables, to all its candidates.

    Unless it is as deep as allowed, the same query tells what leads on from there.
    Where another topic's chain has been verified, only the ends that both chains
    share are candidates. A time-out is no empty result: it turns back.
    """
    chain = state["chain"]
    runtime.trace["chain"] = str(chain)
    try:
        visit = await visit_chain(chain, chain.depth < runtime.context.depth, runtime)
        candidates, cut = list(visit.ends.items), visit.ends.truncated
        for branch in state["memory"]:
            candidates, cut = await _intersect(candidates, cut, branch, chain, runtime)
    except (KGTimeout, KGRejected) as error:
        runtime.record_failure(error)
        return {"candidates": [], "truncated": False, "decision": "backtrack"}
    runtime.trace |= {"ends": len(visit.ends), "candidates": len(candidates), "truncated": cut}
    leads = updated_leads([chain], [visit], state)
    return {"candidates": candidates, "truncated": cut, "leads": leads, "decision": "forward"}


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
        ends = await _ends_reached(branch.chain, [c.term for c in candidates], runtime)
    return [c for c in candidates if c.term in ends], cut


async def _ends_reached(chain: Chain, ends: Sequence[Term], runtime: NodeRuntime) -> set[Term]:
    reached: set[Term] = await runtime.call_tool("check_ends", **chain_arguments(chain), ends=list(ends))
    return reached
