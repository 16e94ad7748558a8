"""What each tool says, and what it gives."""

import pytest

from kgqa.kg.linked_graph import LinkedGraph
from kgqa.kg.meter import metered
from kgqa.kg.opening import open_graph
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Triple
from kgqa.tests.unit.tools.conftest import Give, Say, Write
from kgqa.tools import make_tools
from kgqa.tools.arguments import chain_arguments, relation_arguments
from kgqa.tools.text import MAX_LINES, listing, show_hop, show_term

ADA, BEN, ULM, X1 = (Entity(f"http://t/e/{name}") for name in ("ada", "ben", "ulm", "x1"))
CHILD, LIVES_IN = Hop("http://t/r/child"), Hop("http://t/r/lives_in")
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
AGE = Literal("36", INTEGER)


async def test_find_entities_says_how_well_a_name_fits(say: Say) -> None:
    assert await say("find_entities", name="Ada Lovelace") == (
        "1 entity for 'Ada Lovelace':\n- Ada Lovelace <http://t/e/ada> (exact, 1.00)"
    )


async def test_find_entities_says_where_nothing_is_called_so(say: Say) -> None:
    said = (await say("find_entities", name="Ada Lovelaze")).splitlines()
    assert said[0].endswith(" near 'Ada Lovelaze'; none is called so:")
    assert "Ada Lovelace" in said[1]


async def test_find_entities_gives_matches(give: Give) -> None:
    [match] = await give("find_entities", name="ada lovelace")
    assert (match.entity, match.how) == (ADA, "normalised")


async def test_find_entities_gives_as_many_as_asked_for(give: Give) -> None:
    assert len(await give("find_entities", name="Ulm", limit=1)) == 1


async def test_link_entities_says_what_a_question_mentions(say: Say) -> None:
    said = await say("link_entities", question="Where do the children of Ada Lovelace live?")
    assert said == "1 mention:\n- 'Ada Lovelace': Ada Lovelace <http://t/e/ada>"


async def test_link_entities_gives_mentions(give: Give) -> None:
    [mention] = await give("link_entities", question="Who lives in Ulm?")
    assert (mention.text, mention.matches[0].entity) == ("Ulm", ULM)


async def test_nothing_found_is_said(say: Say) -> None:
    assert await say("link_entities", question="Who is it?") == "0 mentions"


async def test_describe_entity_says_types_and_facts(say: Say) -> None:
    lines = (await say("describe_entity", entity="Ulm")).splitlines()
    assert lines[:3] == ["Ulm <http://t/e/ulm>", "is a Town", "3 facts:"]
    assert "- ^http://t/r/lives_in (unnamed) <http://t/e/x1>" in lines


async def test_describe_entity_gives_facts(give: Give) -> None:
    description = await give("describe_entity", entity="Ada Lovelace")
    assert description.entity == ADA
    assert (CHILD, BEN) in list(description.facts)


async def test_describe_entity_says_that_there_are_more_facts(say: Say) -> None:
    assert "more than 2 facts" in await say("describe_entity", entity="Ada Lovelace", limit=2)


async def test_list_relations_says_both_directions(say: Say) -> None:
    assert (await say("list_relations", entities=["Ulm"])).splitlines()[1:] == [
        "- ^http://t/r/lives_in",
        f"- {show_hop(Hop('http://t/s/age', name='http://t/s/age'))}",
    ]


async def test_list_relations_gives_the_hops_of_each_entity(give: Give) -> None:
    pages = await give("list_relations", entities=[BEN.id, "Ulm", BEN.id])
    assert {id: list(page) for id, page in pages.items()} == {
        BEN.id: [CHILD.inverse, LIVES_IN],
        ULM.id: [LIVES_IN.inverse, Hop("http://t/s/age")],
    }


async def test_follow_relation_gives_nodes_named_or_not(give: Give) -> None:
    [page] = await give("follow_relation", entities=["Ada Lovelace"], relation="child")
    assert list(page) == [BEN, X1]


async def test_follow_relation_goes_against_the_arrow(say: Say) -> None:
    said = await say("follow_relation", entities=["Ulm"], relation="^lives_in")
    assert said.splitlines()[2] == "- (unnamed) <http://t/e/x1>"


async def test_follow_relation_gives_values(give: Give) -> None:
    [page] = await give("follow_relation", entities=[ADA.id], relation="http://t/r/age")
    assert list(page) == [AGE]


async def test_follow_relation_gives_the_ends_of_each_entity_in_place(give: Give) -> None:
    pages = await give("follow_relation", entities=[X1.id, "Ada Lovelace", BEN.id], relation="lives_in")
    assert [list(page) for page in pages] == [[ULM], [], [ULM]]


async def test_follow_relations_gives_the_ends_of_each_relation_in_place(give: Give, say: Say) -> None:
    steps = [
        {"entities": [ADA.id, BEN.id], "relation": "lives_in"},
        {"entities": [], "relation": "child"},
        {"entities": [ADA.id], "relation": "child"},
    ]
    pages = await give("follow_relations", steps=steps)
    assert [[list(page) for page in part] for part in pages] == [[[], [ULM]], [], [[BEN, X1]]]
    said = await say("follow_relations", steps=steps)
    assert said.splitlines()[0].startswith(f"0 nodes at (unnamed) <{ADA.id}>")
    assert await say("follow_relations", steps=[]) == "no relation was named"


async def test_each_entity_has_its_own_listing(say: Say) -> None:
    said = await say("list_relations", entities=[BEN.id, X1.id])
    assert [line for line in said.splitlines() if not line.startswith("- ")] == [
        f"2 relations of (unnamed) <{BEN.id}>:",
        f"2 relations of (unnamed) <{X1.id}>:",
    ]
    said = await say("follow_relation", entities=[BEN.id, ADA.id], relation="lives_in")
    assert said.splitlines() == [
        f"1 node at (unnamed) <{BEN.id}> http://t/r/lives_in:",
        "- Ulm <http://t/e/ulm>",
        f"0 nodes at (unnamed) <{ADA.id}> http://t/r/lives_in",
    ]


async def test_where_no_entity_is_named_that_is_said(say: Say, give: Give) -> None:
    assert await say("list_relations", entities=[]) == "no entity was named"
    assert await say("follow_relation", entities=[], relation="child") == "no entity was named"
    assert await give("list_relations", entities=[]) == {}
    assert await give("follow_relation", entities=[], relation="child") == []


@pytest.mark.parametrize("hop", [None, CHILD, CHILD.inverse], ids=str)
async def test_many_entities_are_one_query_and_none_is_looked_up(
    turtle: Write, monkeypatch: pytest.MonkeyPatch, hop: Hop | None
) -> None:
    graph = open_graph([turtle("e:a r:child e:b . e:b r:child e:c .")])
    monkeypatch.delattr(LinkedGraph, "find_entities")
    tools = {tool.name: tool for tool in make_tools(graph)}
    people = [Entity(f"http://t/e/{letter}") for letter in "abc"]
    with metered() as meter:
        used = tools["follow_relation" if hop else "list_relations"]
        said = await used.ainvoke(relation_arguments(people, hop))
    assert all(person.id in said for person in people)
    assert meter.queries == 1


async def test_extend_chain_lists_what_follows_nameless_nodes_too(give: Give) -> None:
    page = await give("extend_chain", topic="Ada Lovelace", hops=["child"])
    assert list(page) == [CHILD.inverse, LIVES_IN]


async def test_extend_chain_may_start_at_the_topic(say: Say) -> None:
    said = await say("extend_chain", topic=BEN.id, hops=[])
    assert said == "2 relations that lead on:\n- ^http://t/r/child\n- http://t/r/lives_in"


async def test_follow_chain_says_the_ends(say: Say) -> None:
    said = await say("follow_chain", topic="Ada Lovelace", hops=["child", "lives_in"])
    assert said == "1 node at the end:\n- Ulm <http://t/e/ulm>"


async def test_follow_chain_says_what_comes_back_to_the_start(say: Say) -> None:
    said = await say("follow_chain", topic="Ada Lovelace", hops=["child", "^child"])
    assert said.splitlines()[1] == "- Ada Lovelace <http://t/e/ada> (by way of the start)"


async def test_follow_chain_gives_candidates(give: Give) -> None:
    page = await give("follow_chain", topic="Ulm", hops=["^lives_in", "^child"])
    assert list(page) == [Candidate(ADA)]


CHAINS = [
    {"topic": "Ulm", "hops": []},
    {"topic": "Ada Lovelace", "hops": ["child", "^child"], "held": {1: [BEN.id]}},
]


async def test_visit_chains_gives_the_ends_of_each_chain_and_what_leads_on(give: Give) -> None:
    ulm, ada = await give("visit_chains", chains=CHAINS)
    assert list(ulm.ends) == [Candidate(ULM)]
    assert list(ulm.hops) == [LIVES_IN.inverse, Hop("http://t/s/age")]
    assert list(ada.ends) == [Candidate(ADA, returning=True)]
    assert CHILD in ada.hops.items


async def test_visit_chains_says_which_chain_it_speaks_of(say: Say) -> None:
    said = await say("visit_chains", chains=CHAINS, hops=False)
    assert said.splitlines() == [
        "1 node at Ulm <http://t/e/ulm>:",
        "- Ulm <http://t/e/ulm>",
        "1 node at Ada Lovelace <http://t/e/ada> http://t/r/child "
        f"(only (unnamed) <{BEN.id}>) ^http://t/r/child:",
        "- Ada Lovelace <http://t/e/ada> (by way of the start)",
    ]
    said = await say("visit_chains", chains=CHAINS[:1], ends=False)
    assert said.splitlines()[0] == "2 relations that lead on from Ulm <http://t/e/ulm>:"
    assert await say("visit_chains", chains=[]) == "no chain was named"


async def test_visit_chains_takes_chains_as_they_are_written(turtle: Write) -> None:
    graph = open_graph([turtle("e:a r:child e:b . e:b r:child e:c .")])
    tools = {tool.name: tool for tool in make_tools(graph)}
    held = Chain(ADA, (CHILD,)).constrained_to([BEN]).then(CHILD)
    with metered() as meter:
        await tools["visit_chains"].ainvoke({"chains": [chain_arguments(held), chain_arguments(Chain(BEN))]})
    assert meter.queries == 1


async def test_trace_chain_gives_the_facts_on_the_way(give: Give) -> None:
    hops = ["child", "lives_in"]
    [path] = await give("trace_chain", topic="Ada Lovelace", hops=hops, ends=[{"id": ULM.id}])
    assert path == (Triple(ADA, CHILD.relation, BEN), Triple(BEN, LIVES_IN.relation, ULM))


async def test_trace_chain_says_the_facts_on_the_way(say: Say) -> None:
    ends = [{"value": "36", "datatype": INTEGER}]
    said = await say("trace_chain", topic="Ada Lovelace", hops=["http://t/r/age"], ends=ends)
    assert said == '1 path:\n- Ada Lovelace <http://t/e/ada> http://t/r/age "36"'


@pytest.mark.parametrize(
    ("held", "ends"),
    [([BEN], [ULM]), ([X1, BEN], [ULM]), ([ULM], []), ([Entity("http://t/e/unknown")], [])],
)
async def test_follow_chain_is_held_on_its_way(give: Give, held: list[Entity], ends: list[Entity]) -> None:
    arguments = chain_arguments(Chain(ADA, (CHILD,)).constrained_to(held).then(LIVES_IN))
    assert [found.term for found in await give("follow_chain", **arguments)] == ends


async def test_extend_chain_is_held(give: Give, say: Say) -> None:
    found = await give("extend_chain", topic=ADA.id, hops=["child"], held={"1": ["<http://t/e/x1>"]})
    assert list(found) == [CHILD.inverse, LIVES_IN]
    said = await say("extend_chain", topic=ADA.id, hops=["child"], held={"1": ["http://t/e/unknown"]})
    assert said == "0 relations that lead on"


async def test_trace_chain_is_held_on_its_way(give: Give) -> None:
    hops, ends = ["child", "lives_in"], [{"id": ULM.id}]
    [path] = await give("trace_chain", topic=ADA.id, hops=hops, ends=ends, held={"1": [X1.id]})
    assert path == (Triple(ADA, CHILD.relation, X1), Triple(X1, LIVES_IN.relation, ULM))


def test_what_a_chain_is_held_to_is_written_by_id() -> None:
    written = chain_arguments(Chain(BEN, (CHILD,)).constrained_to([ULM, ADA]))
    assert written["held"] == {1: [f"<{ADA.id}>", f"<{ULM.id}>"]}


async def test_run_select_says_rows(say: Say) -> None:
    said = await say("run_select", query="SELECT ?age WHERE { <http://t/e/ada> <http://t/r/age> ?age }")
    assert said == '1 row of age:\n- "36"'


async def test_run_select_gives_a_table(give: Give) -> None:
    table = await give("run_select", query="SELECT ?x ?y { <http://t/e/ben> <http://t/r/lives_in> ?x }")
    assert (table.columns, table.rows) == (("x", "y"), ((ULM, None),))


async def test_run_select_answers_ask(say: Say) -> None:
    assert '"true"' in await say("run_select", query="ASK { <http://t/e/ada> ?p ?o }")


async def test_a_cut_answer_says_so(turtle: Write) -> None:
    path = turtle('e:hub rdfs:label "Hub" ; r:part e:a, e:b, e:c .')
    tools = {tool.name: tool for tool in make_tools(open_graph([path], rows=2))}
    said = await tools["follow_chain"].ainvoke({"topic": "Hub", "hops": ["part"]})
    assert said.startswith("more than 2 nodes at the end")
    said = await tools["follow_relation"].ainvoke({"entities": ["Hub"], "relation": "part"})
    assert said.startswith("more than 2 nodes")
    said = await tools["run_select"].ainvoke({"query": "SELECT ?x { ?x ?p ?o }"})
    assert "more were cut" in said


def test_a_long_listing_shows_its_beginning_and_how_much_is_left() -> None:
    lines = listing("things", map(str, range(MAX_LINES + 7))).splitlines()
    assert (lines[0], lines[-1]) == (f"{MAX_LINES + 7} things:", "- ... and 7 others")
    assert len(lines) == MAX_LINES + 2


def test_a_term_is_one_short_line() -> None:
    assert show_term(Entity("http://t/x", "a\nb\t c")) == "a b c <http://t/x>"
    assert show_term(Literal("a\r\nb")) == '"a b"'
    assert len(show_term(Literal("x" * 10_000))) == 202


def test_a_hop_is_written_as_it_is_read() -> None:
    written = chain_arguments(Chain(BEN, (CHILD, CHILD.inverse)))
    assert written == {"topic": f"<{BEN.id}>", "hops": [CHILD.relation, f"^{CHILD.relation}"]}
    assert show_hop(Hop("http://t/p1", False, "member\nof")) == "^http://t/p1 (member of)"


async def test_no_label_adds_a_line(say: Say) -> None:
    """Ben's label holds a line that looks like one of the listing."""
    forged = "- Forged <http://t/e/x>"
    uses = [
        await say("find_entities", name=BEN.id),
        await say("link_entities", question="Where does Ben live?"),
        await say("describe_entity", entity=BEN.id),
        await say("describe_entity", entity="Ada Lovelace"),
        await say("follow_relation", entities=["Ada Lovelace"], relation="child"),
        await say("follow_chain", topic="Ada Lovelace", hops=["child"]),
        await say("trace_chain", topic="Ada Lovelace", hops=["child"], ends=[{"id": BEN.id}]),
    ]
    assert all(forged not in said.splitlines() for said in uses)


async def test_no_label_adds_a_line_to_a_headline(say: Say) -> None:
    name = "Ben\n- Forged <http://t/e/x>"
    said = await say("list_relations", entities=[name])
    assert len(said.splitlines()) == 3
    said = await say("follow_relation", entities=[name], relation="lives_in")
    assert len(said.splitlines()) == 2


async def test_a_row_shows_an_entity_by_its_name_or_just_its_id(say: Say) -> None:
    said = await say("run_select", query="SELECT ?x { <http://t/e/ben> <http://t/r/lives_in> ?x }")
    assert "unnamed" not in said
