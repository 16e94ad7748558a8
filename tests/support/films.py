"""A graph of films as triples by name, as tables with a mapping, and as RDF, with questions about it."""

import csv
import gzip
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
from pyarrow import parquet

from kgqa.evaluation.question import EntityRef, GoldPath, Question

NAME = "https://kgqa.example/name/"
ROW = "https://kgqa.example/row/"
RELATION = "https://kgqa.example/relation/"
CLASS = "https://kgqa.example/class/"

TRIPLES = [
    ("Metropolis", "directed by", "Fritz Lang"),
    ("Metropolis", "written by", "Thea von Harbou"),
    ("Metropolis", "year", "1927"),
    ("M", "directed by", "Fritz Lang"),
    ("M", "written by", "Thea von Harbou"),
    ("M", "year", "1931"),
    ("Sunrise", "directed by", "F. W. Murnau"),
    ("Sunrise", "year", "1927"),
    ("Fritz Lang", "born in", "Vienna"),
    ("Fritz Lang", "born", "1890-12-05"),
    ("Fritz Lang", "spouse", "Thea von Harbou"),
    ("Thea von Harbou", "born in", "Tauperlitz"),
    ("F. W. Murnau", "born in", "Bielefeld"),
    ("F. W. Murnau", "born", "1888-12-28"),
    ("Vienna", "country", "Österreich"),
    ("Bielefeld", "country", "Germany"),
    ("Tauperlitz", "country", "Germany"),
]

XSD = "http://www.w3.org/2001/XMLSchema#"
LABEL, TYPE = "http://www.w3.org/2000/01/rdf-schema#label", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def node(name: str) -> str:
    return NAME + quote(name, safe="")


def term(name: str) -> str:
    """Write an object as N-Triples do: values of years and dates, else an entity."""
    if name.isdigit():
        return f'"{name}"^^<{XSD}integer>'
    return f'"{name}"^^<{XSD}date>' if name[:2] == "18" else f"<{node(name)}>"


def triples_as_rdf(folder: Path) -> Path:
    names = {each for s, _, o in TRIPLES for each in (s, o) if not each[0].isdigit()}
    lines = [f'<{node(name)}> <{LABEL}> "{name}" .' for name in names]
    lines += [f"<{node(s)}> <{RELATION}{r.replace(' ', '_')}> {term(o)} ." for s, r, o in TRIPLES]
    (folder / "facts.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "facts.nt"


def triples_as_csv(folder: Path) -> Path:
    return _write_text(folder / "facts.csv", ",", [("head", "relation", "tail"), *TRIPLES])


def triples_as_tsv(folder: Path) -> Path:
    return _write_text(folder / "facts.tsv", "\t", TRIPLES)


def triples_as_parquet(folder: Path) -> Path:
    columns = zip(
        ("Object", "Subject", "Predicate"), zip(*((o, s, r) for s, r, o in TRIPLES), strict=True), strict=True
    )
    parquet.write_table(pa.table({name: list(cells) for name, cells in columns}), folder / "facts.parquet")
    return folder / "facts.parquet"


def _write_text(path: Path, delimiter: str, rows: list[tuple[str, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


TRIPLE_FORMS: dict[str, Callable[[Path], Path]] = {
    "csv": triples_as_csv,
    "tsv": triples_as_tsv,
    "parquet": triples_as_parquet,
}


def question(text: str, topic: str, path: str, *answers: str, iri: Callable[[str], str] = node) -> Question:
    """A question with its gold path, whose hops are parted by ``|``."""
    paths = (GoldPath(iri(topic), tuple(path.split("|"))),)
    gold = tuple(EntityRef(a if a[0].isdigit() else iri(a), a) for a in answers)
    return Question(
        f"{topic} {path}", text, topics=(EntityRef(iri(topic), topic),), paths=paths, readings=(gold,)
    )


QUESTIONS = (
    question("Who directed Metropolis?", "Metropolis", "directed_by", "Fritz Lang"),
    question(
        "In which country was the director of Sunrise born?",
        "Sunrise",
        "directed_by|born_in|country",
        "Germany",
    ),
    question("Which films did Fritz Lang direct?", "Fritz Lang", "^directed_by", "Metropolis", "M"),
    question("When was the director of M born?", "M", "directed_by|born", "1890-12-05"),
    question(
        "Who wrote films that Fritz Lang directed?",
        "Fritz Lang",
        "^directed_by|written_by",
        "Thea von Harbou",
    ),
)

MAPPING = """
[film]
file = "tables/films.csv.gz"
id = "id"
name = "title"
values = { year = "year" }
links = { "directed by" = { column = "director", to = "person" } }

[credits]
of = "film"
file = "credits.tsv"
id = "film"
links = { "written by" = { column = "writers", to = "person", separator = "|" } }

[person]
file = "people.parquet"
id = "id"
name = "name"
values = { born = "born" }
links = { "born in" = { column = "birthplace", to = "town" }, spouse = { column = "spouse", to = "person" } }

[town]
file = "towns.csv"
name = "town"
links = { country = "country" }
"""

IDS = {"Metropolis": "film/1", "M": "film/2", "Sunrise": "film/3"}
IDS |= {"Fritz Lang": "person/10", "Thea von Harbou": "person/11", "F. W. Murnau": "person/12"}


def row_node(name: str) -> str:
    return ROW + IDS[name] if name in IDS else node(name)


def mapped_tables(folder: Path) -> Path:
    (folder / "tables").mkdir()
    films = "id,title,year,director\n1,Metropolis,1927,10\n2,M,1931,10\n3,Sunrise,1927,12\n"
    (folder / "tables" / "films.csv.gz").write_bytes(gzip.compress(films.encode()))
    (folder / "credits.tsv").write_text("film\twriters\n1\t11\n2\t11\n", encoding="utf-8")
    people = {
        "id": [10, 11, 12],
        "name": ["Fritz Lang", "Thea von Harbou", "F. W. Murnau"],
        "born": [date(1890, 12, 5), None, date(1888, 12, 28)],
        "birthplace": ["Vienna", "Tauperlitz", "Bielefeld"],
        "spouse": [11.0, None, None],  # as pandas writes ids where some are missing
    }
    parquet.write_table(pa.table(people), folder / "people.parquet")
    towns = "town,country\nVienna,Österreich\nBielefeld,Germany\nTauperlitz,Germany\n"
    (folder / "towns.csv").write_text(towns, encoding="utf-8")
    (folder / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    return folder / "mapping.toml"


def tables_as_rdf(folder: Path) -> Path:
    """Write the same facts, with the ids and classes that rows have."""
    text = triples_as_rdf(folder).read_text(encoding="utf-8")
    for name in IDS:
        text = text.replace(f"<{node(name)}>", f"<{row_node(name)}>")
    kinds = {**{name: id.partition("/")[0] for name, id in IDS.items()}}
    kinds |= dict.fromkeys(("Vienna", "Bielefeld", "Tauperlitz"), "town")
    lines = [f"<{row_node(name)}> <{TYPE}> <{CLASS}{kind}> ." for name, kind in kinds.items()]
    lines += [f'<{CLASS}{kind}> <{LABEL}> "{kind}" .' for kind in set(kinds.values())]
    path = folder / "tables.nt"
    path.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")
    return path


ABOUT_ROWS = tuple(
    replace(
        each,
        topics=tuple(replace(t, id=row_node(t.name or "")) for t in each.topics),
        paths=tuple(replace(p, topic=row_node(each.topics[0].name or "")) for p in each.paths),
        readings=tuple(
            tuple(a if a.id == a.name else replace(a, id=row_node(a.name or "")) for a in reading)
            for reading in each.readings
        ),
    )
    for each in QUESTIONS
)


NODE = "https://kgqa.example/node/"
LABELS = {"film": "Film", "person": "Person"}


def graph_node(name: str) -> str:
    return NODE + quote(name, safe="")


def graph_as_rdf(folder: Path) -> Path:
    """Write what a property graph of the same facts is, whose nodes have their names as keys."""
    text = triples_as_rdf(folder).read_text(encoding="utf-8").replace(f"<{NAME}", f"<{NODE}")
    text = text.replace(f"^^<{XSD}date>", "")  # not all property graphs have dates
    names = {each for s, _, o in TRIPLES for each in (s, o) if not each[0].isdigit()}
    lines = [f"<{graph_node(name)}> <{TYPE}> <{CLASS}{kind_of(name)}> ." for name in names]
    lines += [f'<{CLASS}{kind}> <{LABEL}> "{kind}" .' for kind in {kind_of(name) for name in names}]
    lines += [f'<{graph_node(name)}> <{RELATION}key> "{name}" .' for name in names]
    path = folder / "graph.nt"
    path.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def kind_of(name: str) -> str:
    return LABELS.get(IDS.get(name, "").partition("/")[0], "Place")


def graph_queries() -> Iterator[tuple[str, dict[str, object]]]:
    """Return the Cypher that creates the property graph: values are properties, all else relationships."""
    names = dict.fromkeys(each for s, _, o in TRIPLES for each in (s, o) if not each[0].isdigit())
    for name in names:
        own = {r: _value(o) for s, r, o in TRIPLES if s == name and o[0].isdigit()}
        yield f"CREATE (n:{kind_of(name)}) SET n = $p", {"p": {"name": name, "key": name, **own}}
    for s, r, o in TRIPLES:
        if not o[0].isdigit():
            yield f"MATCH (a {{key: $s}}), (b {{key: $o}}) CREATE (a)-[:`{r}`]->(b)", {"s": s, "o": o}


def _value(text: str) -> object:
    return int(text) if text.isdigit() else text


ABOUT_NODES = tuple(
    replace(
        each,
        topics=tuple(replace(t, id=graph_node(t.name or "")) for t in each.topics),
        paths=tuple(replace(p, topic=graph_node(each.topics[0].name or "")) for p in each.paths),
        readings=tuple(
            tuple(a if a.id == a.name else replace(a, id=graph_node(a.name or "")) for a in reading)
            for reading in each.readings
        ),
    )
    for each in QUESTIONS
)
