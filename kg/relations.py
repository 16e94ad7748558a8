"""What the relations of a graph are called, and which of them a search may follow."""

from collections import Counter
from collections.abc import Iterable, Mapping

from kgqa.kg import sparql
from kgqa.kg.conventions import Dialect
from kgqa.kg.executor import Executor, Row
from kgqa.kg.meter import unmetered
from kgqa.kg.naming import Naming
from kgqa.kg.terms import Entity, Hop, local_name, one_line

AT_ONCE = 500
"""Names in one query."""

LONGEST = 80
"""Characters of a name; a graph may say anything, and prompts show it."""


class Relations:
    """The relations of a graph, each by its IRI or by the name that the graph has for it.

    Names are asked for once and kept: a schema has some thousands of relations at most. No meter
    sees that, so that a question's record does not depend on those asked before.
    """

    def __init__(
        self, executor: Executor, dialect: Dialect, naming: Naming, listed: Mapping[str, int]
    ) -> None:
        self._executor, self._dialect, self._naming = executor, dialect, naming
        named: dict[str, str] = {}
        for query in self._asking(listed):
            named |= self._named(executor.query_now(query).rows)
        self._labels = self._clear(self._words(listed, named))
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
            for query in self._asking(new):
                named |= self._named((await self._executor.query(query)).rows)
        self._labels |= self._words(new, named)

    def label(self, relation: str) -> str:
        """Give what a relation is shown by: its name, its IRI without namespace, or all of it if unclear."""
        return self._labels.get(relation) or one_line(self._dialect.relation_label(relation))

    def ignores(self, relation: str) -> bool:
        """Tell whether a search leaves the relation out."""
        return self._dialect.ignores(relation, self._labels.get(relation, ""))

    def hop(self, relation: str, forward: bool) -> Hop:
        """Make a hop; it has a name where the IRI has none."""
        label = self.label(relation)
        return Hop(relation, forward, label if label != local_name(relation) else None)

    def _asking(self, relations: Iterable[str]) -> list[str]:
        """Write the queries for the entities that give relations their names."""
        ids = sorted(filter(None, map(self._dialect.relation_entity, relations)))
        return [
            sparql.names(ids[first : first + AT_ONCE], self._naming.labels)
            for first in range(0, len(ids), AT_ONCE)
        ]

    def _named(self, rows: Iterable[Row]) -> dict[str, str]:
        named = self._naming.apply((end, label, rank) for end, label, rank in rows)
        return {
            term.id: one_line(term.name, LONGEST)
            for term in named.values()
            if isinstance(term, Entity) and term.name
        }

    def _words(self, relations: Iterable[str], named: Mapping[str, str]) -> dict[str, str]:
        entity, words = self._dialect.relation_entity, self._dialect.relation_words
        return {each: one_line(words(each, named.get(entity(each) or ""))) for each in relations}

    def _clear(self, words: Mapping[str, str]) -> dict[str, str]:
        """Call by their IRIs those that share their words."""
        uses = Counter(word for relation, word in words.items() if not self._dialect.ignores(relation, word))
        return {
            relation: word if word and uses[word] <= 1 else one_line(relation)
            for relation, word in words.items()
        }
