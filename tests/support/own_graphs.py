"""Graphs as people have them, with questions about each and gold by queries of ours.

The graphs lie in the folder ``own`` of the data folder. Two of them are public: ``plana.owl`` is the
planarian anatomy of the OBO Foundry (obophenotype/planaria-ontology), ``tadirah.ttl`` version 2.0.3 of a
thesaurus of research activities (dhtaxonomy/TaDiRAH).
"""

import gzip
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import pyoxigraph

from kgqa.tests.support.perfect import DATA

OWN = DATA / "own"
GRAPHS: Mapping[str, Path] = {
    "music": OWN / "music.ttl.gz",
    "tbbt": OWN / "tbbt.nt.gz",
    "recipes": OWN / "recipes.ttl.gz",
    "pizza": OWN / "pizza.owl.gz",
    "northwind": OWN / "northwind",
    "plana": OWN / "plana.owl",
    "tadirah": OWN / "tadirah.ttl",
}
FORMATS = {
    ".nt": pyoxigraph.RdfFormat.N_TRIPLES,
    ".owl": pyoxigraph.RdfFormat.RDF_XML,
    ".ttl": pyoxigraph.RdfFormat.TURTLE,
}
PREFIXES = "".join(
    f"PREFIX {prefix}: <{namespace}>\n"
    for prefix, namespace in {
        "food": "http://purl.org/heals/food/",
        "ingredient": "http://purl.org/heals/ingredient/",
        "m": "http://stardog.com/tutorial/",
        "nom": "http://example.org/#",
        "obo": "http://purl.obolibrary.org/obo/",
        "oio": "http://www.geneontology.org/formats/oboInOwl#",
        "owl": "http://www.w3.org/2002/07/owl#",
        "pizza": "https://raw.githubusercontent.com/owlcs/pizza-ontology/refs/heads/master/pizza.owl#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "schema": "http://schema.org/",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        "tadirah": "https://vocabs.dariah.eu/tadirah/",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    }.items()
)
QUESTIONS = Path(__file__).resolve().parents[1] / "integration" / "graphs" / "own_graphs"


def missing(graph: str, *_: Any) -> str | None:
    """Return why a graph cannot be asked; None if it can."""
    return None if GRAPHS[graph].exists() else f"no {GRAPHS[graph].name} in {OWN}; set KGQA_DATA"


def read_questions(graph: str, folder: Path = QUESTIONS) -> list[dict[str, Any]]:
    """Read the questions about a graph, each with its ``kind`` and a query for its gold."""
    lines = (folder / f"{graph}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@cache
def open_store(graph: str) -> pyoxigraph.Store:
    """Read a file of RDF without kgqa."""
    path, store = GRAPHS[graph], pyoxigraph.Store()
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    store.bulk_load(content, FORMATS[Path(path.name.removesuffix(".gz")).suffix], base_iri="http://own/")
    return store


@cache
def read_tables(graph: str) -> Mapping[str, pandas.DataFrame]:
    """Read a folder of tables without kgqa; a row with a cell too many is left out."""
    return {
        path.stem: pandas.read_csv(path, keep_default_na=False, na_values=["NULL"], on_bad_lines="skip")
        for path in sorted(GRAPHS[graph].glob("*.csv"))
    }


def query_tables(graph: str, sql: str) -> list[Any]:
    """Return the values of the one column that a query gives."""
    with closing(sqlite3.connect(":memory:")) as tables:
        for name, table in read_tables(graph).items():
            table.to_sql(name, tables, index=False)
        return [value for (value,) in tables.execute(sql)]


def find_gold(question: Mapping[str, Any], graph: str) -> set[str]:
    """Return the gold answers of a question: ids of nodes, values, or names where the graph is of tables."""
    if "sql" in question:
        return set(map(normalise, query_tables(graph, question["sql"])))
    rows: Any = open_store(graph).query(PREFIXES + question["sparql"])
    return {normalise(term.value) for (term,) in rows}


def normalise(value: object) -> str:
    """Return a value so that equal numbers are equal, and names whatever their case.

    >>> normalise("18.00"), normalise(18), normalise("Soho")
    ('18', '18', 'soho')
    """
    text = " ".join(str(value).split()).casefold()
    try:
        return f"{Decimal(text).normalize():f}"
    except InvalidOperation:
        return text


def score(answers: Sequence[Mapping[str, str | None]], gold: set[str]) -> float:
    """Return the F1 of answers by their ids or by their names, whichever are right."""

    def f1(given: Iterable[str | None]) -> float:
        found = {normalise(each) for each in given if each is not None}
        return 2 * len(found & gold) / (len(found) + len(gold))

    return max(f1(answer["id"] for answer in answers), f1(answer["name"] for answer in answers))
