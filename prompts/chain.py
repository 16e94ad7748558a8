"""How prompts draw a relation chain."""

from collections.abc import Sequence

from kgqa.kg.terms import Chain, Hop
from kgqa.prompts.base import quoted


def arrow(hop: Hop, target: str) -> str:
    """Draw one hop and what it leads to."""
    words = quoted(hop.words)[1:-1]
    return f"-{words}-> {target}" if hop.forward else f"<-{words}- {target}"


def draw(chain: Chain) -> str:
    """Draw a chain, its nodes after the topic as numbered variables (CoR §3).

    >>> from kgqa.kg.terms import Entity
    >>> hops = (Hop("http://x/won_by"), Hop("http://x/starred", forward=False))
    >>> draw(Chain(Entity("http://x/a", "Best Actor"), hops))
    '"Best Actor" -won_by-> ?1 <-starred- ?2'
    """
    steps = (arrow(hop, f"?{number}") for number, hop in enumerate(chain.hops, 1))
    return " ".join([quoted(str(chain.topic)), *steps])


def draw_extensions(chain: Chain, hops: Sequence[Hop]) -> list[str]:
    """Draw each hop as it continues the chain, from its last node on."""
    last = f"?{chain.depth}" if chain.hops else quoted(str(chain.topic))
    return [f"{last} {arrow(hop, f'?{chain.depth + 1}')}" for hop in hops]
