"""Retrieve relations: what can follow the current chain? (CoR §4.1, step 1)."""

from collections.abc import Mapping, Sequence

from kgqa.kg.dialects import describes_data
from kgqa.kg.terms import Chain, Hop
from kgqa.nodes.look_again import remaining_points
from kgqa.priors.candidate_ranking import relation_words
from kgqa.prompts.chain import Extension
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, State, Update, node_has_run
from kgqa.tools.arguments import chain_arguments, extended_chain_arguments

MAX_OFFERED_RELATIONS = 500  # offers of one prompt at most; both directions keep their share


@node("retrieve_relations")
async def retrieve_relations(state: State, runtime: NodeRuntime) -> Update:
    """Offer the relations that extend the chain, in either direction; the graph is asked if need be.

    One that leads to nodes without a name is offered together with those that lead on from there
    (``cross_mediators``), and what describes the database is left out (``hide_noise``).
    A second look leaves out what was tried, unless the search went on from there.
    """
    chain = state["chain"]
    runtime.trace["chain"] = str(chain)
    nothing: Update = {"extensions": [], "resume_points": remaining_points(state), "decision": "backtrack"}
    lead = next((lead for lead in state["leads"] if lead.chain == chain), None)
    if lead is None:
        page = await runtime.try_tool("extend_chain", **chain_arguments(chain))
        if page is None:
            return nothing
        lead = KnownExtensions(chain, page.items, page.truncated)
    again = node_has_run(state, "look_again")
    tried = {*state["tried"]} - {*state["resume_points"]} if again else set()
    every = await list_extensions({chain: lead.hops}, runtime)
    extensions = limit_extensions([each for each in every if each.chain not in tried])
    runtime.trace |= {"relations": len(every), "offered": len(extensions), "truncated": lead.truncated}
    return {"extensions": extensions, "decision": "forward"} if extensions else nothing


async def list_extensions(known: Mapping[Chain, Sequence[Hop]], runtime: NodeRuntime) -> list[Extension]:
    """Return how some chains can go on, by the hops that are known to leave each.

    Where the graph does not say in time what is behind nodes without a name, by each hop alone.
    """
    context = runtime.context
    left = {
        chain: [hop for hop in hops if not (context.hide_noise and describes_data(hop))]
        for chain, hops in known.items()
    }
    ways: dict[Chain, Sequence[tuple[Hop, ...]]] = {
        chain: [(hop,) for hop in hops] for chain, hops in left.items()
    }
    near = [chain for chain, hops in left.items() if hops and chain.depth + 2 <= context.depth]
    if context.cross_mediators and near:
        arguments = [extended_chain_arguments(chain, left[chain]) for chain in near]
        if found := await runtime.try_tool("cross_mediators", chains=arguments):
            ways |= dict(zip(near, found, strict=True))
    return [
        Extension(chain, way)
        for chain, those in ways.items()
        for way in those
        if not (context.hide_noise and describes_data(way[-1]))
    ]


def extension_words(offer: Extension) -> str:
    """Write the relations of an offer as an encoder reads them."""
    return " ".join(relation_words(hop.words) for hop in offer.hops)


def limit_extensions(offers: Sequence[Extension], most: int = MAX_OFFERED_RELATIONS) -> list[Extension]:
    """Cut to the most that are offered so that neither direction crowds out the other."""
    ahead = [each for each in offers if each.hops[0].forward]
    back = [each for each in offers if not each.hops[0].forward]
    kept_back = min(len(back), max(most // 2, most - len(ahead)))
    kept = {*ahead[: most - kept_back], *back[:kept_back]}
    return [each for each in offers if each in kept]
