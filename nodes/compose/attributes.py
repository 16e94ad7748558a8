"""What the graph knows of the nodes on offered chains, for a query that is composed of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain as joined, islice, pairwise, zip_longest
from typing import NamedTuple

from kgqa.kg.terms import Chain, Entity, Hop, Term, plain_term
from kgqa.nodes.attributes import (
    Pairs,
    group_values,
    is_any,
    is_discriminative,
    likeliest,
    named_beside,
    order_types,
    read_attributes,
)
from kgqa.priors.candidate_ranking import hop_words
from kgqa.prompts.attributes import Mention
from kgqa.prompts.compose_query import OfferedAttribute, OfferedChain
from kgqa.runtime.node import NodeRuntime

MAX_NODES_READ = 6  # nodes with names that the chains pass or lead to

_Key = tuple[Chain, tuple[Hop, ...]]  # the chain to a node, and the hops of its attribute


class OfferedAttributes(NamedTuple):
    """What is known of the nodes on offered chains, as a prompt takes it."""

    attributes: tuple[OfferedAttribute, ...] = ()
    types: tuple[tuple[Term, Term], ...] = ()
    mentions: tuple[Mention, ...] = ()
    naming: Hop | None = None


async def offered_attributes(
    offered: Sequence[OfferedChain],
    hops: Mapping[Chain, Sequence[Hop]],
    wanted: str,
    question: str,
    topics: Sequence[Entity],
    runtime: NodeRuntime,
) -> OfferedAttributes:
    """Return what the nodes on the first chains have, the most similar to what is ``wanted`` first.

    What the question names is looked for near them, topics too. What takes too long is not known. ``hops``
    are known to lead on from some chains.
    """
    named = {str(topic): [plain_term(topic)] for topic in topics}
    if runtime.context.values:
        followed = [hop for each in offered for hop in each.chain.hops]
        named |= await named_beside(question, topics, followed, runtime)
    near = [term for terms in named.values() for term in terms]
    places = dict(islice(_readings(_in_turn(offered)).items(), MAX_NODES_READ))
    pages = await read_attributes(wanted, places, near, runtime, hops)
    groups: dict[_Key, Pairs] = {}
    for chain, page in pages.items():
        ends = list(dict.fromkeys(each.end for each in page.values))
        for (place, way), every in group_values(chain, {chain.hops: page}, None).items():
            node = chain.upto(place)
            pairs = [
                (owner, value)
                for owner, value in every
                if owner != value and chain.topic not in (owner, value)  # the way back
            ]
            read = list({owner for owner, _ in pairs}) if page.values.truncated else ends
            tells = is_discriminative(pairs, read) or any(is_any(value, near) for _, value in pairs)
            if way and pairs and tells and place in places[chain] and not _goes_on(node, way, offered):
                groups[node, way] = max(groups.get((node, way), []), pairs, key=_count_values)
    listed = _by_hops(groups)
    standing = {
        text: [
            (at, end) for at, each in enumerate(listed) for end, value in each.values if is_any(value, terms)
        ]
        for text, terms in named.items()
    }
    told = [{at for at, _ in found} for found in standing.values()]
    words = {at: hop_words(each.hops) for at, each in enumerate(listed)}
    between = {at for at, each in enumerate(listed) if each.nodes[0] not in pages}
    shown = {at: number for number, at in enumerate(await likeliest(words, told, between, wanted, runtime))}
    mentions = (
        Mention(text, tuple(named[text]), tuple({(shown[at], end): None for at, end in found if at in shown}))
        for text, found in standing.items()
        if found or not any(text.lower() in str(topic).lower() for topic in topics)
    )
    kinds = dict.fromkeys(pair for page in pages.values() for pair in page.types if runtime.context.types)
    types = await order_types([*kinds], wanted, runtime)
    naming = next((name.hops[0] for page in pages.values() for name in page.names), None)
    return OfferedAttributes(tuple(listed[at] for at in shown), types, tuple(mentions), naming)


def _count_values(pairs: Pairs) -> int:
    """Return how many values there are: by one chain through a node without a name more than by another."""
    return len({value for _, value in pairs})


def _by_hops(groups: Mapping[_Key, Pairs]) -> list[OfferedAttribute]:
    """Return what is known as attributes; nodes of different chains that have the same share one."""
    listed: list[OfferedAttribute] = []
    seen: set[frozenset[tuple[Term, Term]]] = set()
    for (node, hops), pairs in groups.items():
        alike = (at for at, each in enumerate(listed) if each.hops == hops and _is_beside(node, each.nodes))
        if (at := next(alike, None)) is not None:
            values = tuple(dict.fromkeys((*listed[at].values, *pairs)))
            listed[at] = OfferedAttribute((*listed[at].nodes, node), hops, values)
        elif frozenset(pairs) not in seen:  # an attribute and its inverse
            listed.append(OfferedAttribute((node,), hops, tuple(pairs)))
        seen.add(frozenset(pairs))
    return listed


def _goes_on(node: Chain, way: tuple[Hop, ...], offered: Sequence[OfferedChain]) -> bool:
    """Return whether every offered chain with a node goes on this way from it: its end tells the same."""
    chains = [each.chain for each in offered if each.chain.upto(node.depth) == node]
    return all(chain.hops[node.depth :][: len(way)] == way for chain in chains)


def _is_beside(node: Chain, others: Sequence[Chain]) -> bool:
    """Return whether a node is on other chains from the same topic than some nodes."""
    apart = all(each.upto(node.depth) != node and node.upto(each.depth) != each for each in others)
    return apart and node.topic == others[0].topic


def _in_turn(offered: Sequence[OfferedChain]) -> Iterator[OfferedChain]:
    """Yield chains from one topic after the other: what a question names last has a condition, too."""
    by_topic: dict[Entity, list[OfferedChain]] = {}
    for each in offered:
        by_topic.setdefault(each.chain.topic, []).append(each)
    yield from filter(None, joined.from_iterable(zip_longest(*by_topic.values())))


def _readings(offered: Iterable[OfferedChain]) -> dict[Chain, tuple[int, ...]]:
    """Return chains to nodes with names, and the places of which each is read: its end, and mediators before.

    What a mediator has is told by the node with a name that it leads to.
    """
    read: dict[Chain, tuple[int, ...]] = {}
    for each in offered:
        bounds = (0, *each.named, each.chain.depth)
        for begin, end in pairwise(bounds):
            read.setdefault(each.chain.upto(end), tuple(range(begin + 1, end + 1)))
    return read
