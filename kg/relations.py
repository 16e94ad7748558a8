"""The relations of a graph: what they are called, where they lead, and which say the same."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from kgqa.kg.dialects import CLOSURE, WIKIBASE, WIKIBASE_RELATIONS, Dialect
from kgqa.kg.errors import KGError
from kgqa.kg.graph import Executor, GraphFacts, Row
from kgqa.kg.languages import names_shown_in
from kgqa.kg.meter import unmetered
from kgqa.kg.naming import Naming
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.chain_queries import some_ends
from kgqa.kg.sparql.decoding import is_true, item_at, read_pair_counts
from kgqa.kg.sparql.derived import THESAURUS, derived_label, source_relation
from kgqa.kg.terms import Entity, Hop, Term, is_iri, local_name, one_line

NAMES_PER_QUERY = 500
HOPS_PER_QUERY = 24  # about which one query asks where they lead
ENDS_SAMPLED = 50  # of a hop, by which it is told whether it leads to nodes without a name
MAX_TRIPLES_PAIRED = 1_000_000  # of a graph that is gone through for pairs of relations
MAX_RELATION_NAME_CHARS = 80  # characters of a name; a graph may say anything, and prompts show it

MIN_FACTS_ALIKE, MIN_SHARE_ALIKE = 10, 0.5
"""Facts that two relations state both ways, and their share of the commoner's, for them to mean the same."""


class RelationCatalog:
    """The relations of a graph, each by its IRI or by the name that the graph has for it.

    Names are asked for once and kept: a schema has some thousands of relations at most. No meter
    sees that, so that a question's record does not depend on those asked before.
    """

    def __init__(self, executor: Executor, dialect: Dialect, naming: Naming, facts: GraphFacts) -> None:
        self._executor, self._dialect, self._naming, self._facts = executor, dialect, naming, facts
        self._to_mediators: dict[Hop, bool] = {}
        self._inverses: dict[str, set[str]] | None = None
        listed = facts.predicates
        self._labels: dict[str, str] = {}
        named: dict[str, str] = {}
        with suppress(KGError):  # they are called by their IRIs until their names can be learned
            for query, words in self._name_queries(listed):
                named |= self._read_names(executor.query_now(query).rows, words)
            self._labels = self._make_unambiguous(self._shown_words(listed, named))
        self.listed = tuple(relation for relation in sorted(listed) if not self.ignores(relation))
        """Those that a search may follow, sorted; none where they are not listed."""

    async def learn(self, relations: Iterable[str]) -> None:
        """Ask for the names of those that have one in the graph, and are new.

        Of relations that are not listed, several may share their words.
        """
        new = {relation for relation in relations if relation not in self._labels}
        if not new:
            return
        named: dict[str, str] = {}
        with unmetered(), names_shown_in(None):
            for query, words in self._name_queries(new):
                named |= self._read_names((await self._executor.query(query)).rows, words)
        self._labels |= self._shown_words(new, named)

    def label(self, relation: str) -> str:
        """Return what a relation is shown by: its name, its IRI without namespace, or all of it."""
        known = self._labels.get(relation) or derived_label(relation)
        return known or one_line(self._dialect.relation_label(relation))

    async def lead_to_mediators(self, hops: Iterable[Hop]) -> set[Hop]:
        """Return those of some hops that lead to nodes without a name, as far as some of their ends tell.

        This is asked once and kept, like names; no meter sees it either.
        """
        wanted = list(dict.fromkeys(hops))
        new = [hop for hop in wanted if hop not in self._to_mediators]
        for first in range(0, len(new), HOPS_PER_QUERY):
            some = new[first : first + HOPS_PER_QUERY]
            with unmetered(), names_shown_in(None):
                answer = await self._executor.query(some_ends(some, self._naming.labels, ENDS_SAMPLED))
                named = self._naming.apply((end, label, rank) for _, end, label, rank in answer.rows)
            ends: list[list[Term]] = [[] for _ in some]
            for place, end, _, _ in answer.rows:
                if end is not None:
                    item_at(ends, place).append(named[end])
            self._to_mediators |= {
                hop: bool(those) and not any(end.name for end in those)
                for hop, those in zip(some, ends, strict=True)
            }
        return {hop for hop in wanted if self._to_mediators[hop]}

    def ignores(self, relation: str) -> bool:
        """Return whether a search leaves the relation out."""
        return self._dialect.ignores(relation, self._labels.get(relation, ""))

    def can_follow(self, relation: str, forward: bool) -> bool:
        """Return whether a search may follow the relation in a direction."""
        return not self.ignores(relation) and (forward or relation not in THESAURUS)

    def hop(self, relation: str, forward: bool) -> Hop:
        """Make a hop; it has a name where the IRI has none."""
        label = self.label(relation)
        return Hop(relation, forward, label if label != local_name(relation) else None)

    def read_hops(self, rows: Iterable[Row]) -> list[Hop]:
        """Read rows of a relation and whether it is forward: the hops that a search may follow, sorted."""
        hops = {
            self.hop(relation.id, is_true(forward))
            for relation, forward in rows
            if relation is not None and is_iri(relation.id) and self.can_follow(relation.id, is_true(forward))
        }
        return sorted(hops, key=lambda hop: (hop.relation, not hop.forward))

    def read_named(self, rows: Iterable[Row]) -> tuple[Hop, ...]:
        """Read rows of a relation and whether it is forward: the hops from a name to what has it, sorted."""
        known = {*self._naming.labels, *self._naming.aliases}
        found = {relation.id for relation, forward in rows if relation and not is_true(forward)}
        return tuple(self.hop(relation, False) for relation in sorted(known & found))

    async def both_ways(self) -> dict[tuple[str, str], tuple[int, float]]:
        """Return how many facts two relations state in both directions; see `KnowledgeGraph`."""
        counted, triples, facts = self._facts.both_ways, self._facts.triples, self._facts.predicates
        if counted is None and triples is not None and triples <= MAX_TRIPLES_PAIRED:
            counted = read_pair_counts(await self._executor.query(queries.both_ways()))
        return {
            (one, other): (n, n / max(n, 1, facts.get(one, 0), facts.get(other, 0)))
            for one, other, n in counted or ()
            if not any(each.startswith(CLOSURE) for each in (one, other))  # it states more than its relation
        }

    async def whole_inverses(self) -> dict[str, set[str]]:
        """Return for each relation the others that state all of its facts the other way round."""
        if self._inverses is None:
            inverses: dict[str, set[str]] = {}
            with unmetered():
                pairs = await self.both_ways()
            for (one, other), (n, share) in pairs.items():
                alike = one != other and n >= MIN_FACTS_ALIKE and share >= MIN_SHARE_ALIKE
                for fewer, more in ((one, other), (other, one)) if alike else ():
                    if n == self._facts.predicates.get(fewer):
                        inverses.setdefault(fewer, set()).add(more)
            self._inverses = inverses
        return self._inverses

    def _name_queries(self, relations: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the queries for what gives relations their names, and how these are written."""
        labels, claims = self._naming.labels, {WIKIBASE + each: each for each in WIKIBASE_RELATIONS}
        stated = [claim for claim in claims if claim in self._facts.predicates]
        ids = sorted(filter(None, map(self._dialect.relation_entity, relations)))
        for first in range(0, len(ids), NAMES_PER_QUERY):
            some = ids[first : first + NAMES_PER_QUERY]
            yield queries.names(some, labels), "{}"
            for claim in () if self._dialect.entities else stated:
                yield queries.names(some, labels, by=claim), WIKIBASE_RELATIONS[claims[claim]]

    def _read_names(self, rows: Iterable[Row], words: str) -> dict[str, str]:
        named = self._naming.apply((end, label, rank) for end, label, rank in rows if label is not None)
        return {
            term.id: words.format(one_line(term.name, MAX_RELATION_NAME_CHARS))
            for term in named.values()
            if isinstance(term, Entity) and term.name
        }

    def _shown_words(self, relations: Iterable[str], named: Mapping[str, str]) -> dict[str, str]:
        entity, words = self._dialect.relation_entity, self._dialect.relation_words
        names = {each: named.get(entity(each) or "") or derived_label(each) for each in relations}
        twice = {each for each in names if source_relation(each) in names}
        return {
            each: one_line(words(each, name)) + " (by axiom)" * (each in twice)
            for each, name in names.items()
        }

    def _make_unambiguous(self, words: Mapping[str, str]) -> dict[str, str]:
        """Call by their IRIs those that share their words."""
        uses = Counter(word for relation, word in words.items() if not self._dialect.ignores(relation, word))
        return {
            relation: word if word and uses[word] <= 1 else one_line(relation)
            for relation, word in words.items()
        }


def without_inverses(hops: Sequence[Hop], inverses: Mapping[str, set[str]]) -> list[Hop]:
    """Leave out hops whose facts others of them state; of two that state the same, the later."""
    kept = list(hops)
    for hop in reversed(hops):
        others = inverses.get(hop.relation, ())
        if any(each.relation in others and each.forward is not hop.forward for each in kept):
            kept.remove(hop)
    return kept
