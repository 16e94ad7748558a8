"""Chains to try a graph with: given ones, the gold paths of questions, and a fixed random choice of walks."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyoxigraph as ox

from kgqa.kg.dialects import FB
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE
from kgqa.kg.store.directory import load_files
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term

NOWHERE = Entity("http://x/nowhere")
"""An entity that no graph has."""

DEPTH = 4
"""Hops of a random walk at most."""

FAN = 30
"""Ends of a walk that are looked at."""

WIKIDATA = "http://www.wikidata.org/"
SPACES = {
    "wdt": f"{WIKIDATA}prop/direct/",
    "p": f"{WIKIDATA}prop/",
    "ps": f"{WIKIDATA}prop/statement/",
    "pq": f"{WIKIDATA}prop/qualifier/",
}


@dataclass(frozen=True)
class Walk:
    """A chain that leads somewhere, and some ends of it."""

    chain: Chain
    ends: tuple[Term, ...]

    @property
    def entity(self) -> Entity:
        """An entity at its end, or its topic."""
        return next((end for end in self.ends if isinstance(end, Entity)), self.chain.topic)


def walks(path: Path, number: int, given: Sequence[Chain]) -> list[Walk]:
    """Return so many walks over a graph, up to two thirds of them of ``given``; equal for an equal file."""
    store, random = load_files([path])[0], Random(7)
    nodes = sorted(end.value for quad in store for end in (quad.subject, quad.object) if _is_node(end))
    fit = [chain for chain in given if _ends(store, chain)]
    chains = random.sample(fit, min(len(fit), 2 * number // 3))
    while len(chains) < number:
        chains.append(_walk(store, Chain(_entity(random.choice(nodes))), random))
    return [Walk(chain, tuple(map(_term, _ends(store, chain)[:FAN]))) for chain in chains]


def _walk(store: ox.Store, chain: Chain, random: Random) -> Chain:
    """Lengthen a chain, and hold it at every third node or so."""
    for _ in range(random.randint(1, DEPTH)):
        hops: set[Hop] = set()
        for end in filter(_is_node, _ends(store, chain)[:FAN]):
            hops |= {Hop(quad.predicate.value) for quad in store.quads_for_pattern(end, None, None)}
            hops |= {Hop(quad.predicate.value, False) for quad in store.quads_for_pattern(None, None, end)}
        if not hops:
            break
        chain = chain.then(random.choice(sorted(hops)))
        entities = [_entity(end.value) for end in _ends(store, chain)[:FAN] if _is_node(end)]
        if entities and random.random() < 1 / 3:
            chain = chain.constrained_to([*random.sample(entities, min(3, len(entities))), NOWHERE])
    return chain


def _ends(store: ox.Store, chain: Chain) -> list[Any]:
    """Walk a chain step by step; gives pyoxigraph's terms."""
    ends: set[Any] = {ox.NamedNode(_iri(chain.topic))}
    for hop, held in chain.steps:
        relation, kept = ox.NamedNode(hop.relation), {_iri(entity) for entity in held}
        if hop.forward:
            starts = filter(_is_node, ends)
            ends = {
                quad.object for start in starts for quad in store.quads_for_pattern(start, relation, None)
            }
        else:
            ends = {quad.subject for start in ends for quad in store.quads_for_pattern(None, relation, start)}
        ends = {end for end in ends if not kept or end.value in kept}
    return sorted(ends, key=str) if chain.hops else list(ends)


def _is_node(term: Any) -> bool:
    return isinstance(term, ox.NamedNode)


def _iri(entity: Entity) -> str:
    return entity.id.replace("_:", BLANK_NAMESPACE)


def _entity(iri: str) -> Entity:
    return Entity(iri.replace(BLANK_NAMESPACE, "_:"))


def _term(term: Any) -> Term:
    if _is_node(term):
        return _entity(term.value)
    if term.language:
        return Literal(term.value, language=term.language)
    return Literal(term.value, term.datatype.value)


def freebase_gold(path: Path) -> list[Chain]:
    """Return the gold chains of a question file, whose topics and relations are without namespace."""
    return [
        Chain(Entity(FB + topic), tuple(Hop(FB + hop.lstrip("^"), not hop.startswith("^")) for hop in hops))
        for topic, hops in _gold(path)
    ]


def wikidata_gold(path: Path) -> list[Chain]:
    """Return the gold chains of a question file, whose relations are ``wdt:P31``, ``^p:P31`` and the like."""
    return [
        Chain(
            Entity(f"{WIKIDATA}entity/{topic}"),
            tuple(Hop(SPACES[space] + local, not back) for back, space, local in map(_parted, hops)),
        )
        for topic, hops in _gold(path)
        if all(space in SPACES and local.isalnum() for _, space, local in map(_parted, hops))
    ]


def _parted(hop: str) -> tuple[bool, str, str]:
    space, _, local = hop.lstrip("^").partition(":")
    return hop.startswith("^"), space, local


def _gold(path: Path) -> Iterator[tuple[str, list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield from (json.loads(line).get("gold_paths") or {}).items()
