"""What filters and expressions of a query say, in words."""

from collections.abc import Callable

from kgqa.kg.dialects import XSD
from kgqa.kg.drafts.reading import Node, is_constant, is_open, variables_of
from kgqa.kg.phrases import say_compared, say_term, say_terms
from kgqa.kg.terms import Literal, Term

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SIGNS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_TEXT_TESTS = {
    "CONTAINS": "something with",
    "REGEX": "something like",
    "STRSTARTS": "something that begins with",
    "STRENDS": "something that ends in",
}


def told_by(test: Node, term: Callable[[Node], Term]) -> tuple[Node, str] | None:
    """Return a variable and what a filter says that it is; None where it says more than that.

    Args:
        test: The filter's expression.
        term: What a constant stands for.
    """
    name = test.name.removeprefix("Builtin_")
    if name == "ConditionalOrExpression":
        found = [told_by(each, term) for each in (test.expr, *test.other)]
        told = [each[1] for each in found if each and found[0] and each[0] == found[0][0]]
        return (found[0][0], " or ".join(told)) if found[0] and len(told) == len(found) else None
    if name in _TEXT_TESTS:
        text, part = unwrapped(test.get("arg1") or test.text), unwrapped(test.get("arg2") or test.pattern)
        return (text, f"{_TEXT_TESTS[name]} {say_term(term(part))}") if is_constant(part) else None
    if name != "RelationalExpression":
        return None
    node, operator, other = test.expr, test.op, test.other
    if operator in {"IN", "NOT IN"}:
        listed = say_terms([term(each) for each in other if is_constant(each)])
        return unwrapped(node), f"{'not ' * (operator != 'IN')}{listed}"
    if not variables_of(node):
        node, other, operator = other, node, _MIRRORED.get(operator, operator)
    is_year = getattr(node, "name", "") == "Builtin_YEAR"
    node, other = unwrapped(node.arg if is_year else node), unwrapped(other)
    if not (is_open(node) and is_constant(other)):
        return None
    value = term(other)
    if is_year:
        value, operator = Literal(value.id, f"{XSD}gYear"), "year" if operator == "=" else operator
    return node, say_compared(operator, value)


def say_computed(of: Node, say: Callable[[Node], str], term: Callable[[Node], Term]) -> str:
    """Say an expression, its variables by ``say``; of a function only what it is computed from."""
    of = unwrapped(of)
    if is_open(of):
        return say(of)
    if is_constant(of):
        return say_term(term(of))
    if getattr(of, "name", "") in {"AdditiveExpression", "MultiplicativeExpression"}:
        first, *others = (say_computed(each, say, term) for each in (of.expr, *of.other))
        return " ".join([first, *(f"{_SIGNS[op]} {each}" for op, each in zip(of.op, others, strict=True))])
    parts = [say(each) for each in sorted(variables_of(of))]
    return f"what is computed of {' and '.join(parts)}" if parts else "what is computed"


def unwrapped(expression: Node) -> Node:
    """Return what an expression only casts."""
    while getattr(expression, "name", "") in {"Builtin_STR", "Builtin_LCASE", "Builtin_UCASE", "Function"}:
        inner = expression.get("arg") or expression.expr
        expression = inner[0] if isinstance(inner, list) else inner
    return expression
