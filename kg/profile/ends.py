"""Of which classes the nodes are that a hop leads to, as far as a profile tells."""

from collections import Counter
from collections.abc import Collection

from kgqa.kg.profile.profile import Profile
from kgqa.kg.terms import Hop

MIN_OWNED = 3  # ends of a relation, all different, for them to belong to one node each

MIN_SURE_SHARE = 0.98  # of the nodes that a hop leads to, for all of them to count as members of a class


def owned_relations(profile: Profile) -> frozenset[str]:
    """Return the relations each of whose ends belongs to one node alone, as far as members were read.

    >>> from kgqa.kg.profile.profile import ClassProfile, PropertyProfile
    >>> price, made = (PropertyProfile(f"http://x/{name}", 8, 8, {"": 8}, distinct=n)
    ...     for name, n in (("price", 8), ("madeBy", 2)))
    >>> sorted(owned_relations(Profile((ClassProfile("http://x/Tool", 8, 8, properties=(price, made)),))))
    ['http://x/price']
    """
    alone, shared = set[str](), set[str]()
    for each in profile.classes:
        for part in each.properties:
            is_owned = part.ends and not part.datatypes and part.is_single and part.distinct == part.facts
            (alone if is_owned and part.facts >= MIN_OWNED else shared).add(part.relation)
    return frozenset(alone - shared)


class HopEnds:
    """The classes at the ends of each relation.

    >>> from kgqa.kg.profile.profile import ClassProfile, PropertyProfile
    >>> runs = PropertyProfile("http://x/runs", 8, 9, ends={"http://x/Hut": 9})
    >>> ends = HopEnds(Profile((ClassProfile("http://x/Club", 8, 8, properties=(runs,)),)))
    >>> ends.share(Hop("http://x/runs"), {"http://x/Hut"}), ends.hops_to({"http://x/Club"})
    (1.0, (Hop(relation='http://x/runs', forward=False, name=None),))
    """

    def __init__(self, profile: Profile) -> None:
        self._classes: dict[Hop, Counter[str]] = {}
        self._totals = Counter[Hop]()
        for each in profile.classes:
            grown = each.members / each.read if each.read else 0.0
            for part in each.properties:
                forward, back = Hop(part.relation), Hop(part.relation, forward=False)
                self._classes.setdefault(back, Counter())[each.id] += round(part.having * grown)
                self._totals[back] += round(part.having * grown)
                ends = {id: round(n * grown) for id, n in part.ends.items()}
                self._classes.setdefault(forward, Counter()).update(ends)
                self._totals[forward] += round(part.facts * grown)

    def share(self, hop: Hop, classes: Collection[str]) -> float:
        """Return the share of the nodes that a hop leads to which are of one of some classes."""
        found = self._classes.get(hop, Counter[str]())
        return min(1.0, sum(found[id] for id in classes) / max(1, self._totals[hop]))

    def hops_to(self, classes: Collection[str]) -> tuple[Hop, ...]:
        """Return the hops that lead to members of some classes and to nothing else, sorted."""
        return tuple(sorted(hop for hop in self._classes if self.share(hop, classes) >= MIN_SURE_SHARE))
