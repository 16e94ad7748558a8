"""What filters and expressions of a query say, in words."""

from collections.abc import Callable

from kgqa.kg.dialects import XSD
from kgqa.kg.drafts.reading import name_of, variables_of
from kgqa.kg.phrases import say_compared, say_term, say_terms
from kgqa.kg.sparql.nodes import Node, is_constant, is_open
from kgqa.kg.terms import Literal, Term

COMPUTED = "what is computed"  # what an expression is called where no more is said of it

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SIGNS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_UNSPOKEN = {f"Builtin_{name}" for name in ("BOUND", "DATATYPE", "LANG", "isBLANK", "isIRI", "isLITERAL")}
_BINDING = {"AdditiveExpression": 1, "MultiplicativeExpression": 2}  # the more, the tighter
_CASTS = {"Builtin_STR", "Builtin_LCASE", "Builtin_UCASE"}
_TEXT_TESTS = {
    "CONTAINS": "something with",
    "REGEX": "something like",
    "STRSTARTS": "something that begins with",
    "STRENDS": "something that ends in",
}


def told_by(test: Node, term: Callable[[Node], Term]) -> tuple[Node, str] | None:
    """Return a variable and what the test of a filter says that it is; None where it says anything else."""
    name = name_of(test).removeprefix("Builtin_")
    if name == "ConditionalOrExpression":
        found = [told_by(each, term) for each in (test.expr, *test.other)]
        told = [each[1] for each in found if each and found[0] and each[0] == found[0][0]]
        return (found[0][0], " or ".join(told)) if found[0] and len(told) == len(found) else None
    if name in _TEXT_TESTS:
        text, part = unwrapped(test.arg1 or test.text), unwrapped(test.arg2 or test.pattern)
        is_told = is_open(text) and is_constant(part)
        return (text, f"{_TEXT_TESTS[name]} {say_term(term(part))}") if is_told else None
    if name != "RelationalExpression":
        return None
    node, operator, other = test.expr, test.op, test.other
    if operator in {"IN", "NOT IN"}:
        node, listed = unwrapped(node), other if isinstance(other, list) else []
        if not (is_open(node) and listed and all(map(is_constant, listed))):
            return None
        return node, f"{'not ' * (operator != 'IN')}{say_terms([*map(term, listed)])}"
    if not variables_of(node):
        node, other, operator = other, node, _MIRRORED.get(operator, operator)
    is_year = name_of(node) == "Builtin_YEAR"
    node, other = unwrapped(node.arg if is_year else node), unwrapped(other)
    if not (is_open(node) and is_constant(other)):
        return None
    value = term(other)
    if is_year:
        value, operator = Literal(value.id, f"{XSD}gYear"), "year" if operator == "=" else operator
    return node, say_compared(operator, value)


def say_computed(of: Node, say: Callable[[Node], str], term: Callable[[Node], Term]) -> str:
    """Say an expression, its variables by ``say``; of a function of several what it is computed from."""
    of = unwrapped(of)
    if is_open(of):
        return say(of)
    if is_constant(of):
        return say_term(term(of))
    if (name := name_of(of)) in _BINDING:
        steps = [(op, unwrapped(each)) for op, each in zip(of.op, of.other, strict=True)]
        steps = [(op, each) for op, each in steps if (op, str(each)) != ("*", "1.0")]  # no integers divided
        parts = [unwrapped(of.expr), *(each for _, each in steps)]
        said = [say_computed(each, say, term) for each in parts]
        loose = [_BINDING.get(name_of(each), 9) <= _BINDING[name] for each in parts]
        first, *others = (f"({each})" if at else each for each, at in zip(said, loose, strict=True))
        return " ".join(
            [first, *(f"{_SIGNS[op]} {each}" for (op, _), each in zip(steps, others, strict=True))]
        )
    inner = [each for each in (of.arg, of.arg1, of.arg2) if each is not None] if name else []
    if name.startswith("Builtin_") and name not in _UNSPOKEN and len(inner) == 1:
        argument = say_computed(inner[0], say, term)
        if name_of(unwrapped(inner[0])) in _BINDING:
            argument = f"({argument})"
        return f"the {name.removeprefix('Builtin_').lower()} of {argument}"
    names = [say(each) for each in sorted(variables_of(of))]
    return f"{COMPUTED} of {' and '.join(names)}" if names else COMPUTED


def is_comparison(test: Node) -> bool:
    """Return whether a filter compares two values."""
    return name_of(test) == "RelationalExpression" and test.op not in {"IN", "NOT IN"}


def unwrapped(expression: Node) -> Node:
    """Return what an expression only casts."""
    while (name := name_of(expression)) in _CASTS or (
        name == "Function" and str(expression.iri).startswith(XSD)
    ):
        inner = expression.expr if name == "Function" else expression.arg
        expression = next(iter(inner), None) if isinstance(inner, list) else inner
    return expression
