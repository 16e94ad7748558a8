"""What is known of a graph before it is asked: classes, their properties, names, languages.

It is counted from members that are read: of a small class all, of a large one some (`ClassProfile.read`).

>>> price = PropertyProfile("http://x/price", having=9, facts=9, distinct=9)
>>> tool = ClassProfile("http://x/Tool", members=10, read=10, properties=(price,))
>>> tool.share(price), price.is_single
(0.9, True)
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue

from pydantic import TypeAdapter

from kgqa.builds import replace_file
from kgqa.files import read_file
from kgqa.home import cache_folder
from kgqa.kg.dialects import Dialect
from kgqa.kg.terms import Entity, Hop, Literal

UNTYPED = ""  # the id of the class of those nodes that have no class


@dataclass(frozen=True, slots=True)
class Wording:
    """What a class or a relation is called, in all languages, and what is said of it."""

    names: tuple[Literal, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class PropertyProfile:
    """A property of a class, as the members that were read have it.

    Attributes:
        relation: Its IRI.
        having: How many of the members have it.
        facts: How many values these have in all.
        ends: How many of these values are entities of each class, `UNTYPED` for none.
        datatypes: How many are literals of each datatype.
        distinct: How many values differ.
        values: All values of an enumeration, else some texts, the least and the greatest among them; sorted.
        is_enumeration: Whether the property has no other values in all of the graph.
        least: The least number or date, if most values are such.
        most: The greatest.
        inner: What nodes without a name have, to which it leads.
    """

    relation: str
    having: int
    facts: int
    ends: Mapping[str, int] = field(default_factory=dict)
    datatypes: Mapping[str, int] = field(default_factory=dict)
    distinct: int = 0
    values: tuple[Literal, ...] = ()
    is_enumeration: bool = False
    least: Literal | None = None
    most: Literal | None = None
    inner: tuple["PropertyProfile", ...] = ()

    @property
    def is_single(self) -> bool:
        """Whether no member has more than one value, as far as was read."""
        return self.facts == self.having


@dataclass(frozen=True, slots=True)
class ClassProfile:
    """A class and what its members have.

    Attributes:
        id: Its IRI; `UNTYPED` for the nodes without a class.
        members: Its own members, without those of its subclasses; of `UNTYPED` those that were read.
        read: How many of them were read.
        superclasses: The classes right above it.
        examples: Up to three members.
        identifiers: Properties that tell its members apart: one value each, all distinct.
        naming: Properties by which its members are named, best first; none where their IRIs name them.
        is_named: Whether its members have names; those of others are shown inside of what leads to them.
        wording: What it is called.
        properties: Most common first.
    """

    id: str
    members: int
    read: int
    superclasses: tuple[str, ...] = ()
    examples: tuple[Entity, ...] = ()
    identifiers: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    is_named: bool = True
    wording: Wording = Wording()
    properties: tuple[PropertyProfile, ...] = ()

    def share(self, of: PropertyProfile) -> float:
        """Return the share of its members that have a property."""
        return of.having / self.read if self.read else 0.0


@dataclass(frozen=True, slots=True)
class ProfileSummary:
    """What must be known of a graph's profile to open it.

    Attributes:
        naming: Naming properties that were found, beside those of the dialect, best first.
        unnamed: Beginnings of IRIs whose nodes have no name.
        terminology: Relations that only describe classes, relations and the like.
        by_iri: Whether nodes without a name are called by their IRIs where these can be read.
        languages: The share of names in each language, the empty tag for none.
    """

    naming: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    terminology: tuple[str, ...] = ()
    by_iri: bool = False
    languages: Mapping[str, float] = field(default_factory=dict)

    def apply(self, dialect: Dialect) -> Dialect:
        """Return the dialect of this one graph: that of its kind, and what was found."""
        return replace(
            dialect,
            labels=(*dialect.labels, *(each for each in self.naming if each not in dialect.labels)),
            ignored=(*dialect.ignored, *self.terminology),
            unnamed=self.unnamed,
            unlabelled="each" if self.by_iri else dialect.unlabelled,
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a graph.

    Attributes:
        classes: Those with most members first, `UNTYPED` last.
        relations: What the graph calls its relations, and says of them.
        terms: Classes, relations and the like, which are no topics where the graph has members.
        summary: What must be known to open it.
        types: The relations from nodes to their classes, the commonest first; none where it is not counted.
    """

    classes: tuple[ClassProfile, ...] = ()
    relations: Mapping[str, Wording] = field(default_factory=dict)
    terms: frozenset[str] = frozenset()
    summary: ProfileSummary = ProfileSummary()
    types: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: bytes) -> "Profile":
        """Read what `write` has written; ValueError if it is something else."""
        return TypeAdapter(cls).validate_json(text)

    def write(self) -> bytes:
        """Write it as JSON."""
        return TypeAdapter(type(self)).dump_json(self)

    def find(self, id: str) -> ClassProfile | None:
        """Return the profile of a class; None for one that the graph does not use."""
        return next((each for each in self.classes if each.id == id), None)

    def subclasses(self, id: str) -> tuple[ClassProfile, ...]:
        """Return a class and all below it."""
        below, new = {id}, {id}
        while new:
            new = {each.id for each in self.classes if new.intersection(each.superclasses)} - below
            below |= new
        return tuple(each for each in self.classes if each.id in below)


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


MAX_SECONDS_WAITED = 5.0
"""Until which a profile is waited for; then the graph is asked without one, and later calls have it."""

_log = logging.getLogger("kgqa.kg")


def kept_profile(fingerprint: str, make: Callable[[], tuple[Profile, bool]]) -> Profile:
    """Return the profile of a graph by its fingerprint, made now if it is new; empty where that takes long.

    It is made in a thread of its own and, if it is whole, kept for the next time.
    """
    path = cache_folder() / "profiles" / f"{fingerprint}.json"
    with suppress(OSError, ValueError):
        return Profile.read(read_file(path))
    made: SimpleQueue[Profile] = SimpleQueue()

    def run() -> None:
        try:
            profile, is_whole = make()
            made.put(profile)
            if not is_whole:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, lambda file: file.write(profile.write()))
        except Exception as error:  # the endpoint's, the disk's, or of a process that is ending
            made.put(Profile())
            _log.info("no profile of the endpoint: %s", error)

    threading.Thread(target=run, name="kgqa-profile", daemon=True).start()
    try:
        return made.get(timeout=MAX_SECONDS_WAITED)
    except Empty:
        return Profile()
