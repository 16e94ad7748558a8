"""Pieces that queries are put together from: terms as SPARQL writes them, triples, names.

Only two kinds of text enter a query: constants of `kg/sparql/`, and terms that `serialise` has written.
"""

import re
from collections.abc import Iterable, Sequence

from kgqa.kg.dialects import WIKIBASE, LabelPredicates, is_statement_relation
from kgqa.kg.languages import preferred_languages
from kgqa.kg.sparql.derived import schema_pattern, split_language, stated_pattern, write_relation
from kgqa.kg.terms import (
    ANY,
    XSD_STRING,
    Chain,
    Entity,
    Hop,
    Literal,
    Term,
    is_value_id,
    plain_id,
    plain_term,
)

BLANK_NAMESPACE = "urn:kgqa:blank:"
"""Blank nodes are stored under this namespace, so that a query can name them."""

TRUE, FALSE = '"1"', '"0"'
"""Truth values: Virtuoso loses those of its own, and numbers, between the parts of a UNION."""

NEIGHBOURS = (
    f"{{ ?end ?relation ?to BIND({TRUE} AS ?forward) }} UNION "
    f"{{ ?from ?relation ?end BIND({FALSE} AS ?forward) }}"
)

NOWHERE = "<urn:kgqa:nowhere>"
"""An end for rows that have none: of a variable without a value all names would be looked up."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x00": "\\U00000000"}
_SPECIAL = re.compile(r'[\\"\n\r\t\x00]|(?<=\\)[uU]')


def _escape_character(found: re.Match[str]) -> str:
    char = found.group()
    return _ESCAPES.get(char) or f"\\U{ord(char):08X}"


def write_iri(id: str) -> str:
    """Write an entity id or a relation as a SPARQL term: where it stands for a value or class, that."""
    id = plain_id(id)
    if is_value_id(id):
        return serialise(plain_term(Entity(id)))
    return f"<{BLANK_NAMESPACE}{id[2:]}>" if id.startswith("_:") else f"<{id}>"


def serialise(term: Term) -> str:
    r"""Write a term as SPARQL.

    A ``u`` after a backslash is escaped as well: some parsers expand ``\uXXXX``
    in the whole query before they look for the ends of strings.

    >>> from kgqa.kg.terms import Literal
    >>> serialise(Literal('say "hi"', language="en"))
    '"say \\"hi\\""@en'
    """
    if isinstance(term, Entity):
        return write_iri(term.id)
    text = f'"{_SPECIAL.sub(_escape_character, term.value)}"'
    if term.language:
        return f"{text}@{term.language}"
    return text if term.datatype == XSD_STRING else f"{text}^^<{term.datatype}>"


def topic_node(chain: Chain, anything: str) -> str:
    """Write what a chain sets out from: its topic, or what stands for anything, a variable or ``[]``."""
    return anything if chain.topic == ANY else serialise(chain.topic)


def compare_node(variable: str, operator: str, node: Entity) -> str:
    """Write the test that a variable is ``=`` or ``!=`` a node; it never fails."""
    value = plain_term(node)
    if isinstance(value, Literal):  # to compare literals of two datatypes is an error
        return f"STR({variable}) {operator} {serialise(Literal(value.value))}"
    return f"{variable} {operator} {serialise(node)}"


def values_list(terms: Iterable[Term]) -> str:
    """Write terms for VALUES: a plain string also with its type, which to Virtuoso is another term."""
    written = [serialise(term) for term in terms]
    return " ".join(
        f"{each} {each}^^<{XSD_STRING}>" if each.endswith('"') else each for each in dict.fromkeys(written)
    )


def one_of(variable: str, ids: Iterable[str]) -> str:
    """Hold a variable to entities or relations.

    >>> one_of("?end", ["http://x/a", "http://x/b"])
    'VALUES ?end { <http://x/a> <http://x/b> }'
    """
    return f"VALUES {variable} {{ {' '.join(map(write_iri, ids))} }}"


def triple_pattern(start: str, hop: Hop, end: str, held: Iterable[Entity] = ()) -> str:
    """Write the triple of one hop, its end one of ``held`` where some are named.

    What a Wikibase states as deprecated is not stated.
    """
    iri, language = split_language(hop.relation)
    relation, listed = write_relation(iri), " ".join(map(serialise, held))
    subject, object_ = (start, end) if hop.forward else (end, start)
    if subject.startswith('"'):  # a value has no facts
        subject = NOWHERE
    step = schema_pattern(subject, iri, object_) or f"{subject} {relation} {object_} ."
    if is_statement_relation(iri):
        step += f" {not_deprecated(object_)}"
    if language:
        step += f' FILTER(LANGMATCHES(LANG({object_}), "{language}"))'
    return f"{step} VALUES {end} {{ {listed} }}" if listed else step


def not_deprecated(statement: str) -> str:
    """Write the test that a Wikibase does not state something as deprecated."""
    return f"FILTER NOT EXISTS {{ {statement} <{WIKIBASE}rank> <{WIKIBASE}DeprecatedRank> }}"


def proof_pattern(start: str, hop: Hop, end: str, held: Iterable[Entity] = ()) -> str:
    """Write the triple of one hop as `triple_pattern` does, by what the graph itself states."""
    nodes = (start, end) if hop.forward else (end, start)
    if (stated := stated_pattern(nodes[0], hop.relation, nodes[1])) is None:
        return triple_pattern(start, hop, end, held)
    (step, test), listed = stated, " ".join(map(serialise, held))
    tests = " && ".join([test, *(is_named(node) for node in nodes if node.startswith("?"))])
    return f"{step} FILTER({tests})" + (f" VALUES {end} {{ {listed} }}" if listed else "")


def is_named(variable: str) -> str:
    """Test that a node is not blank, wherever the graph is."""
    return f'!isBlank({variable}) && !STRSTARTS(STR({variable}), "{BLANK_NAMESPACE}")'


def label_of(labels: Sequence[str], variable: str = "?end", number: str = "") -> str:
    """Bind ``?label``, and its predicate's place in ``labels`` as ``?rank``, where there is one.

    A ``number`` is part of these names, where several nodes of a row have a label.
    """
    if not labels:
        return ""
    label, spoken = f"?label{number}", _spoken(labels, number)
    if len(labels) == 1:
        return f"OPTIONAL {{ {variable} {write_iri(labels[0])} {label}{spoken} }}"
    places = " ".join(f"({rank} {write_iri(label)})" for rank, label in enumerate(labels))
    naming = f"?naming{number}"
    return (
        f"OPTIONAL {{ VALUES (?rank{number} {naming}) {{ {places} }} {variable} {naming} {label}{spoken} }}"
    )


def without_label(labels: Sequence[str], variable: str) -> str:
    """Hold a variable to what has no label."""
    spoken = _spoken(labels)
    return " ".join(
        f"FILTER NOT EXISTS {{ {variable} {write_iri(label)} ?label{spoken} }}" for label in labels
    )


def _spoken(labels: Sequence[str], number: str = "") -> str:
    """Hold ``?label`` to the languages that names are read in, where there are many."""
    own = labels.languages if isinstance(labels, LabelPredicates) else ()
    tags = preferred_languages(own) if own else ()
    known = " || ".join(f'LANG(?label{number}) = "{tag}"' for tag in tags)
    return f" FILTER({known})" if known else ""


def known_entities(ids: Iterable[str], variable: str = "?end") -> str:
    """Bind a variable to those entities that any triple names; Virtuoso fails where one is listed twice."""
    listed = " ".join(written := dict.fromkeys(map(write_iri, ids)))
    known = f"EXISTS {{ ?s ?q {variable} }}"
    if not any(each.startswith('"') for each in written):  # Virtuoso fails where a value would be a subject
        known = f"EXISTS {{ {variable} ?p ?o }} || {known}"
    return f"{{ VALUES {variable} {{ {listed} }} FILTER({known}) }}"
