"""Expand: what is at the end of the chain? (CoR §4.2, step 1: entity retrieval)."""

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Candidate, Page
from kgqa.session.state import State, Update
from kgqa.session.step import Run, step
from kgqa.tools.arguments import hop_argument


@step("expand")
async def expand(state: State, run: Run) -> Update:
    """Follow the chain, its nodes between left as variables, to all its candidates.

    Where another topic's chain has been verified, only the ends that both chains
    share are candidates. A time-out is no empty result: it turns back.
    """
    chain = state["chain"]
    run.note["chain"] = str(chain)
    try:
        page: Page[Candidate] = await run.use(
            "follow_chain", topic=chain.topic.id, hops=[hop_argument(hop) for hop in chain.hops]
        )
    except (KGTimeout, KGRejected) as error:
        run.note["error"] = f"{type(error).__name__}: {error}"
        return {"candidates": [], "truncated": False, "decision": "backtrack"}
    met = [set(branch.ends) for branch in state["memory"]]
    candidates = [c for c in page if all(c.term in ends for ends in met)]
    run.note |= {"ends": len(page), "candidates": len(candidates), "truncated": page.truncated}
    return {"candidates": candidates, "truncated": page.truncated, "decision": "forward"}
