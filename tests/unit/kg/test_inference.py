"""What is inferred of tables that have no mapping, and what is left alone."""

import asyncio
import gzip
import string
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pyarrow import parquet
from typer.testing import CliRunner

from kgqa.cli.main import app
from kgqa.kg.errors import KGMalformed, KGUnavailable
from kgqa.kg.minting import value_kind
from kgqa.kg.opening import open_graph
from kgqa.kg.store import file_cache
from kgqa.kg.store.loading import QuadReader, files_of
from kgqa.kg.tables import columns
from kgqa.kg.tables.inference import Inference, infer_mapping, infer_tables
from kgqa.kg.tables.mapping import Link, Value
from kgqa.kg.tables.mapping_text import write_toml
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.tests.support.perfect import DATA

ROW, RELATION = "https://kgqa.example/row/", "https://kgqa.example/relation/"

LIBRARY = {
    "authors.csv": "id,first_name,last_name,born\n1,Ursula,Le Guin,1929-10-21\n2,Stanisław,Lem,1921-09-12\n",
    "books.csv": "isbn,title,year,language_code\n0061,Kindred,1979,en\n0062,Solaris,1961,pl\n0063,X,79,en\n",
    "book-authors.csv": "isbn,author_id\n0061,1\n0062,2\n0063,1\n0063,2\n",
    "languages.csv": "code,language\nen,English\npl,Polish\nde,German\n",
    "members.csv": "member_no,name,joined,is_active\n1,Ada Berg,2020-01-05 00:00:00,1\n2,Ben Kurz,NULL,0\n",
    "loans.csv": "isbn,member_no,taken,fee\n0061,1,2022-01-01,NA\n0061,2,2022-02-01,5.5\n0062,1,,0.5\n",
}

Infer = Callable[..., Inference]


@pytest.fixture
def infer(tmp_path: Path) -> Infer:
    """Write tables and infer what they mean."""

    def infer(tables: dict[str, str]) -> Inference:
        for name, text in tables.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return infer_mapping(sorted(tmp_path / name for name in tables))

    return infer


def quads(*paths: Path) -> set[str]:
    return {str(quad) for quad in QuadReader(paths).quads()}


def test_a_key_is_unique_and_has_no_gaps(infer: Infer) -> None:
    found = infer(LIBRARY)
    assert {name: table.id for name, table in found.tables.items() if not table.of} == {
        "author": "id", "book": "isbn", "language": "code", "member": "member_no", "loan": None,
    }  # fmt: skip
    assert found.reasons["member", "id"] == "unique, no gaps"


def test_a_link_says_that_all_its_values_are_in_a_key(infer: Infer) -> None:
    found = infer(LIBRARY)
    assert found.tables["book"].links == {"language": Link(column="language_code", to="language")}
    assert found.reasons["book", "language"] == "all 2 values are in languages.code"


def test_a_table_of_two_links_joins_what_they_lead_to(infer: Infer) -> None:
    joining = infer(LIBRARY).tables["book author"]
    assert (joining.of, joining.id, joining.values) == ("book", "isbn", {})
    assert joining.links == {"author": Link(column="author_id", to="author")}


def test_an_id_that_nothing_refers_to_is_no_part_of_a_table_that_joins(infer: Infer) -> None:
    joining = infer({**LIBRARY, "book-authors.csv": "id,isbn,author_id\n1,0061,1\n2,0062,2\n3,0062,1\n"})
    assert joining.tables["book author"].of == "book"
    assert "id" not in joining.tables["book author"].columns


def test_rows_of_two_links_with_more_columns_are_nodes_without_a_name(infer: Infer) -> None:
    loan = infer(LIBRARY).tables["loan"]
    assert (loan.id, loan.name, loan.of) == (None, (), None)
    assert loan.links == {
        "book": Link(column="isbn", to="book"),
        "member": Link(column="member_no", to="member"),
    }


def test_a_column_that_is_unique_by_chance_is_no_key_of_a_table_that_joins(infer: Infer) -> None:
    found = infer({**LIBRARY, "book-authors.csv": "author_id,isbn\n1,0061\n1,0062\n2,0063\n"})
    assert found.tables["book author"].of == "author"
    assert found.tables["book author"].links == {"book": Link(column="isbn", to="book")}


def test_a_table_with_the_key_of_another_says_more_of_its_rows(infer: Infer) -> None:
    found = infer({**LIBRARY, "ratings.csv": "isbn,stars\n0061,4.5\n0062,3.5\n"})
    assert (found.tables["rating"].of, found.tables["rating"].id) == ("book", "isbn")
    assert found.tables["rating"].values == {"stars": Value(column="stars", type="decimal")}


async def test_given_and_family_name_are_one_name(infer: Infer, tmp_path: Path) -> None:
    infer(LIBRARY)
    graph = open_graph([tmp_path])
    match, *_ = await graph.find_entities("Ursula Le Guin")
    assert match.entity.id == f"{ROW}author/1"


async def test_zeros_before_a_number_stay(infer: Infer, tmp_path: Path) -> None:
    infer(LIBRARY)
    chain = Chain(Entity(f"{ROW}author/2"), (Hop(f"{RELATION}author", False),))
    ends = await open_graph([tmp_path]).follow_chain(chain)
    assert {end.term.id for end in ends} == {f"{ROW}book/0062", f"{ROW}book/0063"}


def test_dates_numbers_and_truth_values(infer: Infer) -> None:
    tables = infer(LIBRARY).tables
    assert tables["member"].values == {
        "joined": Value(column="joined", type="date"),
        "is active": Value(column="is_active", type="boolean"),
    }
    assert tables["book"].values == {"year": Value(column="year", type="integer")}
    assert tables["loan"].values["fee"].type == "decimal"


def test_a_column_of_0_and_1_is_numbers_where_its_name_does_not_say_yes_or_no(infer: Infer) -> None:
    found = infer({"t.csv": "id,name,goals,discontinued\n1,Ada,0,1\n2,Ben,1,0\n"})
    assert [value.type for value in found.tables["t"].values.values()] == ["integer", "boolean"]


def test_words_for_nothing_say_nothing(infer: Infer, tmp_path: Path) -> None:
    tables = infer(LIBRARY).tables
    assert (tables["member"].missing, tables["loan"].missing) == (("NULL",), ("NA",))
    assert not any("NULL" in quad or '"NA"' in quad for quad in quads(tmp_path))


def test_a_word_for_nothing_is_a_text_among_texts(infer: Infer) -> None:
    found = infer({"countries.csv": "code,country\nNA,Namibia\nDE,Germany\n"})
    assert found.tables["country"].missing == ()
    assert found.tables["country"].id == "code"


STAFF = "emp_no,surname,role,boss,reports_to\n1,Ada,lead,,\n2,Ben,dev,1,1\n3,Cy,dev,1,1\n4,Dora,dev,2,2\n"
ROOMS = "id,name\n1,Hall\n2,Attic\n3,Cellar\n4,Garage\n"


def test_rows_may_refer_to_others_of_their_table(infer: Infer) -> None:
    found = infer({"staff.csv": STAFF, "rooms.csv": ROOMS})
    assert found.tables["staff"].links == {"reports to": Link(column="reports_to", to="staff")}
    assert found.reasons["staff", "reports to"].startswith("weak: all 2 values are in staff.emp_no")


def test_a_circle_is_no_hierarchy(infer: Infer) -> None:
    found = infer({"staff.csv": STAFF.replace("1,Ada,lead,,", "1,Ada,lead,,4"), "rooms.csv": ROOMS})
    assert not found.tables["staff"].links


def test_small_numbers_are_no_link_though_a_key_has_them(infer: Infer) -> None:
    found = infer(
        {"staff.csv": STAFF, "items.csv": "id,name,created_by,level\n5,Pen,1,1\n6,Ink,2,2\n7,Cap,1,1\n"}
    )
    assert not found.tables["item"].links
    assert found.notes["item"] == [
        "created_by: may refer to staff.emp_no, which have all its values; taken as values"
    ]


def test_a_name_that_agrees_in_part_tells_which_key_is_meant(infer: Infer) -> None:
    orders = "id,ship_via,freight\n100,1,2.5\n101,2,3.5\n102,3,1.5\n"
    found = infer({"orders.csv": orders, "shippers.csv": "id,company\n1,A\n2,B\n3,C\n", "rooms.csv": ROOMS})
    assert found.tables["order"].links == {"ship via": Link(column="ship_via", to="shipper")}
    assert found.reasons["order", "ship via"].startswith("weak: ")


def test_texts_that_one_key_alone_has_are_a_link(infer: Infer) -> None:
    found = infer(
        {"people.csv": "id,name,nat\n1,Ada,de\n2,Ben,fr\n", "lands.csv": "code,name\nde,Germany\nfr,France\n"}
    )
    assert found.tables["person"].links == {"nat": Link(column="nat", to="land")}
    assert found.reasons["person", "nat"].startswith("weak: ")


def test_a_few_values_may_be_strays_where_the_names_agree(infer: Infer) -> None:
    rows = "".join(f"{n},b{n},{n}\n" for n in range(1, 41))
    found = infer(
        {
            "books.csv": f"id,title,shelf_id\n{rows}",
            "shelves.csv": "id,name\n" + "".join(f"{n},s{n}\n" for n in range(1, 40)),
        }
    )
    assert (
        found.reasons["book", "shelf"]
        == "39 of 40 values are in shelves.id; the others are nodes without a name"
    )


def test_a_name_alone_is_no_link(infer: Infer) -> None:
    found = infer(
        {"books.csv": "id,title,shelf_id\n1,A,7\n2,B,8\n3,C,1\n", "shelves.csv": "id,name\n1,left\n7,right\n"}
    )
    assert not found.tables["book"].links
    assert found.notes["book"] == ["shelf_id: only 2 of 3 values are in shelves.id"]


def test_of_two_unique_columns_that_is_the_key_to_which_others_refer(infer: Infer) -> None:
    staff = "ssn,badge,name\n900,A1,Ada\n901,A2,Ben\n"
    assert infer({"staff.csv": staff}).tables["staff"].id == "ssn"
    found = infer({"staff.csv": staff, "visits.csv": "day,badge\n2020-01-01,A1\n2020-01-02,A1\n"})
    assert found.tables["staff"].id == "badge"
    assert found.reasons["staff", "id"] == "unique, no gaps; so is ssn, name"


def test_a_key_of_two_columns_leaves_rows_without_a_name(infer: Infer) -> None:
    found = infer({"stock.csv": "shop,product,amount\nx,1,5\nx,2,5\ny,1,7\n"})
    assert (found.tables["stock"].id, found.tables["stock"].name) == (None, ())


def test_names_that_differ_are_a_key(infer: Infer) -> None:
    found = infer({"cities.csv": "city,river\nUlm,Donau\nBonn,Rhein\nKöln,Rhein\n"})
    assert (found.tables["city"].id, found.tables["city"].name) == (None, ("city",))


def test_long_texts_are_no_names(infer: Infer) -> None:
    found = infer({"t.csv": f"id,notes\n1,{'x' * 200}\n2,{'y' * 200}\n"})
    assert found.tables["t"].name == ("id",)
    assert found.tables["t"].values == {"notes": Value(column="notes")}


def test_an_id_after_its_class_is_the_name_of_what_has_no_other(infer: Infer, tmp_path: Path) -> None:
    order = infer({"orders.csv": "id,a,b\n10248,x,x\n10249,x,x\n"}).tables["order"]
    assert (order.name, order.prefix, order.aliases) == (("id",), "order", ("id",))
    loan = infer({"loans.csv": "id,a,b\n1997,x,x\n1998,x,x\n"})
    assert (loan.tables["loan"].name, loan.tables["loan"].prefix, loan.tables["loan"].aliases) == (
        ("id",),
        "loan",
        (),
    )
    assert any('"loan 1997"' in str(quad) for quad in loan.mapped.quads())


def test_a_header_in_quotes_and_in_another_script(infer: Infer, tmp_path: Path) -> None:
    found = infer({"Städte.csv": '"Nr","Städtename","Höhe (m)"\n1,Köln,37\n2,Ulm,478\n'})
    assert found.tables["städte"].name == ("Städtename",)
    assert found.tables["städte"].values == {"höhe m": Value(column="Höhe (m)", type="integer")}
    assert found.tables["städte"].id == "Nr"


def test_columns_of_one_name_are_left_out_and_told(infer: Infer) -> None:
    found = infer({"t.csv": "id,x,x,,y\n1,2,3,4,\n2,2,3,4,\n"})
    assert {*found.tables["t"].columns} == {"id"}
    assert found.notes["t"] == [
        "left out: x: two columns are called so",
        "left out: a column without a name: give it one",
        "left out: y: holds nothing",
    ]


def test_a_table_with_nothing_but_a_header_says_nothing(infer: Infer) -> None:
    assert [*infer({"a.csv": "id,name\n", "b.csv": "id,name\n1,Ada\n"}).tables] == ["b"]


def test_sections_of_one_name_are_told_apart(infer: Infer, tmp_path: Path) -> None:
    infer({"film.csv": "id,name\n1,M\n", "films.csv": "id,name\n1,M\n"})
    found = infer_mapping([tmp_path / "film.csv", tmp_path / "films.csv"])
    assert [*found.tables] == ["film", "films"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty.csv", "", "empty.csv holds no rows"),
        ("ragged.csv", "id,name,x\n1,Ada\n", "ragged.csv, row 2: 2 columns, where the first row has 3"),
        ("long.csv", "id,name,x\n1,A,b,c\n", "long.csv, row 2: 4 columns, where the first row has 3"),
        (
            "headless.csv",
            "1,Ada,3.5,x\n2,Ben,4.5,y\n",
            "the first row (1, Ada, 3.5, x) does not name columns",
        ),
    ],
)
def test_a_table_that_is_wrong_gets_one_line(infer: Infer, name: str, text: str, said: str) -> None:
    with pytest.raises(KGMalformed) as caught:
        infer({name: text, "other.csv": "id,name\n1,Ada\n"})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_comma_in_a_text_without_quotes_is_part_of_it(infer: Infer, tmp_path: Path) -> None:
    found = infer({"t.csv": "id,name,street\n1,Ada,Rua do Paço, 67\n2,Ben,Hill\n3,Dee,Ring\n"})
    assert found.tables["t"].id == "id"
    assert any('"Rua do Paço, 67"' in quad for quad in map(str, found.mapped.quads()))


def test_columns_that_cannot_be_compared_are_told(infer: Infer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MAX_VALUES_HELD", 6)
    found = infer({"t.csv": "id,a,b\n" + "".join(f"{n},x{n % 5},y{n % 4}\n" for n in range(9))})
    assert any("too many values" in note for note in found.notes["t"])


def test_parquet_has_types_lists_and_whole_floats(tmp_path: Path) -> None:
    people = {
        "id": [1, 2], "name": ["Ada", "Ben"], "born": [date(1990, 1, 2), None], "tags": [["x", "y"], []],
        "raw": [b"x", b"y"],
    }  # fmt: skip
    parquet.write_table(pa.table(people), tmp_path / "people.parquet")
    parquet.write_table(
        pa.table({"id": [7, 8], "title": ["M", "N"], "person_id": [1.0, None]}), tmp_path / "films.parquet"
    )
    found = infer_mapping(sorted(tmp_path.iterdir()))
    assert found.tables["film"].links == {"person": Link(column="person_id", to="person")}
    assert found.tables["person"].values == {"born": Value(column="born"), "tags": Value(column="tags")}
    assert found.notes["person"] == ["left out: raw: holds a bytes"]
    assert any(f"<{ROW}film/7> <{RELATION}person> <{ROW}person/1>" in quad for quad in quads(tmp_path))


EDGES = "head,relation,tail\nAda,knows,Ben\nBen,born in,Ulm\n"


@pytest.mark.parametrize(
    "tables",
    [
        {"a.csv": EDGES, "b.csv": "Ulm,lies on,Donau\nBonn,lies on,Rhein\n"},
        {"a.csv": "Ada,knows,Ben\n", "b.csv": "person,how,place\nBen,in,Ulm\n"},
        {"a.csv": "Ada,year,1990\nBen,year,1991\nCy,year,1992\nDee,year,1993\n", "b.csv": EDGES},
    ],
)
def test_tables_of_triples_stay_such(tmp_path: Path, tables: dict[str, str]) -> None:
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
    files = sorted(tmp_path.iterdir())
    assert infer_tables(files) is None
    assert quads(tmp_path) == quads(*files)


def test_a_table_alone_is_one_of_triples(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,title,year\n1,M,1931\n")
    assert infer_tables([tmp_path / "t.csv"]) is None
    assert any("relation/title" in quad for quad in quads(tmp_path / "t.csv"))


def test_a_table_of_triples_beside_others_stays_one(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "people.csv").write_text("id,name,born\n1,Ada,1990\n2,Ben,1991\n3,Cy,1992\n")
    found = infer_tables(sorted(tmp_path.iterdir()))
    assert found
    assert [*found.tables] == ["person"]
    assert quads(tmp_path) > quads(tmp_path / "edges.csv")


async def test_triples_of_ids_are_facts_about_their_rows(infer: Infer, tmp_path: Path) -> None:
    nodes = "id,label,kind\n1,Ada,person\n2,Ben,person\n3,Ulm,city\n"
    infer({"nodes.csv": nodes})
    (tmp_path / "edges.csv").write_text(
        "source,relation,target,weight\n1,knows,2,0.5\n2,lives in,3,1\n1,knows,3,1\n"
    )
    graph = open_graph([tmp_path])
    ends = await graph.follow_chain(Chain(Entity(f"{ROW}node/2"), (Hop(f"{RELATION}lives_in"),)))
    assert [str(end.term) for end in ends] == ["Ulm"]
    said = "edge -> node: all 2 values are in nodes.id"
    assert graph.inferred[f"{RELATION}lives_in"] == f"{said}; {said}"
    mapping = infer_tables(sorted(tmp_path.iterdir()))
    assert mapping
    (tmp_path / "m.toml").write_text(write_toml(mapping))
    assert quads(tmp_path / "m.toml") == quads(tmp_path / "nodes.csv", tmp_path / "edges.csv")


async def test_large_tables_are_kept_with_what_was_inferred(
    infer: Infer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(file_cache, "MIN_BYTES_KEPT", 1)
    infer(LIBRARY)
    first = open_graph([tmp_path])
    assert [*(tmp_path / "home").rglob("kgqa.json")]
    assert open_graph([tmp_path]).inferred == first.inferred != {}
    (tmp_path / "genres.csv").write_text("id,name,note\n1,Fiction,x\n2,Poetry,x\n")
    assert await open_graph([tmp_path]).find_entities("Poetry")


def test_a_folder_is_its_tables_or_its_mapping(infer: Infer, tmp_path: Path) -> None:
    found = infer(LIBRARY)
    (tmp_path / ".hidden.csv").write_text("x")
    (tmp_path / "readme.md").write_text("x")
    assert [path.name for path in files_of(tmp_path)] == sorted(LIBRARY)
    (tmp_path / "m.toml").write_text(write_toml(found))
    assert files_of(tmp_path) == [tmp_path / "m.toml"]
    (tmp_path / "n.toml").write_text("")
    with pytest.raises(
        KGUnavailable, match=r"has several mappings \(m.toml, n.toml\); name the one you mean"
    ):
        open_graph([tmp_path])


async def test_a_graph_says_which_links_were_inferred(infer: Infer, tmp_path: Path) -> None:
    found = infer(LIBRARY)
    assert (
        "book -> language: all 2 values are in languages.code"
        in (await open_graph([tmp_path]).info()).inferred
    )
    (tmp_path / "m.toml").write_text(write_toml(found))
    assert (await open_graph([tmp_path / "m.toml"]).info()).inferred == ()


def test_a_loaded_folder_keeps_what_was_inferred(infer: Infer, tmp_path: Path) -> None:
    infer(LIBRARY)
    tables = [str(tmp_path / name) for name in LIBRARY]
    ran = CliRunner().invoke(app, ["kg", "load", *tables, "--out", str(tmp_path / "store")])
    assert ran.exit_code == 0, ran.output
    assert asyncio.run(open_graph([tmp_path / "store"]).info()).inferred


def test_what_is_written_is_the_same_graph(infer: Infer, tmp_path: Path) -> None:
    infer(LIBRARY)
    before = quads(tmp_path)
    ran = CliRunner().invoke(app, ["kg", "map", str(tmp_path), "--out", str(tmp_path / "m.toml")])
    assert ran.exit_code == 0, ran.output
    assert "# all 2 values are in languages.code" in (tmp_path / "m.toml").read_text()
    assert quads(tmp_path / "m.toml") == before


def test_a_mapping_goes_beside_its_tables(infer: Infer, tmp_path: Path) -> None:
    infer(LIBRARY)
    away = tmp_path / "away" / "m.toml"
    away.parent.mkdir()
    ran = CliRunner().invoke(app, ["kg", "map", str(tmp_path / "books.csv"), "--out", str(away)])
    assert ran.exit_code != 0
    assert "write the mapping into a folder above its tables" in ran.output


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("t.nt", "", "is no table; name files of CSV"), ("t.csv", EDGES, "is a table of triples: --kg")],
)
def test_what_needs_no_mapping_is_told(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    ran = CliRunner().invoke(app, ["kg", "map", str(tmp_path / name)])
    assert ran.exit_code != 0
    assert said in " ".join(ran.output.split())


def test_gzipped_tables_are_called_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "books.csv.gz").write_bytes(gzip.compress(b"id,title\n1,M\n"))
    assert [*infer_mapping([tmp_path / "books.csv.gz"]).tables] == ["book"]


CELLS = st.one_of(
    st.sampled_from(
        ["", "NULL", "NA", "0", "1", "007", "2.5", "1999-12-31", "1999-12-31 00:00:00", "true", "Ada", "x y"]
    ),
    st.integers(0, 99).map(str),
    st.text(string.printable.replace("\r", "") + "äß€", max_size=8),
)


def _may_head(text: str) -> bool:
    return bool(text.strip()) and value_kind(text.strip()) is None


HEADERS = st.lists(
    st.one_of(
        st.sampled_from(
            ["id", "name", "a_id", "b_id", "firstName", "lastName", "parent", "is_x", "values", "links"]
        ),
        st.text(string.ascii_letters + " .#\"'[]=é-", min_size=1, max_size=8).filter(_may_head),
    ),
    min_size=1,
    max_size=5,
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    header = draw(HEADERS)
    row = st.lists(CELLS, min_size=len(header), max_size=len(header))
    return header, draw(st.lists(row, min_size=1, max_size=6))


def quote(cells: list[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells) + "\n"


@given(st.lists(tables(), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_inferred_is_the_same_graph_by_its_toml(
    tmp_path_factory: pytest.TempPathFactory, given: list[tuple[list[str], list[list[str]]]]
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    files = []
    for name, (header, rows) in zip(("a.csv", "b-items.csv", "c.csv"), given, strict=False):
        (folder / name).write_text("".join(map(quote, [header, *rows])), encoding="utf-8", newline="")
        files.append(folder / name)
    found = infer_mapping(files)
    expected = [str(quad) for quad in found.mapped.quads()]
    if found.tables:
        (folder / "m.toml").write_text(write_toml(found), encoding="utf-8", newline="")
        assert [
            str(quad) for quad in QuadReader([folder / "m.toml"])._read_table(folder / "m.toml", ".toml")
        ] == expected
        ox.Store().extend(found.mapped.quads())


NORTHWIND = DATA / "own" / "northwind"


@pytest.mark.skipif(not NORTHWIND.is_dir(), reason=f"no tables in {NORTHWIND}; set KGQA_DATA")
def test_keys_and_links_of_northwind() -> None:
    found = infer_mapping(sorted(NORTHWIND.glob("*.csv")))
    assert {name: table.id for name, table in found.tables.items()} == {
        "category": "categoryID", "customer": "customerID", "employee territory": "employeeID",
        "employee": "employeeID", "order detail": None, "order": "orderID", "product": "productID",
        "region": "regionID", "shipper": "shipperID", "supplier": "supplierID", "territory": "territoryID",
    }  # fmt: skip
    links = {name: {by: link.to for by, link in table.links.items()} for name, table in found.tables.items()}
    assert {name: said for name, said in links.items() if said} == {
        "employee territory": {"territory": "territory"},
        "employee": {"reports to": "employee"},
        "order detail": {"order": "order", "product": "product"},
        "order": {"customer": "customer", "employee": "employee", "ship via": "shipper"},
        "product": {"supplier": "supplier", "category": "category"},
        "territory": {"region": "region"},
    }
    assert {name: table.name for name, table in found.tables.items() if table.name} == {
        "category": ("categoryName",), "customer": ("companyName",), "employee": ("firstName", "lastName"),
        "order": ("orderID",), "product": ("productName",), "region": ("regionDescription",),
        "shipper": ("companyName",), "supplier": ("companyName",), "territory": ("territoryDescription",),
    }  # fmt: skip
