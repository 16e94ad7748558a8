"""Retrieve relations: what can follow the current chain? (CoR §4.1, step 1)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from kgqa.kg.terms import Chain, Hop, one_line
from kgqa.nodes.look_again import remaining_points
from kgqa.priors.candidate_ranking import relation_words
from kgqa.prompts.chain import Extension, extend
from kgqa.prompts.pick_relations import PickRelations
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, OutrightChain, State, Update, node_has_run
from kgqa.tools.arguments import chain_arguments, describes_data, extended_chain_arguments

P = TypeVar("P", PruneRelations, PickRelations)
Ask = Callable[[Any], Awaitable[Any]]

MAX_LOOKED_UP = 15  # offers that are shown where a relation is missing: those most alike to its words
LIKENESS_DECIMALS = 6  # decimals by which likenesses are compared

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
    offered, withheld = await list_extensions({chain: lead.hops}, runtime)
    offered, withheld = ([x for x in some if x.chain not in tried] for some in (offered, withheld))
    shown, others = limit_extensions(offered or withheld)
    runtime.trace |= {"relations": len(lead.hops), "offered": len(shown), "truncated": lead.truncated}
    if not shown:
        return nothing
    return {"extensions": shown, "withheld": [*others, *(withheld if offered else [])], "decision": "forward"}


async def list_extensions(
    known: Mapping[Chain, Sequence[Hop]], runtime: NodeRuntime
) -> tuple[list[Extension], list[Extension]]:
    """Return how some chains can go on, by the hops that are known to leave each, and what describes data.

    Where the graph does not say in time what is behind nodes without a name, by each hop alone.
    """
    context = runtime.context
    every = [extend(chain, hop) for chain, hops in known.items() for hop in hops]
    noise = [each for each in every if context.hide_noise and describes_data(each.hops[0])]
    left = [each for each in every if each not in noise]
    near = dict.fromkeys(each.start for each in left if each.start.depth + 2 <= context.depth)
    if context.cross_mediators and near:
        hops = [[each.hops[0] for each in left if each.start == chain] for chain in near]
        arguments, paired = list(map(extended_chain_arguments, near, hops)), context.pair_inverses
        if found := await runtime.try_tool("cross_mediators", chains=arguments, pair_inverses=paired):
            longer = (extend(chain, *way) for chain, ways in zip(near, found, strict=True) for way in ways)
            left = [*longer, *(each for each in left if each.start not in near)]
            noise += [each for each in left if context.hide_noise and describes_data(each.hops[-1])]
    return [each for each in left if each not in noise], noise


async def likest_extensions(
    offers: Sequence[Extension], words: str, runtime: NodeRuntime
) -> tuple[Extension, ...]:
    """Return the offers that are most alike to what a relation is called."""
    rows = await runtime.encode([*map(extension_words, offers), words])
    likeness = rows[:-1] @ rows[-1]
    best = sorted(range(len(offers)), key=lambda at: -round(float(likeness[at]), LIKENESS_DECIMALS))
    return tuple(offers[at] for at in best[:MAX_LOOKED_UP])


class Choice(NamedTuple):
    """What the model has chosen of some offers, and what it says comes after that."""

    offers: list[Extension]
    outright: OutrightChain | None


async def choose_extensions(
    prompt: P, withheld: Sequence[Extension], runtime: NodeRuntime, ask: Ask | None = None
) -> Choice | None:
    """Return what the model chooses; None where its reply is malformed.

    Where it says that a relation is missing, what was withheld and is most alike is shown once.
    """
    ask = ask or runtime.ask
    prompt = replace(prompt, missing=bool(withheld) and runtime.context.missing_relations)
    reply = await ask(prompt)
    if prompt.missing and reply is not None and not reply.relations and reply.missing:
        runtime.trace["missing"] = one_line(reply.missing)
        others = await likest_extensions(withheld, reply.missing, runtime)
        prompt = replace(prompt, offers=others, missing=False)
        reply = await ask(prompt)
    if reply is None:
        return None
    runtime.trace["reason"] = reply.rationale
    chosen = [prompt.offers[number - 1] for number in reply.relations]
    if not (chosen and prompt.outright and reply.then):
        return Choice(chosen, None)
    first, *beside = [each.chain for each in chosen]
    return Choice(chosen, OutrightChain(first, reply.then, tuple(beside)))


def reached_names(chain: Chain, state: State) -> tuple[str, ...]:
    """Return some names of what a chain has led to, where it was visited."""
    return next((lead.names for lead in state["leads"] if lead.chain == chain), ())


def extension_words(offer: Extension) -> str:
    """Write the relations of an offer as an encoder reads them."""
    return " ".join(relation_words(hop.words) for hop in offer.hops)


def limit_extensions(
    offers: Sequence[Extension], most: int = MAX_OFFERED_RELATIONS
) -> tuple[list[Extension], list[Extension]]:
    """Part the most that are offered from the others, so that neither direction crowds out the other."""
    ahead = [each for each in offers if each.hops[0].forward]
    back = [each for each in offers if not each.hops[0].forward]
    kept_back = min(len(back), max(most // 2, most - len(ahead)))
    kept = {*ahead[: most - kept_back], *back[:kept_back]}
    return [each for each in offers if each in kept], [each for each in offers if each not in kept]
