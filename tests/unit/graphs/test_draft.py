"""Draft: a query is written, checked, run, and written anew where it is wrong."""

from typing import Any

import pytest

import kgqa
from kgqa.kg.errors import KGTimeout
from kgqa.kg.pages import Table
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.errors import ModelUnavailable
from kgqa.models.scripted import Line, ScriptedModel
from kgqa.nodes.draft.answer import UNCOMPARED
from kgqa.tests.support.doubles import KEYS, shown
from kgqa.tests.support.workshop import R, open_workshop


@pytest.fixture(scope="module")
def workshop() -> SparqlGraph:
    return open_workshop()


@pytest.fixture(scope="module")
def stocked() -> SparqlGraph:
    """A workshop with more values than are listed, a property with a value in its name, an unnamed node."""
    codes = "".join(f'e:c{n} a r:Maker ; rdfs:label "Maker {n}" ; r:code "K-{n}" .' for n in range(100, 150))
    return open_workshop(f"e:t3 r:renewedBy e:m1 . e:t4 r:renewedBy e:m1 . e:t1 r:box [ r:size 3 ] . {codes}")


def drafted(sparql: str, **said: Any) -> dict[str, Any]:
    return {"reading": "as it says", "sparql": sparql, **said}


MADE_BY_BOLT = "SELECT ?t { ?t r:madeBy e:m2 }"


async def ask(question: str, kg: Any, *replies: Line, **options: Any) -> tuple[kgqa.Record, ScriptedModel]:
    model = ScriptedModel(replies)
    record = await kgqa.aask(question, kg=kg, model=model, method="draft", allow_parametric=False, **options)
    assert record.keys() == KEYS
    return record, model


def nodes(record: kgqa.Record) -> list[str]:
    return [entry["node"] for entry in record["trace"]]


async def test_rows_of_a_right_query_are_grounded(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }")
    record, _ = await ask("Which makers are in Ulm?", workshop, draft)
    assert (sorted(map(str, shown(record))), record["outcome"]) == (["Acme", "Cog"], "grounded")
    assert (record["table"], record["usage"]["llm_calls"]) == (None, 1)
    assert record["reading"] == 'makers whose city is "Ulm"'
    assert nodes(record) == ["link", "describe", "draft", "validate", "run", "answer"]
    assert {(each["head"]["name"], each["tail"]["id"]) for each in record["evidence"]} >= {("Acme", "Ulm")}


async def test_of_many_relations_of_what_is_found_the_most_similar_are_shown() -> None:
    units = "".join(f"e:u{n} r:{name}Unit e:m1 ." for n, name in enumerate("abcdefgh"))
    many = open_workshop(f"{units} e:u9 r:volumeUnit e:m1 .")
    _, model = await ask(
        "What is the unit of volume of Acme?", many, drafted("SELECT ?x { ?x r:volumeUnit e:m1 }")
    )
    [line] = [line for line in model.prompts[0].case().splitlines() if line.startswith('"Acme": e:m1')]
    assert line.count("?x") == 6
    assert "?x r:volumeUnit it" in line


@pytest.mark.parametrize(("said", "taken"), [("polish", True), ("Polish", False)])
async def test_a_relation_says_what_is_an_entity_too_unless_it_is_written_as_a_name(
    said: str, taken: bool
) -> None:
    polished = open_workshop(
        'e:t3 r:usesPolish e:wax . e:wax rdfs:label "Wax" . e:polish rdfs:label "Polish" ; r:size 3 .'
    )
    draft = drafted("SELECT ?p { e:t3 r:usesPolish ?p }")
    topics = {"topics": ["Hatchet", "Polish"]}
    record, model = await ask(f"What is the {said} of Hatchet?", polished, draft, draft, **topics)
    assert shown(record) == ["Wax"]
    told = " ".join(model.prompts[-1].objections)
    assert ('no name in it says "Polish"' in told) != taken


async def test_letters_that_stand_for_what_is_asked_for_name_nothing(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?a ?b { ?a a r:Maker ; r:city ?c . ?b a r:Maker ; r:city ?c FILTER(?a != ?b) }")
    record, _ = await ask("Which makers A and B are in the same city?", workshop, draft, draft)
    assert record["answers"]
    assert {each["words"] for each in record["conditions"]}.isdisjoint({"a", "b"})


async def test_a_query_that_cannot_be_said_whole_has_a_record(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?m { ?m a r:Maker ; r:city ?c FILTER(LANG(?c) IN ('', 'en') && ?c = 'Ulm') }")
    record, _ = await ask("Which makers are in Ulm?", workshop, draft, draft)
    assert sorted(map(str, shown(record))) == ["Acme", "Cog"]
    assert record["reading"] == 'makers whose city is "Ulm" and further conditions'


async def test_any_client_gets_the_answers_by_the_query_of_the_record(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }")
    record, _ = await ask("Which makers are in Ulm?", workshop, draft)
    assert f"PREFIX r: <{R}>" in (record["query"] or "")
    rows = (await workshop.select(record["query"] or "")).rows
    assert [row[0].id for row in rows if row[0]] == [answer["id"] for answer in record["answers"]]


async def test_the_prompt_shows_what_the_words_are_called_and_what_classes_have(
    workshop: SparqlGraph,
) -> None:
    draft = drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }")
    _, model = await ask("Which makers are in Ulm?", workshop, draft)
    case = model.prompts[0].case().splitlines()
    assert '"Ulm": r:city "Ulm" of 2 r:Maker' in case
    assert "  r:stock: numbers as text (to compare or add, cast with xsd:decimal) 7 … 120" in case
    assert "r:Tool, kinds: r:Axe, r:Saw, all of them of its kinds (?x a/rdfs:subClassOf* r:Tool)" in case


async def test_the_members_of_a_small_class_are_listed_and_taking_one_is_the_models_choice(
    workshop: SparqlGraph, stocked: SparqlGraph
) -> None:
    tools = drafted("SELECT ?t { ?t r:madeBy e:m3 }")
    record, model = await ask("Which tools are of the cheapest maker?", workshop, tools, tools)
    listed = '  all members: "Acme" e:m1, "Bolt" e:m2, "Cog" e:m3'
    assert listed in model.prompts[0].case().splitlines()
    record, model = await ask("Which tools are of the best maker?", workshop, drafted(MADE_BY_BOLT))
    assert record["outcome"] == "grounded_inference"
    _, model = await ask("Which tools are of the best maker?", stocked, drafted(MADE_BY_BOLT))
    assert listed not in model.prompts[0].case()  # of 53


async def test_what_the_words_of_a_name_mean_each_for_itself_is_found_too() -> None:
    kinds = 'e:k1 a r:Kind ; rdfs:label "Sensor" . e:k2 a r:Kind ; rdfs:label "Switch" .'
    made = (
        'e:x1 a r:Part ; rdfs:label "Sensor Switch" ; r:of e:k1 , e:k2 . e:x2 a r:Part ; r:of e:k1 , e:k2 .'
    )
    kg = open_workshop(kinds + made + 'e:x2 rdfs:label "Quux" .')
    of_both, of_one = (
        f"SELECT (COUNT(?x) AS ?n) {{ ?x a r:Part ; r:of {of} }}" for of in ("e:k1 , e:k2", "e:k1")
    )
    record, model = await ask("How many Sensor Switches are there?", kg, drafted(of_both))
    assert {'"Sensor": e:k1', '"Switch": e:k2', '"Sensor Switch": e:x1'} <= {
        line.partition(" (a ")[0] for line in model.prompts[0].found
    }
    assert (shown(record), record["outcome"]) == (["2"], "grounded")
    record, _ = await ask("How many Sensor Switches are there?", kg, drafted(of_one), drafted(of_one))
    assert record["outcome"] == "grounded_unverified"


async def test_values_that_no_card_lists_are_found_by_a_part_of_them() -> None:
    states = [*(f"Grade {n}" for n in range(14)), "Ready for dispatch", "Under dispatch note"]
    kg = open_workshop(
        " ".join(f'e:s{n} a r:Item ; r:status "{each}" .' for n, each in enumerate(2 * states))
    )
    query = drafted("SELECT ?s { ?s r:status 'Ready for dispatch' }")
    record, model = await ask("Which items can be dispatched?", kg, query)
    assert [line for line in model.prompts[0].found if "dispatch" in line] == [
        '"Ready for dispatch": r:status "Ready for dispatch" of r:Item',
        '"Under dispatch note": r:status "Under dispatch note" of r:Item',
    ]
    assert record["outcome"] == "grounded"


async def test_a_value_that_is_shown_in_another_language_is_the_graphs(workshop: SparqlGraph) -> None:
    record, _ = await ask(
        "Quels outils sont d'occasion ?", workshop, drafted("SELECT ?t { ?t r:state 'used' }")
    )
    assert (len(shown(record)), record["outcome"]) == (2, "grounded_inference")
    assert [(each["words"], each["by"]) for each in record["conditions"]] == [
        ("used", "graph"),
        (UNCOMPARED, "model"),
    ]


async def test_several_columns_are_a_table_in_the_order_that_is_asked_for(workshop: SparqlGraph) -> None:
    query = """SELECT ?t ?n { ?t a r:Axe ; r:price/r:amount ?n } ORDER BY ?n"""
    said = drafted(query, columns=["axe", "price"])
    record, _ = await ask("List each axe with its price, cheapest first.", workshop, said)
    table = record["table"]
    assert table is not None
    assert (table["columns"], table["ordered"], table["truncated"]) == (["axe", "price"], True, False)
    assert [[cell and cell["name"] for cell in row] for row in table["rows"]] == [
        ["Hatchet", "4"],
        ["Felling axe", "9.5"],
    ]
    assert shown(record) == ["Hatchet", "Felling axe"]


async def test_an_ask_says_yes_or_no(workshop: SparqlGraph) -> None:
    draft = drafted("ASK { ?m a r:Maker FILTER NOT EXISTS { ?t r:madeBy ?m } }")
    record, _ = await ask("Is there a maker without tools?", workshop, draft, claims=False)
    assert (shown(record), record["table"], record["outcome"]) == (["yes"], None, "grounded")


async def test_what_is_wrong_is_told_and_written_anew(workshop: SparqlGraph) -> None:
    wrong = drafted("SELECT ?m { ?m a r:Maker ; r:town 'Ulm' }")
    right = drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }")
    record, model = await ask("Which makers are in Ulm?", workshop, wrong, right)
    assert (len(shown(record)), record["outcome"]) == (2, "grounded")
    assert model.prompts[1].refused.endswith("SELECT ?m { ?m a r:Maker ; r:town 'Ulm' }")
    assert model.prompts[1].objections[0].startswith("r:town is not known")
    assert nodes(record)[2:6] == ["draft", "validate", "draft", "validate"]


async def test_what_stays_wrong_never_runs(workshop: SparqlGraph) -> None:
    wrong = drafted("SELECT ?m { ?m a r:Maker ; r:town 'Ulm' }")
    record, _ = await ask("Which makers are in Ulm?", workshop, wrong, wrong, wrong)
    assert (record["answers"], record["outcome"], record["query"]) == ([], "none", None)
    assert "run" not in nodes(record)


async def test_what_does_not_parse_is_told(workshop: SparqlGraph) -> None:
    right = drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }")
    for text in (
        "SELECT ?m { ?m a",
        "DELETE WHERE { ?s ?p ?o }",
        "SELECT * { SERVICE <http://x/> { ?s ?p ?o } }",
    ):
        record, model = await ask("Which makers are in Ulm?", workshop, drafted(text), right)
        assert len(shown(record)) == 2
        assert len(model.prompts[1].objections) == 1


async def test_a_doubt_is_told_once_and_stands_in_the_record(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT (SUM(?w) AS ?all) { ?t r:weight ?w ; r:madeBy ?m }")
    record, model = await ask("What do the tools weigh in all?", workshop, draft, draft)
    assert "takes ?w once for each ?m" in model.prompts[1].objections[0]
    assert (shown(record), record["outcome"]) == (["35"], "grounded_unverified")
    assert any("takes ?w once for each ?m" in each["words"] for each in record["conditions"])


async def test_why_there_are_no_rows_is_told(workshop: SparqlGraph) -> None:
    empty = drafted("SELECT ?t { ?t r:weight 3 ; r:madeBy e:m1 ; r:price/r:amount ?n }")
    right = drafted("SELECT ?t { ?t r:weight 3 ; r:madeBy e:m2 }")
    record, model = await ask("Which axe that weighs 3 is of Bolt?", workshop, empty, right, right)
    assert model.prompts[1].objections[0].endswith("there is nothing for: ?t r:weight 3 . ?t r:madeBy e:m1")
    assert shown(record) == ["Hatchet"]


async def test_a_query_that_stands_by_giving_nothing_has_no_answer(workshop: SparqlGraph) -> None:
    empty = drafted("SELECT ?t { ?t r:weight ?w FILTER(?w > 100) }")
    record, model = await ask("Which tools weigh more than 100?", workshop, empty, empty)
    assert (record["answers"], record["outcome"], len(model.prompts)) == ([], "none", 2)


async def test_a_cast_that_fails_is_told(workshop: SparqlGraph) -> None:
    failing = drafted("SELECT ?t (xsd:decimal(?s) AS ?n) { ?t r:state ?s }")
    right = drafted("SELECT ?t ?s { ?t r:state ?s }")
    _, model = await ask("Which state has each tool?", workshop, failing, right)
    assert model.prompts[1].objections == (
        "?n has no value in 4 of 4 rows: a cast or a computation fails there",
    )


@pytest.mark.parametrize(
    ("question", "query", "outcome"),
    [
        ("Which tools weigh more than 5?", "SELECT ?t { ?t r:weight ?w FILTER(?w > 5) }", "grounded"),
        ("Which tools are heavy?", "SELECT ?t { ?t r:weight ?w FILTER(?w > 5) }", "grounded_inference"),
        ("Which tools are new?", "SELECT ?t { ?t r:state 'new' }", "grounded"),
        ("What is the lightest tool?", "SELECT ?t { ?t r:weight ?w } ORDER BY ?w LIMIT 1", "grounded"),
        (
            "What is the heaviest tool?",
            "SELECT ?t { ?t r:weight ?w } ORDER BY DESC(?w) LIMIT 1",
            "grounded_inference",
        ),
        (
            "What are the 2 lightest tools?",
            "SELECT ?t { ?t r:weight ?w } ORDER BY ?w LIMIT 2",
            "grounded",
        ),
        (
            "What is the second lightest tool?",
            "SELECT ?t { ?t r:weight ?w } ORDER BY ?w LIMIT 1 OFFSET 1",
            "grounded",
        ),
        (
            "What are the lightest tools?",
            "SELECT ?t { ?t r:weight ?w } ORDER BY ?w LIMIT 2",
            "grounded_inference",
        ),
        ("Which tools are there?", "SELECT ?t { ?t r:weight ?w } LIMIT 2", "grounded_unverified"),
    ],
)
async def test_what_the_question_does_not_say_is_the_models(
    question: str, query: str, outcome: str, workshop: SparqlGraph
) -> None:
    record, _ = await ask(question, workshop, drafted(query), drafted(query))
    assert record["outcome"] == outcome, record["conditions"]


async def test_what_its_writer_leaves_unsaid_is_unverified(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }", unsaid=["famous"])
    record, _ = await ask("Which famous makers are in Ulm?", workshop, draft, draft)
    assert record["outcome"] == "grounded_unverified"
    assert {"words": "famous", "query": None, "by": None} in record["conditions"]


async def test_a_word_that_nothing_of_the_query_says_is_unverified(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }")
    record, model = await ask("Which famous makers are in Ulm?", workshop, draft, draft)
    assert len(model.prompts) == 1  # nothing that was shown says it either
    assert record["outcome"] == "grounded_unverified"
    assert {"words": "famous", "query": None, "by": None} in record["conditions"]


async def test_ranks_are_said_by_the_bounds_of_a_select_within(workshop: SparqlGraph) -> None:
    ranked = "SELECT ?t { ?t r:weight ?w } ORDER BY ?w LIMIT 2 OFFSET 1"
    draft = drafted(f"SELECT ?t ?c {{ {{ {ranked} }} ?t r:madeBy/r:city ?c }}")
    question = "In which cities are the 2nd to 3rd lightest tools made?"
    record, _ = await ask(question, workshop, draft, draft)
    assert {"2nd", "3rd"}.isdisjoint(each["words"] for each in record["conditions"])


async def test_a_topic_that_the_query_leaves_out_is_unverified(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?m { ?m a r:Maker }")
    record, model = await ask("Which makers are in Ulm?", workshop, draft, draft)
    assert 'no name in it says "Ulm" of the question' in model.prompts[1].objections[0]
    assert record["outcome"] == "grounded_unverified"
    assert "Ulm" in [each["words"] for each in record["conditions"]]


@pytest.mark.parametrize(
    ("question", "query", "words"),
    [
        ("What is the stock of the hatchet?", "SELECT ?n { e:t3 r:weight ?n }", "stock"),  # another property
        ("How many tools has each maker made?", "SELECT (COUNT(?t) AS ?n) { ?t r:madeBy ?m }", "each"),
        ("Which makers have not made tools?", "SELECT ?m { ?m a r:Maker . ?t r:madeBy ?m }", "not"),
        ("What is the lightest tool?", "SELECT ?t { ?t r:weight ?w } ORDER BY ?w", "lightest"),
        ("Which tools weigh 7?", "SELECT ?t { ?t r:weight ?w }", "7"),
    ],
)
async def test_words_that_the_query_does_not_say_are_told_once(
    question: str, query: str, words: str, workshop: SparqlGraph
) -> None:
    record, model = await ask(question, workshop, *[drafted(query)] * 3)
    assert any(f'"{words}"' in text for text in model.prompts[-1].objections), model.prompts[-1].objections
    assert record["outcome"] == "grounded_unverified"
    assert words in [each["words"] for each in record["conditions"]]


HATCHET = "How heavy is the hatchet?"


@pytest.mark.parametrize(
    ("question", "query", "told"),
    [
        (HATCHET, "SELECT ?n { e:t3 r:stock ?n }", 'the question rather says "weight" than "stock"'),
        (
            "Which makers are in Ulm?",
            "SELECT ?m ?w { ?m r:city 'Ulm' . ?t r:madeBy ?m ; r:weight ?w }",
            'the question does not ask for "weight"',
        ),
        (
            "Which makers are in Ulm?",
            "SELECT ?t { ?t r:madeBy ?m . ?m r:city 'Ulm' }",
            'the question asks for "makers", and ',
        ),
        ("Which price is it?", "SELECT ?p { ?t r:price e:p3 ; r:price ?p }", "it gives back what it names"),
    ],
)
async def test_what_the_question_does_not_ask_for_is_told_once(
    question: str, query: str, told: str, workshop: SparqlGraph
) -> None:
    record, model = await ask(question, workshop, drafted(query), drafted(query))
    assert any(text.startswith(told) for text in model.prompts[1].objections), model.prompts[1].objections
    assert record["outcome"] == "grounded_unverified"


@pytest.mark.parametrize(
    ("query", "outcome"),
    [
        ("SELECT ?n { e:t3 r:weight ?n }", "grounded"),
        ("SELECT (?w * 1000 AS ?n) { e:t3 r:weight ?w }", "grounded"),  # in another unit
        ("SELECT (?w * 201 AS ?n) { e:t3 r:weight ?w }", "grounded_inference"),
    ],
)
async def test_what_the_question_asks_for_is_taken_and_factors_are_the_models(
    query: str, outcome: str, workshop: SparqlGraph
) -> None:
    record, model = await ask(HATCHET, workshop, drafted(query))
    assert (record["outcome"], len(model.prompts)) == (outcome, 1), record["conditions"]


async def test_a_question_whose_words_cannot_be_compared_rests_on_the_model(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }")
    record, _ = await ask("Welche Hersteller gibt es in der Stadt Ulm?", workshop, draft, draft)
    assert record["outcome"] == "grounded_inference", record["conditions"]


async def test_a_value_within_a_longer_word_of_the_query_is_left_out(stocked: SparqlGraph) -> None:
    draft = drafted("SELECT ?t { ?t r:renewedBy e:m1 }")
    record, _ = await ask("Which new tools were renewed by Acme?", stocked, draft, draft)
    assert record["outcome"] == "grounded_unverified"
    assert "new" in [each["words"] for each in record["conditions"]]


async def test_a_value_that_is_shown_as_an_example_is_the_models(stocked: SparqlGraph) -> None:
    draft = drafted("SELECT ?m { ?m r:code 'K-100' }")
    record, model = await ask("Which maker is the best?", stocked, draft)
    assert '"K-100"' in model.prompts[0].case()
    assert record["outcome"] == "grounded_inference"


async def test_a_no_that_a_hint_explains_is_unverified(stocked: SparqlGraph) -> None:
    draft = drafted("ASK { ?m r:code 'K-109'@en }")
    record, _ = await ask("Is there a maker with the code K-109?", stocked, draft, claims=False)
    assert (shown(record), record["outcome"]) == (["no"], "grounded_unverified")


async def test_rows_without_a_first_cell_are_no_answer(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?x ?w { e:t3 r:weight ?w OPTIONAL { e:t3 r:fits ?x } }")
    record, _ = await ask("What does Hatchet fit?", workshop, draft, draft)
    assert (record["answers"], record["outcome"]) == ([], "none")


async def test_nodes_without_a_name_are_no_answer_and_what_they_have_is_asked_for(
    stocked: SparqlGraph,
) -> None:
    unnamed, named = (drafted(f"SELECT {column} {{ ?t r:box ?b . ?b r:size ?n }}") for column in ("?b", "?n"))
    record, model = await ask("How large is the box?", stocked, unnamed, named)
    assert model.prompts[1].objections[0].startswith("?b is a node without a name")
    assert shown(record) == ["3"]
    record, _ = await ask("How large is the box?", stocked, unnamed, unnamed)
    assert (record["answers"], record["outcome"]) == ([], "none")


async def test_an_offset_alone_is_recorded_as_it_is_written(workshop: SparqlGraph) -> None:
    draft = drafted("SELECT ?t { ?t r:weight ?w } ORDER BY ?w OFFSET 1")
    record, _ = await ask("Which tools are there?", workshop, draft)
    assert [each["query"] for each in record["conditions"]][:1] == ["OFFSET 1"]


FAMOUS = "Which famous makers are in Ulm?"
IN_ULM = drafted(
    "SELECT ?m ?c { ?m a r:Maker ; r:city ?c FILTER(?c = 'Ulm') } ORDER BY ?m", columns=["m", "c"]
)


@pytest.mark.parametrize(
    "second",
    [
        "no JSON at all",
        {"sparql": "", "missing": "famous"},
        drafted("SELECT ?m { ?m a r:Maker ; r:town 'Ulm' }", columns=["other"]),
        drafted("SELECT ?m { ?m a", unsaid=["Ulm"]),
        drafted("SELECT ?m { ?t r:madeBy ?m ; r:weight ?w }", unsaid=["Ulm"]),
        drafted("SELECT ?t ?p { ?t r:price/r:amount ?p FILTER(?p > 900) } LIMIT 1", unsaid=["Ulm"]),
    ],
    ids=["malformed", "empty", "refused", "unread", "too slow", "no rows"],
)
async def test_the_last_draft_that_gave_rows_stands_with_all_that_belongs_to_it(
    second: Line, workshop: SparqlGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_time = workshop.select

    async def select(query: str) -> Table:
        if "weight" in query:
            raise KGTimeout("too slow")
        return await in_time(query)

    monkeypatch.setattr(workshop, "select", select)
    record, _ = await ask(FAMOUS, workshop, IN_ULM, second, refines=1)
    alone, _ = await ask(FAMOUS, workshop, IN_ULM, refines=0)
    told = ("answers", "table", "outcome", "query", "conditions", "evidence")
    assert {key: record[key] for key in told} == {key: alone[key] for key in told}
    assert record["table"] is not None and record["table"]["columns"] == ["m", "c"]
    assert record["outcome"] == "grounded_unverified"


async def test_what_nothing_shown_says_has_no_answer(workshop: SparqlGraph) -> None:
    record, _ = await ask("Who owns Acme?", workshop, {"sparql": "", "missing": "owner"})
    assert (record["answers"], record["outcome"]) == ([], "none")


async def test_a_reply_that_is_none_has_no_answer(workshop: SparqlGraph) -> None:
    record, _ = await ask("Which makers are in Ulm?", workshop, "no JSON at all")
    assert (record["answers"], record["outcome"]) == ([], "none")


async def test_an_outage_of_the_model_is_told_from_no_answer(workshop: SparqlGraph) -> None:
    record, _ = await ask("Which makers are in Ulm?", workshop, ModelUnavailable("down"))
    assert record["outcome"] == "model_unavailable"


async def test_the_offline_model_drafts(workshop: SparqlGraph) -> None:
    record = await kgqa.aask("Which makers are in Ulm?", kg=workshop, model="offline", method="draft")
    assert (sorted(map(str, shown(record))), record["outcome"]) == (["Acme", "Cog"], "grounded")


async def test_what_the_offline_model_cannot_say_it_declines_in_one_line(workshop: SparqlGraph) -> None:
    record = await kgqa.aask("Which violins sound sweetest?", kg=workshop, model="offline", method="draft")
    assert (record["answers"], record["outcome"]) == ([], "none")
    assert any("missing" in entry for entry in record["trace"])
