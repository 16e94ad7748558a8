"""How prompts show the facts that a search has met, and the relations that lead on from its frontier."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgqa.kg.terms import Chain, Hop, Path, Term
from kgqa.prompts.base import numbered, quoted
from kgqa.prompts.chain import draw_arrow, extend
from kgqa.prompts.plans import Statement

MAX_FACTS_SHOWN = 60
MAX_HEADS_SHOWN = 3
UNNAMED_NODE = "(a node without a name)"


@dataclass(frozen=True, slots=True)
class RelationCandidate:
    """A relation that leads on, and from where: ``heads`` are places in the frontier, rising, from 0.

    ``after`` is the relation that goes on from there, where the first leads to nodes without a name.
    """

    hop: Hop
    heads: tuple[int, ...]
    after: Hop | None = None

    @property
    def hops(self) -> tuple[Hop, ...]:
        """The one hop, or both."""
        return (self.hop, self.after) if self.after else (self.hop,)

    def extend(self, path: Path) -> Chain:
        """Return the chain that the hops make of that of a path."""
        return extend(path.chain, *self.hops).chain

    def __str__(self) -> str:
        """Draw the hops as arrows."""
        return " ".join(map(str, self.hops))


def draw_fact(path: Path) -> str:
    """Draw the end of a path, from the last named node before it on.

    >>> from kgqa.kg.terms import Entity
    >>> path = Path(Entity("http://x/a", "Ann")).then(Hop("http://x/marriage"), Entity("http://x/m"))
    >>> draw_fact(path.then(Hop("http://x/spouse"), Entity("http://x/b", "Bob")))
    '"Ann" -marriage-> (a node without a name) -spouse-> "Bob"'
    """
    nodes, start = path.nodes, _last_named_index(path)
    steps = (draw_arrow(hop, draw_node(node)) for hop, node in path.steps[start:])
    return " ".join([draw_node(nodes[start]), *steps])


def draw_facts(paths: Sequence[Path]) -> str:
    """Number facts, each once, as many as one prompt shows."""
    drawn = list(dict.fromkeys(map(draw_fact, paths)))
    more = [f"(and {len(drawn) - MAX_FACTS_SHOWN} more)"] if len(drawn) > MAX_FACTS_SHOWN else []
    return "\n".join([numbered(drawn[:MAX_FACTS_SHOWN]), *more]) if drawn else "none"


def draw_owned_facts(paths: Sequence[Path]) -> list[str]:
    """Draw what each node before the ends led to, on one line each, as many as one prompt shows.

    >>> from kgqa.kg.terms import Entity, Literal
    >>> squad = Path(Entity("http://x/t", "Lions")).then(Hop("http://x/squad"), Entity("http://x/m"))
    >>> player = squad.then(Hop("http://x/player"), Entity("http://x/b", "Bob"))
    >>> draw_owned_facts([player, squad.then(Hop("http://x/number"), Literal("22"))])
    ['"Lions" -squad-> (a node without a name): -player-> "Bob", -number-> "22"']
    """
    owned: dict[str, dict[Term, dict[str, None]]] = {}
    for path in paths:
        if path.steps and path.end.name:
            before = Path(path.topic, path.steps[:-1])
            drawn = draw_node(before.end) if before.end.name else draw_fact(before)
            ends = owned.setdefault(drawn, {}).setdefault(before.end, {})
            ends[draw_arrow(path.steps[-1][0], draw_node(path.end))] = None
    lines = [
        f"{drawn}{'' if before.name else ':'} {', '.join(ends)}"
        for drawn, each in owned.items()
        for before, ends in each.items()
    ]
    return lines[:MAX_FACTS_SHOWN]


def facts_as_statements(paths: Sequence[Path]) -> list[Statement]:
    """Return facts that end at a name as statements; a step through unnamed nodes is one statement."""
    return list(dict.fromkeys(filter(None, map(_fact_as_statement, paths))))


def draw_shared_chain(paths: Sequence[Path]) -> str:
    """Draw the relations by which paths along one chain came from their last named node to their ends."""
    hops = [hop for hop, _ in paths[0].steps[_last_named_index(paths[0]) :]]
    return " ".join([_draw_heads(draw_node(last_named_node(path)) for path in paths), *_draw_way(hops)])


def last_named_node(path: Path) -> Term:
    """Return the last named node before the end of a path, or its topic."""
    return path.nodes[_last_named_index(path)]


def _fact_as_statement(path: Path) -> Statement | None:
    """Turn the end of a path into a statement with its head first, as the last relation points."""
    steps, start = path.steps[_last_named_index(path) :], last_named_node(path)
    if not (steps and start.name and path.end.name):
        return None
    relation = " ".join(hop.words for hop, _ in steps)
    head, tail = (start, path.end) if steps[-1][0].forward else (path.end, start)
    return (str(head), relation, str(tail))


def _last_named_index(path: Path) -> int:
    return max((place for place, node in enumerate(path.nodes[:-1]) if node.name), default=0)


def draw_node(term: Term) -> str:
    """Quote the name of a node."""
    return quoted(term.name) if term.name else UNNAMED_NODE


def draw_relation_candidate(offer: RelationCandidate, frontier: Sequence[Path]) -> str:
    """Draw a relation as it leads on from what it is offered from."""
    ends = (frontier[place] for place in offer.heads)
    drawn = (draw_fact(path) if path.steps and not path.end.name else draw_node(path.end) for path in ends)
    return " ".join([_draw_heads(drawn), *_draw_way(offer.hops)])


def _draw_way(hops: Sequence[Hop]) -> Iterable[str]:
    """Draw hops through nodes without a name to what they lead to."""
    return map(draw_arrow, hops, [UNNAMED_NODE] * (len(hops) - 1) + ["?"])


def _draw_heads(drawn: Iterable[str]) -> str:
    heads = list(dict.fromkeys(drawn))
    more = [f"{len(heads) - MAX_HEADS_SHOWN} more"] if len(heads) > MAX_HEADS_SHOWN else []
    return ", ".join([*heads[:MAX_HEADS_SHOWN], *more])
