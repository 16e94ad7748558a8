"""What the nodes at each place of a chain have: values, types, what is looked for beside them."""

import pytest

from kgqa.kg.dialects import RDFS
from kgqa.kg.meter import metered
from kgqa.kg.sparql import chain_queries
from kgqa.kg.terms import Chain, Entity, Hop, Literal

TEAM = """
e:team rdfs:label "Team" ; r:roster _:b1, _:b2 ; r:rival e:other .
_:b1 r:player e:ann ; r:number 22 . _:b2 r:player e:ben ; r:number 7 .
e:ann rdfs:label "Ann" ; a e:Person ; r:born "1961-05-03" ; r:school _:b3 ; r:from e:ulm .
_:b3 r:at e:uni ; r:degree "BSc" ; r:of e:ann .
e:ben rdfs:label "Ben" ; a e:Person, e:Star ; r:born "1970" ; r:from e:bonn ; r:friend e:cleo .
e:cleo rdfs:label "Cleo" ; r:age 30 .
e:ulm rdfs:label "Ulm" . e:bonn rdfs:label "Bonn" . e:uni rdfs:label "Uni" . e:Person rdfs:label "Person" .
"""


def e(name: str) -> Entity:
    return Entity(f"http://t/e/{name}")


def r(name: str) -> Hop:
    return Hop(f"http://t/r/{name.removeprefix('^')}", not name.startswith("^"))


PLAYERS = Chain(e("team"), (r("roster"), r("player")))


async def values(graph, chain, relations=None, near=()):
    hops = {at: list(map(r, names.split())) for at, names in (relations or {}).items()}
    places = dict.fromkeys(range(1, chain.depth + 1), ())
    found = (await graph.chain_attributes({chain: {**places, **hops}}, near))[chain]
    shown = [
        (each.place, " ".join(map(str, each.hops)), str(each.end), str(each.value)) for each in found.values
    ]
    return shown, found


async def test_values_are_of_the_nodes_at_each_place(graph):
    shown, _ = await values(graph(TEAM), PLAYERS, {1: "number", 2: "born"})
    assert shown == [
        (1, "-number->", "Ann", "22"),
        (1, "-number->", "Ben", "7"),
        (2, "-born->", "Ann", "1961-05-03"),
        (2, "-born->", "Ben", "1970"),
    ]


async def test_in_place_of_what_has_no_name_is_what_it_has(graph):
    with metered() as meter:
        seat = "_:b3 r:seat _:b4 . _:b4 r:row 3 ."  # has no name either
        shown, _ = await values(graph(TEAM + seat), PLAYERS, {2: "school"})
    assert shown == [(2, "-school-> -at->", "Ann", "Uni"), (2, "-school-> -degree->", "Ann", "BSc")]
    assert meter.queries == 1


async def test_types_are_of_the_ends(graph):
    _, found = await values(graph(TEAM), PLAYERS)
    pairs = [(str(end), kind.id.rpartition("/")[2]) for end, kind in found.types]
    assert pairs == [("Ann", "Person"), ("Ben", "Person"), ("Ben", "Star")]
    assert not found.types.truncated and not found.values.items


async def test_names_of_the_ends_are_by_what_says_them(graph):
    _, found = await values(graph(TEAM), PLAYERS)
    assert [(str(each.end), str(each.value), each.place) for each in found.names] == [
        ("Ann", "Ann", 2),
        ("Ben", "Ben", 2),
    ]
    assert {hop.relation for each in found.names for hop in each.hops} == {f"{RDFS}label"}


async def test_nodes_between_that_have_a_name_are_values_themselves(graph):
    ages = PLAYERS.then(r("friend")).then(r("age"))
    shown, _ = await values(graph(TEAM), ages)
    assert shown == [(2, "", "30", "Ben"), (3, "", "30", "Cleo")]


async def test_what_is_looked_for_is_found_by_any_relation(graph):
    near = [e("ulm"), Literal("1961"), Literal("22"), Literal("BSc"), e("team")]
    shown, _ = await values(graph(TEAM), PLAYERS, near=near)
    assert shown == [
        (1, "-number->", "Ann", "22"),
        (2, "-born->", "Ann", "1961-05-03"),
        (2, "-from->", "Ann", "Ulm"),
    ]


async def test_relations_are_followed_against_the_arrow_too(graph):
    shown, _ = await values(graph(TEAM), Chain(e("ulm"), (r("^from"),)), {1: "^player"})
    assert shown == [(1, "<-player- -number->", "Ann", "22")]


async def test_a_chain_is_held_as_it_is(graph):
    held = PLAYERS.constrained_to([e("ben")])
    shown, found = await values(graph(TEAM), held, {1: "number", 2: "from"})
    assert {end for _, _, end, _ in shown} == {"Ben"}
    assert {str(end) for end, _ in found.types} == {"Ben"}


async def test_a_topic_alone_has_no_attributes(graph):
    shown, found = await values(graph(TEAM), Chain(e("team")))
    assert not shown and not found.types.items


@pytest.mark.parametrize("limit", ["MAX_ENDS_SCANNED", "MAX_TRIPLES_SCANNED"])
async def test_what_is_not_read_is_said(graph, monkeypatch, limit):
    monkeypatch.setattr(chain_queries, limit, 1)
    _, found = await values(graph(TEAM), PLAYERS, {2: "born"}, near=[Literal("7")])
    assert found.values.truncated and found.types.truncated


async def test_several_chains_are_read_by_one_query_as_each_is_alone(graph):
    team = graph(TEAM)
    chains = [PLAYERS, Chain(e("ulm"), (r("^from"),)), Chain(e("team"))]
    wanted = {
        chain: {place: [r("born"), r("school")] for place in range(1, chain.depth + 1)} for chain in chains
    }
    near = [Literal("22"), e("ulm")]
    with metered() as meter:
        together = await team.chain_attributes(wanted, near)
    assert meter.queries == 1
    alone = [(await team.chain_attributes({chain: wanted[chain]}, near))[chain] for chain in chains]
    assert list(together) == chains and list(together.values()) == alone


async def test_of_many_values_some_of_each_attribute_are_kept(make_graph):
    """One of which there are many leaves room for those after it."""
    many = " ".join(f"e:n{n} r:at e:ulm ." for n in range(20))
    graph = make_graph(
        f"@prefix e: <http://t/e/> . @prefix r: <http://t/r/> . e:land r:town e:ulm, e:bonn . {many} "
        "e:ulm r:size 7 . e:bonn r:size 9 ; r:zip 1 .",
        rows=6,
    )
    shown, found = await values(graph, Chain(e("land"), (r("town"),)), {1: "^at size zip"})
    assert found.values.truncated
    assert [way for _, way, _, _ in shown] == ["<-at-", "<-at-", "<-at-", "-size->", "-size->", "-zip->"]
