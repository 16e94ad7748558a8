"""Retrieve relations: what can follow the chain at hand? (CoR §4.1, step 1)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Hop
from kgqa.session.state import State, Update
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments

OFFERED = 500
"""Relations that one prompt offers at most; both directions keep their share."""


@step("retrieve_relations")
async def retrieve_relations(state: State, run: Run) -> Update:
    """Ask the graph which relations extend the chain, in either direction."""
    chain = state["chain"]
    run.note["chain"] = str(chain)
    try:
        page: Page[Hop] = await run.use("extend_chain", **chain_arguments(chain))
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {"hops": [], "decision": "backtrack"}
    hops = fair_share(page.items)
    run.note |= {"relations": len(page), "offered": len(hops), "truncated": page.truncated}
    return {"hops": hops, "decision": "forward" if hops else "backtrack"}


def fair_share(hops: Sequence[Hop], most: int = OFFERED) -> list[Hop]:
    """Cut to the most that are offered so that neither direction crowds out the other."""
    ahead = [hop for hop in hops if hop.forward]
    back = [hop for hop in hops if not hop.forward]
    kept_back = min(len(back), max(most // 2, most - len(ahead)))
    kept = {*ahead[: most - kept_back], *back[:kept_back]}
    return [hop for hop in hops if hop in kept]
