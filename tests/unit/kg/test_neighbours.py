"""list_relations, follow_relation, names, describe and info on tiny graphs."""

import pytest

from kgqa.kg.meter import metered
from kgqa.kg.terms import Entity, Hop, Literal


def x(name):
    return f"http://x/{name}"


R = Hop(x("r"))
GRAPH = ':a :r :b, :c ; :age 5 . :d :q :a . :a rdfs:label "A" . :b rdfs:label "B" .'


async def test_relations_of_several_entities(make_graph):
    found = await make_graph(GRAPH).list_relations([x("a"), x("b"), x("nobody")])
    assert {id: [str(hop) for hop in page] for id, page in found.items()} == {
        x("a"): ["-age->", "<-q-", "-r->"],
        x("b"): ["<-r-"],
        x("nobody"): [],
    }


async def test_relation_order_is_by_relation_then_forward_first(make_graph):
    page = (await make_graph(":a :r :a ; :q :a .").list_relations([x("a")]))[x("a")]
    assert [(hop.relation, hop.forward) for hop in page] == [
        (x("q"), True),
        (x("q"), False),
        (x("r"), True),
        (x("r"), False),
    ]


async def test_follow_relation_answers_each_step_in_place(make_graph):
    steps = [(x("a"), R), (x("b"), R.inverse), (x("b"), R), (x("a"), Hop(x("age"))), (x("a"), R)]
    pages = await make_graph(GRAPH).follow_relation(steps)
    assert [[str(term) for term in page] for page in pages] == [
        ["B", x("c")],
        ["A"],
        [],
        ["5"],
        ["B", x("c")],
    ]
    assert isinstance(pages[3].items[0], Literal)


async def test_follow_relation_cuts_each_step(make_graph):
    graph = make_graph(" ".join(f":t :r :e{i} ." for i in range(5)) + " :u :r :e0 .", rows=3)
    hub, small = await graph.follow_relation([(x("t"), R), (x("u"), R)])
    assert (len(hub), hub.truncated) == (3, True)
    assert (len(small), small.truncated) == (1, False)


async def test_a_step_takes_nothing_from_another(make_graph):
    graph = make_graph(" ".join(f":t :r :e{i} ." for i in range(9)) + " :u :r :e0 .", rows=3)
    hub, small = await graph.follow_relation([(x("t"), R), (x("u"), R)])
    assert (len(hub), hub.truncated) == (3, True)
    assert (len(small), small.truncated) == (1, False)


async def test_many_steps_are_answered_each_in_place(make_graph):
    triples = " ".join(f":s{i} :r :e{i}, :both ; :q :s0 ." for i in range(40))
    steps = [(x(f"s{i}"), hop) for i in range(40) for hop in (R, R.inverse, Hop(x("q")))]
    graph = make_graph(f"{triples} :both rdfs:label 'Both' .")
    with metered() as meter:
        pages = await graph.follow_relation([*steps, (x("nobody"), R), steps[0]])
    assert meter.queries == 1
    found = [[str(term) for term in page] for page in pages]
    wanted = [end for i in range(40) for end in (["Both", x(f"e{i}")], [], [x("s0")])]
    assert found == [*wanted, [], ["Both", x("e0")]]
    assert not any(page.truncated for page in pages)


async def test_of_many_steps_those_of_a_hop_with_too_many_ends_are_cut(make_graph):
    triples = " ".join(f":s{i} :r :e{i} ; :q :f{i} ." for i in range(20))
    steps = [(x(f"s{i}"), R) for i in range(20)]
    more = [*steps, (x("s0"), Hop(x("q")))]
    pages = await make_graph(triples, rows=20).follow_relation(more)
    assert [page.truncated for page in pages] == [False] * 21
    pages = await make_graph(triples, rows=19).follow_relation(more)
    assert [page.truncated for page in pages] == [*[True] * 20, False]
    assert len(pages[-1]) == 1


async def test_names_of_known_unnamed_and_unknown(make_graph):
    assert await make_graph(GRAPH).names([x("a"), x("c"), x("nobody")]) == {
        x("a"): "A",
        x("c"): None,
        x("nobody"): None,
    }


@pytest.mark.parametrize("operation", ["list_relations", "follow_relation", "names"])
async def test_nothing_asked_nothing_queried(make_graph, operation):
    graph = make_graph(GRAPH)
    with metered() as meter:
        assert len(await getattr(graph, operation)([])) == 0
    assert meter.queries == 0


@pytest.mark.parametrize("operation", ["list_relations", "names", "describe"])
async def test_an_id_that_is_none_is_refused(make_graph, operation):
    hostile = "http://x/a> ?p ?o } #"
    with pytest.raises(ValueError, match="not an IRI"):
        await getattr(make_graph(GRAPH), operation)(hostile if operation == "describe" else [hostile])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ('"Wien"@de, "Vienna"@en, "Vienne"@fr', "Vienna"),
        ('"Wien"@de, "Plain"', "Plain"),
        ('"Wien"@de, "Vienne"@fr', "Wien"),
        ('"Wien"@de, "British"@en-gb', "British"),
        ('"b"@en, "a"@en', "a"),
        ('""@en, "Wien"@de', "Wien"),
    ],
)
async def test_language_order(make_graph, labels, expected):
    assert await make_graph(f":v rdfs:label {labels} .").names([x("v")]) == {x("v"): expected}


async def test_the_first_label_predicate_wins(make_graph):
    graph = make_graph(':v skos:prefLabel "second"@en ; rdfs:label "erste"@de . :w skos:prefLabel "w" .')
    assert await graph.names([x("v"), x("w")]) == {x("v"): "erste", x("w"): "w"}


async def test_without_any_label_names_come_from_ids(make_graph):
    graph = make_graph("<http://x/e/Some_Mother%27s_Son> :r [ :r <http://x/e#Frag_ment> ] .")
    id = "http://x/e/Some_Mother%27s_Son"
    assert await graph.names([id, "http://x/e#Frag_ment", "_:b1"]) == {
        id: "Some Mother's Son",
        "http://x/e#Frag_ment": "Frag ment",
        "_:b1": None,
    }


async def test_a_freebase_id_is_no_name(make_graph):
    id = "http://rdf.freebase.com/ns/m.0abc"
    assert await make_graph("fb:m.0abc fb:people.person.parents fb:m.0d .").names([id]) == {id: None}


async def test_describe(make_graph):
    graph = make_graph(
        ':a a :Town ; rdfs:label "A"@en, "Ah"@de ; skos:altLabel "Alias"@en ; :in :b .'
        ':Town rdfs:label "town" . :c :near :a . :b rdfs:label "B" .'
    )
    found = await graph.describe(x("a"))
    assert found.entity == Entity(x("a"))
    assert found.entity.name == "A"
    assert found.aliases == ("Alias", "Ah")
    assert [kind.name for kind in found.types] == ["town"]
    assert [(str(hop), str(term)) for hop, term in found.facts] == [("-in->", "B"), ("<-near-", x("c"))]


async def test_describe_cuts(make_graph):
    found = await make_graph(GRAPH).describe(x("a"), limit=2)
    assert (len(found.facts), found.facts.truncated) == (2, True)


async def test_info(make_graph):
    info = await make_graph(GRAPH + ' :r rdfs:label "the relation" .').info()
    assert (info.dialect, info.triples, info.entities, info.relations, info.named) == ("plain", 7, 4, 3, 2)
    assert info.relation_counts == ((x("r"), 2), (x("age"), 1), (x("q"), 1))


async def test_relation_labels(make_graph):
    graph = make_graph(":a fb:people.person.parents :b ; <http://y/born> :b ; <http://z/born> :b .")
    assert graph.relation_label("http://rdf.freebase.com/ns/people.person.parents") == "people.person.parents"
    assert graph.relation_label("http://y/born") == "http://y/born"
    page = (await graph.list_relations([x("a")]))[x("a")]
    assert [hop.words for hop in page] == ["people.person.parents", "http://y/born", "http://z/born"]
