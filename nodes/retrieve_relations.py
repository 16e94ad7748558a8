"""Retrieve relations: what can follow the current chain? (CoR §4.1, step 1)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any, NamedTuple, TypeVar

from kgqa.kg.dialects import describes_data
from kgqa.kg.terms import Chain, Hop, one_line
from kgqa.nodes.look_again import count_second_look, remaining_points
from kgqa.nodes.similarity import MIN_MISSING_SIMILARITY, most_similar, similarity
from kgqa.priors.candidate_ranking import hop_words
from kgqa.prompts.chain import Extension, extend
from kgqa.prompts.pick_relations import PickRelations
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import KnownExtensions, OutrightChain, State, Update, node_has_run
from kgqa.tools.arguments import chain_arguments, extended_chain_arguments

P = TypeVar("P", PruneRelations, PickRelations)
Ask = Callable[[Any], Awaitable[Any]]

MAX_LOOKED_UP = 15  # offers that are shown where a relation is missing: those most alike to its words
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
    offered, hidden = await list_extensions({chain: lead.hops}, runtime)
    offered, hidden = ([x for x in some if x.chain not in tried] for some in (offered, hidden))
    shown, others = limit_extensions(offered or hidden)
    runtime.trace |= {"relations": len(lead.hops), "offered": len(shown), "truncated": lead.truncated}
    if not shown:
        return nothing
    hidden = [*others, *(hidden if offered else [])]
    return {**count_second_look(state), "extensions": shown, "hidden": hidden, "decision": "forward"}


async def list_extensions(
    known: Mapping[Chain, Sequence[Hop]], runtime: NodeRuntime
) -> tuple[list[Extension], list[Extension]]:
    """Return how some chains can go on, by the hops that are known to leave each, and what describes data.

    Where the graph does not say in time what is behind nodes without a name, by each hop alone.
    """
    context = runtime.context

    def is_noise(hop: Hop) -> bool:
        return context.hide_noise and describes_data(hop)

    left = {chain: [hop for hop in hops if not is_noise(hop)] for chain, hops in known.items()}
    noise = [extend(chain, hop) for chain, hops in known.items() for hop in hops if is_noise(hop)]
    near = {chain: hops for chain, hops in left.items() if hops and chain.depth + 2 <= context.depth}
    ways: dict[Chain, Sequence[Sequence[Hop]]] = {}
    if context.cross_mediators and near:
        arguments, paired = list(starmap(extended_chain_arguments, near.items())), context.pair_inverses
        found = await runtime.try_tool("cross_mediators", chains=arguments, pair_inverses=paired)
        ways |= zip(near, found, strict=True) if found else ()
    ways |= {chain: [(hop,) for hop in hops] for chain, hops in left.items() if chain not in ways}
    offers: list[Extension] = []
    for chain, way in ((chain, way) for chain, some in ways.items() for way in some):
        (noise if is_noise(way[-1]) else offers).append(extend(chain, *way))
    return offers, noise


class Choice(NamedTuple):
    """What the model has chosen of some offers, and what it says comes after that."""

    offers: list[Extension]
    outright: OutrightChain | None
    names_missing: bool = False  # whether it has said that a relation is missing


async def choose_extensions(
    prompt: P, hidden: Sequence[Extension], runtime: NodeRuntime, ask: Ask | None = None
) -> Choice | None:
    """Return what the model chooses; None where its reply is malformed.

    Where it says that a relation is missing, what was hidden and is most alike is shown once: of what
    describes the database only what may be it.
    """
    ask = ask or runtime.ask
    prompt = replace(prompt, missing=bool(hidden) and runtime.context.missing_relations)
    reply = await ask(prompt)
    if prompt.missing and reply is not None and not reply.relations and reply.missing:
        runtime.trace["missing"] = one_line(reply.missing)
        texts = [hop_words(offer.hops) for offer in hidden]
        likes = await similarity(texts, reply.missing, runtime, "encoder")
        found = tuple(
            hidden[at]
            for at in most_similar(likes, MAX_LOOKED_UP)
            if likes[at] >= MIN_MISSING_SIMILARITY or not describes_data(hidden[at].hops[-1])
        )
        if not found:
            return Choice([], None, names_missing=True)
        prompt = replace(prompt, offers=found, missing=False, looked_for=reply.missing)
        reply = await ask(prompt)
    if reply is None:
        return None
    runtime.trace["reason"] = reply.rationale
    chosen = [prompt.offers[number - 1] for number in reply.relations]
    if not (chosen and prompt.outright and reply.then):
        return Choice(chosen, None, names_missing=bool(prompt.looked_for))
    first, *beside = [each.chain for each in chosen]
    return Choice(chosen, OutrightChain.said(first, reply.then, tuple(beside)))


def reached_names(chain: Chain, state: State) -> tuple[str, ...]:
    """Return some names of what a chain has led to, where it was visited."""
    return next((lead.names for lead in state["leads"] if lead.chain == chain), ())


def limit_extensions(
    offers: Sequence[Extension], most: int = MAX_OFFERED_RELATIONS
) -> tuple[list[Extension], list[Extension]]:
    """Part the most that are offered from the others, so that neither direction crowds out the other."""
    ahead = [each for each in offers if each.hops[0].forward]
    back = [each for each in offers if not each.hops[0].forward]
    kept_back = min(len(back), max(most // 2, most - len(ahead)))
    kept = {*ahead[: most - kept_back], *back[:kept_back]}
    return [each for each in offers if each in kept], [each for each in offers if each not in kept]
