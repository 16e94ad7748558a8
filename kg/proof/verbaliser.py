"""An answer query in words: what it asks for, by the names that the graph has; and its answers in a sentence.

The words are made from the query alone: they say what it asks for, whatever was meant.

>>> from kgqa.kg.terms import Hop, Literal
>>> lima, capital = Entity("http://x/Lima", "Lima"), Hop("http://x/capital", forward=False)
>>> branch = Branch(Chain(lima, (capital, Hop("http://x/officialCurrency"))), (1, 2))
>>> verbalise(AnswerQuery((branch,), 2))
'the official currency of something whose capital is Lima'
>>> many = Condition(1, (Hop("http://x/population"),), ">", Literal("5"))
>>> verbalise(AnswerQuery((branch,), 2, (many,), Aggregate("count")))
'the number of official currencies of something whose capital is Lima and whose population is more than 5'
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from kgqa.kg.node_phrases import (
    SOMETHING,
    THINGS,
    Alternative,
    Clause,
    Edge,
    NodePhrases,
    Phrase,
    Union,
    as_answers,
    say_equal,
    say_related,
)
from kgqa.kg.phrases import (
    be,
    ends_in_verb,
    is_noun,
    is_verbal,
    of_which,
    plural_of,
    say_compared,
    say_relation,
    say_term,
    say_terms,
    singular_of,
    with_verb,
)
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Pick
from kgqa.kg.sparql.derived import leads_to_members
from kgqa.kg.terms import ANY, Chain, Entity, one_line


def verbalise(query: AnswerQuery) -> str:
    """Return what an answer query asks for, as a noun phrase on one line."""
    return f"whether {_claim(query)}" if query.ask else _asked(query, {"thing": THINGS}).text


def say_answers(query: AnswerQuery, answers: str, *, several: bool, last: str = "") -> str | None:
    """Return the answers of a query as a sentence without its full stop; None where none is sure to be right.

    Args:
        query: What is asked for; one for yes or no is answered with yes.
        answers: All of them, as words.
        several: Whether these are several answers.
        last: What the node before the last hop of its chain is called, where it has one with a name.

    >>> from kgqa.kg.terms import Hop
    >>> peru = Chain(Entity("http://x/Peru"), (Hop("http://x/officialLanguage"),))
    >>> say_answers(AnswerQuery((Branch(peru, (1,)),), 1), "Quechua and Spanish", several=True)
    'The official languages of Peru are Quechua and Spanish'
    """
    by_hop = _answer_by_last_hop(query, answers, last, several=several)
    if query.ask:
        return f"Yes: {by_hop or _claim(query)}"
    if by_hop or query.picked or not all(branch.chain.hops for branch in query.branches):
        return by_hop
    return say_equal(_asked(query, as_answers(several)), answers, several=several)


def _asked(query: AnswerQuery, how: Mapping[str, Any]) -> Phrase:
    """Say what is asked for; ``how`` the node of the answers is said (`NodePhrases.node`)."""
    words, computed = _phrases(query), query.aggregate
    if computed is None:
        return words.node(query.returned, **how)
    these = words.node(query.returned, several=True)
    if computed.function == "count":
        return Phrase(f"the number of {these.text}", is_nested=these.is_nested)
    best = computed.extreme
    if computed.function in {"min", "max"}:
        return Phrase(f"the {best} of {these.text}", is_nested=these.is_nested)
    if computed.place in {None, query.returned}:
        one = "ones" if how.get("several") else "one"
        told = f"the {one} {_with_extreme(computed, best, 'it')} among {these.text}"
        return Phrase(told, has_clauses=True, is_nested=these.is_nested)
    told = _with_extreme(computed, best, f"the {words.labels[computed.place]}")
    return Phrase(f"those among {these.text} {told}", is_nested=True)


def _answer_by_last_hop(query: AnswerQuery, answers: str, last: str, *, several: bool) -> str | None:
    """Say what the last hop of a chain joins to the answers; None where no sentence is right by it."""
    first = query.branches[0]
    chain = first.chain
    is_chain = bool(chain.hops) and first.places[-1] == query.returned and len(query.branches) == 1
    if not is_chain or first.others or query.aggregate or query.conditions or query.picked:
        return None
    held = [each.entities for each in chain.constraints if each.depth == chain.depth]
    if len(chain.constraints) != query.ask or len(held) != query.ask or leads_to_members(chain.hops[-1]):
        return None
    answers = say_terms(held[0]) if held else answers
    many = chain.depth > 1 and not last
    said = _say_last_hop(chain, answers, last, several=several, asks=query.ask)
    fresh = f", apart from {say_term(chain.topic)}" * (first.fresh and chain.depth > 1)
    return f"{_capitalised(said) if many else said}{fresh}" if said else None


def _say_last_hop(chain: Chain, answers: str, last: str, *, several: bool, asks: bool) -> str | None:
    """Word the last hop as a verb or a noun; an ambiguous one only in an answer to yes or no."""
    hop, many = chain.hops[-1], chain.depth > 1 and not last
    relation = say_relation(hop)
    names, verbal = is_noun(relation, had=hop.words.startswith("has")), is_verbal(relation)
    is_split = chain.depth > 1 and not hop.forward and (many or names)
    if is_split or not (names or verbal or asks):
        return None
    node = (
        _before_last_hop(chain, last, several=many and not names)
        if chain.depth > 1
        else say_term(chain.topic)
    )
    if not node:
        return None
    if not names:
        verb = with_verb(relation, several=many if hop.forward else several) if verbal else relation
        return f"{node} {verb} {answers}" if hop.forward else f"{answers} {verb} {node.removesuffix(',')}"
    if not hop.forward:
        joined = f"have {node} as their" if several else f"has {node} as"
        return f"{answers} {joined} {singular_of(relation)}"
    noun = plural_of(relation) if several else singular_of(relation)
    said = of_which(noun, node, is_long=chain.depth > 1)
    return f"{said.replace('the ', 'The ', 1) if said.startswith('the ') else said} {be(several)} {answers}"


def _before_last_hop(chain: Chain, last: str, *, several: bool) -> str:
    """Say the nodes before the last hop of a chain, or the ``last`` by its name and what is true of it.

    Nothing where that takes too many words.
    """
    depth = chain.depth - 1
    query = AnswerQuery((Branch(chain.upto(depth), (*range(1, depth + 1),)),), depth)
    if last and (chain.topic == ANY or any(map(leads_to_members, chain.hops))):
        return ""
    before = _phrases(query).node(depth, several=several, each=bool(last))
    if before.has_clauses and not (last or several):
        before = _phrases(query).node(depth, several=True)
    if before.is_nested or (before.is_long and not before.has_clauses):
        return ""
    if last:
        told = before.text.removeprefix(f"{SOMETHING} ").removeprefix("that is ")
        return f"{last}, {'which ' if told.startswith('that ') else ''}{told.removeprefix('that ')},"
    if before.has_clauses:
        return before.text
    is_named = several and not ends_in_verb(say_relation(chain.hops[depth - 1]))
    return f"{'the ' * is_named}{before.text}"


def _capitalised(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _claim(query: AnswerQuery) -> str:
    """Say what is asked for yes or no: of an entity, where the answers are held to one."""
    for number, branch in enumerate(query.branches):
        last = branch.chain.constraints[-1] if branch.chain.constraints and not branch.others else None
        if last and len(last.entities) == 1 and branch.places[last.depth - 1] == query.returned:
            free = replace(branch, chain=replace(branch.chain, constraints=branch.chain.constraints[:-1]))
            branches = (*query.branches[:number], free, *query.branches[number + 1 :])
            said = _phrases(replace(query, branches=branches)).node(query.returned)
            return f"{say_term(last.entities[0])} is {said.one_of_it}"
    said = _phrases(query).node(query.returned)
    return f"there {be(said.is_plural)} {said.text}"


def _with_extreme(computed: Aggregate, best: str, node: str) -> str:
    """Say that a value of a node decides: of what is returned (``it``), or of another."""
    relations = [(say_relation(hop), hop.forward) for hop in computed.attribute]
    if node == "it" and len(relations) == 1 and relations[0][1] and not is_verbal(relations[0][0]):
        return f"with the {best} {relations[0][0]}"
    for relation, forward in relations:
        if forward:
            node = of_which(relation, node)
        else:
            node = (
                f"what {with_verb(relation)} {node}"
                if is_verbal(relation)
                else f"what has {node} as {relation}"
            )
    return f"for which {node} is {best}"


def _held(branch: Branch, chain: Chain, places: Sequence[int]) -> Iterator[tuple[int, Clause]]:
    """Yield what a chain is held to, and that it does not return."""
    for each in chain.constraints:
        yield places[each.depth - 1], _is(say_terms(each.entities))
    if branch.fresh and chain.topic != ANY and chain.hops:
        yield places[-1], _is(f"not {say_term(chain.topic)}")


def _is(said: str) -> Clause:
    return lambda several: f"that {be(several)} {said}"


def _picked(pick: Pick) -> Clause:
    words = one_line(pick.words) or say_terms(pick.terms)
    by = " for the question" if "?" in words else f" ({words})"  # which stands above
    return lambda several: f"that the model has picked{by}"


def _true(condition: Condition) -> Clause:
    """Return what a condition says of its node."""
    hops, operator, value = condition.attribute, condition.operator, condition.value
    said = say_term(value) if value else ""
    compared = say_compared(operator, value) if value else ""
    relations = [say_relation(hop) for hop in hops]
    has = bool(hops) and hops[-1].forward and not is_verbal(relations[-1])

    def clause(several: bool) -> str:
        told, thing = f"{be(several and not hops)} {compared}", said or SOMETHING
        if operator == "contains":
            told = f"contain{'s' * (not several or bool(hops))} {said}"
            thing = f"{SOMETHING} that {told}"
        elif compared != said:
            thing = f"{SOMETHING} {compared}"
        if not hops:
            return f"that {told}"
        if has and operator == "!=":
            words = f"with any {relations[-1]} {compared}"
        elif has and value:
            words = f"whose {relations[-1]} {told}"
        else:
            words = say_related(hops[-1], Phrase(thing), several and len(hops) == 1)
        return say_related(hops[0], Phrase(f"{SOMETHING} {words}"), several) if len(hops) > 1 else words

    def negation(several: bool) -> str:
        if has and len(hops) == 1:
            return f"whose {relations[0]} is not {said}" if value else f"without any {relations[0]}"
        return f"excluding those {clause(True)}"

    if condition.unknown:
        return lambda several: f"{clause(several)}, if any is known"
    return negation if operator == "not exists" else clause


def _phrases(query: AnswerQuery) -> NodePhrases:
    """Return the words for the nodes of an answer query, each by the number of its place."""
    free = count(-1, -1)
    parts = [_alternatives(branch, free) for branch in query.branches if branch.chain.hops]
    single = [each.alternatives[0] for each in parts if len(each.alternatives) == 1]
    return NodePhrases(
        (edge for each in single for edge in each.edges),
        [
            *(clause for each in single for clause in each.clauses),
            *((each.place, _true(each)) for each in query.conditions),
            *((each.place, _picked(each)) for each in query.picked),
        ],
        [each for each in parts if len(each.alternatives) > 1],
        {
            branch.places[0]: say_terms([chain.topic for chain in branch.chains])
            for branch in query.branches
            if not branch.chain.hops
        },
    )


def _alternatives(branch: Branch, free: Iterator[int]) -> Union:
    """Return the chains of a branch; a node that not all of them have is one that is ``free``."""
    found = []
    for chain in branch.chains:
        alike = chain.depth == len(branch.places)
        places = branch.places if alike else (*(next(free) for _ in chain.hops[1:]), branch.places[-1])
        starts: list[int | Entity] = [chain.topic, *places]
        edges = [Edge(*each) for each in zip(starts, chain.hops, places, strict=False)]
        found.append(Alternative(edges, [*_held(branch, chain, places)]))
    return Union(branch.shared, found)
