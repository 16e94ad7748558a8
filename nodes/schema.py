"""What the graph calls its relations; for the nodes that were told of relations by other names."""

from collections.abc import Iterable

from kgqa.kg.terms import Hop, local_name


def relations_by_name(schema: Iterable[Hop]) -> dict[str, Hop]:
    """Give each relation by what the graph calls it and by the local part of its IRI.

    One whose name could not be written as a slot is left out. Of Wikidata's relations for one
    property, the local name is the direct one's.
    """
    hops = [hop for hop in schema if hop.words.strip() and not hop.words.startswith("^")]
    hops.sort(key=lambda hop: "/prop/direct/" in hop.relation)
    return {local_name(hop.relation): hop for hop in hops} | {hop.words: hop for hop in hops}


def hop_of(text: str, relations: dict[str, Hop]) -> Hop | None:
    """Read a hop written as its relation, ``^`` in front against the arrow; None where there is none."""
    relation = relations.get(text.removeprefix("^"))
    return None if relation is None else relation.inverse if text.startswith("^") else relation
