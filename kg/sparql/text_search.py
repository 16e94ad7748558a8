"""Queries of the full-text indexes that endpoints may have beside SPARQL 1.1: whose name holds some words.

| kind | where | what holds the words |
|---|---|---|
| virtuoso | Virtuoso with a rule for its free-text index | ``bif:contains`` |
| qlever | QLever with a text index of the literals | ``ql:contains-word`` |
| wikibase | Wikidata's query service, and others of Wikibase | entity search, a service beside SPARQL |
"""

from collections.abc import Iterable, Sequence

from kgqa.kg.dialects import WIKIBASE
from kgqa.kg.sparql.patterns import label_of, serialise, write_iri
from kgqa.kg.terms import Literal

QL = "http://qlever.cs.uni-freiburg.de/builtin-functions/"
BD = "http://www.bigdata.com/rdf#"
MWAPI = "https://www.mediawiki.org/ontology#API/"

NAMES_PER_SEARCH = 50  # names that one look at the index gives at most


def search_names(
    kind: str,
    groups: Iterable[Sequence[str]],
    predicates: Sequence[str],
    labels: Sequence[str],
    language: str,
) -> str:
    """Ask for ``?end ?name ?label ?rank``: what has a name that holds all words of one of some groups.

    The words have been folded, so that they are letters and digits alone.
    """
    by = [write_iri(predicate) for predicate in predicates]
    if kind == "wikibase":
        searches = [
            f"{_entity_search(' '.join(words), language)} ?end {'|'.join(by)} ?name" for words in groups
        ]
    else:
        find = {"virtuoso": _bif_contains, "qlever": _contains_word}[kind]
        searches = [f"?end {name} ?name . {find(words)}" for words in groups for name in by]
    blocks = (
        f"{{ SELECT DISTINCT ?end ?name WHERE {{ {search} }} LIMIT {NAMES_PER_SEARCH:d} }}"
        for search in searches
    )
    return f"SELECT ?end ?name ?label ?rank WHERE {{ {{ {' UNION '.join(blocks)} }} {label_of(labels)} }}"


def _bif_contains(words: Sequence[str]) -> str:
    wanted = " AND ".join(f"'{word}'" for word in words)
    return f"?name <bif:contains> {_text(wanted)}"


def _contains_word(words: Sequence[str]) -> str:
    return f"?text <{QL}contains-word> {_text(' '.join(words))} . ?text <{QL}contains-entity> ?name"


def _entity_search(words: str, language: str) -> str:
    parameters = (
        f'<{WIKIBASE}endpoint> "www.wikidata.org"',
        f'<{WIKIBASE}api> "EntitySearch"',
        f"<{WIKIBASE}limit> 10",
        f"<{MWAPI}search> {_text(words)}",
        f"<{MWAPI}language> {_text(language)}",
    )
    given = " ; ".join(parameters)
    return (
        f"SERVICE <{WIKIBASE}mwapi> {{ <{BD}serviceParam> {given} . "
        f"?end <{WIKIBASE}apiOutputItem> <{MWAPI}item> }}"
    )


def _text(value: str) -> str:
    return serialise(Literal(value))
