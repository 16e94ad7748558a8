"""Thinning out a dump: what stays, what goes, and that nothing half-written is left behind."""

import gzip
import sys
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgqa.cli import main as command
from kgqa.kg.dialects import FB, FREEBASE, RDF, RDFS, SCHEMA_ORG, WD, WDT, WIKIDATA
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.store.dump_filter import LineCounts, TripleFilter, filter_dump
from kgqa.tests.support.perfect import DATA

GRASP = DATA / "freebase" / "freebase_grasp_slice.nt.gz"

FREEBASE_LINES = {
    f"<{FB}m.1> <{FB}people.person.parents> <{FB}m.2> .": True,
    f'<{FB}m.1> <{FB}type.object.name> "Ann"@en .': True,
    f'<{FB}m.1> <{FB}type.object.name> "Ann"@en-GB .': True,
    f'<{FB}m.1> <{FB}type.object.name> "Anna"@de .': False,
    f'<{FB}m.1> <{RDFS}label> "Ann" .': True,
    f'<{FB}m.1> <{FB}common.topic.alias> "Annie"@en .': True,
    f"<{FB}m.1> <{FB}type.object.type> <{FB}people.person> .": True,
    f'<{FB}m.1> <{FB}topic_server.population_number> "7" .': True,
    f"<{FB}m.1> <{RDF}type> <{FB}people.person> .": False,
    f'<{FB}m.1> <{FB}type.object.key> "/wikipedia/en/Ann" .': False,
    f'<{FB}m.1> <{FB}common.topic.description> "A person."@en .': False,
    f'<{FB}m.1> <http://rdf.freebase.com/key/wikipedia.en> "Ann" .': False,
    f"<{FB}m.1> <http://www.w3.org/2002/07/owl#sameAs> <{WD}Q1> .": True,
    f'<{FB}m.1> <{FB}people.person.height_meters> "1.7"^^<http://www.w3.org/2001/XMLSchema#float> .': True,
}
WIKIDATA_LINES = {
    f"<{WD}Q1> <{WDT}P31> <{WD}Q2> .": True,
    f'<{WD}Q1> <{WDT}P646> "/m/1" .': True,
    f"<{WD}Q1> <{WDT}P18> <http://image> .": False,
    f'<{WD}Q1> <{RDFS}label> "one"@en .': True,
    f'<{WD}Q1> <{RDFS}label> "one"@mul .': True,
    f'<{WD}Q1> <{RDFS}label> "eins"@de .': False,
    f'<{WD}Q1> <{SCHEMA_ORG}description> "a number"@en .': False,
    f'<{WD}P1> <{RDFS}label> "part"@en .': True,
    f"<{WD}Q1> <http://www.wikidata.org/prop/P1> <{WD}statement/x> .": True,
    f'<{WD}statement/x> <http://www.wikidata.org/prop/qualifier/P2> "1" .': True,
    f"<{WD}statement/x> <http://wikiba.se/ontology#rank> <http://wikiba.se/ontology#NormalRank> .": False,
}


@pytest.mark.parametrize("lines", [FREEBASE_LINES, WIKIDATA_LINES], ids=["freebase", "wikidata"])
def test_what_a_dialect_looks_at_stays(tmp_path: Path, lines: dict[str, bool]) -> None:
    dump, out = tmp_path / "dump.nt.gz", tmp_path / "out.nt"
    dump.write_bytes(gzip.compress("\n".join(lines).encode()))
    dialect, counts = filter_dump([dump], out)
    assert dialect is (FREEBASE if lines is FREEBASE_LINES else WIKIDATA)
    assert out.read_text().splitlines() == [line for line, stays in lines.items() if stays]
    assert (counts.kept, counts.lines, counts.malformed) == (sum(lines.values()), len(lines), 0)


@pytest.mark.parametrize(
    "line",
    [
        "<http://a> <http://b> .",
        "<http://a b> <http://b> <http://c> .",
        '<http://a> <http://b> "c .',
        r'<http://a> <http://b> "c\x" .',
        r'<http://a> <http://b> "\u12" .',
        "<http://a> _:b <http://c> .",
        '"a" <http://b> <http://c> .',
        "<http://a> <http://b> <http://c>",
        "<http://a> <http://b> <http://c> . <http://d>",
        '<http://a> <http://b> "\xff" .',
    ],
)
def test_a_line_that_is_no_triple_is_counted_and_left_out(line: str) -> None:
    counts = LineCounts()
    assert list(TripleFilter(FREEBASE).keep([line.encode("latin-1")], counts)) == []
    assert counts == LineCounts(malformed=1)


def test_blank_nodes_get_iris_that_kgqa_knows_as_blank(tmp_path: Path) -> None:
    dump, out = tmp_path / "dump.nt", tmp_path / "out.nt.gz"
    dump.write_text("# names\n\n<http://a> <http://b> _:n1 . # one\n_:n1  <http://b>\t<http://c>. \n")
    _, counts = filter_dump([dump], out)
    assert gzip.decompress(out.read_bytes()).decode().splitlines() == [
        "<http://a> <http://b> <urn:kgqa:blank:n1> .",
        "<urn:kgqa:blank:n1> <http://b> <http://c> .",
    ]
    assert counts == LineCounts(kept=2)


@pytest.mark.parametrize(
    ("bare", "kind"),
    [("4.5", "decimal"), ("-12", "integer"), ("1.5e-3", "double"), ("true", "boolean"), (".5", "decimal")],
)
def test_bare_values_get_their_type(bare: str, kind: str) -> None:
    line = f"<{FB}g.1> <{FB}measurement_unit.dated_percentage.rate> {bare} .\n"
    [out] = TripleFilter(FREEBASE).keep([line.encode()], LineCounts())
    assert f' "{bare}"^^<http://www.w3.org/2001/XMLSchema#{kind}> .' in out.decode()
    assert len(list(ox.parse(out, ox.RdfFormat.N_TRIPLES))) == 1


def test_a_part_that_does_not_show_its_dialect_is_told_it(tmp_path: Path) -> None:
    names, out = tmp_path / "names.nt", tmp_path / "out.nt"
    names.write_text(f'<{FB}m.1> <{RDFS}label> "Anna"@de .\n')
    assert filter_dump([names], out, FREEBASE) == (FREEBASE, LineCounts(languages=1))
    assert out.read_text() == ""


def test_a_dump_may_be_called_as_freebase_calls_its_own(tmp_path: Path) -> None:
    dump = tmp_path / "freebase-rdf-latest.gz"
    dump.write_bytes(gzip.compress(next(iter(FREEBASE_LINES)).encode()))
    assert filter_dump([dump], tmp_path / "out.nt")[1].kept == 1


@pytest.mark.skipif(not GRASP.exists(), reason=f"needs {GRASP.name}")
def test_a_real_dump_loses_no_relation_but_texts_in_other_languages(tmp_path: Path) -> None:
    out = tmp_path / "out.nt"
    _, counts = filter_dump([GRASP], out)
    with gzip.open(GRASP) as file:
        triples = list(ox.parse(file.read(), ox.RdfFormat.N_TRIPLES))
    assert (counts.malformed, counts.lines) == (0, len(triples))
    assert len(list(ox.parse(out.read_bytes(), ox.RdfFormat.N_TRIPLES))) == counts.kept
    lost = set(open_graph([GRASP]).relations) - set(open_graph([out]).relations)
    texts = [triple.object for triple in triples if triple.predicate.value in lost]
    assert all(isinstance(text, ox.Literal) and text.language not in (None, "en") for text in texts)


def test_what_cannot_be_read_leaves_nothing_behind(tmp_path: Path) -> None:
    out, cut = tmp_path / "out.nt", tmp_path / "cut.nt.gz"
    cut.write_bytes(gzip.compress(b"<http://a> <http://b> <http://c> .\n" * 999)[:-20])
    with pytest.raises(KGMalformed, match=r"cut\.nt\.gz: damaged or incomplete"):
        filter_dump([cut], out)
    with pytest.raises(KGUnavailable, match=r"nowhere\.nt: No such file"):
        filter_dump([tmp_path / "nowhere.nt"], out)
    with pytest.raises(KGUnavailable, match=r"only \.nt and \.nt\.gz"):
        filter_dump([tmp_path / "graph.ttl"], out)
    assert not out.exists()


def test_the_command_says_what_it_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dump, out = tmp_path / "dump.nt", tmp_path / "out.nt"
    dump.write_text("\n".join([*FREEBASE_LINES, "nonsense"]))
    monkeypatch.setattr(sys, "argv", ["kgqa", "kg", "filter", str(dump), "--out", str(out)])
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code in (0, None)
    assert capsys.readouterr().out == (
        f"freebase: kept 9 of 15 triples in {out}; left out: 4 of other relations, "
        "1 in other languages, 1 malformed\n"
    )
