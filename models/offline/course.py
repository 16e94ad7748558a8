"""A belief as a search over a frontier goes by it: which chains go along its ways, and how far."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from kgqa.kg.terms import Chain, Entity
from kgqa.models.offline.belief import Belief
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.mirrors import Mirrors


@dataclass(frozen=True)
class Course:
    """What is believed of a question; a mirrored relation is as good as the one it mirrors."""

    belief: Belief
    mirrors: Mirrors

    def read(self, chain: Chain) -> Chain:
        """Give a chain in the relations of the likeliest way that it goes along, held to nothing."""
        for way in self.belief.ways(chain.topic):
            if self._begins(way, chain):
                return way.upto(chain.depth)
        return Chain(chain.topic, chain.hops)

    def is_on(self, chain: Chain, *, believed: bool) -> bool:
        """Tell whether there is something left to go after a chain, on the believed way or on any."""
        known = self.read(chain)
        return bool(self.belief.rest(known)) and (not believed or self.belief.begins_with(known))

    def onwards(self, offers: Sequence[Chain]) -> list[int]:
        """Number, from 1, the offers on the believed ways; where there is none, those on another way."""
        believed = [number for way in self.belief.chains.values() for number in self._along(way, offers)]
        if believed:
            return sorted(believed)
        tried = ((self._along(way, offers) for way in ways) for ways in self.belief.others.values())
        return sorted(number for each in tried for number in next(filter(None, each), []))

    def left(self, seen: Sequence[Chain]) -> Chain | None:
        """Give the seen chain from which the likeliest way goes on that was not gone to its end."""
        others = zip_longest(*self.belief.others.values())
        for way in (*self.belief.chains.values(), *(way for row in others for way in row if way)):
            begun = [chain for chain in seen if self._begins(way, chain)]
            furthest = max(begun, key=lambda chain: chain.depth, default=None)
            if furthest is not None and furthest.depth < way.depth:
                return furthest
        return None

    def _begins(self, way: Chain, chain: Chain) -> bool:
        """Tell whether a way begins with a chain, but for mirrored relations."""
        begun = way.topic == chain.topic and chain.depth <= way.depth
        return begun and all(
            self.mirrors.slot(one) == self.mirrors.slot(two)
            for one, two in zip(way.hops, chain.hops, strict=False)
        )

    def _along(self, way: Chain, offers: Sequence[Chain]) -> list[int]:
        """Number the offers that go furthest along a way, those in its own relations before mirrored ones."""
        going = [(number, chain) for number, chain in enumerate(offers, 1) if self._begins(way, chain)]
        most = max(((chain.depth, _is_own(way, chain)) for _, chain in going), default=None)
        return [number for number, chain in going if (chain.depth, _is_own(way, chain)) == most]


def _is_own(way: Chain, chain: Chain) -> bool:
    return way.hops[: chain.depth] == chain.hops


async def course_of(
    question: str, topics: tuple[Entity, ...], chains: Iterable[Chain], believer: Believer
) -> Course:
    """Give the course of a search; without ``topics``, of one from the topics of its chains.

    Raises:
        KGError: if the graph cannot be reached.
    """
    known = topics or tuple(dict.fromkeys(chain.topic for chain in chains))
    return Course(await believer.believe(question, known), await believer.mirrors())
