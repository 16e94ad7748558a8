"""The graph after VoG's Figure 9, as examples/ has it: what it says, and where it leads astray."""

from pathlib import Path

import pytest
from rdflib import RDFS, Graph, Literal, Namespace, URIRef

import kgqa
from kgqa.tests.integration.examples.test_cases import following

FILE = Path(kgqa.__file__).parent / "examples" / "border_airport.ttl"
E, R = Namespace("https://kgqa.example/e/"), Namespace("https://kgqa.example/r/")


@pytest.fixture(scope="module")
def places() -> Graph:
    return Graph().parse(FILE)


def bordering(places: Graph, country: URIRef) -> set[URIRef]:
    return set(places.objects(country, R.border / R.neighbour))


def countries(places: Graph) -> set[URIRef]:
    return {*places.subjects(R.border, None), *places.objects(None, R.neighbour)}


def with_an_airport(places: Graph, city: URIRef) -> set[URIRef]:
    return set(places.objects(city, R.nearby_airport / R.contained_by)) & countries(places)


def test_one_country_borders_france_and_has_an_airport_that_serves_nijmegen(places: Graph) -> None:
    assert bordering(places, E.France) & with_an_airport(places, E.Nijmegen) == {E.Germany}


def test_neither_half_of_the_question_is_enough(places: Graph) -> None:
    assert with_an_airport(places, E.Nijmegen) == {E.Germany, E.Netherlands}
    assert len(bordering(places, E.France)) == 8


def test_the_country_of_nijmegen_does_not_border_france(places: Graph) -> None:
    assert (E.Nijmegen, R.contained_by, E.Netherlands) in places
    assert E.Netherlands not in bordering(places, E.France)


def test_no_airport_has_the_name_of_nijmegen(places: Graph) -> None:
    assert Literal("Nijmegen Airport", lang="en") not in set(places.objects(None, RDFS.label))


def test_every_border_is_a_nameless_node_with_one_country_on_either_side(places: Graph) -> None:
    borders = set(places.objects(None, R.border))
    for border in borders:
        assert len(list(places.subjects(R.border, border))) == 1
        assert len(list(places.objects(border, R.neighbour))) == 1
        assert (border, RDFS.label, None) not in places


def test_borders_between_described_countries_are_there_from_both_sides(places: Graph) -> None:
    described = set(places.subjects(R.border, None))
    for country in described:
        for other in bordering(places, country) & described:
            lengths = [
                {
                    places.value(border, R.length_in_km)
                    for border in places.objects(one, R.border)
                    if (border, R.neighbour, two) in places
                }
                for one, two in ((country, other), (other, country))
            ]
            assert lengths[0] == lengths[1]
            assert len(lengths[0]) == 1


def test_a_nameless_node_of_france_leads_nowhere(places: Graph) -> None:
    [place] = places.objects(E.France, R.geolocation)
    assert all(isinstance(value, Literal) for value in places.objects(place))


async def test_the_neighbours_of_france_are_found_behind_nameless_borders(places: Graph) -> None:
    record = await kgqa.aask(
        "Which countries border France?",
        method="cor",
        kg=str(FILE),
        topics=["France"],
        model=following("border", "neighbour"),
    )
    assert {answer["id"] for answer in record["answers"]} == set(map(str, bordering(places, E.France)))
