"""Interfaces: the knowledge graph that the rest of kgqa sees, and the executor of SPARQL below it.

Every operation takes and gives typed terms, says whether its answer was cut
(`Page.truncated`), and raises a `KGError` on failure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from kgqa.kg.dialects import Dialect, detect_dialect
from kgqa.kg.pages import (
    Candidate,
    ChainAttributes,
    ChainResult,
    Description,
    Evidence,
    GraphInfo,
    Match,
    Mention,
    Page,
    Proof,
    Table,
)
from kgqa.kg.profile.profile import Profile, ProfileSummary
from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.terms import Chain, Hop, Term, Triple


class KnowledgeGraph(Protocol):
    """A graph behind the tools: embedded, or at an endpoint."""

    async def extend_chain(self, chain: Chain) -> Page[Hop]:
        """Return the hops that lead on from the end of ``chain``, both directions.

        One query (CoR §4.1, step 1), and only from those that ``chain`` is constrained to. Of many
        entities at the end the first are looked at, and the page says that it is cut; the relations
        of a hub whose triples are too many to read are looked up by a second query.
        Relations that the dialect ignores are left out; sorted by relation, then
        forward before inverse.
        """

    async def follow_chain(self, chain: Chain) -> Page[Candidate]:
        """Return the terms at the end of ``chain`` with their names: one query.

        The nodes between are variables and need no name (CoR §4.2, step 1). Where
        ``chain`` is constrained, the node there is one of these entities; those that it
        does not reach, and those that the graph does not know, lead nowhere.
        Sorted: named before unnamed, then by name, then by id; a page that is cut holds the first
        that came, and which these are depends on the store. A chain without
        hops gives the topic itself, which does not return.
        """

    async def visit_chains(
        self, chains: Sequence[Chain], *, ends: bool = True, hops: bool = True, sample: int | None = None
    ) -> list[ChainResult]:
        """Return what `follow_chain` and `extend_chain` give, of several chains at once: one query for all.

        Of a chain without hops, the topic itself is at the end, if the graph knows it. What is
        not asked for (``ends``, ``hops``) is empty. A ``sample`` goes through so many nodes at each place
        of a chain at most; in one that is cut, what returns may not do so on another way. What leads on
        from a sample counts as cut.
        """

    async def cross_mediators(
        self, extended: Sequence[tuple[Chain, Sequence[Hop]]], *, pair_inverses: bool = False
    ) -> list[tuple[tuple[Hop, ...], ...]]:
        """Return how each chain can go on by some hops: by one, or by two where it leads to mediators.

        One query for all, and none where nothing leads to a node without a name. What only leads back to
        where a chain has come from is left out. Of many mediators some are looked at; where these lead
        nowhere else, it goes on by the hop alone. In the order of the hops. With ``pair_inverses`` a hop is
        left out all of whose facts another of the hops states the other way round, as far as the graph has
        been counted.
        """

    async def trace_chain(self, chain: Chain, ends: Sequence[Term]) -> list[tuple[Triple, ...]]:
        """Return one path of triples along ``chain`` for each of ``ends`` it reaches.

        One query, or two more where a hop has too many ways to compare. In the order of ``ends``; an end
        that the chain does not reach, constrained as it is, has an empty path. Names are filled in.
        Paths that do not visit the topic again are preferred; ties break by the ids on the way.
        """

    async def reached_ends(self, chain: Chain, ends: Sequence[Term]) -> set[Term]:
        """Return those of ``ends`` that ``chain`` reaches; each is looked up for itself."""

    async def chain_attributes(
        self, wanted: Mapping[Chain, Mapping[int, Sequence[Hop]]], near: Sequence[Term] = ()
    ) -> dict[Chain, ChainAttributes]:
        """Return what the nodes at places of chains have: one query for up to six chains.

        A place is a number of hops; under it are the relations whose values are ``wanted``. Of the nodes
        there: those between that have a name, themselves; these values; by any relation each of ``near``,
        but the chain's own topic, that stands one hop from a node: an entity, a literal with this text, or a
        date within that of a literal; and the types and names of the ends. In place of a value without a
        name there is what this has. Of many nodes, or many values, the first are read, and the pages say so.
        Sorted by place, hops, end and value.
        """

    async def list_relations(self, ids: Sequence[str]) -> dict[str, Page[Hop]]:
        """Return the hops that leave each of the entities: one query for all."""

    async def follow_relation(self, steps: Sequence[tuple[str, Hop]]) -> list[Page[Term]]:
        """Return what each (entity id, hop) pair leads to: one query for all.

        Of many pairs, those of one hop may share one page: then all of them are cut where it is.
        """

    async def names(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return the preferred name of each id, None for an unnamed node: one query."""

    async def find_entities(self, text: str, limit: int = 10) -> list[Match]:
        """Find entities by id or name: exact, normalised, fuzzy, then by embedding."""

    async def link(self, question: str) -> list[Mention]:
        """Find the entities that a question mentions, in order of appearance."""

    def name_hops(self, text: str) -> Sequence[Hop]:
        """Return the hops from things to names, and back, that a text says in the language that it names.

        Labels first. None where it says anything else, which "called in German" does not.
        """

    async def name_languages(self) -> Mapping[str, float]:
        """Return the share of names in each language, the commonest first, as far as a sample tells.

        Under an empty code are those of which it cannot be told. Asked once, and uncounted.
        """

    async def find_classes(self, question: str) -> list[Chain]:
        """Return the chains from the classes that a question names to their members.

        A class is called by its name, whether of one thing or of several ("country", "countries"). None
        where the profile has no classes.
        """

    async def describe(self, id: str, limit: int = 50) -> Description:
        """Return aliases, types and facts of one entity."""

    async def select(self, query: str) -> Table:
        """Run a read-only SELECT or ASK after parsing it.

        Raises:
            KGRejected: for updates, SERVICE, FROM, and whatever does not parse.
        """

    def write_query(self, query: AnswerQuery) -> str:
        """Return the SPARQL of an answer query; any client gets from this graph what `prove` gives."""

    async def prove(self, query: AnswerQuery) -> Proof:
        """Return what an answer query gives, with names: its terms, a count, or ``true`` or ``false``.

        Sorted as the ends of `follow_chain`. What is counted or compared is all that the graph has, however
        many there are; a page of answers is cut where it is full, and says so. One query.
        """

    async def trace_answers(
        self, query: AnswerQuery, answers: Sequence[Term], depths: Mapping[int, int] = MappingProxyType({})
    ) -> Evidence:
        """Return the facts behind some answers of a query: along chains, and what meets the conditions.

        Under the places of the chains' branches in the query, ``depths`` has after how many hops they are at
        the answers. One query for all of it, or none. Names are filled in.
        """

    async def both_ways(self) -> dict[tuple[str, str], tuple[int, float]]:
        """Return how many facts two relations state in both directions, and their share of the commoner's.

        They are known from loading, or counted now; none in a graph that is too large to go through.
        """

    async def info(self) -> GraphInfo:
        """Count triples, entities, relations and named entities."""

    async def profile(self, classes: Sequence[str] = ()) -> Profile:
        """Return what is known of the graph's classes; an empty profile where they are not counted.

        It is made when the graph is loaded, and read when it is first asked for. Of a graph that is too large
        for that, some ``classes`` are profiled now.
        """

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
        """Return the words a relation is shown by, for instance ``people.person.parents``."""


Row = tuple[Term | None, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The answer to a SELECT, or the boolean of an ASK as one literal in column ``ask``."""

    columns: tuple[str, ...]
    rows: list[Row]
    cut: bool = False  # whether the server may have left rows out by a limit of its own


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What is known of a graph when it is opened; None where it is not counted."""

    source: str  # the files, folder or address it is at, as ``kgqa kg info`` shows it
    fingerprint: str  # a short hash of its content; of an endpoint, of its address and what is known of it
    triples: int | None  # a triple in two named graphs counts twice
    predicates: dict[str, int]  # triples of each; empty where an endpoint does not list them in time
    entities: int | None = None
    named: int | None = None  # entities with a name
    both_ways: tuple[tuple[str, str, int], ...] | None = None  # pairs of relations, and facts stated by both
    inferred: dict[str, str] = field(default_factory=dict)  # links that are not stated, and why they are
    summary: ProfileSummary = field(default_factory=ProfileSummary)

    @property
    def dialect(self) -> Dialect:
        """The dialect of this graph: that of its kind, and what its profile has found."""
        return self.summary.apply(detect_dialect(self.predicates))


class Executor(Protocol):
    """Runs SPARQL text and counts it.

    Attributes:
        remote: Whether each query is a request to a server.
    """

    remote: bool

    async def query(self, text: str, *, limit: int | None = None, foreign: bool = False) -> Rows:
        """Run one query that kgqa wrote, or (``foreign``) one that passed the guard.

        At most ``limit`` rows are read.

        Every call, failed or not, is one query of the meters (`kg/meter.py`).

        Raises:
            KGTimeout: if the deadline passed.
            KGRejected: if the query is not understood.
            KGUnavailable: if the store cannot be read.
        """
        ...

    def query_now(self, text: str) -> Rows:
        """Run one query in the calling thread, uncounted: for opening and indexing."""
        ...
