"""Reads out of a SPARQL query which of its columns are numbers that it computes from facts.

>>> sorted(computed("SELECT ?x (COUNT(?y) AS ?n) { ?x wdt:P40 ?y } GROUP BY ?x"))
['n']

What it takes from VALUES, or writes itself, is computed from no fact:

>>> sorted(computed("SELECT (COUNT(?y) AS ?n) (5 AS ?m) { VALUES ?y { 1 2 3 } }"))
[]
"""

from kgqa.kg.lenient import parsed
from kgqa.kg.patterns import Node, TooMany, patterns

_COMPUTING = {"Aggregate_Count", "Aggregate_Sum", "Aggregate_Avg"}
"""The other aggregates give a value as it is in the graph."""


def computed(query: str) -> frozenset[str]:
    """Give the columns that are a count, sum or average of what facts give; none where it does not parse."""
    try:
        _, root = parsed(query)
    except Exception:  # besides KGRejected, whatever rdflib and pyparsing raise
        return frozenset()
    try:
        return _computed(root)
    except TooMany:
        return frozenset()


def _computed(root: Node) -> frozenset[str]:
    from rdflib import Variable

    node, names = root, {}
    while node.name != "AggregateJoin":
        if node.name == "Extend" and isinstance(node.expr, Variable):
            names[node.expr] = str(node.var)
        if "p" not in node:
            return frozenset()
        node = node.p
    found = [each for each in node.A if each.name in _COMPUTING and _is_of_facts(each.vars, node.p)]
    return frozenset(names[each.res] for each in found if each.res in names)


def _is_of_facts(what: Node, body: Node) -> bool:
    """Tell whether facts give what is aggregated: a variable, or ``*`` for whole rows."""
    found = patterns(body)
    if what == "*":
        return any(each.edges for each in found)
    return any(what in each.nodes for each in found) and not any(what in each.values for each in found)
