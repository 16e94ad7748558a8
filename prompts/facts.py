"""How prompts show the facts that a search has met, and the relations that lead on from its frontier."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.kg.terms import Hop, Path, Term
from kgqa.prompts.base import numbered, quoted
from kgqa.prompts.chain import arrow
from kgqa.prompts.plans import Statement

FACTS = 60
"""Facts that one prompt shows at most."""

HEADS = 3
"""Entities of the frontier that one line names at most."""

UNNAMED = "(a node without a name)"
"""What stands for a node that has no name."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A relation that leads on, and from where: ``heads`` are places in the frontier, rising, from 0."""

    hop: Hop
    heads: tuple[int, ...]


def draw_fact(path: Path) -> str:
    """Draw the end of a path, from the last named node before it on.

    >>> from kgqa.kg.terms import Entity
    >>> path = Path(Entity("http://x/a", "Ann")).then(Hop("http://x/marriage"), Entity("http://x/m"))
    >>> draw_fact(path.then(Hop("http://x/spouse"), Entity("http://x/b", "Bob")))
    '"Ann" -marriage-> (a node without a name) -spouse-> "Bob"'
    """
    nodes, start = path.nodes, _start(path)
    steps = (arrow(hop, draw_node(node)) for hop, node in path.steps[start:])
    return " ".join([draw_node(nodes[start]), *steps])


def draw_facts(paths: Sequence[Path]) -> str:
    """Number facts, each once, at most `FACTS` of them."""
    drawn = list(dict.fromkeys(map(draw_fact, paths)))
    more = [f"(and {len(drawn) - FACTS} more)"] if len(drawn) > FACTS else []
    return "\n".join([numbered(drawn[:FACTS]), *more]) if drawn else "none"


def claims(paths: Sequence[Path]) -> list[Statement]:
    """Give facts as statements, in the words of the graph; a step through unnamed nodes is one statement.

    What ends at a node without a name states nothing.
    """
    found = (_claim(path) for path in paths)
    return list(dict.fromkeys(claim for claim in found if claim))


def draw_chain_of(paths: Sequence[Path]) -> str:
    """Draw the relations by which paths along one chain came from their last named node to their ends."""
    heads = list(dict.fromkeys(draw_node(came_from(path)) for path in paths))
    more = [f"{len(heads) - HEADS} more"] if len(heads) > HEADS else []
    hops = [hop for hop, _ in paths[0].steps[_start(paths[0]) :]]
    arrows = [arrow(hop, UNNAMED) for hop in hops[:-1]] + [arrow(hop, "?") for hop in hops[-1:]]
    return " ".join([", ".join([*heads[:HEADS], *more]), *arrows])


def came_from(path: Path) -> Term:
    """Give the last named node before the end of a path, or its topic."""
    return path.nodes[_start(path)]


def _claim(path: Path) -> Statement | None:
    """Turn the end of a path into a statement with its head first, as the last relation points."""
    steps = path.steps[_start(path) :]
    start = came_from(path)
    if not (steps and start.name and path.end.name):
        return None
    relation = " ".join(hop.words for hop, _ in steps)
    head, tail = (start, path.end) if steps[-1][0].forward else (path.end, start)
    return (str(head), relation, str(tail))


def _start(path: Path) -> int:
    """Give the place of the last named node before the end."""
    return max((place for place, node in enumerate(path.nodes[:-1]) if node.name), default=0)


def draw_node(term: Term) -> str:
    """Quote the name of a node."""
    return quoted(term.name) if term.name else UNNAMED


def draw_offer(offer: Offer, frontier: Sequence[Path]) -> str:
    """Draw a relation as it leads on from what it is offered from."""
    drawn = list(dict.fromkeys(_end(frontier[place]) for place in offer.heads))
    more = [f"{len(drawn) - HEADS} more"] if len(drawn) > HEADS else []
    return f"{', '.join([*drawn[:HEADS], *more])} {arrow(offer.hop, '?')}"


def _end(path: Path) -> str:
    return draw_fact(path) if path.steps and not path.end.name else draw_node(path.end)
