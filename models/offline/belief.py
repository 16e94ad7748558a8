"""What the offline model takes a question to mean on a graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgqa.kg.asked import Asked
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Entity, Hop, Term


@dataclass(frozen=True)
class Belief:
    """The chains that lead to the answers, and what is asked of their ends.

    Attributes:
        chains: the chain from each topic entity that plays a part, in the order of the topics.
        ends: what of the ends of each chain has a name.
        others: further chains from these topics that lead somewhere, the likeliest first.
        asked: what is asked of the ends.
        answers: what of the ends is the answer; None where it is all of them.
        confidence: how sure this is, from 0 to 1.
        why: in a few words, what it is taken from.
    """

    chains: Mapping[Entity, Chain] = field(default_factory=dict)
    ends: Mapping[Entity, Page[Candidate]] = field(default_factory=dict)
    others: Mapping[Entity, Sequence[Chain]] = field(default_factory=dict)
    asked: Asked = field(default_factory=Asked)
    answers: frozenset[Term] | None = None
    confidence: float = 0.0
    why: str = "nothing that leads anywhere is like the question"

    def rest(self, chain: Chain) -> tuple[Hop, ...] | None:
        """Give the hops that are left to go after a chain; None where no way begins with it.

        The believed way comes first, so that a search comes to others only where that one was turned down.
        """
        ways = self._ways(chain.topic)
        return next((way[chain.depth :] for way in ways if way[: chain.depth] == chain.hops), None)

    def next_hops(self, chain: Chain) -> list[Hop]:
        """Give the hops by which ways go on from a chain, that of the likeliest way first."""
        ways = (way for way in self._ways(chain.topic) if len(way) > chain.depth)
        return list(dict.fromkeys(way[chain.depth] for way in ways if way[: chain.depth] == chain.hops))

    def begins_with(self, chain: Chain) -> bool:
        """Tell whether the way that is believed in begins with a chain."""
        whole = self.chains.get(chain.topic)
        return whole is not None and whole.hops[: chain.depth] == chain.hops

    def is_believed(self, chain: Chain) -> bool:
        """Tell whether a chain is the way that is believed in, from its start to its end."""
        whole = self.chains.get(chain.topic)
        return whole is not None and whole.hops == chain.hops

    def is_end(self, topic: Entity, candidates: Sequence[Candidate]) -> bool:
        """Tell whether candidates are all that the believed way from a topic leads to, and nothing else."""
        known = self.ends.get(topic)
        ends = {end.term for end in candidates}
        return known is not None and not known.truncated and ends == {end.term for end in known.items}

    def right(self, chain: Chain, candidates: Sequence[Candidate]) -> list[int]:
        """Number, from 1, the ends of a chain that are answers."""
        every = self.answers is None or not self.is_believed(chain)
        return [at for at, end in enumerate(candidates, 1) if every or end.term in (self.answers or ())]

    def ways(self, topic: Entity) -> list[Chain]:
        """Give the ways from a topic, the believed one first; none from one that plays no part."""
        believed = self.chains.get(topic)
        return [believed, *self.others.get(topic, ())] if believed is not None else []

    def _ways(self, topic: Entity) -> list[tuple[Hop, ...]]:
        return [way.hops for way in self.ways(topic)]

    @property
    def reason(self) -> str:
        """Say in one line what is believed and how surely."""
        return f"{self.why} (confidence {self.confidence:.2f})"
