"""What is looked up in the graph for one question: several chains at once, each thing once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from kgqa.kg.dialects import describes_data
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.linking.schema_terms import is_same_name, says_all
from kgqa.kg.meter import QueryBudgetExhausted
from kgqa.kg.pages import Candidate, Match, Page
from kgqa.kg.profile.profile import owned_relations
from kgqa.kg.sparql.derived import leads_to_members, split_language
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Term, is_value_id

MAX_QUERIES = 12  # queries of the graph that are made for one question
CHAINS_PER_QUERY = 12  # chains that one query follows
SAMPLED_NODES = 200  # nodes at each place of a chain by which it is seen where the chain leads

NO_ANSWER = (KGTimeout, KGRejected, QueryBudgetExhausted)
"""What is raised where the graph does not tell: too long, refused, or no query is left."""


class Lookups:
    """A graph as one reply sees it: what it has said once is not asked again.

    A chain from a topic goes on from the end of the chain that ``starts`` has for it, by the hops that are
    ``known`` of it.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        starts: Iterable[Chain] = (),
        known: Mapping[Chain, Sequence[Hop]] = MappingProxyType({}),
    ) -> None:
        self._graph = graph
        self._starts = {chain.topic: chain for chain in starts}
        self._ends: dict[Chain, Page[Candidate]] = {}
        self._hops: dict[Chain, Page[Hop]] = {
            Chain(topic): Page(tuple(known[start])) for topic, start in self._starts.items() if start in known
        }
        self._led: dict[tuple[str, Hop], Page[Term]] = {}
        self._classes: set[Entity] = set()

    async def open_classes(self, topics: Sequence[Entity]) -> list[Entity]:
        """Start from the members of those topics that are classes, and return these topics."""
        starts = [Chain(topic) for topic in topics if topic != ANY]
        try:
            await self.visit_chains(starts, ends=False)
        except NO_ANSWER:
            return []
        hops = ((chain, hop) for chain in starts for hop in self._hops[chain])
        opened = {chain.topic: chain.then(hop) for chain, hop in hops if leads_to_members(hop)}
        self._starts |= opened
        self._classes = {*opened}
        for topic in opened:
            del self._hops[Chain(topic)]
        await self.visit_chains([Chain(topic) for topic in opened], hops=False)
        return [*opened]

    async def leads_on(self, topics: Sequence[Entity]) -> bool:
        """Return whether anything leads on from one of some topics, as far as can be told."""
        starts = [Chain(topic) for topic in topics]
        try:
            await self.visit_chains(starts, ends=False)
        except NO_ANSWER:
            return True
        return any(map(self.known_hops, starts))

    async def set_out(self, question: str, *, anything: bool = True) -> list[Entity]:
        """Start from the classes that a question names, or from anything; return what is started from."""
        chains = await self._graph.find_classes(question) or [Chain(ANY)] * anything
        self._starts = {chain.topic: chain for chain in chains}
        self._ends, self._hops = {}, {}  # of chains that began elsewhere
        await self.visit_chains([Chain(topic) for topic in self._starts], hops=False)
        return [*self._starts]

    async def restrict_to_names(self, topic: Entity, text: str) -> None:
        """Go on from a topic by the names that a text about it says, where it says nothing else.

        They lead from a name to what is called so, and from anything else to another name, labels before
        aliases. Nothing changes where a relation that a search follows says the text as well.
        """
        start = Chain(topic)
        said, known = self._graph.name_hops(text), self.known_hops(start)
        if is_value_id(topic.id):
            names = {split_language(hop.relation)[0]: hop.name for hop in said if not hop.forward}
            hops = [Hop(hop.relation, False, names[hop.relation]) for hop in known if hop.relation in names]
        elif any(says_all(hop, text) for hop in known):
            return
        else:
            chains = [start.then(hop) for hop in said if hop.forward]
            await self.visit_chains(chains, hops=False)
            hops = [
                chain.hops[0]
                for chain in chains
                if not all(is_same_name(end.term.name or "", topic.name or "") for end in self._ends[chain])
            ][:1]
        if hops:
            self._hops |= {start: Page(tuple(hops))} | {start.then(hop): Page(()) for hop in hops}

    def settled(self) -> "Lookups":
        """Return the same for whole chains: what was looked up from where chains start is known of them."""
        other = Lookups(self._graph)
        other._ends, other._led = self.visited_ends, self._led
        other._hops = {self.whole(chain): page for chain, page in self._hops.items()}
        return other

    async def owned_relations(self) -> frozenset[str]:
        """Return the relations each of whose ends belongs to one node alone, as a price does."""
        return owned_relations(await self._graph.profile())

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of the graph."""
        return self._graph.relations

    async def visit_chains(self, chains: Sequence[Chain], *, ends: bool = True, hops: bool = True) -> None:
        """Look up the ends of chains and what leads on: a query for each `CHAINS_PER_QUERY`.

        Where it cannot be told of several together, each half is asked for itself.

        Raises:
            KGTimeout, KGRejected: for the last of those that cannot be told; the others are known then.
            QueryBudgetExhausted: where no query is left.
        """
        chains = [
            each for each in chains if (ends and each not in self._ends) or (hops and each not in self._hops)
        ]
        parts = [chains[at : at + CHAINS_PER_QUERY] for at in range(0, len(chains), CHAINS_PER_QUERY)]
        failure: KGTimeout | KGRejected | None = None
        while parts:
            part = parts.pop(0)
            try:
                whole = [*map(self.whole, part)]
                found = await self._graph.visit_chains(whole, ends=ends, hops=hops, sample=SAMPLED_NODES)
            except (KGTimeout, KGRejected) as error:
                failure = error
                half = len(part) // 2
                parts[:0] = [part[:half], part[half:]] if half else []
                continue
            self._ends |= {chain: each.ends for chain, each in zip(part, found, strict=True) if ends}
            self._hops = {c: each.hops for c, each in zip(part, found, strict=True) if hops} | self._hops
        if failure is not None:
            raise failure

    @property
    def visited_ends(self) -> dict[Chain, Page[Candidate]]:
        """The ends of each chain that was looked up."""
        return {self.whole(chain): page for chain, page in self._ends.items()}

    def whole(self, chain: Chain) -> Chain:
        """Return a chain with that before it which its search has started from."""
        start = self._starts.get(chain.topic)
        return Chain(start.topic, (*start.hops, *chain.hops), start.constraints) if start else chain

    def known_ends(self, chain: Chain) -> Page[Candidate] | None:
        """Return the ends of a chain as far as they were looked up."""
        return self._ends.get(chain)

    def known_hops(self, chain: Chain) -> tuple[Hop, ...]:
        """Return the hops that lead on from a chain as far as they were looked up.

        Those that describe the database are left out, unless nothing else leads on.
        """
        hops = self._hops[chain].items if chain in self._hops else ()
        return tuple(hop for hop in hops if not describes_data(hop)) or hops

    @property
    def visited_hops(self) -> dict[Chain, tuple[Hop, ...]]:
        """The hops that lead on from each chain that was looked up."""
        return {self.whole(chain): page.items for chain, page in self._hops.items()}

    def moves(self, chain: Chain) -> list[tuple[Hop, ...]]:
        """Cut a chain at its nodes with names: a hop, or some that meet at nodes without one.

        Nodes that are not looked up have names.
        """
        pages = {depth: self._ends.get(chain.upto(depth), Page(())) for depth in range(1, chain.depth)}
        named = [
            depth
            for depth, page in pages.items()
            if 2 * sum(end.term.name is not None for end in page) >= len(page)
        ]
        return [chain.hops[begin:end] for begin, end in pairwise((0, *named, chain.depth))]

    async def follow_chain(self, chain: Chain, *, whole: bool = True) -> Page[Candidate]:
        """Return the terms at the end of a chain: a page of them, or what a sample has."""
        if chain not in self._ends:
            await self.visit_chains([chain], hops=False)
        if whole and self._ends[chain].truncated and len(self._ends[chain]) <= SAMPLED_NODES:
            (found,) = await self._graph.visit_chains([self.whole(chain)], hops=False)
            self._ends[chain] = found.ends
        return self._ends[chain]

    async def reached_ends(self, chain: Chain, ends: Sequence[Term]) -> set[Term]:
        """Return those of some terms that a chain reaches."""
        return await self._graph.reached_ends(self.whole(chain), ends)

    async def extend_chain(self, chain: Chain) -> Page[Hop]:
        """Return the hops that lead on from the end of a chain."""
        if chain not in self._hops:
            await self.visit_chains([chain], ends=False)
        return self._hops[chain]

    async def follow_relation(self, steps: Sequence[tuple[str, Hop]]) -> list[Page[Term]]:
        """Return what each (entity id, hop) pair leads to."""
        if new := [step for step in dict.fromkeys(steps) if step not in self._led]:
            self._led |= zip(new, await self._graph.follow_relation(new), strict=True)
        return [self._led[step] for step in steps]

    async def list_relations(self, ids: Sequence[str]) -> dict[str, Page[Hop]]:
        """Return the hops that leave each of the entities."""
        return await self._graph.list_relations(ids) if ids else {}

    async def said_names(self, question: str, topics: Collection[Entity]) -> dict[Entity, str]:
        """Return what a question calls some of its topics, as far as the graph finds them in it.

        Nothing where a search goes on from somewhere: what is looked for then are words, and no question.
        """
        if self._starts.keys() - self._classes:
            return {}
        try:
            mentions = await self._graph.link(question)
        except NO_ANSWER:
            return {}
        pairs = [(match, each.text) for each in mentions for match in each.matches]
        meant = {match.entity.id: text for match, text in pairs if match.sure or match.how == "fuzzy"}
        return {topic: meant[topic.id] for topic in topics if topic.id in meant}

    async def find_entities(self, text: str, limit: int) -> list[Match]:
        """Find entities by name."""
        return await self._graph.find_entities(text, limit)
