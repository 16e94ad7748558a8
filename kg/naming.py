"""Names of nodes and relations, and descriptions of entities, made from the rows of queries."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from kgqa.kg.dialects import Dialect, LabelPredicates
from kgqa.kg.graph import Executor, Row
from kgqa.kg.meter import unmetered
from kgqa.kg.pages import Description, Page
from kgqa.kg.sparql import queries
from kgqa.kg.sparql.chain_queries import some_ends
from kgqa.kg.sparql.decoding import is_true, item_at, read_integer, sort_key
from kgqa.kg.terms import Entity, Hop, Literal, Term, local_name, one_line

MAX_NAME_CHARS = 1_000
"""Characters of a name at most: a record names a node many times. It is found by all of its name."""


class Naming:
    """The dialect's naming on one graph.

    Label predicates that the graph lacks are not asked for. In a graph without
    any, entities get a readable name from their IRI, if the dialect allows it.

    Attributes:
        labels: Label predicates of the graph, best first.
        aliases: Alias predicates of the graph.
        local: True where names come from IRIs.
    """

    def __init__(self, dialect: Dialect, predicates: Iterable[str]) -> None:
        present = set(predicates)
        self._dialect = dialect
        self.labels = LabelPredicates(label for label in dialect.labels if label in present)
        self.labels.languages = dialect.languages if dialect.polyglot else ()
        self.aliases = tuple(alias for alias in dialect.aliases if alias in present)
        self.local = not self.labels and dialect.unlabelled == "local"

    def apply(self, found: Iterable[tuple[Term | None, Term | None, Term | None]]) -> dict[Term, Term]:
        """Return each term with its name, in order of first appearance.

        Args:
            found: (term, label or None, place of the label's predicate or None) of each row.
        """
        names: dict[Term, list[tuple[int, str, str]]] = {}
        for term, label, rank in found:
            if term is None:
                continue
            listed = names.setdefault(term, [])
            if isinstance(label, Literal):
                listed.append((read_integer(rank), label.language, label.value))
        return {
            term: Entity(term.id, self.name(term.id, listed)) if isinstance(term, Entity) else term
            for term, listed in names.items()
        }

    def name(self, id: str, names: Iterable[tuple[int, str, str]]) -> str | None:
        """Return the preferred of an entity's names, or the one its IRI gives, cut where it is too long.

        A name of nothing that can be seen is none.
        """
        if self.local:
            name = self._dialect.local_label(id) or ""
        elif len(known := list(names)) == 1 and known[0][2].isascii() and known[0][2].isprintable():
            name = known[0][2].strip() and known[0][2]
        else:
            name = self._dialect.best(each for each in known if one_line(each[2], MAX_NAME_CHARS)) or ""
        return (name if len(name) <= MAX_NAME_CHARS else name[: MAX_NAME_CHARS - 1] + "…") or None


NAMES_PER_QUERY = 500
HOPS_PER_QUERY = 24  # about which one query asks where they lead
ENDS_SAMPLED = 50  # of a hop, by which it is told whether it leads to nodes without a name
MAX_RELATION_NAME_CHARS = 80  # characters of a name; a graph may say anything, and prompts show it


class RelationCatalog:
    """The relations of a graph, each by its IRI or by the name that the graph has for it.

    Names are asked for once and kept: a schema has some thousands of relations at most. No meter
    sees that, so that a question's record does not depend on those asked before.
    """

    def __init__(
        self, executor: Executor, dialect: Dialect, naming: Naming, listed: Mapping[str, int]
    ) -> None:
        self._executor, self._dialect, self._naming = executor, dialect, naming
        self._to_mediators: dict[Hop, bool] = {}
        named: dict[str, str] = {}
        for query in self._name_queries(listed):
            named |= self._read_names(executor.query_now(query).rows)
        self._labels = self._make_unambiguous(self._shown_words(listed, named))
        self.listed = tuple(relation for relation in sorted(listed) if not self.ignores(relation))
        """Those that a search may follow, sorted; none where nobody has listed them."""

    async def learn(self, relations: Iterable[str]) -> None:
        """Ask for the names of those that have one in the graph, and are new.

        Of relations that nobody has listed, several may share their words.
        """
        new = {relation for relation in relations if relation not in self._labels}
        if not new:
            return
        named: dict[str, str] = {}
        with unmetered():
            for query in self._name_queries(new):
                named |= self._read_names((await self._executor.query(query)).rows)
        self._labels |= self._shown_words(new, named)

    def label(self, relation: str) -> str:
        """Return what a relation is shown by: its name, its IRI without namespace, or all of it."""
        return self._labels.get(relation) or one_line(self._dialect.relation_label(relation))

    async def lead_to_mediators(self, hops: Iterable[Hop]) -> set[Hop]:
        """Return those of some hops that lead to nodes without a name, as far as some of their ends tell.

        This is asked once and kept, like names; no meter sees it either.
        """
        wanted = list(dict.fromkeys(hops))
        new = [hop for hop in wanted if hop not in self._to_mediators]
        for first in range(0, len(new), HOPS_PER_QUERY):
            some = new[first : first + HOPS_PER_QUERY]
            with unmetered():
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

    def hop(self, relation: str, forward: bool) -> Hop:
        """Make a hop; it has a name where the IRI has none."""
        label = self.label(relation)
        return Hop(relation, forward, label if label != local_name(relation) else None)

    def _name_queries(self, relations: Iterable[str]) -> list[str]:
        """Write the queries for the entities that give relations their names."""
        ids = sorted(filter(None, map(self._dialect.relation_entity, relations)))
        return [
            queries.names(ids[first : first + NAMES_PER_QUERY], self._naming.labels)
            for first in range(0, len(ids), NAMES_PER_QUERY)
        ]

    def _read_names(self, rows: Iterable[Row]) -> dict[str, str]:
        named = self._naming.apply((end, label, rank) for end, label, rank in rows)
        return {
            term.id: one_line(term.name, MAX_RELATION_NAME_CHARS)
            for term in named.values()
            if isinstance(term, Entity) and term.name
        }

    def _shown_words(self, relations: Iterable[str], named: Mapping[str, str]) -> dict[str, str]:
        entity, words = self._dialect.relation_entity, self._dialect.relation_words
        return {each: one_line(words(each, named.get(entity(each) or ""))) for each in relations}

    def _make_unambiguous(self, words: Mapping[str, str]) -> dict[str, str]:
        """Call by their IRIs those that share their words."""
        uses = Counter(word for relation, word in words.items() if not self._dialect.ignores(relation, word))
        return {
            relation: word if word and uses[word] <= 1 else one_line(relation)
            for relation, word in words.items()
        }


def make_description(
    id: str,
    around: Sequence[Row],
    about: Sequence[Row],
    naming: Naming,
    dialect: Dialect,
    limit: int,
    hop: Callable[[str, bool], Hop],
) -> Description:
    """Make a description of the rows ``around`` an entity (`queries.facts`) and ``about`` it (`objects`)."""
    places = {predicate: place for place, predicate in enumerate((*naming.labels, *naming.aliases))}
    names = [
        (places[relation.id], end.language, end.value)
        for relation, end, *_ in about
        if relation is not None and relation.id in places and isinstance(end, Literal)
    ]
    name = naming.name(id, [each for each in names if each[0] < len(naming.labels)])
    aliases = sorted((dialect.language_rank(tag), text) for _, tag, text in names if text != name)
    of_types = [row[1:] for row in about if row[0] is not None and row[0].id in dialect.types]
    typed = naming.apply((end, label, rank) for end, label, rank in of_types).values()
    named = naming.apply((end, label, rank) for _, _, end, label, rank in around)
    facts = {
        (hop(relation.id, is_true(forward)), named[end]): None
        for relation, forward, end, _, _ in around
        if relation is not None and end is not None
    }
    first = sorted(facts, key=lambda fact: (not fact[0].forward, fact[0].relation, fact[1].id))[:limit]
    kept = sorted(first, key=lambda fact: (not fact[0].forward, fact[0].relation, sort_key(fact[1])))
    return Description(
        Entity(id, name),
        tuple(dict.fromkeys(text for _, text in aliases)),
        tuple(sorted((term for term in typed if isinstance(term, Entity)), key=sort_key)),
        Page(tuple(kept), len(facts) > limit),
    )
