"""An answer query gives the same on the embedded store, Oxigraph's server, Virtuoso and rdflib."""

import asyncio
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
import rdflib
from hypothesis import given, settings

from kgqa.kg.opening import open_graph
from kgqa.kg.proof.compilation import write_query
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Pick
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import ANY, Chain, Literal
from kgqa.tests.support import proofs
from kgqa.tests.support.cases import server_missing, tried
from kgqa.tests.support.proofs import chain, hop, typed, x

DATA = Path(__file__).parent / "proof.ttl"
SERVERS = ("oxigraph_server", "virtuoso")
STORES = ("embedded", *SERVERS)

MANY = 12_000  # more than Virtuoso gives in one answer

NUMBERS = Branch(chain("club", "roster", "number"), (1, 2))
STARTS = Branch(chain("club", "roster", "since"), (1, 2))
PLAYERS = Branch(chain("club", "roster", "player"), (1, 2))
OTHERS = Branch(chain("club", "^plays_for"), (2,))
TIMES = Branch(chain("times", "of"), (2,))
PAST = Branch(chain("past", "of"), (2,))
TEXTS = Branch(chain("texts", "of"), (2,))
SIZED = Branch(Chain(ANY, (hop("^size"),)), (2,))
EVERYONE = Branch(chain("club", "roster", "player"), (1, 2), (chain("club", "^plays_for"),))


def where(branch: Branch, attribute: str, operator: str, value: object = None, place: int = 2) -> AnswerQuery:
    """Return a query with one condition; text is a plain literal."""
    term = Literal(value) if isinstance(value, str) else value
    hops = tuple(hop(name) for name in attribute.split())
    return AnswerQuery((branch,), 2, (Condition(place, hops, operator, term),))


def if_known(branch: Branch, attribute: str, operator: str, value: object) -> AnswerQuery:
    query = where(branch, attribute, operator, value)
    return replace(query, conditions=(replace(query.conditions[0], unknown=True),))


def extreme(branch: Branch, function: str, attribute: str = "", place: int | None = None, by: str = "number"):
    hops = tuple(hop(name) for name in attribute.split())
    return AnswerQuery((branch,), 2, aggregate=Aggregate(function, hops, place, by))


def made(*branches: Branch, **parts: object) -> AnswerQuery:
    return AnswerQuery(branches, parts.pop("returned", 2), **parts)


CASES: dict[str, tuple[AnswerQuery, str]] = {
    # branches
    "a chain": (made(PLAYERS), "ann bob cy dee"),
    "ends that meet": (made(PLAYERS, Branch(chain("ulm", "^from"), (2,))), "ann bob"),
    "nodes between that meet": (made(PLAYERS, Branch(chain("autumn", "^in"), (1,))), "bob cy"),
    "an end that meets a node between": (
        made(PLAYERS, Branch(chain("club", "roster", "player", "from", "in"), (4, 2, 5, 6)), returned=6),
        "germany italy",
    ),
    "a node between is returned": (
        made(Branch(chain("club", "roster", "player", "from"), (1, 3, 4)), returned=3),
        "ann bob cy",
    ),
    "a node that is met twice": (made(Branch(chain("eve", "likes", "likes"), (2, 2))), "eve"),
    "alternatives": (made(Branch(chain("ulm", "^from"), (2,), (chain("rom", "^from"),))), "ann bob cy"),
    "alternatives of other lengths": (made(EVERYONE), "ann bob cy dee eve fay"),
    "alternatives that meet at a node between": (
        made(
            Branch(chain("club", "roster", "player"), (1, 2), (chain("other", "^rival", "^plays_for"),)),
            Branch(chain("spring", "^in"), (1,)),
        ),
        "ann dee",
    ),
    "alternatives that meet others": (made(EVERYONE, Branch(chain("gus"), (2,), (chain("fay"),))), "fay"),
    "topics that the graph knows": (
        made(Branch(chain("ann"), (2,), (chain("bob"), chain("nobody")))),
        "ann bob",
    ),
    "what returns": (made(Branch(chain("eve", "likes", "likes"), (1, 2))), "eve fay"),
    "what returns, left out": (made(Branch(chain("eve", "likes", "likes"), (1, 2), fresh=True)), ""),
    "alternatives that do not return": (
        made(Branch(chain("eve", "likes"), (2,), (chain("fay", "likes"),), fresh=True)),
        "eve fay",
    ),
    "a chain that is held": (
        made(Branch(chain("eve", "likes").constrained_to([x("fay"), x("gus")]).then(hop("likes")), (1, 2))),
        "eve",
    ),
    "from anything": (made(SIZED), "ann bob cy dee eve"),
    "from anything, with the arrow": (made(Branch(Chain(ANY, (hop("from"),)), (2,))), "rom ulm"),
    "from anything, fresh": (
        made(Branch(Chain(ANY, (hop("^from"), hop("from"))), (1, 2), fresh=True)),
        "rom ulm",
    ),
    "from anything, that meet": (made(SIZED, Branch(Chain(ANY, (hop("^died"),)), (2,))), "bob cy dee"),
    "from anything, united": (
        made(Branch(Chain(ANY, (hop("^died"),)), (2,), (chain("ulm", "^from"),))),
        "ann bob cy dee",
    ),
    "from anything, under a condition": (where(SIZED, "size", ">", "1.7"), "cy"),
    "from anything, counted": (made(SIZED, aggregate=Aggregate("count")), "5"),
    "from anything, the largest": (extreme(SIZED, "argmax", "size"), "cy"),
    "nothing from anything": (made(Branch(Chain(ANY, (hop("weighs"),)), (2,))), ""),
    "nothing there": (made(Branch(chain("nobody", "from"), (2,))), ""),
    # numbers
    "number =": (where(PLAYERS, "number", "=", "22", 1), "ann bob"),
    "number = of another datatype": (where(EVERYONE, "size", "=", typed("1.7", "decimal")), "ann bob"),
    "number !=": (where(EVERYONE, "size", "!=", "1.7"), "cy eve"),
    "number <": (where(EVERYONE, "size", "<", "1.7"), "eve"),
    "number <=": (where(EVERYONE, "size", "<=", "1.70"), "ann bob eve"),
    "number >": (where(EVERYONE, "size", ">", typed("1.7", "double")), "cy"),
    "number >=": (where(EVERYONE, "size", ">=", "17e-1"), "ann bob cy"),
    # dates, by the shorter precision
    "date =": (where(EVERYONE, "born", "=", "1961-05-03"), "ann bob cy"),
    "date !=": (where(EVERYONE, "born", "!=", typed("1961-05-03", "date")), "dee eve"),
    "date <": (where(EVERYONE, "born", "<", "1961-05-04"), "ann eve"),
    "date <=": (where(EVERYONE, "born", "<=", "1961-05-04"), "ann bob cy eve"),
    "date >": (where(EVERYONE, "born", ">", "1961-04"), "ann cy dee"),
    "date >=": (where(EVERYONE, "born", ">=", "1961-05-04"), "bob cy dee"),
    "year as a date =": (where(EVERYONE, "born", "=", typed("1961", "gYear")), "ann bob cy"),
    "year as a date >": (where(EVERYONE, "born", ">", typed("1961", "gYear")), "dee"),
    "year before year 1 <": (where(EVERYONE, "born", "<", typed("-0400", "gYear")), "eve"),
    "year before year 1 >": (where(EVERYONE, "born", ">", typed("-0428", "gYear")), "ann bob cy dee eve"),
    "date before year 1 =": (where(PAST, "fell", "=", "-0044-03-15"), "v1 v6"),
    "date before year 1 <": (where(PAST, "fell", "<", typed("-0044-03-20", "date")), "v1 v5"),
    "date before year 1 >=": (where(PAST, "fell", ">=", "-0044-09"), "v2 v3 v4 v6 v7"),
    "date of an early year <": (where(PAST, "fell", "<", "0476-09-04"), "v1 v2 v4 v5 v6"),
    "early year =": (where(PAST, "fell", "=", typed("0476", "gYear")), "v3 v7"),
    "early year >": (where(PAST, "fell", ">", typed("83", "gYear")), "v3 v7"),
    "year before 9999 BC <": (where(PAST, "fell", "<", typed("-10000", "gYear")), "v5"),
    "date at a node between": (where(PLAYERS, "since", "<", typed("2001", "gYear"), 1), "cy"),
    "time =": (where(TIMES, "at", "=", "1961-05-04T04:30:00Z"), "t1 t2 t3 t4"),
    "time >": (where(TIMES, "at", ">", typed("1961-05-04T06:30:00+02:00", "dateTime")), "t5"),
    "time <=, of a day": (where(EVERYONE, "born", "<=", "1961-05-03T12:00:00"), "ann bob cy eve"),
    "the day of a time": (where(TIMES, "at", "=", "1961-05-03"), "t2"),
    "year": (where(EVERYONE, "born", "year", "1961"), "ann bob cy"),
    "year of a date": (where(EVERYONE, "born", "year", "1984-05-06"), "dee"),
    "year before year 1": (where(EVERYONE, "born", "year", typed("-0427", "gYear")), "eve"),
    # text
    "text =": (where(TEXTS, "says", "=", "Foo"), "s1 s2"),
    "text = of another language": (where(TEXTS, "says", "=", Literal("Foo", language="fr")), "s1 s2"),
    "text !=": (where(TEXTS, "says", "!=", "Foo"), "s2 s3 s4 s5"),
    "text that could break out": (where(TEXTS, "says", "=", 'ÉTÉ \\ "x" } #'), "s3"),
    "contains": (where(TEXTS, "says", "contains", "foo"), "s1 s2"),
    "contains, other letters": (where(TEXTS, "says", "contains", Literal("été", language="fr")), "s3"),
    "contains a number": (where(PLAYERS, "number", "contains", "2", 1), "ann bob"),
    "a truth value": (where(TEXTS, "says", "=", typed("true", "boolean")), "s5"),
    # entities and types
    "entity =": (where(PLAYERS, "from", "=", x("rom")), "bob cy"),
    "entity !=": (where(PLAYERS, "from", "!=", x("rom")), "ann bob"),
    "entity = by two hops": (where(PLAYERS, "from in", "=", x("italy")), "bob cy"),
    "the node itself =": (where(PLAYERS, "", "=", x("cy")), "cy"),
    "the node itself !=": (where(PLAYERS, "", "!=", x("cy")), "ann bob dee"),
    "type": (where(EVERYONE, "", "type", x("Person")), "ann bob eve"),
    "type by a hop": (where(OTHERS, "likes", "type", x("Person")), "eve fay"),
    # what is there
    "exists": (where(EVERYONE, "died", "exists"), "bob cy dee"),
    "exists by two hops": (where(EVERYONE, "from in", "exists"), "ann bob cy"),
    "not exists": (where(EVERYONE, "died", "not exists"), "ann eve fay"),
    "not exists by two hops": (where(EVERYONE, "from in", "not exists"), "dee eve fay"),
    "no such entity": (where(PLAYERS, "from", "not exists", x("rom")), "ann dee"),
    "no such number": (where(EVERYONE, "size", "not exists", "1.7"), "cy dee eve fay"),
    "no such date": (where(EVERYONE, "born", "not exists", typed("1961", "gYear")), "dee eve fay"),
    "no such time": (where(TIMES, "at", "not exists", "1961-05-04T04:30:00Z"), "t5 t6"),
    "number <, if known": (if_known(EVERYONE, "size", "<", "1.7"), "eve fay"),
    "time <=, if known": (if_known(EVERYONE, "born", "<=", "1961-05-03T12:00:00"), "ann bob cy eve fay"),
    "entity = by two hops, if known": (if_known(EVERYONE, "from in", "=", x("italy")), "bob cy dee eve fay"),
    "several": (
        made(
            EVERYONE,
            conditions=(
                Condition(2, (hop("born"),), "year", Literal("1961")),
                Condition(2, (hop("died"),), "not exists"),
                Condition(2, (), "type", x("Person")),
            ),
        ),
        "ann",
    ),
    # aggregates
    "count": (made(EVERYONE, aggregate=Aggregate("count")), "6"),
    "count of what is picked by conditions": (
        made(PLAYERS, conditions=(Condition(2, (hop("from"),), "exists"),), aggregate=Aggregate("count")),
        "3",
    ),
    "count of nothing": (made(Branch(chain("nobody", "from"), (2,)), aggregate=Aggregate("count")), "0"),
    "min": (extreme(NUMBERS, "min"), "7.5"),
    "max, both that tie": (extreme(NUMBERS, "max"), "22 22"),
    "min of dates": (
        extreme(STARTS, "min", by="date"),
        "1999-12-31",
    ),
    "max of dates": (extreme(STARTS, "max", by="date"), "2001-03"),
    "argmin": (extreme(EVERYONE, "argmin", "size"), "eve"),
    "argmax": (extreme(EVERYONE, "argmax", "size"), "cy"),
    "argmax, all that tie": (extreme(PLAYERS, "argmax", "number", 1), "ann bob"),
    "argmin by a date before year 1": (extreme(EVERYONE, "argmin", "born", by="date"), "eve"),
    "argmax by a date": (extreme(EVERYONE, "argmax", "born", by="date"), "dee"),
    "argmin by a time, all that tie": (extreme(TIMES, "argmin", "at", by="date"), "t1 t2 t3 t4"),
    "argmax by a time": (extreme(TIMES, "argmax", "at", by="date"), "t5"),
    "argmin by a date of long ago": (extreme(PAST, "argmin", "fell", by="date"), "v5"),
    "argmax by a date of early years": (extreme(PAST, "argmax", "fell", by="date"), "v3"),
    "argmax by two hops": (extreme(Branch(chain("club", "roster"), (2,)), "argmax", "player size"), None),
    "argmax of nothing": (extreme(PLAYERS, "argmax", "weight"), ""),
    "argmax under a condition": (
        made(
            EVERYONE,
            conditions=(Condition(2, (), "type", x("Person")),),
            aggregate=Aggregate("argmax", (hop("size"),)),
        ),
        "ann bob",
    ),
    "second largest": (made(EVERYONE, aggregate=Aggregate("argmax", (hop("size"),), rank=2)), "ann bob"),
    "second number": (made(NUMBERS, aggregate=Aggregate("max", rank=2)), "7.5"),
    "third that is not there": (made(NUMBERS, aggregate=Aggregate("max", rank=3)), ""),
    "second date": (
        made(EVERYONE, aggregate=Aggregate("argmin", (hop("born"),), by="date", rank=2)),
        None,
    ),
    # yes or no
    "yes": (made(PLAYERS, conditions=(Condition(2, (), "=", x("ann")),), ask=True), "true"),
    "no": (made(PLAYERS, conditions=(Condition(2, (), "=", x("eve")),), ask=True), "false"),
    "no, of alternatives that a value cannot be among": (
        made(EVERYONE, conditions=(Condition(2, (hop("^player"),), "=", Literal("22")),), ask=True),
        "false",
    ),
    # what a model picked
    "picked": (made(EVERYONE, picked=(Pick(2, (x("ann"), x("fay"), x("gus"))),)), "ann fay"),
    "picked twice": (
        made(EVERYONE, picked=(Pick(2, (x("ann"), x("fay"))), Pick(2, (x("ann"), x("cy"))))),
        "ann",
    ),
    "picked topics, twice": (
        made(
            Branch(chain("ann"), (2,), (chain("bob"), chain("cy"))),
            picked=(Pick(2, (x("ann"), x("bob"))), Pick(2, (x("cy"), x("bob"), x("gus")))),
        ),
        "bob",
    ),
    "picked values": (
        made(NUMBERS, picked=(Pick(2, (Literal("22"), typed("7.5", "string"), x("ann"))),)),
        "22 22 7.5",
    ),
    "picked at a node between": (
        made(Branch(chain("club", "roster", "player", "from"), (1, 3, 2)), picked=(Pick(3, (x("cy"),)),)),
        "rom",
    ),
}


@pytest.fixture(scope="module")
def opened(request):
    """Open the club over a store, once."""
    graphs: dict[tuple[str, Path], SparqlGraph] = {}

    def open_it(store: str, path: Path = DATA) -> SparqlGraph:
        if (store, path) not in graphs:
            source = path if store == "embedded" else request.getfixturevalue(store)([path])
            graphs[store, path] = open_graph([source])
        return graphs[store, path]

    return open_it


def untried(store: str, *_: object) -> str | None:
    return None if store == "embedded" else server_missing(store)


@pytest.mark.parametrize(("store", "case"), tried(product(STORES, CASES), untried))
async def test_a_query_gives_its_answers(opened, store, case):
    query, wanted = CASES[case]
    graph = await asyncio.to_thread(opened, store)
    proof = await graph.prove(query)
    page = proof.answers
    assert not page.truncated
    found = [term.id.removeprefix(proofs.NS) for term in page]
    assert wanted is None or sorted(found) == sorted(wanted.split())
    table = await graph.select(proof.sparql)  # as any client would run it
    assert {row[0] for row in table.rows} == set(page)


@pytest.mark.parametrize("case", [case for case, (_, wanted) in CASES.items() if wanted is not None])
def test_rdflib_gives_the_same(club, case):
    query, wanted = CASES[case]
    found = club.query(write_query(query, [proofs.TYPE]))
    texts = [str(found.askAnswer).lower()] if query.ask else [str(row[0]) for row in found]
    assert sorted(text.removeprefix(proofs.NS) for text in texts) == sorted(wanted.split())


@pytest.fixture(scope="module")
def club():
    """The club in rdflib, its literals as they are written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rdflib, "NORMALIZE_LITERALS", False)
        yield rdflib.Graph().parse(DATA)


def test_an_unnamed_node_is_no_answer_though_it_is_first(opened):
    query, _ = CASES["argmax by two hops"]
    assert not asyncio.run(opened("embedded").prove(query)).answers.items


@pytest.mark.parametrize("store", tried([(store,) for store in STORES], untried))
async def test_what_a_store_gives_can_be_picked_there(opened, store):
    graph = await asyncio.to_thread(opened, store)
    for topic, relation in (("doubles", "of"), ("texts", "of says"), ("club", "roster number")):
        walk = chain(topic, *relation.split())
        branch = Branch(walk, tuple(range(walk.depth)))
        ends = (await graph.prove(AnswerQuery((branch,), walk.depth - 1))).answers
        assert len(ends) > 2
        for end in ends:
            picked = await graph.prove(
                AnswerQuery((branch,), walk.depth - 1, picked=(Pick(walk.depth - 1, (end,)),))
            )
            assert end in set(picked.answers)
            assert {term.id for term in picked.answers} == {end.id}


@pytest.fixture(scope="module")
def hub_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("proof") / "hub.nt"
    spokes = [(x("hub"), f"{proofs.NS}spoke", x(f"n{n}")) for n in range(MANY)]
    sizes = [(spoke, f"{proofs.NS}size", Literal(str(n % 4_000))) for n, (_, _, spoke) in enumerate(spokes)]
    path.write_text(proofs.write([*spokes, *sizes]), encoding="utf-8")
    return path


@pytest.mark.parametrize("store", tried([(store,) for store in STORES], untried))
async def test_what_is_counted_or_compared_is_more_than_a_page(opened, hub_file, store):
    graph = await asyncio.to_thread(opened, store, hub_file)
    hub = Branch(chain("hub", "spoke"), (2,))
    page = (await graph.prove(made(hub))).answers
    assert (len(page), page.truncated) == (9_999, True)
    (count,) = (await graph.prove(made(hub, aggregate=Aggregate("count")))).answers
    assert count.id == str(MANY)
    largest = (await graph.prove(extreme(hub, "argmax", "size"))).answers
    assert [term.id for term in largest] == [f"{proofs.NS}n{n}" for n in (11_999, 3_999, 7_999)]
    few = (await graph.prove(where(hub, "size", ">=", "3998"))).answers
    assert (len(few), few.truncated) == (6, False)


def random_graph() -> proofs.Triples:
    """Return a graph in which most random queries find something."""
    random = Random(7)
    links = [
        (head, relation, tail)
        for head, relation in product(proofs.ENTITIES, proofs.RELATIONS)
        for tail in random.sample(proofs.ENTITIES, 2)
    ]
    valued = [(head, proofs.VALUE, v) for head in proofs.ENTITIES for v in random.sample(proofs.VALUES, 9)]
    kinds = [(head, proofs.TYPE, random.choice(proofs.TYPES)) for head in proofs.ENTITIES]
    return frozenset([*links, *valued, *kinds])


@pytest.fixture(scope="module")
def random_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("proof") / "random.nt"
    path.write_text(proofs.write(random_graph()), encoding="utf-8")
    return path


@pytest.mark.parametrize("store", tried([(store,) for store in STORES], untried))
def test_random_queries_give_what_triples_give(opened, random_file, store):
    """Literals are told apart by text and language: of two equal numbers Virtuoso keeps one."""
    graph, triples = opened(store, random_file), random_graph()

    @settings(proofs.SETTINGS, max_examples=60)
    @given(proofs.queries())
    def check(query):
        proof = asyncio.run(graph.prove(query))
        evidence = asyncio.run(graph.trace_answers(query, proof.answers.items[:50]))
        found, extreme = proof.answers.items, query.aggregate and query.aggregate.function != "count"
        assert len(proof.conditions) == len(query.conditions) + bool(extreme) + len(query.picked)
        for fact in evidence.facts:
            tails = [
                tail for head, relation, tail in triples if (head, relation) == (fact.head, fact.relation)
            ]
            assert proofs.text_of(fact.tail) in map(proofs.text_of, tails)
        wanted = proofs.answers(query, triples)
        if isinstance(wanted, set):
            assert {proofs.text_of(term) for term in found} == {proofs.text_of(term) for term in wanted}
        else:
            assert [term.value for term in found] == [str(wanted).lower()]

    check()
