"""Graphs of names: what is a node, a mediator, a value; and questions with a graph of their own each."""

import json
from pathlib import Path

import pytest

from kgqa.evaluation.datasets import DatasetError
from kgqa.evaluation.datasets.subgraphs import (
    GRAPHS_FILE,
    QUESTIONS_FILE,
    any_id,
    read_graph,
    read_graphs,
    write_facts,
    write_rog,
)
from kgqa.kg.opening import open_graph, open_triples
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.tests.support import rog

FB = "http://rdf.freebase.com/ns/"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    for name, data in rog.files().items():
        (tmp_path / Path(name).name).write_bytes(data)
    write_rog(sorted(tmp_path.glob("test-*.parquet")), tmp_path)
    return tmp_path


def triples(made: Path, id: str) -> list[str]:
    return read_graph(made / GRAPHS_FILE, id).decode().splitlines()


def test_a_question_has_its_own_graph_alone(made: Path) -> None:
    assert any("Larkshire" in line for line in triples(made, "Q-1"))
    assert not any("m.0x1" in line for line in triples(made, "Q-1"))
    assert triples(made, "Q-4") == []
    assert any_id(made / GRAPHS_FILE) in {"Q-1", "Q-2", "Q-3", "Q-4"}
    with pytest.raises(DatasetError, match="no graph of the question 'Q-9'"):
        triples(made, "Q-9")


def test_an_id_of_freebase_is_a_mediator_and_a_date_is_a_value(made: Path) -> None:
    found = triples(made, "Q-2")
    held = f"{FB}government.government_position_held"
    assert f'<{FB}m.0x2> <{held}.from> "1994-05-01" .' in found
    assert not any("label" in line and "m.0x" in line for line in found)


def test_a_value_that_is_a_topic_or_a_subject_anywhere_is_a_node_everywhere(made: Path) -> None:
    assert any(line.startswith("<https://kgqa.example/name/1987> ") for line in triples(made, "Q-3"))
    assert any("from> <https://kgqa.example/name/1987> ." in line for line in triples(made, "Q-2"))


async def test_names_come_back_as_they_are(made: Path) -> None:
    graph = open_triples(read_graph(made / GRAPHS_FILE, "Q-3"), "Q-3")
    (found,) = await graph.find_entities("1987", 1)
    chain = Chain(found.entity, (Hop(f"{FB}book.written_work.author"),))
    assert [end.term.name for end in (await graph.follow_chain(chain)).items] == ['Cora "Lo" Vane/Hill']
    assert graph.dialect == "freebase"


async def test_a_graph_without_facts_is_open_and_knows_nobody() -> None:
    assert await open_triples(b"", "nothing").find_entities("Oakmere", 1) == []


def test_a_file_of_graphs_that_cannot_be_read_is_told_with_what_sqlite_said(made: Path) -> None:
    (made / GRAPHS_FILE).write_bytes(b"\xff" * 4_096)
    for read in (lambda: read_graph(made / GRAPHS_FILE, "Q-3"), lambda: any_id(made / GRAPHS_FILE)):
        with pytest.raises(DatasetError, match=r"cannot be read \(file is not a database\); remove"):
            read()


def test_all_graphs_together_hold_all_facts(made: Path) -> None:
    whole = b"".join(read_graphs(made / GRAPHS_FILE)).decode()
    assert all(id in whole for id in ("m.0x1", "Ash%20Water", "1987"))


def test_questions_are_read_with_names_only(made: Path) -> None:
    records = [json.loads(line) for line in (made / QUESTIONS_FILE).read_text().splitlines()]
    assert [record["id"] for record in records] == ["Q-1", "Q-2", "Q-3", "Q-4"]
    assert records[1]["answers"] == [{"id": None, "name": "Ida Thorn"}, {"id": None, "name": "Ben Marsh"}]
    assert records[1]["topic_entities"] == [{"id": None, "name": "Oakmere"}]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**rog.ROWS[0], "graph": [["a", "b"]]}], "a fact has not three parts"),
        ([rog.ROWS[0], rog.ROWS[0]], "the question Q-1 is there twice"),
    ],
)
def test_what_is_not_as_rog_has_it_is_refused(
    rows: list[dict[str, object]], said: str, tmp_path: Path
) -> None:
    (tmp_path / "a.parquet").write_bytes(rog.parquet(rows))
    with pytest.raises(DatasetError, match=said):
        write_rog([tmp_path / "a.parquet"], tmp_path)


@pytest.mark.parametrize("data", [b"PAR1 and no more", b""])
def test_what_is_no_parquet_is_one_line(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(DatasetError, match=r"a.parquet cannot be read: \S") as error:
        write_rog([tmp_path / "a.parquet"], tmp_path)
    assert "\n" not in str(error.value)


async def test_facts_apart_by_tabs_or_bars_are_a_graph(tmp_path: Path) -> None:
    (tmp_path / "kb.txt").write_text("Low Tide|directed_by|Ida Thorn\nLow Tide|release_year|1987\n")
    (tmp_path / "cup.txt").write_text("FC_Ash\tplays_in_club_inverse\tBEN\nBEN\tplays_in_club\tFC_Ash\n")
    write_facts(tmp_path / "kb.txt", tmp_path / "kb.nt")
    write_facts(tmp_path / "cup.txt", tmp_path / "cup.nt")
    films, cup = open_graph([tmp_path / "kb.nt"]), open_graph([tmp_path / "cup.nt"])
    assert [match.entity.name for match in await films.find_entities("Low Tide", 1)] == ["Low Tide"]
    assert (await cup.info()).triples == 1  # the other way round is the same fact
    assert [match.entity.name for match in await cup.find_entities("FC Ash", 1)] == ["FC Ash"]
    assert Entity("https://kgqa.example/name/BEN", "BEN") in {
        m.entity for m in await cup.find_entities("BEN", 1)
    }


def test_a_line_that_is_no_fact_is_named(tmp_path: Path) -> None:
    (tmp_path / "kb.txt").write_text("a|b|c\na|b\n")
    with pytest.raises(DatasetError, match=r"kb.txt, line 2: no fact of three parts"):
        write_facts(tmp_path / "kb.txt", tmp_path / "kb.nt")
