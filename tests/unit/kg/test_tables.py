"""What cells of tables stand for, and one clear line for tables that are wrong."""

import asyncio
import builtins
import gzip
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from kgqa.kg.errors import KGError, KGMalformed, KGUnavailable
from kgqa.kg.minting import typed_literal
from kgqa.kg.opening import open_graph
from kgqa.kg.store import file_cache
from kgqa.kg.store.loading import QuadReader
from kgqa.kg.tables import reading
from kgqa.kg.terms import Chain, Entity, Hop, one_line

NAME, RELATION, ROW = (f"https://kgqa.example/{kind}/" for kind in ("name", "relation", "row"))
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str | bytes, name: str = "t.csv") -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path / name

    return write


def facts(*paths: Path) -> set[tuple[str, str, str]]:
    """Read triples as text without those that name entities; literals have their datatype's local name."""

    def shown(term: object) -> str:
        kind = getattr(term, "datatype", None)
        return f"{term.value} {kind.value.rpartition('#')[2]}" if kind else term.value  # type: ignore[attr-defined]

    quads = QuadReader(paths).quads()
    return {
        (q.subject.value, q.predicate.value, shown(q.object)) for q in quads if q.predicate.value != LABEL
    }


def names(*paths: Path) -> dict[str, str]:
    quads = QuadReader(paths).quads()
    return {q.subject.value: q.object.value for q in quads if q.predicate.value == LABEL}


def test_names_become_entities_that_are_called_so(write: Write) -> None:
    path = write('São Paulo,"lies, in",Brazil/1\n')
    assert facts(path) == {(f"{NAME}S%C3%A3o%20Paulo", f"{RELATION}lies,_in", f"{NAME}Brazil%2F1")}
    assert names(path) == {f"{NAME}S%C3%A3o%20Paulo": "São Paulo", f"{NAME}Brazil%2F1": "Brazil/1"}
    assert open_graph([path]).relation_label(f"{RELATION}lies,_in") == "lies,_in"


@pytest.mark.parametrize(
    "header", ["head,relation,tail", "S,P,O", "subject,predicate,object", "from,Edge,to", "\ufeffh,r,t"]
)
def test_a_header_is_told_by_its_names(write: Write, header: str) -> None:
    assert facts(write(f"{header}\na,r,b\n")) == {(f"{NAME}a", f"{RELATION}r", f"{NAME}b")}


def test_a_header_orders_the_columns(write: Write) -> None:
    assert facts(write("object\tsubject\tpredicate\nb\ta\tr\n", "t.tsv")) == {
        (f"{NAME}a", f"{RELATION}r", f"{NAME}b")
    }


def test_more_columns_are_left_aside_where_one_is_a_relation(write: Write) -> None:
    path = write("source,weight,relation,target,since\nAda,0.9,lives in,Ulm,1999\n")
    assert facts(path) == {(f"{NAME}Ada", f"{RELATION}lives_in", f"{NAME}Ulm")}


def test_more_columns_are_told_where_none_is_surely_a_relation(write: Write) -> None:
    with pytest.raises(KGMalformed, match=r"4 columns \(from, to, type, price\), where triples have three"):
        open_graph([write("from,to,type,price\nUlm,Bonn,train,20\n")])


def test_a_quotation_mark_is_text_in_tsv(write: Write) -> None:
    assert facts(write('"a\tr\t5" gun\n', "t.tsv")) == {(f"{NAME}%22a", f"{RELATION}r", f"{NAME}5%22%20gun")}


def test_gzipped_tables_and_several_files_are_one_graph(write: Write) -> None:
    first = write(gzip.compress(b"a,r,b\n"), "1.csv.gz")
    rdf = write(f"<{NAME}b> <http://x/r> <http://x/c> .", "2.nt")
    assert len(facts(first, write("b\tr\tc\n", "3.tsv"), rdf)) == 3


def test_iris_and_unnamed_nodes_are_taken_as_they_are(write: Write) -> None:
    path = write("http://x/a,http://x/r,_:m\n_:m,to,http://x/b\nhttp://x/ no,r,ftp://y\n")
    assert facts(path) == {
        ("http://x/a", "http://x/r", "urn:kgqa:blank:b1"),
        ("urn:kgqa:blank:b1", f"{RELATION}to", "http://x/b"),
        (f"{NAME}http%3A%2F%2Fx%2F%20no", f"{RELATION}r", f"{NAME}ftp%3A%2F%2Fy"),
    }


def test_a_label_in_the_table_is_the_name(write: Write) -> None:
    path = write("e1,rdfs:label,Berlin\ne1,rdf:type,City\n")
    assert names(path) == {f"{NAME}e1": "Berlin", f"{NAME}City": "City"}


async def test_the_id_that_a_label_replaces_is_another_name(write: Write) -> None:
    graph = open_graph([write("GEN-1,rdfs:label,BRCA1\nGEN-1,regulates,GEN-2\nGEN-2,rdfs:label,TP53\n")])
    match, *_ = await graph.find_entities("GEN-2")
    assert (match.entity.name, match.how) == ("TP53", "exact")
    (mention,) = await graph.link("What does GEN-1 regulate?")
    assert mention.matches[0].entity.id == f"{NAME}GEN-1"


def test_tables_of_freebase_and_wikidata_speak_their_ids(write: Write) -> None:
    freebase = write(
        "/m/03_r3\t/location/location/containedby\tm.0abc\nBob\tpeople.person.parents\tAnn\n", "f.tsv"
    )
    fb = "http://rdf.freebase.com/ns/"
    assert facts(freebase) == {
        (f"{fb}m.03_r3", f"{fb}location.location.containedby", f"{fb}m.0abc"),
        (f"{NAME}Bob", f"{fb}people.person.parents", f"{NAME}Ann"),
    }
    wikidata = write("Q42,P31,Q5\n", "w.csv")
    wd = "http://www.wikidata.org/"
    assert facts(wikidata) == {(f"{wd}entity/Q42", f"{wd}prop/direct/P31", f"{wd}entity/Q5")}
    assert facts(write("Q42,knows,Q5\n", "n.csv")) == {(f"{NAME}Q42", f"{RELATION}knows", f"{NAME}Q5")}


def test_values_are_told_by_all_of_a_relation(write: Write) -> None:
    path = write(
        "a,year,1999\na,height,1.85\na,born,1970-01-31\na,alive,True\na,big,1e20\n"
        "a,seen,1999-01-31 10:00:00\na,zip,01234\na,zip,99999\na,date,1999-13-01\na,mixed,7\na,mixed,seven\n"
    )
    about = {(relation.removeprefix(RELATION), shown) for _, relation, shown in facts(path)}
    assert about == {
        ("year", "1999 integer"),
        ("height", "1.85 decimal"),
        ("born", "1970-01-31 date"),
        ("alive", "true boolean"),
        ("big", "1e20 double"),
        ("seen", "1999-01-31T10:00:00 dateTime"),
        *((r, NAME + text) for r, text in [("zip", "01234"), ("zip", "99999"), ("date", "1999-13-01")]),
        *((r, NAME + text) for r, text in [("mixed", "7"), ("mixed", "seven")]),
    }


def test_what_is_a_subject_anywhere_is_no_value(write: Write) -> None:
    sequel, films = write("x,inspired,1984\nx,year,1984\nx,length,90\n"), write("1984,by,Orwell\n", "u.csv")
    kinds = {(relation.removeprefix(RELATION), shown) for _, relation, shown in facts(sequel, films)}
    assert ("inspired", f"{NAME}1984") in kinds
    assert ("length", "90 integer") in kinds
    assert ("inspired", "1984 integer") in {(r.removeprefix(RELATION), o) for _, r, o in facts(sequel)}


def test_numbers_are_ids_where_all_subjects_are(write: Write) -> None:
    assert facts(write("1,5,17\n2,5,18\n")) == {
        (f"{NAME}1", f"{RELATION}5", f"{NAME}17"),
        (f"{NAME}2", f"{RELATION}5", f"{NAME}18"),
    }


def test_a_long_object_is_a_text(write: Write) -> None:
    assert facts(write(f"a,about,{'x' * 1001}\n")) == {
        (f"{NAME}a", f"{RELATION}about", f"{'x' * 1001} string")
    }


def test_parquet_has_types_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = {"s": ["a", "b"], "p": ["year", "year"], "o": [1999, 2001]}
    parquet.write_table(pa.table(table), path)
    assert {fact[2] for fact in facts(path)} == {"1999 integer", "2001 integer"}


HOSTILE = [
    '<http://x/a> <http://x/r> "',
    'x"@en . <urn:x> <urn:y> <urn:z> .',
    "a> ?p ?o } INSERT DATA { <u:a> <u:b> <u:c> } #",
    "\\u003e \x1b[2J \u202e",
    "urn:kgqa:blank:b1",
    "http://x/><script>",
    "../../etc/passwd",
    "=cmd|' /C calc'!A0",
]


async def test_hostile_cells_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"h": HOSTILE, "r": HOSTILE, "t": HOSTILE[1:] + HOSTILE[:1]}), path)
    graph = open_graph([path])
    for cell, other in zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], strict=True):
        quad = next(
            q
            for q in QuadReader([path]).quads()
            if q.predicate.value == LABEL and q.object.value == cell.strip()
        )
        shown = one_line("_".join(cell.split()))
        hop = next(each for each in graph.relations if graph.relation_label(each) == shown)
        page = await graph.follow_chain(Chain(Entity(quad.subject.value), (Hop(hop),)))
        assert [end.term.id for end in page] == [next(s for s, name in names(path).items() if name == other)]
    assert (await graph.info()).triples == 2 * len(HOSTILE)


WRONG = {
    "ragged": ("t.csv", "a,r,b\nc,r\n", "t.csv, row 2: 2 columns, where the first row has 3"),
    "ragged after a header": ("t.csv", "s,p,o\na,r,b\nc,r,d,e\n", "t.csv, row 3: 4 columns, where"),
    "other columns": ("t.csv", "id,title,year,by\n1,M,1931,2\n", "t.csv: 4 columns (id, title, year, by)"),
    "other delimiter": ("t.csv", "a|r|b\n", "t.csv: 1 columns (a|r|b), where triples have three; cells are"),
    "no object": ("t.csv", "a,r,b\nc,r, \n", "t.csv, row 2: no object; fill it in"),
    "no subject": ("t.tsv", "s\tp\to\n\tr\tb\n", "t.tsv, row 2: no subject"),
    "long name": ("t.csv", f"{'x' * 1001},r,b\n", "t.csv, row 1: a subject of 1,001 characters"),
    "not UTF-8": ("t.csv", b"a,r,b\nM\xfcller,r,b\n", "t.csv, row 2: not UTF-8"),
    "UTF-16": ("t.csv", "s,p,o\na,r,b\nc,r,d\n".encode("utf-16"), "t.csv: not UTF-8; save the table in that"),
    "open quotation mark": ("t.csv", 's,p,o\n"5,r,b\n', "row 2: 1 columns, where the first row has 3; is a"),
    "empty": ("t.csv", "", "t.csv holds no rows"),
    "only a header": ("t.csv", "s,p,o\n", "t.csv holds no triples"),
    "damaged gzip": ("t.csv.gz", gzip.compress(b"a,r,b\n" * 99)[:-9], "t.csv.gz: not readable as a table: "),
    "no gzip": ("t.tsv.gz", b"a\tr\tb\n", "t.tsv.gz: not readable as a table: "),
    "no Parquet": ("t.parquet", b"a,r,b\n", "t.parquet: not readable as a table: "),
    "gzipped Parquet": ("t.parquet.gz", gzip.compress(b""), "t.parquet.gz: Parquet is compressed as it is"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_table_gets_one_line(write: Write, case: str) -> None:
    name, text, said = WRONG[case]
    with pytest.raises(KGError) as caught:
        open_graph([write(text, name)])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_row_without_end(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_ROW_BYTES", 1 << 10)
    with pytest.raises(KGMalformed, match="a row of more than 1,024 bytes; is a quotation mark left open"):
        open_graph([write('a,r,b\nc,r,"' + "b\n" * 9999)])


@pytest.mark.parametrize("header", ["entity1,relation,entity2", "src,rel,dst", "Head,Predicate,Tail"])
def test_a_header_is_no_fact(write: Write, header: str) -> None:
    graph = open_graph([write(f"{header}\nAda,lives in,Ulm")])
    assert not asyncio.run(graph.find_entities(header.partition(",")[0]))
    assert asyncio.run(graph.find_entities("Ada"))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_semicolons_stand_for_commas(tmp_path: Path, name: str) -> None:
    text = b'Ada;lives in;"Ulm; Swabia, Danube"\nBen;lives in;Bonn, Rhine\n'
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    graph = open_graph([tmp_path / name])
    assert asyncio.run(graph.find_entities("Ulm; Swabia, Danube"))
    assert asyncio.run(graph.find_entities("Bonn, Rhine"))


def test_a_decimal_that_is_no_number_is_a_double() -> None:
    found = [typed_literal(Decimal(text)) for text in ("NaN", "-Infinity", "1.20")]
    read = [(each.value, each.datatype.value.rpartition("#")[2]) for each in found if each]
    assert read == [("NaN", "double"), ("-INF", "double"), ("1.20", "decimal")]


@pytest.mark.parametrize("header", ["person,relation,place", "subject,how,object"])
def test_a_header_that_is_not_known_is_told(write: Write, header: str) -> None:
    with pytest.raises(KGMalformed, match="which column is what"):
        open_graph([write(f"{header}\nAda,lives in,Ulm")])


def test_parquet_that_does_not_say_which_column_is_what(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": ["a"], "title": ["b"], "year": ["c"]}), tmp_path / "t.parquet")
    with pytest.raises(KGMalformed, match=r"which column is what\? \(id, title, year\)"):
        open_graph([tmp_path / "t.parquet"])


@pytest.mark.parametrize(("cell", "kind"), [(["b", "c"], "list"), ({"x": 1}, "dict"), (b"b", "bytes")])
def test_a_cell_of_parquet_that_is_no_text_is_told(tmp_path: Path, cell: object, kind: str) -> None:
    parquet.write_table(pa.table({"head": ["a"], "relation": ["r"], "tail": [cell]}), tmp_path / "t.parquet")
    with pytest.raises(KGMalformed, match=f"row 2: the object is a {kind}, not a text, number or date; give"):
        open_graph([tmp_path / "t.parquet"])


def test_without_pyarrow_a_line_says_what_brings_it(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: object) -> object:
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(KGUnavailable, match=r"pip install 'kgqa\[tables\]'"):
        open_graph([write("a,r,b\n")])


FILMS = "id,title,other,year,by,tags\n1,M,,1931,10,crime|drama\n2,Sunrise,Song|Two,1927,99,\n"
MAPPING = """
[film]
file = "films.csv"
id = "id"
name = "title"
aliases = ["other"]
values = { year = "year" }
links = { by = { column = "by", to = "person" }, tag = { column = "tags", separator = "|" } }
[person]
file = "people.csv"
id = "id"
name = "name"
"""


@pytest.fixture
def films(write: Write) -> Write:
    write(FILMS, "films.csv")
    write("id,name\n10,Fritz Lang\n", "people.csv")
    return lambda text=MAPPING, name="m.toml": write(text, name)


def test_a_mapping_says_what_columns_mean(films: Write) -> None:
    path = films()
    kind, film = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"{ROW}film/"
    assert facts(path) == {
        (f"{film}1", kind, "https://kgqa.example/class/film"),
        (f"{film}2", kind, "https://kgqa.example/class/film"),
        (f"{ROW}person/10", kind, "https://kgqa.example/class/person"),
        (f"{film}1", f"{RELATION}year", "1931 integer"),
        (f"{film}2", f"{RELATION}year", "1927 integer"),
        (f"{film}1", f"{RELATION}by", f"{ROW}person/10"),
        (f"{film}2", f"{RELATION}by", f"{ROW}person/99"),
        (f"{film}1", f"{RELATION}tag", f"{NAME}crime"),
        (f"{film}1", f"{RELATION}tag", f"{NAME}drama"),
        (f"{film}2", "http://www.w3.org/2004/02/skos/core#altLabel", "Song|Two string"),
    }
    assert names(path)[f"{film}1"] == "M"
    assert f"{ROW}person/99" not in names(path)  # no row says who that is


async def test_rows_without_id_and_name_are_nodes_without_a_name(films: Write, write: Write) -> None:
    write("film,actor,part\n1,Peter Lorre,Beckert\n", "roles.csv")
    roles = '[role]\nfile = "roles.csv"\nvalues = {part = "part"}\n'
    path = films(MAPPING + roles + 'links = {film = {column = "film", to = "film"}, actor = "actor"}\n')
    chain = Chain(Entity(f"{ROW}film/1"), (Hop(f"{RELATION}film", False), Hop(f"{RELATION}actor")))
    assert [str(end.term) for end in await open_graph([path]).follow_chain(chain)] == ["Peter Lorre"]


def test_types_of_a_mapping(films: Write, write: Write, tmp_path: Path) -> None:
    typed = {
        "id": ["a"], "d": [date(2001, 2, 3)], "t": [datetime.fromisoformat("2001-02-03T04:05")], "f": [1.5],
        "b": [True], "n": [Decimal("1.20")], "l": [["x", "y"]], "i": [7],
    }  # fmt: skip
    parquet.write_table(pa.table(typed), tmp_path / "typed.parquet")
    write("id,year,text,name,mixed\na,1999,7,Berlin,1\nb,2000,8,Rom,1.5\n", "texts.csv")
    path = films(
        '[p]\nfile = "typed.parquet"\nid = "id"\nvalues = {d="d",t="t",f="f",b="b",n="n",l="l",i="i"}\n'
        '[t]\nfile = "texts.csv"\nid = "id"\n[t.values]\nyear = {column="year", type="year"}\n'
        'text = {column="text", type="text"}\nname = {column="name", language="de"}\nmixed = "mixed"\n'
    )
    found = {(r.removeprefix(RELATION), o) for _, r, o in facts(path)}
    assert found >= {
        ("d", "2001-02-03 date"), ("t", "2001-02-03T04:05:00 dateTime"), ("f", "1.5 double"),
        ("b", "true boolean"), ("n", "1.20 decimal"), ("l", "x string"), ("l", "y string"),
        ("i", "7 integer"),
        ("year", "1999 gYear"), ("text", "7 string"), ("name", "Berlin langString"),
        ("mixed", "1 decimal"), ("mixed", "1.5 decimal"),
    }  # fmt: skip


def test_one_column_of_aliases_needs_no_list(films: Write) -> None:
    mapping = '[film]\nfile="films.csv"\nid="id"\naliases='
    alone = facts(films(f'{mapping}"title"'))
    assert any(relation.endswith("#altLabel") for _, relation, _ in alone)
    assert alone == facts(films(f'{mapping}["title"]'))


WRONG_MAPPINGS = {
    "no TOML": ("film", "m.toml: not readable as TOML: "),
    "no section": ("a = 1", "m.toml: a mapping has a section for each table"),
    "unknown key": (
        '[film]\nfile="films.csv"\nnme="x"',
        "m.toml: film: unknown key 'nme'; there are: file, id, name",
    ),
    "unknown key of a value": (
        '[film]\nfile="films.csv"\nvalues={year={column="year", kind="x"}}',
        "unknown key 'values.year.kind'; there are: column, separator, type, language",
    ),
    "unknown type": (
        '[film]\nfile="films.csv"\nvalues={year={column="year", type="int"}}',
        "m.toml: film: values.year.type: Input should be 'text', 'integer'",
    ),
    "no file": ('[film]\nid="id"', "m.toml: film: file: Field required"),
    "missing file": ('[film]\nfile="no.csv"', "m.toml: film: no such file: "),
    "file elsewhere": (
        '[film]\nfile="../films.csv"',
        "file '../films.csv' is no table (.csv, .tsv, .parquet)",
    ),
    "absolute file": ('[film]\nfile="/etc/passwd"', "file '/etc/passwd' is no table"),
    "missing column": (
        '[film]\nfile="films.csv"\nid="key"',
        "films.csv: no column is called 'key'; there are: id, title, other, year, by, tags",
    ),
    "unknown table": (
        '[film]\nfile="films.csv"\nlinks={by={column="by", to="people"}}',
        "m.toml: film: no table is called 'people'; there are: film",
    ),
    "wrong value": (
        '[film]\nfile="films.csv"\nid="id"\nvalues={t={column="title", type="integer"}}',
        "films.csv, row 2: 'M' in column 'title' is no integer",
    ),
    "empty id": ('[film]\nfile="films.csv"\nid="other"', "films.csv, row 2: nothing in column 'other'"),
    "rows of nobody": ('[film]\nfile="films.csv"\nof="film"', "which column has the ids of rows of 'film'"),
}


@pytest.mark.parametrize("case", WRONG_MAPPINGS)
def test_a_wrong_mapping_gets_one_line(films: Write, case: str) -> None:
    text, said = WRONG_MAPPINGS[case]
    with pytest.raises(KGError) as caught:
        open_graph([films(text)])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_table_that_changed_is_read_again(
    films: Write, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KGQA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(file_cache, "MIN_BYTES_KEPT", 1)
    path, chain = films(), Chain(Entity(f"{ROW}film/1"), (Hop(f"{RELATION}by"),))
    before = open_graph([path])
    assert [str(end.term) for end in await before.follow_chain(chain)] == ["Fritz Lang"]
    write("id,name\n10,Friedrich Lang\n", "people.csv")
    after = open_graph([path])
    assert [str(end.term) for end in await after.follow_chain(chain)] == ["Friedrich Lang"]
    assert before.fingerprint != after.fingerprint


def test_tables_that_change_between_two_looks_are_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = write("Ada,likes,1984\n"), reading.read_rows
    looks = []

    def replaced(path: Path) -> object:
        if looks:
            write("1984,likes,Ada\n1984,is,9\n", path.name)
        looks.append(path)
        return read(path)

    monkeypatch.setattr("kgqa.kg.tables.triples.read_rows", replaced)
    with pytest.raises(KGUnavailable, match="changed while it was read"):
        list(QuadReader([path]).quads())
