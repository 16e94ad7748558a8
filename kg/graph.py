"""The knowledge graph as the rest of kgqa sees it: asynchronous and batched.

Every operation takes and gives typed terms, says whether its answer was cut
(`Page.truncated`), and raises a `KGError` on failure.
"""

from collections.abc import Sequence
from typing import Protocol

from kgqa.kg.pages import Candidate, Description, GraphInfo, Match, Mention, Page, Table, Visit
from kgqa.kg.terms import Chain, Hop, Term, Triple


class KnowledgeGraph(Protocol):
    """A graph behind the tools: embedded, or at an endpoint."""

    async def extend_chain(self, chain: Chain) -> Page[Hop]:
        """Give the hops that lead on from the end of ``chain``, both directions.

        One query, whatever the number of entities at the end (CoR §4.1, step 1),
        and only from those that ``chain`` is held to.
        Relations that the dialect ignores are left out; sorted by relation, then
        forward before inverse.
        """

    async def follow_chain(self, chain: Chain) -> Page[Candidate]:
        """Give the terms at the end of ``chain`` with their names: one query.

        The nodes between are variables and need no name (CoR §4.2, step 1). Where
        ``chain`` is held, the node there is one of these entities; those that it
        does not reach, and those that the graph does not know, lead nowhere.
        Sorted: named before unnamed, then by name, then by id. A chain without
        hops gives the topic itself, which does not return.
        """

    async def visit_chains(
        self, chains: Sequence[Chain], *, ends: bool = True, hops: bool = True
    ) -> list[Visit]:
        """Give what `follow_chain` and `extend_chain` give, of several chains at once: one query for all.

        Of a chain without hops, the topic itself is at the end, if the graph knows it. What is
        not asked for (``ends``, ``hops``) is empty.
        """

    async def trace_chain(self, chain: Chain, ends: Sequence[Term]) -> list[tuple[Triple, ...]]:
        """Give one path of triples along ``chain`` for each of ``ends`` it reaches.

        One query. In the order of ``ends``; an end that the chain does not reach,
        held as it is, has an empty path. Names are filled in. Paths that do not visit the topic
        again are preferred; ties break by the ids on the way.
        """

    async def list_relations(self, ids: Sequence[str]) -> dict[str, Page[Hop]]:
        """Give the hops that leave each of the entities: one query for all."""

    async def follow_relation(self, steps: Sequence[tuple[str, Hop]]) -> list[Page[Term]]:
        """Give what each (entity id, hop) pair leads to: one query for all.

        Of many pairs, those of one hop may share one page: then all of them are cut where it is.
        """

    async def names(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Give the preferred name of each id, None for an unnamed node: one query."""

    async def find_entities(self, text: str, limit: int = 10) -> list[Match]:
        """Find entities by id or name: exact, normalised, fuzzy, then by embedding."""

    async def link(self, question: str) -> list[Mention]:
        """Find the entities that a question mentions, in order of appearance."""

    async def describe(self, id: str, limit: int = 50) -> Description:
        """Give aliases, types and facts of one entity."""

    async def select(self, query: str) -> Table:
        """Run a read-only SELECT or ASK after parsing it.

        Raises:
            KGRejected: for updates, SERVICE, FROM, and whatever does not parse.
        """

    async def info(self) -> GraphInfo:
        """Count triples, entities, relations and named entities."""

    @property
    def fingerprint(self) -> str:
        """A short hash of the graph's content or source, for caches."""

    @property
    def dialect(self) -> str:
        """The name of the graph's dialect: ``freebase``, ``wikidata`` or ``plain``."""

    @property
    def relations(self) -> tuple[str, ...]:
        """The ids of the relations that a search may follow, sorted.

        None where the graph is at an endpoint that does not list them in time.
        """
        ...

    def relation_label(self, relation: str) -> str:
        """Give the words a relation is shown by, for instance ``people.person.parents``."""
