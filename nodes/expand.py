"""Expand: what is at the end of the chain? (CoR §4.2, step 1: entity retrieval)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Term
from kgqa.session.state import Branch, State, Update
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments


@step("expand")
async def expand(state: State, run: Run) -> Update:
    """Follow the chain, its nodes between left as variables, to all its candidates.

    Where another topic's chain has been verified, only the ends that both chains
    share are candidates. A time-out is no empty result: it turns back.
    """
    chain = state["chain"]
    run.note["chain"] = str(chain)
    try:
        page: Page[Candidate] = await run.use("follow_chain", **chain_arguments(chain))
        candidates, cut = list(page.items), page.truncated
        for branch in state["memory"]:
            candidates, cut = await _meeting(candidates, cut, branch, chain, run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {"candidates": [], "truncated": False, "decision": "backtrack"}
    run.note |= {"ends": len(page), "candidates": len(candidates), "truncated": cut}
    return {"candidates": candidates, "truncated": cut, "decision": "forward"}


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
