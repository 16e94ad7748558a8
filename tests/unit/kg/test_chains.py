"""extend_chain, follow_chain and trace_chain on tiny graphs."""

from random import Random

import pytest

from kgqa.kg.meter import metered
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Triple

FILMS = """
:f1 :stars :ann, :bob ; rdfs:label "F1"@en .
:f2 :stars :ann, :cy ; rdfs:label "F2"@en .
:ann rdfs:label "Ann"@en . :bob rdfs:label "Bob"@en . :cy rdfs:label "Cy"@en .
"""

FAMILY = """
:kid :parent :mum, :dad . :mum :spouse :dad . :dad :spouse :mum .
:kid rdfs:label "Kid" . :mum rdfs:label "Mum" . :dad rdfs:label "Dad" .
"""


def x(name):
    return f"http://x/{name}"


def chain(topic, *hops):
    return Chain(Entity(x(topic)), tuple(Hop(x(hop.lstrip("^")), not hop.startswith("^")) for hop in hops))


async def ends(graph, *path):
    return {str(found.term): found.returning for found in await graph.follow_chain(chain(*path))}


async def test_follow_gives_names(make_graph):
    page = await make_graph(FILMS).follow_chain(chain("f1", "stars"))
    assert [(found.term.id, found.term.name) for found in page] == [(x("ann"), "Ann"), (x("bob"), "Bob")]
    assert not page.truncated


async def test_follow_goes_against_the_arrow(make_graph):
    assert await ends(make_graph(FILMS), "ann", "^stars") == {"F1": False, "F2": False}


async def test_co_stars_return_to_the_topic_only_as_itself(make_graph):
    found = await ends(make_graph(FILMS), "ann", "^stars", "stars")
    assert found == {"Ann": True, "Bob": False, "Cy": False}


async def test_end_reached_only_through_the_topic_is_returning(make_graph):
    found = await ends(make_graph(FILMS), "ann", "^stars", "stars", "^stars", "stars")
    assert found == {"Ann": True, "Bob": False, "Cy": False}
    assert await ends(make_graph(FAMILY), "mum", "spouse", "spouse", "spouse") == {"Dad": True}


async def test_spouse_of_parent_is_not_returning_when_the_topic_is_the_child(make_graph):
    assert await ends(make_graph(FAMILY), "kid", "parent", "spouse") == {"Dad": False, "Mum": False}


async def test_spouse_of_the_spouse_is_returning(make_graph):
    assert await ends(make_graph(FAMILY), "mum", "spouse", "spouse") == {"Mum": True}


async def test_one_way_around_the_topic_is_enough(make_graph):
    graph = make_graph(":t :r :a, :t . :a :r :b . :t :r :b . :b :r :c .")
    assert await ends(graph, "t", "r", "r") == {"a": True, "b": False, "c": False} | {"t": True}


async def test_chain_without_hops_gives_the_topic(make_graph):
    (found,) = await make_graph(FILMS).follow_chain(chain("ann"))
    assert (found.term.id, found.term.name, found.returning) == (x("ann"), "Ann", False)


async def test_unknown_topic_or_relation_gives_nothing(make_graph):
    graph = make_graph(FILMS)
    assert len(await graph.follow_chain(chain("nobody", "stars"))) == 0
    assert len(await graph.follow_chain(chain("f1", "directs"))) == 0
    assert len(await graph.extend_chain(chain("nobody"))) == 0


async def test_literals_keep_datatype_and_language(make_graph):
    graph = make_graph(':a :age 23 ; :motto "hé"@fr ; :code "x" ; :born "1990-01-02"^^xsd:date .')
    follow = [
        (await graph.follow_chain(chain("a", hop))).items[0].term for hop in ("age", "motto", "code", "born")
    ]
    assert follow == [
        Literal("23", "http://www.w3.org/2001/XMLSchema#integer"),
        Literal("hé", language="fr"),
        Literal("x"),
        Literal("1990-01-02", "http://www.w3.org/2001/XMLSchema#date"),
    ]


async def test_literals_can_be_passed_through(make_graph):
    assert await ends(make_graph(":a :age 23 . :b :age 23 . :c :age 4 ."), "a", "age", "^age") == {
        "a": True,
        "b": False,
    }


async def test_named_come_before_unnamed_then_by_name_then_by_id(make_graph):
    graph = make_graph(':t :r :c, :b, :a, :n . :c rdfs:label "A" . :b rdfs:label "B" . :a rdfs:label "B" .')
    assert [found.term.id for found in await graph.follow_chain(chain("t", "r"))] == [*map(x, "cabn")]


async def test_a_mediator_is_unnamed_and_passed_through(make_graph):
    graph = make_graph('fb:m.1 fb:marriage [ fb:spouse fb:m.2 ] . fb:m.2 fb:type.object.name "Eve"@en .')
    topic = Chain(Entity("http://rdf.freebase.com/ns/m.1"), (Hop("http://rdf.freebase.com/ns/marriage"),))
    (mediator,) = await graph.follow_chain(topic)
    assert mediator.term.name is None
    assert mediator.term.id.startswith("_:")
    (eve,) = await graph.follow_chain(topic.then(Hop("http://rdf.freebase.com/ns/spouse")))
    assert eve.term.name == "Eve"


async def test_a_blank_node_can_be_a_topic(make_graph):
    graph = make_graph(":a :r [ :s :b ] .")
    (blank,) = await graph.follow_chain(chain("a", "r"))
    (found,) = await graph.follow_chain(Chain(blank.term, (Hop(x("s")),)))
    assert found.term.id == x("b")


async def test_row_limit_cuts_and_says_so(make_graph):
    graph = make_graph(
        " ".join(f":t :r :e{i:02} . :e{i:02} rdfs:label 'a', 'b' ." for i in range(10)), rows=4
    )
    page = await graph.follow_chain(chain("t", "r"))
    assert len({found.term.id for found in page}) == 4
    assert [str(found.term) for found in page] == ["a"] * 4
    assert page.truncated


async def test_as_many_as_the_row_limit_is_not_truncated(make_graph):
    graph = make_graph(" ".join(f":t :r :e{i} . :e{i} rdfs:label 'a', 'b' ." for i in range(4)), rows=4)
    page = await graph.follow_chain(chain("t", "r"))
    assert (len(page), page.truncated) == (4, False)


async def test_extend_gives_both_directions_in_order(make_graph):
    graph = make_graph(":a :r :b . :b :r :c . :b :q :c . :d :s :b .")
    page = await graph.extend_chain(chain("a", "r"))
    assert [str(hop) for hop in page] == ["-q->", "-r->", "<-r-", "<-s-"]
    assert not page.truncated


async def test_extend_allows_going_back_along_the_same_relation(make_graph):
    assert Hop(x("stars")) in (await make_graph(FILMS).extend_chain(chain("ann", "^stars"))).items


async def test_extend_leaves_out_names_types_and_literal_ends(make_graph):
    graph = make_graph(':a :r :b, 5 . :b a :Thing ; rdfs:label "B" ; skos:altLabel "C" ; :q 5 . :z :age 5 .')
    assert [str(hop) for hop in await graph.extend_chain(chain("a", "r"))] == ["-q->", "<-r-"]
    assert len(await graph.extend_chain(chain("z", "age"))) == 0


async def test_extend_truncates(make_graph):
    graph = make_graph(" ".join(f":a :r{i} :b ." for i in range(10)), rows=4)
    page = await graph.extend_chain(chain("a"))
    assert (len(page), page.truncated) == (4, True)


async def test_trace_gives_named_triples_in_the_direction_of_the_graph(make_graph):
    (path,) = await make_graph(FILMS).trace_chain(chain("bob", "^stars", "stars"), [Entity(x("ann"))])
    f1, ann, bob = (Entity(x(name)) for name in ("f1", "ann", "bob"))
    assert path == (Triple(f1, x("stars"), bob), Triple(f1, x("stars"), ann))
    assert [(step.head.name, step.tail.name) for step in path] == [("F1", "Bob"), ("F1", "Ann")]


async def test_trace_follows_the_order_of_ends_and_leaves_unreached_ones_empty(make_graph):
    wanted = [Entity(x("cy")), Entity(x("nobody")), Literal("cy"), Entity(x("bob"))]
    paths = await make_graph(FILMS).trace_chain(chain("ann", "^stars", "stars"), wanted)
    assert [path[-1].tail.id if path else None for path in paths] == [x("cy"), None, None, x("bob")]


async def test_trace_prefers_paths_that_do_not_return_then_the_least_ids(make_graph):
    graph = make_graph(":t :r :t, :b, :c . :b :r :e . :c :r :e . :t :r :e .")
    (path,) = await graph.trace_chain(chain("t", "r", "r"), [Entity(x("e"))])
    assert path[0].tail.id == x("b")


async def test_trace_reaches_literals_and_long_chains(make_graph):
    graph = make_graph(":a :r :b . :b :r :c . :c :r :d . :d :age 7 .")
    seven = Literal("7", "http://www.w3.org/2001/XMLSchema#integer")
    (path,) = await graph.trace_chain(chain("a", "r", "r", "r", "age"), [seven])
    assert [step.head.id for step in path] == [*map(x, "abcd")]
    assert path[-1].tail == seven


async def test_trace_passes_blank_nodes(make_graph):
    (path,) = await make_graph(":a :r [ :r :b ] .").trace_chain(chain("a", "r", "r"), [Entity(x("b"))])
    assert path[0].tail == path[1].head
    assert path[0].tail.id.startswith("_:")


async def test_trace_of_a_chain_without_hops_is_empty(make_graph):
    assert await make_graph(FILMS).trace_chain(chain("ann"), [Entity(x("ann"))]) == [()]


@pytest.mark.parametrize("path", [("ann", "^stars", "stars"), ("ann", "^stars")])
async def test_each_operation_is_one_query(make_graph, path):
    graph = make_graph(FILMS)
    for operation in (graph.extend_chain, graph.follow_chain):
        with metered() as meter:
            await operation(chain(*path))
        assert meter.queries == 1
    with metered() as meter:
        await graph.trace_chain(chain(*path), [Entity(x("f1")), Entity(x("bob"))])
    assert meter.queries == 1


async def test_values_that_have_no_order_are_followed(make_graph):
    """pyoxigraph aborts the process where it sorts such values: "10", 9 and +8.0."""
    chosen = Random(1)
    kinds = ('"{}"', '"+{}"^^xsd:decimal', '"{}"^^xsd:integer')
    values = [kinds[place % 3].format(chosen.randint(0, 10_000)) for place in range(400)]
    graph = make_graph(f":f1 :has {', '.join(values)} .")
    page = await graph.follow_chain(chain("f1", "has"))
    (other,) = await graph.follow_relation([(x("f1"), chain("f1", "has").hops[0])])
    assert len(page) == len(other) > 350
    assert len((await graph.describe(x("f1"), limit=400)).facts) == len(page)
