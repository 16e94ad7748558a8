"""How prompts draw a relation chain."""

from collections.abc import Sequence
from itertools import groupby

from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.prompts.base import quoted

MAX_CONSTRAINT_NAMES = 5


def draw_arrow(hop: Hop, target: str) -> str:
    """Draw one hop and what it leads to."""
    words = quoted(hop.words)[1:-1]
    return f"-{words}-> {target}" if hop.forward else f"<-{words}- {target}"


def draw_chain(chain: Chain) -> str:
    """Draw a chain, its nodes after the topic as numbered variables (CoR §3).

    >>> hops = (Hop("http://x/won_by"), Hop("http://x/starred", forward=False))
    >>> chain = Chain(Entity("http://x/a", "Best Actor"), hops)
    >>> draw_chain(chain)
    '"Best Actor" -won_by-> ?1 <-starred- ?2'
    >>> draw_chain(chain.constrained_to([Entity("http://x/f", "Ran")]))
    '"Best Actor" -won_by-> ?1 <-starred- ?2 (only "Ran")'
    """
    steps = (
        draw_arrow(hop, f"?{number}{_draw_constraint(entities)}")
        for number, (hop, entities) in enumerate(chain.steps, 1)
    )
    return " ".join([quoted(str(chain.topic)), *steps])


def _draw_constraint(entities: Sequence[Entity]) -> str:
    """Say which entities a node may be: the first with a name, and how many others.

    >>> _draw_constraint([Entity("_:a"), Entity("_:b")])
    ' (only 2 nodes without a name)'
    """
    if not entities:
        return ""
    names = sorted(entity.name for entity in entities if entity.name)[:MAX_CONSTRAINT_NAMES]
    more = len(entities) - len(names)
    if not names:
        return " (only a node without a name)" if more == 1 else f" (only {more} nodes without a name)"
    others = f" and {more} other{'s' * (more > 1)}" if more else ""
    return f" (only {', '.join(map(quoted, names))}{others})"


def draw_met(chains: Sequence[Chain]) -> list[str]:
    """Draw the chains of other topics that lead to the same candidates."""
    return [f"The candidates are also the ends of: {draw_chain(chain)}" for chain in chains]


def draw_awaited(topics: Sequence[Entity]) -> list[str]:
    """Name the topics that are brought together with a chain after it."""
    names = ", ".join(quoted(str(topic)) for topic in topics)
    return [f"Checked next, by themselves: {names}"] if names else []


def draw_extensions(chain: Chain, hops: Sequence[Hop]) -> list[str]:
    """Draw each hop as it continues the chain, from its last node on."""
    return [f"{_draw_end(chain)} {draw_arrow(hop, f'?{chain.depth + 1}')}" for hop in hops]


def draw_step(chain: Chain) -> str:
    """Draw the last hop of a chain, from the node before it on."""
    return f"{_draw_end(without_last_hop(chain))} {draw_hop(chain)}"


def draw_hop(chain: Chain) -> str:
    """Draw the last hop of a chain alone."""
    hop, entities = chain.steps[-1]
    return draw_arrow(hop, f"?{chain.depth}{_draw_constraint(entities)}")


def draw_head(chain: Chain) -> str:
    """Draw what a chain is held to before its last hop: an entity by name, else the way there."""
    before = without_last_hop(chain)
    if not before.hops:
        return quoted(str(chain.topic))
    (_, entities) = before.steps[-1]
    return quoted(entities[0].name) if len(entities) == 1 and entities[0].name else draw_chain(before)


def draw_entity(chain: Chain) -> str:
    """Draw the entity that a chain is held to, after the step that has led to it.

    >>> author = Chain(Entity("http://x/b", "Effi Briest"), (Hop("http://x/author"),))
    >>> draw_entity(author.constrained_to([Entity("http://x/f", "Fontane")]))
    '"Effi Briest" -author-> "Fontane"'
    """
    if not chain.hops:
        return quoted(str(chain.topic))
    hop, entities = chain.steps[-1]
    name = quoted(entities[0].name) if entities and entities[0].name else "a node without a name"
    return f"{draw_head(chain)} {draw_arrow(hop, name)}"


def draw_grouped_chains(offers: Sequence[Chain]) -> list[str]:
    """Number chains and draw the last hop of each, under a heading for the chain that it extends.

    Chains that extend the same one stand together.

    >>> ulm = Chain(Entity("http://x/u", "Ulm"), (Hop("http://x/born_in", forward=False),))
    >>> draw_grouped_chains([ulm.then(Hop("http://x/spouse")), ulm.then(Hop("http://x/wrote"))])
    ['From "Ulm" <-born_in- ?1:', '1. -spouse-> ?2', '2. -wrote-> ?2']
    """
    lines: list[str] = []
    for start, group in groupby(enumerate(offers, 1), lambda offer: without_last_hop(offer[1])):
        lines.append(f"From {draw_chain(start)}:")
        lines += [f"{number}. {draw_hop(chain)}" for number, chain in group]
    return lines


def without_last_hop(chain: Chain) -> Chain:
    """Return the chain without its last hop."""
    return chain.upto(chain.depth - 1)


def _draw_end(chain: Chain) -> str:
    return f"?{chain.depth}" if chain.hops else quoted(str(chain.topic))
