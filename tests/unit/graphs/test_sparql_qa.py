"""What the SPARQL of a language model may do, and what its answers are worth."""

import gc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

import kgqa
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.errors import KGError, KGTimeout, KGUnavailable
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Entity, Literal
from kgqa.nodes.sparql_qa import write_sparql
from kgqa.nodes.sparql_qa.answer import _named_terms
from kgqa.tests.support.agents import QUESTION, TOWNS, chat, entry
from kgqa.tests.support.doubles import KEYS, Flaky, shown
from kgqa.tests.support.model_stub import Answer, Stub, failed, said, stubbed
from kgqa.tests.unit.evaluation.simulation import family

Open = Callable[[str], SparqlGraph]
Ask = Callable[..., Awaitable[kgqa.Record]]

HOMES = "SELECT ?t WHERE { <http://t/e/ada> <http://t/r/child>/<http://t/r/lives_in> ?t } ORDER BY ?t"

needs_peers = pytest.mark.skipif(find_spec("langchain_community") is None, reason="needs the extra peers")
quietly = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning")


@pytest.fixture(scope="module")
def server() -> Iterator[Stub]:
    with stubbed() as server:
        yield server


@pytest.fixture
def stub(server: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stub:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))  # reading those of the machine takes longer than a test
    server.requests.clear()
    return server


@pytest.fixture
def ask(graph: Open, stub: Stub) -> Ask:
    """Ask of the towns; the server takes the question for a SELECT, then says what it is told to."""

    async def ask(
        *answers: Answer, kg: Any = None, model: Any = None, claimed: Sequence[Answer] = (), **options: Any
    ) -> kgqa.Record:
        stub.say(*claimed, said("SELECT"), *answers)
        given = {"question": QUESTION, "topics": ["Ada"], "method": "sparql_qa", **options}
        record = await kgqa.aask(kg=kg or graph(TOWNS), model=model or chat(stub), **given)
        assert record.keys() == KEYS
        return record

    return ask


async def test_without_the_package_one_line_says_what_to_install(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_sparql, "find_spec", lambda name: None)
    record = await ask()
    assert record["outcome"] == "model_unavailable"
    assert entry(record, "link")["error"].endswith("pip install 'kgqa[peers]'")
    assert record["usage"]["kg_queries"] == 0


@needs_peers
@quietly
class TestChain:
    async def test_names_of_the_rows_are_grounded(self, ask: Ask, stub: Stub) -> None:
        record = await ask(said(HOMES), said("They live in Ulm and in Bonn."))
        assert record["answers"] == [
            {"id": "http://t/e/ulm", "name": "Ulm"},
            {"id": "http://t/e/bonn", "name": "Bonn"},
        ]
        assert (record["outcome"], entry(record, "write_sparql")["query"]) == ("grounded", HOMES)
        assert "Bonn <http://t/e/bonn>" in stub.requests[2]["messages"][0]["content"]

    async def test_calls_tokens_and_queries_are_counted(self, ask: Ask) -> None:
        usage = (await ask(said(HOMES), said("Ulm", usage=False)))["usage"]
        assert (usage["llm_calls"], usage["unknown_calls"]) == (3, 1)
        assert (usage["input_tokens"], usage["output_tokens"]) == (20, 8)
        assert usage["kg_queries"] >= 3

    @pytest.mark.parametrize(
        ("question", "rest", "open_modifiers"),
        [
            ("What is the first town where a child of Ada lives?", "", ["first"]),
            ("What is the first town where a child of Ada lives?", "ORDER BY ?t", []),
            ("Where do children of Ada live in 1961?", "", ["1961"]),
            ("Where do children of Ada not live?", "", ["not"]),
            ("How many towns are homes of Ada's children?", "", ["How many"]),
        ],
    )
    async def test_a_modifier_that_the_query_does_not_apply_is_open(
        self, ask: Ask, question: str, rest: str, open_modifiers: list[str]
    ) -> None:
        query = f"{HOMES.partition('ORDER')[0]}{rest}"
        record = await ask(said(query), said("Ulm and Bonn"), question=question)
        assert record["outcome"] == ("grounded_unverified" if open_modifiers else "grounded")
        assert [each["words"] for each in record["conditions"]] == open_modifiers

    async def test_a_question_for_yes_or_no_is_judged_by_facts_first(self, ask: Ask) -> None:
        given = {"question": "Is Ben a child of Ada?", "topics": ["Ada", "Ben"]}
        record = await ask(claimed=[said('{"verdict": "yes", "favour": [1]}')], **given)
        assert (shown(record), record["outcome"]) == (["yes"], "grounded")
        record = await ask(said(HOMES), said("Ulm"), claimed=[said('{"verdict": "unknown"}')], **given)
        assert "yes or no" in [each["words"] for each in record["conditions"]]
        assert record["outcome"] != "grounded"

    async def test_a_fenced_query_is_read(self, ask: Ask) -> None:
        record = await ask(said(f"```sparql\n{HOMES}\n```"), said("Ulm"))
        assert shown(record) == ["Ulm"]

    async def test_a_text_that_names_no_row_is_from_memory(self, ask: Ask) -> None:
        record = await ask(said(HOMES), said("In Rome, I think."))
        assert (record["outcome"], record["answers"]) == (
            "parametric",
            [{"id": None, "name": "In Rome, I think."}],
        )

    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ('SELECT ?a WHERE { BIND("Rome" AS ?a) }', "Rome"),
            ("SELECT ?a WHERE { VALUES ?a { <http://t/e/Rome> } }", "Rome"),
            ('SELECT (CONCAT("New ", STR(?n)) AS ?a) WHERE { <http://t/e/ulm> ?p ?n }', "New Ulm"),
            ("SELECT (COUNT(?x) AS ?n) WHERE { VALUES ?x { 1 2 3 4 5 6 7 } }", "7"),
        ],
    )
    async def test_what_the_query_brings_itself_is_from_memory(self, ask: Ask, query: str, name: str) -> None:
        record = await ask(said(query), said(name))
        assert (record["outcome"], record["answers"]) == ("parametric", [{"id": None, "name": name}])
        record = await ask(said(query), said(name), allow_parametric=False)
        assert (record["outcome"], record["answers"]) == ("none", [])

    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ("SELECT ?age WHERE { <http://t/e/ada> <http://t/r/age> ?age }", "36"),
            ("SELECT ?n WHERE { <http://t/e/ulm> rdfs:label ?n }", "Ulm"),
            ("SELECT (MAX(?age) AS ?most) WHERE { ?s <http://t/r/age> ?age }", "36"),
            ("SELECT (COUNT(?c) AS ?n) WHERE { <http://t/e/ada> <http://t/r/child> ?c }", "2"),
        ],
    )
    async def test_values_of_the_graph_and_counts_of_it_are_grounded(
        self, ask: Ask, query: str, name: str
    ) -> None:
        asked = {"question": "How many children has Ada?"} if "COUNT" in query else {}
        record = await ask(said(query), said(f"It is {name}."), **asked)
        outcome = "grounded" if "/ada>" in query else "grounded_unverified"  # Ada is the topic
        assert (record["outcome"], record["answers"]) == (outcome, [{"id": name, "name": name}])
        assert record["query"] == query

    async def test_a_name_that_the_query_computes_adds_nothing_to_its_entity(self, ask: Ask) -> None:
        query = "SELECT ?t (STR(?n) AS ?name) WHERE { <http://t/e/ada> <http://t/r/lives_in> ?t . ?t ?p ?n }"
        record = await ask(said(query), said("Ulm"))
        assert (record["outcome"], record["answers"], record["query"]) == (
            "grounded_inference",
            [{"id": "http://t/e/ulm", "name": "Ulm"}],
            None,
        )

    async def test_a_value_that_no_query_may_hold_leaves_the_others_proved(
        self, graph: Open, ask: Ask
    ) -> None:
        kg = graph(TOWNS + r'e:ada r:note "c:\\u", "a \"b\"" .')
        query = "SELECT ?o WHERE { <http://t/e/ada> ?p ?o FILTER(isLiteral(?o)) }"
        record = await ask(said(query), said('36 and a "b".'), kg=kg)
        assert (record["outcome"], shown(record)) == ("grounded_inference", ["36", 'a "b"'])
        record = await ask(said(query), said("c:\\u"), kg=kg)
        assert (record["outcome"], shown(record)) == ("parametric", ["c:\\u"])

    async def test_rows_are_cut_for_the_model(self, graph: Open, ask: Ask, stub: Stub) -> None:
        kg = graph(TOWNS + "".join(f"e:x{at} r:text '{at:03}{'y' * 500}' .\n" for at in range(250)))
        query = "SELECT ?s ?o WHERE { ?s <http://t/r/text> ?o } ORDER BY ?o"
        record = await ask(said(query), said("x99 or x100"), kg=kg)
        told = stub.requests[2]["messages"][0]["content"]
        assert (told.count("yyy…"), told.count("y" * 120)) == (100, 0)
        assert "... and 150 other rows" in told
        assert record["answers"] == [{"id": "http://t/e/x99", "name": None}]

    async def test_a_fault_of_our_own_is_no_refusal(self, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> None:
            raise ValueError("ours")

        monkeypatch.setattr(write_sparql.Rows, "select", broken)
        with pytest.raises(ValueError, match="ours"):
            await ask(said(HOMES), said("Ulm"))

    async def test_without_parametric_answers_only_rows_stay(self, ask: Ask) -> None:
        record = await ask(said(HOMES), said("In Rome."), allow_parametric=False)
        assert (record["outcome"], record["answers"]) == ("none", [])

    async def test_no_rows_are_no_answer(self, ask: Ask) -> None:
        empty = "SELECT ?t WHERE { <http://t/e/ulm> <http://t/r/child> ?t }"
        record = await ask(said(empty), said("I do not know."))
        assert (record["outcome"], record["answers"]) == ("none", [])

    @pytest.mark.parametrize(
        "query",
        [
            "INSERT DATA { <http://t/e/ada> <http://t/r/child> <http://t/e/eve> }",
            "DELETE WHERE { ?s ?p ?o }",
            "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
            "SELECT * WHERE { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }",
            "SELECT * FROM <file:///etc/passwd> WHERE { ?s ?p ?o }",
            "Sorry, I cannot.",
        ],
    )
    async def test_only_select_and_ask_reach_the_graph(self, graph: Open, ask: Ask, query: str) -> None:
        kg = graph(TOWNS)
        before = await kg.info()
        record = await ask(said(query), said("Ulm"), kg=kg, allow_parametric=False)
        assert (record["outcome"], record["answers"]) == ("none", [])
        assert entry(record, "write_sparql")["failure"] == "KGRejected"
        assert await kg.info() == before

    async def test_an_update_is_refused(self, ask: Ask, stub: Stub, graph: Open) -> None:
        kg = graph(TOWNS)
        before = await kg.info()
        stub.say(said("UPDATE"), said("DELETE WHERE { ?s ?p ?o }"))
        record = await kgqa.aask(
            QUESTION, topics=["Ada"], method="sparql_qa", kg=kg, model=chat(stub), allow_parametric=False
        )
        assert (record["outcome"], len(stub.requests)) == ("none", 2)
        assert entry(record, "write_sparql")["error"] == "only SELECT and ASK are answered"
        assert await kg.info() == before

    async def test_a_question_that_the_chain_takes_for_none_is_not_answered(
        self, graph: Open, stub: Stub
    ) -> None:
        stub.say(said("Hello!"))
        record = await kgqa.aask(
            QUESTION,
            topics=["Ada"],
            method="sparql_qa",
            kg=graph(TOWNS),
            model=chat(stub),
            allow_parametric=False,
        )
        assert (record["outcome"], entry(record, "write_sparql")["failure"]) == ("none", "Refused")

    @pytest.mark.parametrize(("calls", "answers"), [(2, ["Bonn", "Ulm"]), (1, [])])
    async def test_a_budget_that_ends_leaves_the_rows(self, ask: Ask, calls: int, answers: list[str]) -> None:
        record = await ask(said(HOMES), said("Ulm"), budget={"llm_calls": calls})
        assert (record["stopped_by"], shown(record)) == ("llm_calls", answers)
        assert record["outcome"] == ("grounded_unverified" if answers else "none")

    @pytest.mark.parametrize("error", [KGUnavailable, KGTimeout])
    async def test_an_outage_of_the_graph_is_told(self, graph: Open, ask: Ask, error: type[KGError]) -> None:
        record = await ask(said(HOMES), kg=Flaky(graph(TOWNS), "select", error("broken")))
        assert (record["outcome"], record["answers"]) == ("kg_unavailable", [])

    async def test_an_outage_of_the_model_is_told(self, ask: Ask) -> None:
        record = await ask(failed(401))
        assert (record["outcome"], record["usage"]["llm_calls"]) == ("model_unavailable", 1)

    async def test_the_offline_model_writes_no_sparql(self, ask: Ask) -> None:
        record = await ask(model="offline")
        assert (record["outcome"], record["usage"]["kg_queries"]) == ("model_unavailable", 0)
        assert entry(record, "link")["error"] == (
            "sparql_qa needs a chat model, and offline is none; name one: provider:name"
        )

    async def test_the_schema_keeps_to_the_relations_that_fit_the_question(
        self, ask: Ask, stub: Stub
    ) -> None:
        await ask(said(HOMES), said("Ulm"), relations=2)
        prompt = stub.requests[1]["messages"][0]["content"]
        kept = [name for name in ("child", "lives_in", "age") if f"<http://t/r/{name}>" in prompt]
        assert kept == ["child", "lives_in"]

    async def test_nothing_blocks_the_event_loop(self, graph: Open, ask: Ask, stub: Stub) -> None:
        kg, model = graph(TOWNS), chat(stub)
        gc.collect()  # graphs of earlier tests remove their files now, and not in between
        with blockbuster_ctx():
            assert shown(await ask(said(HOMES), said("Ulm"), kg=kg, model=model)) == ["Ulm"]

    @pytest.mark.parametrize(("accuracy", "names"), [(1.0, ["Rhine"]), (0.0, None)])
    async def test_a_simulated_model_writes_the_way(
        self, graph: Open, accuracy: float, names: list[str] | None
    ) -> None:
        kg = graph(family.FAMILY)
        model = SimulatedModel(
            family.question("rhine", "mother born_in river"), kg, ErrorRates(accuracy=accuracy)
        )
        record = await kgqa.aask("Which river?", topics=["Ann"], method="sparql_qa", kg=kg, model=model)
        assert (shown(record) == ["Rhine"]) is bool(names)


def test_names_are_whole_words_the_longest_first() -> None:
    york, new_york, year = Entity("http://x/1", "York"), Entity("http://x/2", "New York"), Literal("1999")
    assert _named_terms([york, new_york, year], "In 1999 she moved to New York.") == [year, new_york]
    assert _named_terms([york, new_york, year], "Yorkshire, 19990") == []


def test_names_are_found_as_the_model_was_shown_them() -> None:
    street, other, value = Entity("http://x/1", "Lange\nStraße"), Literal("lange strasse"), Literal("")
    assert _named_terms([value, street, other], "In the LANGE  STRASSE.") == [street, other]
    assert _named_terms([value], "") == []


def test_a_thing_without_a_name_is_known_by_the_end_of_its_id() -> None:
    assert _named_terms([Entity("http://x/m.01")], "It is m.01.") == [Entity("http://x/m.01")]
