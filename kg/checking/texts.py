"""SPARQL that asks what a server can do; what methods ask is in `kg/sparql.py`."""

from collections.abc import Sequence

from kgqa.kg.sparql import iri

NOTHING = 'SELECT ?x WHERE { VALUES ?x { "1" } }'
"""Has one row on any server, whatever it holds."""

SIDE = 101
"""Of a square of rows that is larger than a page."""

HEAVY = 400
"""Its cube of rows takes any server some seconds to count, and has an end."""


def square(side: int) -> str:
    """Ask for ``side`` times ``side`` rows that no graph needs to have."""
    return f"SELECT ?a ?b WHERE {{ {_listed('a', side)} {_listed('b', side)} }}"


def cube(side: int) -> str:
    """Ask for the number of ``side`` to the power of three rows."""
    listed = " ".join(_listed(name, side) for name in "abc")
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {listed} }}"


def ordered(limit: int) -> str:
    """Ask for a few rows as the first of so many in order."""
    return f"SELECT ?a WHERE {{ {_listed('a', SIDE)} }} ORDER BY STR(?a) LIMIT {limit:d}"


def steps(relations: Sequence[str], each: int) -> str:
    """Ask for some ``?s ?o`` of each relation; ``?place`` counts them from 0."""
    blocks = (
        f"{{ {{ SELECT ?s ?o WHERE {{ ?s {iri(relation)} ?o }} LIMIT {each:d} }} "
        f'BIND("{place:d}" AS ?place) }}'
        for place, relation in enumerate(relations)
    )
    return f"SELECT ?place ?s ?o WHERE {{ {' UNION '.join(blocks)} }}"


def some_relations(triples: int) -> str:
    """Ask for each ``?relation`` of so many triples."""
    some = f"SELECT ?relation WHERE {{ ?s ?relation ?o }} LIMIT {triples:d}"
    return f"SELECT DISTINCT ?relation WHERE {{ {{ {some} }} }}"


def graphs(limit: int) -> str:
    """Ask for named graphs as ``?g``."""
    return f"SELECT DISTINCT ?g WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }} LIMIT {limit:d}"


def _listed(name: str, rows: int) -> str:
    values = " ".join(f'"{row}"' for row in range(rows))
    return f"VALUES ?{name} {{ {values} }}"


_SOME = "{ SELECT ?s WHERE { ?s ?p ?o } LIMIT 2 }"

FEATURES = {
    "subselects": f"SELECT ?s WHERE {{ {_SOME} }}",
    "GROUP BY with MAX": f"SELECT ?s (MAX(STR(?s)) AS ?m) WHERE {{ {_SOME} }} GROUP BY ?s",
    "VALUES": f"SELECT ?x WHERE {{ {_SOME} VALUES ?x {{ <urn:x> }} }}",
    "UNION with BIND": f'SELECT ?x {{ {{ {_SOME} BIND("1" AS ?x) }} UNION {{ {_SOME} BIND("0" AS ?x) }} }}',
    "EXISTS": f"SELECT ?s WHERE {{ {_SOME} FILTER(EXISTS {{ ?s ?q ?r }}) }}",
    "STRBEFORE": f'SELECT ?x WHERE {{ {_SOME} BIND(STRBEFORE(STR(?s), "zz") AS ?x) }}',
    "IRI()": f'SELECT ?x WHERE {{ {_SOME} BIND(IRI("urn:x") AS ?x) }}',
    "CONCAT and SUBSTR": f'SELECT ?x WHERE {{ {_SOME} BIND(CONCAT("1", SUBSTR(STR(?s), 2)) AS ?x) }}',
    "COALESCE and IF": f"SELECT ?x WHERE {{ {_SOME} BIND(COALESCE(IF(?s = ?s, ?s, ?s), ?s) AS ?x) }}",
}
"""What kgqa's queries are made of, each in a query that has rows on any graph."""
