"""What a question is taken to ask for: chains that lead to its answers, and what is asked of their ends."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import TERM_NAMESPACE, Chain, Entity, Hop, Term
from kgqa.models.interface import RankedReading
from kgqa.models.offline.answer_selection import follow_hops
from kgqa.prompts.candidates import parse_number
from kgqa.prompts.target import Target
from kgqa.retrieval.candidate_chains import InverseRelations, fresh_ends
from kgqa.retrieval.confidence import Reading
from kgqa.retrieval.lookups import NO_ANSWER, Lookups
from kgqa.retrieval.wording import Encode

_PARTIAL_ANSWER_SCORE = 0.5  # of an entity that leads to some of the answers; to all of them is 1
_ALTERNATIVE_SCORE = 0.1  # of an entity on a chain that is not the chosen one


@dataclass(frozen=True)
class Interpretation(Target):
    """The chains that lead to the answers on a graph, and what is asked of their ends.

    ``chains`` has the chosen chain from each topic entity that plays a part, in the order of the topics,
    and ``ends`` the named ends of each.
    """

    graph: KnowledgeGraph
    encode: Encode
    chains: Mapping[Entity, Chain] = field(default_factory=dict)
    ends: Mapping[Entity, Page[Candidate]] = field(default_factory=dict)
    alternatives: Mapping[Entity, Sequence[Chain]] = field(default_factory=dict)  # the likeliest first
    intent: QuestionIntent = field(default_factory=QuestionIntent)
    answers: frozenset[Term] | None = None  # of the ends; None where all of them are
    by: tuple[Hop, ...] = ()  # what leads from the ends to the values that tell the answers
    reading: Reading | None = None  # what speaks for it; None where it cannot be told
    source: str = "nothing that leads anywhere is like the question"
    inverses: InverseRelations = field(default_factory=lambda: InverseRelations({}))
    moves: Mapping[Entity, Sequence[tuple[Hop, ...]]] = field(default_factory=dict)
    """The hops of each chosen chain, cut at its nodes with names."""
    readings: Sequence[RankedReading] = ()  # this one, then those that come next

    def rests(self, chain: Chain) -> list[tuple[Hop, ...]]:
        """Return what is left to go after a chain on each known chain that begins with it.

        The chosen chain comes first, so that a search comes to others only where that one was turned down.
        """
        known = (known.hops for known in self.chains_from(chain.topic))
        return [hops[chain.depth :] for hops in known if hops[: chain.depth] == chain.hops]

    def remaining_hops(self, chain: Chain) -> tuple[Hop, ...] | None:
        """Return the hops that are left to go after a chain; None where no known chain begins with it."""
        return next(iter(self.rests(chain)), None)

    def starts_with(self, chain: Chain) -> bool:
        """Return whether the chosen chain begins with a chain."""
        chosen = self.chains.get(chain.topic)
        return chosen is not None and chosen.hops[: chain.depth] == chain.hops

    def goes_along(self, longer: Chain, chain: Chain) -> bool:
        """Return whether a longer chain begins with a chain, but for inverse relations."""
        slots = [tuple(map(self.inverses.slot, each.hops)) for each in (longer, chain)]
        return longer.topic == chain.topic and slots[0][: chain.depth] == slots[1]

    def is_chosen(self, chain: Chain) -> bool:
        """Return whether a chain is the chosen one, from its start to its end."""
        chosen = self.chains.get(chain.topic)
        return chosen is not None and chosen.hops == chain.hops

    def says_the_same(self, chain: Chain) -> bool:
        """Return whether a chain is the chosen one but for inverse relations."""
        chosen = self.chains.get(chain.topic)
        return chosen is not None and chosen.depth == chain.depth and self.goes_along(chain, chosen)

    def answer_terms(self) -> list[Term]:
        """Return the ends of the chosen chains that answer the question, in order of appearance."""
        terms = dict.fromkeys(end.term for page in self.ends.values() for end in fresh_ends(page))
        return [term for term in terms if self.answers is None or term in self.answers]

    def chains_from(self, topic: Entity) -> list[Chain]:
        """Return the known chains from a topic, the chosen one first; none from one that plays no part."""
        chosen = self.chains.get(topic)
        return [chosen, *self.alternatives.get(topic, ())] if chosen is not None else []

    def translate(self, chain: Chain) -> Chain:
        """Return a chain in the relations of the likeliest known chain that it goes along, unconstrained."""
        for longer in self.chains_from(chain.topic):
            if self.goes_along(longer, chain):
                return longer.upto(chain.depth)
        return Chain(chain.topic, chain.hops)

    async def plans(self) -> Sequence[tuple[Entity, Sequence[Hop]]]:
        """Return the hops of the chosen chains."""
        return [(topic, chain.hops) for topic, chain in self.chains.items()]

    async def is_end(self, chain: Chain) -> bool:
        """Return whether a chain is the likeliest known one that begins with it."""
        return self.remaining_hops(chain) == ()

    async def leads_on(self, chain: Chain) -> bool:
        """Return whether something is left to go after a chain on any known one."""
        return bool(self.remaining_hops(self.translate(chain)))

    async def going_on(self, chains: Sequence[Chain]) -> list[int]:
        """Number what the chosen chains go on from; where there is none, what others do."""
        going = await super().going_on(chains)
        chosen = [number for number in going if self.starts_with(self.translate(chains[number - 1]))]
        return chosen or going

    async def worth(self, chain: Chain, ends: Sequence[Term]) -> Mapping[Term, float]:
        """Score ends by how many of the answers they lead to; those that lead to none are left out.

        Where none leads to any, or that takes too long to tell, all count the same.
        """
        own = self.translate(chain)
        rest = self.remaining_hops(own)
        if rest is None:
            return {}
        if not self.starts_with(own):
            return dict.fromkeys(ends, _ALTERNATIVE_SCORE)
        answers = frozenset(self.answer_terms())
        reached: dict[Term, frozenset[Term]] = {} if rest else {end: frozenset([end]) for end in ends}
        if rest:
            with suppress(*NO_ANSWER):
                reached.update((await follow_hops(ends, rest, Lookups(self.graph))).items())
        shares = {end: len(answers & reached.get(end, frozenset())) / max(1, len(answers)) for end in ends}
        if not any(shares.values()):
            return dict.fromkeys(ends, _PARTIAL_ANSWER_SCORE)
        lowest = _PARTIAL_ANSWER_SCORE
        return {end: lowest + (1 - lowest) * share for end, share in shares.items() if share}

    async def answers_among(self, chain: Chain, ends: Sequence[Candidate]) -> list[int]:
        """Number, from 1, the ends of a chain that are answers."""
        answers = self.answers if self.is_chosen(chain) else None
        return [at for at, end in enumerate(ends, 1) if answers is None or end.term in answers]

    async def counts(self, ends: Sequence[Candidate]) -> bool:
        """Return whether the question asks how many there are; a number is its own answer."""
        return self.intent.kind == "count" and any(parse_number(each.term) is None for each in ends)

    async def unfinished(self, chains: Sequence[Chain]) -> list[int]:
        """Number what the likeliest known chain goes on from that was not gone to its end."""
        others = [chain for row in zip_longest(*self.alternatives.values()) for chain in row if chain]
        for longer in (*self.chains.values(), *others):
            begun = [chain for chain in chains if self.goes_along(longer, chain)]
            back = max(begun, key=lambda chain: chain.depth, default=longer)
            if back.depth < longer.depth:
                way = back.topic, back.hops
                return [number for number, each in enumerate(chains, 1) if (each.topic, each.hops) == way]
        return []

    @property
    def is_of_members(self) -> bool:
        """Whether it is of the members of classes or of the schema alone, where no chain is to be likened."""
        moves = self.moves.items()
        return bool(moves) and all(not each or topic.id.startswith(TERM_NAMESPACE) for topic, each in moves)

    @property
    def doubt(self) -> str | None:
        """Why it may not be what was asked: a question how many there are expects several."""
        counts_few = self.intent.kind == "count" and len(self.answer_terms()) < 2
        return "how many" if counts_few else self.reading and self.reading.doubt

    @property
    def reason(self) -> str:
        """Say in one line what it is taken from and how sure it is."""
        sure = f" (confidence {self.reading.confidence:.2f})" if self.reading else ""
        return f"{self.source}{sure}"
