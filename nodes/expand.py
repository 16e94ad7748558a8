"""Expand: what is at the end of the chain? (CoR §4.2, step 1: entity retrieval)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Candidate, Visit
from kgqa.kg.terms import Chain, Term
from kgqa.session.state import Branch, Lead, State, Update, lead_of
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments


@step("expand")
async def expand(state: State, run: Run) -> Update:
    """Follow the chain, its nodes between left as variables, to all its candidates.

    Unless it is as deep as allowed, the same query tells what leads on from there.
    Where another topic's chain has been verified, only the ends that both chains
    share are candidates. A time-out is no empty result: it turns back.
    """
    chain = state["chain"]
    run.note["chain"] = str(chain)
    try:
        visit = await visited(chain, chain.depth < run.context.depth, run)
        candidates, cut = list(visit.ends.items), visit.ends.truncated
        for branch in state["memory"]:
            candidates, cut = await _meeting(candidates, cut, branch, chain, run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {"candidates": [], "truncated": False, "decision": "backtrack"}
    run.note |= {"ends": len(visit.ends), "candidates": len(candidates), "truncated": cut}
    leads = [*behind([chain], state), *([lead_of(chain, visit)] if len(visit.hops) else [])]
    return {"candidates": candidates, "truncated": cut, "leads": leads, "decision": "forward"}


def behind(chains: Sequence[Chain], state: State) -> list[Lead]:
    """Give the leads of the topics, and of what is on the way along chains or verified ones."""
    stand = [*chains, *(branch.chain for branch in state["memory"])]
    ways = {each.upto(depth) for each in stand for depth in range(1, each.depth)}
    return [lead for lead in state["leads"] if not lead.chain.hops or lead.chain in ways]


async def visited(chain: Chain, hops: bool, run: Run) -> Visit:
    """Visit a chain; where that is too much at once, its ends alone.

    Raises:
        KGError: if the graph fails or refuses.
    """
    try:
        (visit,) = await run.use("visit_chains", chains=[chain_arguments(chain)], hops=hops)
    except (KGTimeout, KGRejected):
        if not hops:
            raise
        return await visited(chain, False, run)
    return visit  # type: ignore[no-any-return]


async def _meeting(
    candidates: list[Candidate], cut: bool, branch: Branch, chain: Chain, run: Run
) -> tuple[list[Candidate], bool]:
    """Give the candidates that are ends of a branch, too; a list that was cut is looked up in the graph."""
    if not cut and branch.truncated:
        reached = await _reached(branch.chain, [c.term for c in candidates], run)
        return [c for c in candidates if c.term in reached], False
    if cut and not branch.truncated:
        reached = await _reached(chain, branch.ends, run)
        return [Candidate(end) for end in branch.ends if end in reached], False
    ends = set(branch.ends)
    return [c for c in candidates if c.term in ends], cut


async def _reached(chain: Chain, ends: Sequence[Term], run: Run) -> set[Term]:
    paths = await run.use("trace_chain", **chain_arguments(chain), ends=list(ends))
    return {end for end, path in zip(ends, paths, strict=True) if path}
