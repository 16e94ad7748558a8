"""An answer query in words: what it asks for, by the names that the graph has.

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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from kgqa.kg.node_phrases import (
    SOMETHING,
    THINGS,
    Alternative,
    Clause,
    Edge,
    NodePhrases,
    Said,
    Union,
    say_related,
)
from kgqa.kg.phrases import (
    be,
    is_verbal,
    of_which,
    say_compared,
    say_relation,
    say_term,
    say_terms,
    with_verb,
)
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Pick
from kgqa.kg.terms import ANY, Chain, Entity, one_line

_RANKS = {2: "second", 3: "third"}
_EXTREMES = {"min": ("smallest", "earliest"), "max": ("largest", "latest")}


def verbalise(query: AnswerQuery) -> str:
    """Return what an answer query asks for, as a noun phrase on one line."""
    if query.ask:
        return _claim(query)
    words, computed = _phrases(query), query.aggregate
    if computed is None:
        return words.node(query.returned, thing=THINGS).text
    these = words.node(query.returned, several=True).text
    if computed.function == "count":
        return f"the number of {these}"
    best = _EXTREMES[computed.function.removeprefix("arg")][computed.by == "date"]
    if computed.rank > 1:
        best = f"{_RANKS.get(computed.rank, f'number {computed.rank} from the')} {best}"
    if computed.function in _EXTREMES:
        return f"the {best} of {these}"
    if computed.place is None or computed.place == query.returned:
        return f"the one {_with_extreme(computed, best, 'it')} among {these}"
    return f"those among {these} {_with_extreme(computed, best, f'the {words.labels[computed.place]}')}"


def _claim(query: AnswerQuery) -> str:
    """Say what is asked for yes or no: of an entity, where the answers are held to one."""
    for number, branch in enumerate(query.branches):
        last = branch.chain.constraints[-1] if branch.chain.constraints and not branch.others else None
        if last and len(last.entities) == 1 and branch.places[last.depth - 1] == query.returned:
            free = replace(branch, chain=replace(branch.chain, constraints=branch.chain.constraints[:-1]))
            branches = (*query.branches[:number], free, *query.branches[number + 1 :])
            said = _phrases(replace(query, branches=branches)).node(query.returned)
            return f"whether {say_term(last.entities[0])} is {said.one_of_it}"
    said = _phrases(query).node(query.returned)
    return f"whether there {be(said.several)} {said.text}"


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
    return lambda several: f"that the model has picked ({words})"


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
            words = say_related(hops[-1], Said(thing), several and len(hops) == 1)
        return say_related(hops[0], Said(f"{SOMETHING} {words}"), several) if len(hops) > 1 else words

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
