"""A made graph of any size, as the scale benchmark asks it: Zipf fan-in, hubs, mediators, dates and numbers.

People are born in cities, hold a citizenship, work for companies and have held posts (unnamed
nodes); nine of ten people are citizens of one country, the hub. Everything has a name and a type.
Cities, companies and awards are named by a word and a number, so that names have shared words, and
people by a first name and a number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

BASE = "http://scale.example/"
XSD = "http://www.w3.org/2001/XMLSchema#"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

TRIPLES_PER_PERSON = 7.92
HUB_SHARE = 0.9  # of all people, citizens of the first country
POST_SHARE = 0.25  # of all people, who have held a post
CHUNK = 100_000

FIRST_NAMES = ("Ada", "Bruno", "Chika", "Dana", "Emre", "Fatou", "Goran", "Hana", "Irma", "Jonas")


@dataclass(frozen=True)
class Sizes:
    """How many things of each kind a graph of so many triples has."""

    people: int
    cities: int
    companies: int
    countries: int = 100
    awards: int = 50

    @classmethod
    def of(cls, triples: int) -> "Sizes":
        """Return the sizes of a graph of about so many triples."""
        people = round(triples / TRIPLES_PER_PERSON)
        return cls(people, max(50, people // 50), max(40, people // 100))


class MadeGraph:
    """A graph of about ``triples`` triples; equal sizes and seeds give equal graphs."""

    def __init__(self, triples: int, seed: int = 0) -> None:
        self.sizes = sizes = Sizes.of(triples)
        draw = np.random.default_rng(seed)
        n = sizes.people
        self.born_in = _zipf(draw, sizes.cities, n)
        self.works_for = _zipf(draw, sizes.companies, n)
        hub = draw.random(n) < HUB_SHARE
        self.citizen_of = np.where(hub, 0, 1 + _zipf(draw, sizes.countries - 1, n))
        self.born_year = draw.integers(1920, 2006, n)
        self.born_day = draw.integers(1, 29, n)
        self.height = draw.integers(150, 205, n)
        posts = np.flatnonzero(draw.random(n) < POST_SHARE)
        self.post_holder = posts
        self.post_company = _zipf(draw, sizes.companies, len(posts))
        self.post_year = draw.integers(1950, 2026, len(posts))
        self.located_in = _zipf(draw, sizes.countries, sizes.cities)
        self.population = draw.integers(1_000, 10_000_000, sizes.cities)
        self.seat = _zipf(draw, sizes.cities, sizes.companies)
        self.founded = draw.integers(1800, 2020, sizes.companies)
        self.winner = draw.integers(0, n, (sizes.awards, 3))

    def write(self, path: Path) -> int:
        """Write the graph as N-Triples; return the number of triples."""
        written = 0
        with path.open("w", encoding="ascii") as file:
            for lines in self._lines():
                file.writelines(lines)
                written += len(lines)
        return written

    def _lines(self) -> Iterator[list[str]]:
        sizes = self.sizes
        things = (("Country", sizes.countries), ("City", sizes.cities), ("Company", sizes.companies))
        for kind, count in (*things, ("Award", sizes.awards)):
            nodes = [node(kind, place) for place in range(count)]
            yield [f'{each} {LABEL} "{kind} {place}" .\n' for place, each in enumerate(nodes)]
            yield [f"{each} {TYPE} {relation(kind)} .\n" for each in nodes]
        yield _links("City", "located_in", "Country", self.located_in)
        yield _values("City", "population", "integer", self.population)
        yield _links("Company", "headquarters", "City", self.seat)
        yield _values("Company", "founded", "gYear", self.founded)
        yield [
            f"{node('Award', award)} {relation('winner')} {node('Person', person)} .\n"
            for award, people in enumerate(self.winner)
            for person in sorted(set(people.tolist()))
        ]
        for first in range(0, sizes.people, CHUNK):
            some = slice(first, min(first + CHUNK, sizes.people))
            people = range(some.start, some.stop)
            yield [f'{node("Person", p)} {LABEL} "{person_name(p)}" .\n' for p in people]
            yield [f"{node('Person', p)} {TYPE} {relation('Person')} .\n" for p in people]
            yield _links("Person", "born_in", "City", self.born_in[some], first)
            yield _links("Person", "works_for", "Company", self.works_for[some], first)
            yield _links("Person", "citizen_of", "Country", self.citizen_of[some], first)
            dates = zip(people, self.born_year[some], self.born_day[some], strict=True)
            yield [
                f'{node("Person", p)} {relation("born_on")} "{year}-06-{day:02}"^^<{XSD}date> .\n'
                for p, year, day in dates
            ]
            yield _values("Person", "height", "integer", self.height[some], first)
        for first in range(0, len(self.post_holder), CHUNK):
            some = slice(first, min(first + CHUNK, len(self.post_holder)))
            posts = zip(
                range(some.start, some.stop),
                self.post_holder[some],
                self.post_company[some],
                self.post_year[some],
                strict=True,
            )
            for post, person, company, year in posts:
                yield [
                    f"{node('Person', person)} {relation('held_post')} _:p{post} .\n",
                    f"_:p{post} {relation('post_company')} {node('Company', company)} .\n",
                    f'_:p{post} {relation("post_since")} "{year}"^^<{XSD}gYear> .\n',
                ]


def node(kind: str, place: int) -> str:
    """Return the IRI of one thing, as N-Triples write it."""
    return f"<{BASE}e/{kind}{place}>"


def relation(name: str) -> str:
    """Return the IRI of a relation or a class, as N-Triples write it."""
    return f"<{BASE}r/{name}>"


def person_name(place: int) -> str:
    """Return what a person is called."""
    return f"{FIRST_NAMES[place % len(FIRST_NAMES)]} {place}"


def _zipf(draw: np.random.Generator, kinds: int, count: int) -> np.ndarray:
    weights = 1 / np.arange(1, kinds + 1)
    return draw.choice(kinds, size=count, p=weights / weights.sum())


def _links(kind: str, name: str, other: str, ends: np.ndarray, first: int = 0) -> list[str]:
    return [
        f"{node(kind, place)} {relation(name)} {node(other, end)} .\n"
        for place, end in enumerate(ends, first)
    ]


def _values(kind: str, name: str, datatype: str, values: np.ndarray, first: int = 0) -> list[str]:
    return [
        f'{node(kind, place)} {relation(name)} "{value}"^^<{XSD}{datatype}> .\n'
        for place, value in enumerate(values, first)
    ]
