"""Retrieve relations: what can follow the chain at hand? (CoR §4.1, step 1)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Chain, Hop
from kgqa.nodes.look_again import points_left
from kgqa.session.state import Lead, State, Update, has_run
from kgqa.session.step import Run, step
from kgqa.tools.arguments import chain_arguments

OFFERED = 500
"""Relations that one prompt offers at most; both directions keep their share."""


@step("retrieve_relations")
async def retrieve_relations(state: State, run: Run) -> Update:
    """Offer the relations that extend the chain, in either direction; the graph is asked if need be.

    A second look leaves out what was tried, unless the search went on from there.
    """
    chain = state["chain"]
    run.note["chain"] = str(chain)
    try:
        lead = await _lead(chain, state["leads"], run)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {"hops": [], "points": points_left(state), "decision": "backtrack"}
    again = has_run(state, "look_again")
    tried = {*state["tried"]} - {*state["points"]} if again else set()
    hops = fair_share([hop for hop in lead.hops if chain.then(hop) not in tried])
    run.note |= {"relations": len(lead.hops), "offered": len(hops), "truncated": lead.truncated}
    if not hops:
        return {"hops": [], "points": points_left(state), "decision": "backtrack"}
    return {"hops": hops, "decision": "forward"}


async def _lead(chain: Chain, known: Sequence[Lead], run: Run) -> Lead:
    """Give what leads on from a chain; the graph is asked for what is not at hand.

    Raises:
        KGError: if it fails or refuses.
    """
    for lead in known:
        if lead.chain == chain:
            return lead
    page: Page[Hop] = await run.use("extend_chain", **chain_arguments(chain))
    return Lead(chain, page.items, page.truncated)


def fair_share(hops: Sequence[Hop], most: int = OFFERED) -> list[Hop]:
    """Cut to the most that are offered so that neither direction crowds out the other."""
    ahead = [hop for hop in hops if hop.forward]
    back = [hop for hop in hops if not hop.forward]
    kept_back = min(len(back), max(most // 2, most - len(ahead)))
    kept = {*ahead[: most - kept_back], *back[:kept_back]}
    return [hop for hop in hops if hop in kept]
