"""Graphs of rdflib and data frames of triples, as files that are called by their content."""

import asyncio
import datetime
import errno
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import rdflib

from kgqa.home import temporary_folder
from kgqa.kg import triples
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.tables.triples import TripleTables
from kgqa.kg.triples import is_triples, write_triples

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KGQA_HOME", str(tmp_path))
    return tmp_path


def written(*rows: tuple[Any, Any, Any]) -> set[str]:
    return set(write_triples(pd.DataFrame(list(rows), dtype=object)).read_text().splitlines())


def test_a_frame_is_the_graph_that_a_file_of_its_rows_is(home: Path) -> None:
    rows = [
        ("Ada", "lives in", "Ulm"),
        ("Ada", "born", "1815"),
        ("Ada", "rdfs:label", "Ada Lovelace"),
        ("http://t/ben", "http://t/in", "Alien: Covenant"),
    ]
    file = home / "rows.csv"
    pd.DataFrame(rows).to_csv(file, index=False, header=["subject", "relation", "object"])
    read = {str(quad.triple) for quad in TripleTables([file]).quads(file)}
    assert written(*rows) == {f"{triple} ." for triple in read}
    assert any('/born> "1815"^^' in triple for triple in read)


@pytest.mark.parametrize("columns", [["source", "target", "edge"], ["Subject", "OBJECT", "predicate"]])
def test_columns_of_a_frame_are_told_by_their_names(columns: list[str]) -> None:
    frame = pd.DataFrame([("Ada", "Ulm", "lives in"), ("Ulm", "Danube", "lies on")], columns=columns)
    assert write_triples(frame) == write_triples(
        pd.DataFrame(frame[[columns[0], columns[2], columns[1]]].values)
    )


def test_further_columns_of_a_frame_are_left_aside_where_a_header_tells_the_triple() -> None:
    rows = [("Ada", 0.5, "Ulm", "lives in"), ("Ulm", 0.7, "Danube", "lies on")]
    frame = pd.DataFrame(rows, columns=["head", "score", "tail", "relation"])
    assert write_triples(frame) == write_triples(frame[["head", "relation", "tail"]])


def test_numbers_stay_numbers() -> None:
    lines = "".join(written(("Ada", "lives in", "Ulm"), ("Ada", "age", 36), ("Ada", "tall", 1.8)))
    assert f'"36"^^<{XSD}integer>' in lines
    assert f'"1.8"^^<{XSD}double>' in lines


def test_days_and_times_are_such() -> None:
    day, moment = datetime.date(1815, 12, 10), pd.Timestamp("1815-12-10 08:00")
    lines = "".join(written(("Ada", "born", day), ("Ada", "seen", moment), ("Ada", "alive", False)))
    assert f'"1815-12-10"^^<{XSD}date>' in lines
    assert f'"1815-12-10T08:00:00"^^<{XSD}dateTime>' in lines
    assert f'"false"^^<{XSD}boolean>' in lines


def test_columns_of_numpy_and_any_characters_are_taken() -> None:
    subjects = pd.Series(["A\ud800da", 'say "hi"'], dtype=object)
    frame = pd.DataFrame({"s": subjects, "p": ["age", "<p>"], "o": [36, 2]})
    graph = open_graph(frame)
    assert asyncio.run(graph.find_entities('say "hi"'))[0].entity.name == 'say "hi"'


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NaT, pd.NA, " "])
def test_a_row_without_a_cell_is_named(missing: Any) -> None:
    with pytest.raises(KGMalformed, match="row 1 of the data frame has no object; leave it out"):
        written(("Ada", "age", 36), ("Ben", "age", missing))


def test_a_cell_that_is_no_text_is_told() -> None:
    with pytest.raises(KGMalformed, match=r"row 0 of the data frame: the object is a list, .*explode"):
        written(("Ada", "knows", ["Ben", "Cy"]))


def test_the_same_triples_are_the_same_file(home: Path) -> None:
    rows = [("Ada", "age", 36), ("Ben", "age", 7)]
    first = write_triples(pd.DataFrame(rows))
    version = first.stat().st_mtime_ns
    assert write_triples(pd.DataFrame(rows[::-1])) == first
    assert first.stat().st_mtime_ns == version
    assert write_triples(pd.DataFrame(rows[:1])) != first
    assert (home / "triples").stat().st_mode & 0o077 == 0


def test_a_file_that_nobody_asked_for_is_removed() -> None:
    old = write_triples(pd.DataFrame([("Ada", "age", 36)]))
    long_ago = time.time() - triples.MIN_SECONDS_KEPT - 60
    os.utime(old, (long_ago, long_ago))
    kept = write_triples(pd.DataFrame([("Ada", "age", 37)]))
    assert (old.exists(), kept.exists()) == (False, True)


def test_where_it_cannot_be_kept_it_goes_with_this_process(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    (home / "file").touch()
    monkeypatch.setenv("KGQA_HOME", str(home / "file"))
    written = write_triples(pd.DataFrame([("Ada", "age", 36)]))
    assert written == write_triples(pd.DataFrame([("Ada", "age", 36)]))
    assert "36" in written.read_text() and not written.is_relative_to(home)


def test_what_goes_with_a_process_that_was_killed_goes_with_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "kgqa-0123456789abcdef").mkdir()
    made = temporary_folder.__wrapped__()
    assert list(tmp_path.iterdir()) == [made]


def test_where_there_is_no_room_at_all_is_said(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(triples, "replace_file", full)
    with pytest.raises(KGUnavailable, match="No space left on device; set KGQA_HOME to a folder") as said:
        write_triples(pd.DataFrame([("Ada", "age", 37)]))
    assert "\n" not in str(said.value)
    assert not list(home.rglob(".*"))


def test_graphs_and_datasets_of_rdflib_are_taken() -> None:
    triple = rdflib.URIRef("http://t/ada"), rdflib.RDFS.label, rdflib.Literal("Ada")
    one, many = rdflib.Graph(), rdflib.Dataset()
    one.add(triple)
    many.graph(rdflib.URIRef("http://t/g")).add(triple)
    assert write_triples(one).read_text() == f'<http://t/ada> <{LABEL}> "Ada" .\n'
    assert write_triples(many) == write_triples(one)
    for given in (one, many):
        assert asyncio.run(open_graph(given).find_entities("Ada"))[0].entity.id == "http://t/ada"


def test_what_rdflib_cannot_write_is_said() -> None:
    odd = rdflib.Graph()
    odd.add((rdflib.URIRef("http://t/<a>"), rdflib.RDFS.label, rdflib.Literal("Ada")))
    with pytest.raises(KGMalformed, match="rdflib cannot write its graph"):
        write_triples(odd)


@pytest.mark.parametrize("given", ["sample", ["a.nt"], {"kg": 1}, None, 7])
def test_names_are_no_triples(given: Any) -> None:
    assert not is_triples(given)
