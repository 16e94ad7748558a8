"""What files state in several ways is one form in the store."""

from pathlib import Path

import pytest

import kgqa
from kgqa.kg.dialects import OWL, RDF, RDFS
from kgqa.kg.store import unify
from kgqa.kg.store.directory import load_files

PREFIXES = f"PREFIX : <http://t/>\nPREFIX rdf: <{RDF}>\nPREFIX rdfs: <{RDFS}>\nPREFIX owl: <{OWL}>\n"
CAST = ":f :cast :a {role}.\n:a rdfs:label 'Ann Hale' . :f rdfs:label 'Dawn' .\n"
RANK = "http://wikiba.se/ontology#"
WEB = "http://www.wikidata.org/"


def loaded(path: Path, text: str) -> list[str]:
    path.write_text(text, encoding="utf-8")
    return sorted(map(str, load_files([path])[0]))


@pytest.mark.parametrize(
    "stated",
    [
        CAST.format(role="{| :character 'Mother' |} "),
        CAST.format(role="") + "<< :f :cast :a >> :character 'Mother' .",
        CAST.format(role="") + "_:r rdf:reifies <<( :f :cast :a )>> ; :character 'Mother' .",
    ],
)
def test_an_annotated_triple_is_a_statement(tmp_path: Path, stated: str) -> None:
    statement = (
        "[] a rdf:Statement ; rdf:subject :f ; rdf:predicate :cast ; rdf:object :a ; :character 'Mother' ."
    )
    expected = loaded(tmp_path / "old.ttl", PREFIXES + CAST.format(role="") + statement)
    assert loaded(tmp_path / "new.ttl", PREFIXES + stated) == expected


@pytest.mark.parametrize("suffix", ["nt", "ttl"])
def test_a_blank_node_of_a_reified_triple_is_that_of_the_file(tmp_path: Path, suffix: str) -> None:
    lines = "_:c <http://t/p> _:d .\n" + f"<http://t/r> <{RDF}reifies> <<( _:c <http://t/p> _:d )>> .\n"
    found = loaded(tmp_path / f"g.{suffix}", lines)
    assert f"<http://t/r> <{RDF}object> <urn:kgqa:blank:b2>" in found
    assert not any("_:" in each or "<<" in each for each in found)


def test_ids_of_one_entity_are_one(tmp_path: Path) -> None:
    (file := tmp_path / "g.ttl").write_text(
        f"{PREFIXES}:b2 owl:sameAs :a1 , <http://elsewhere/x> . :c3 owl:sameAs :b2 .\n"
        ":a1 rdfs:label 'Elm Hall' ; :architect :p . :b2 :region :q . :c3 :owner :o . :n :next_to :c3 .\n"
        ":p rdfs:label 'Ida Moor' . :q rdfs:label 'Fenland' .\n"
        ":o rdfs:label 'Guy Rowe' . :n rdfs:label 'Inn' .\n"
    )
    store, _ = load_files([file])
    facts = {str(quad) for quad in store if "sameAs" not in str(quad)}
    assert "<http://t/a1> <http://t/owner> <http://t/o>" in facts
    assert "<http://t/n> <http://t/next_to> <http://t/a1>" in facts
    assert not any("/b2>" in each or "/c3>" in each for each in facts)
    assert sum("elsewhere" in str(quad) for quad in store) == 1  # an id without facts is what it was
    record = kgqa.ask("What is the region of Elm Hall?", kg=str(file), model="offline")
    assert [answer["name"] for answer in record["answers"]] == ["Fenland"]


def test_a_deprecated_statement_is_none(tmp_path: Path) -> None:
    def statement(number: int, value: str, rank: str) -> str:
        node = f"<{WEB}entity/statement/Q70-{number}>"
        return (
            f"<{WEB}entity/Q70> <{WEB}prop/P40> {node} . {node} <{RANK}rank> <{RANK}{rank}Rank> ; "
            f"<{WEB}prop/statement/P40> <{WEB}entity/{value}> .\n"
        )

    text = f"<{WEB}entity/P40> <{RDFS}label> 'child'@en . <{WEB}entity/Q70> <{RDFS}label> 'Edda Orr'@en .\n"
    text += "".join(f"<{WEB}entity/Q7{n}> <{RDFS}label> '{name}'@en ." for n, name in ((1, "Ava"), (2, "Bo")))
    text += statement(1, "Q71", "Deprecated") + statement(2, "Q72", "Normal")
    (file := tmp_path / "g.ttl").write_text(text)
    record = kgqa.ask("Who is the child of Edda Orr?", kg=str(file), model="offline")
    assert [answer["name"] for answer in record["answers"]] == ["Bo"]
    assert not any("Q70-1" in str(quad) for quad in load_files([file])[0])


def test_a_name_that_is_a_node_names_its_owner(tmp_path: Path) -> None:
    (file := tmp_path / "g.ttl").write_text(
        f"{PREFIXES}PREFIX xl: <http://www.w3.org/2008/05/skos-xl#>\n"
        ":m xl:prefLabel [ xl:literalForm 'Map of Reefs'@en ] ; xl:altLabel :l ; :drawnBy :n .\n"
        ":l xl:literalForm 'Coral Sheet'@en . :n xl:prefLabel [ xl:literalForm 'Nora Vance'@en ] .\n"
    )
    for name in ("Map of Reefs", "Coral Sheet"):
        record = kgqa.ask(f"Who drew {name}?", kg=str(file), model="offline")
        assert [answer["name"] for answer in record["answers"]] == ["Nora Vance"]


def test_what_is_said_of_a_triple_is_an_answer(tmp_path: Path) -> None:
    (file := tmp_path / "g.ttl").write_text(
        f"{PREFIXES}:a :won :p {{| :shared_with :b |}} , :q {{| :shared_with :d |}} .\n"
        ":c rdfs:label 'Ron Hale' ; :won :p {| :shared_with :d |} .\n"
        ":a rdfs:label 'Lia Marr' . :b rdfs:label 'Sam Otis' .\n"
        ":p rdfs:label 'Gold Quill' . :q rdfs:label 'Silver Ink' . :d rdfs:label 'Tess Ide' .\n"
    )
    record = kgqa.ask("Who shared the Gold Quill with Lia Marr?", kg=str(file), model="offline")
    assert [answer["name"] for answer in record["answers"]] == ["Sam Otis"]


def test_members_of_lists_are_facts(tmp_path: Path) -> None:
    (file := tmp_path / "g.ttl").write_text(
        f"{PREFIXES}:t a :Tour ; rdfs:label 'Harbour walk' ; :stops (:pier :mill :fort) ; :guides () .\n"
        ":u a :Tour ; rdfs:label 'Old town' ; :stops (:mill) . :t :hours ((9 12) (14)) .\n"
        ":w a :Tour ; rdfs:label 'Night walk' ; :stops [ a rdf:Seq ; rdf:_1 :fort ; rdf:_2 :pier ] .\n"
        ":pier rdfs:label 'Pier' . :mill rdfs:label 'Mill' . :fort rdfs:label 'Fort' .\n"
    )

    def answers(question: str) -> list[str | None]:
        record = kgqa.ask(question, kg=str(file), model="offline")
        assert record["outcome"] == "grounded"
        return sorted(str(answer["name"]) for answer in record["answers"])

    assert answers("What are the stops of Harbour walk?") == ["Fort", "Mill", "Pier"]
    assert answers("What are the stops of Night walk?") == ["Fort", "Pier"]
    assert answers("How many stops does Harbour walk have?") == ["3"]
    assert answers("Which tours have the stop Mill?") == ["Harbour walk", "Old town"]
    assert answers("What are the hours of Harbour walk?") == ["12", "14", "9"]
    facts = [str(quad) for quad in load_files([file])[0]]
    assert not any(word in fact for fact in facts for word in ("#first", "#rest", "#nil", "#_1", "guides"))


def test_lists_of_axioms_and_those_that_lead_back_stay(tmp_path: Path) -> None:
    text = (
        f"{PREFIXES}:k owl:unionOf (:a :b) . :s :p _:l . _:l rdf:first :a ; rdf:rest _:m .\n"
        "_:m rdf:first _:l ; rdf:rest _:m . :named a rdf:Bag ; rdfs:label 'All' ; rdf:_1 :a .\n"
        ":s :q :named .\n"
    )
    found = loaded(tmp_path / "g.ttl", text)
    assert sum("#first" in fact for fact in found) == 4  # a list that holds itself is led to by itself
    assert "<http://t/s> <http://t/p> <http://t/a>" in found
    assert "<http://t/s> <http://t/q> <http://t/named>" in found


def test_a_list_that_branches_and_those_of_rules_stay(tmp_path: Path) -> None:
    text = (
        f"{PREFIXES}PREFIX swrl: <http://www.w3.org/2003/11/swrl#>\n"
        ":s :p _:l . _:l rdf:first :a ; rdf:rest _:m . _:m rdf:first :b ; rdf:rest (:c) , (:d) .\n"
        ":rule swrl:body (:one :two) . :s :q (:e) .\n"
    )
    found = loaded(tmp_path / "g.ttl", text)
    assert sum("#first" in fact for fact in found) == 6
    assert "<http://t/s> <http://t/q> <http://t/e>" in found


def test_members_are_read_of_lists_that_facts_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    members = unify._members
    monkeypatch.setattr(unify, "_members", lambda store, head: read.append(head) or members(store, head))
    monkeypatch.setattr(unify, "MAX_ADDED_FACTS", 2)
    text = f"{PREFIXES}:k owl:unionOf (:a :b) . :s :p (:c :d) ; :q (:e :f) .\n"
    found = loaded(tmp_path / "g.ttl", text)
    assert len(read) == 1  # and then there are enough
    assert sum("#first" in fact for fact in found) == 6
