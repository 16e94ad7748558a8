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
    is_joined,
    is_noun,
    is_verbal,
    of_which,
    say_compared,
    say_relation,
    say_term,
    say_terms,
    with_verb,
)
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Pick
from kgqa.kg.sparql.derived import leads_to_members
from kgqa.kg.terms import ANY, Chain, Entity, one_line
from kgqa.kg.text import in_plural, singular, word_set

_OF_CLAUSES = word_set("that what where whose with")
"""Words of a reading by which "is" would follow a clause, and not what it says something of."""

_MARKS_OF_LONG = (
    SOMETHING,
    " what ",
    " of (",
    " is (",
    " or ",
    " that the model has picked",
    " and further conditions",
)
"""Parts of a reading before which a colon stands too late."""


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
    best = computed.extreme
    if computed.function in {"min", "max"}:
        return f"the {best} of {these}"
    if computed.place is None or computed.place == query.returned:
        return f"the one {_with_extreme(computed, best, 'it')} among {these}"
    return f"those among {these} {_with_extreme(computed, best, f'the {words.labels[computed.place]}')}"


def say_answer(
    reading: str, answers: str, chain: Chain | None = None, last: str = "", *, several: bool = False
) -> str:
    """Return the answers to what is asked for as a sentence without its full stop; empty for a long reading.

    Where the names of relations make none that is sure to be right, the answers follow a colon.

    Args:
        reading: What is asked for, as `verbalise` or a draft's verbaliser says it.
        answers: All of them, as words; of a question for yes or no what its chain is held to.
        chain: What leads to them, if one chain does.
        last: What the node before its last hop is called, where there is one and it has a name.
        several: Whether these are several answers.

    >>> from kgqa.kg.terms import Hop
    >>> peru = Chain(Entity("http://x/Peru"), (Hop("http://x/officialLanguage"),))
    >>> say_answer("the official language of Peru", "Quechua and Spanish", peru, several=True)
    'The official languages of Peru are Quechua and Spanish'
    >>> say_answer("countries whose capital is Lima", "Peru")
    'Countries whose capital is Lima: Peru'
    """
    asks, said = reading.startswith("whether "), ""
    readings = [verbalise(replace(_query_of(chain, fresh=each), ask=asks)) for each in (False, True) if chain]
    if chain and reading in readings:
        said = _answer_by_last_hop(chain, last, answers, several=several, asks=asks)
        if said and chain.depth > 1 and reading not in readings[:1]:
            said = f"{said}, not counting {say_term(chain.topic)}"
    if asks:
        return f"Yes: {said or reading.removeprefix('whether ')}"
    is_nested = several and reading.startswith("the ") and " of the " in reading  # by whom of several?
    if said or is_nested or any(mark in reading for mark in _MARKS_OF_LONG):
        return said
    if reading.startswith("the one with "):
        return f"{answers} {'have' if several else 'has'} {reading.removeprefix('the one with ')}"
    head, _, node = reading.removeprefix("the ").partition(" of ")
    has_clause = '"' in reading or bool({*reading.split()} & _OF_CLAUSES)
    if node and reading.startswith("the ") and (head == "number" or (is_noun(head) and not has_clause)):
        return _say_equal(head, node, answers, several=several)
    return f"{_capitalised(reading.replace('things ', 'those ', reading.startswith('things ')))}: {answers}"


def _query_of(chain: Chain, *, fresh: bool = False) -> AnswerQuery:
    return AnswerQuery((Branch(chain, (*range(1, chain.depth + 1),), fresh=fresh),), chain.depth)


def _answer_by_last_hop(chain: Chain, last: str, answers: str, *, several: bool, asks: bool) -> str:
    """Say what the last hop of a chain joins to the answers; nothing where no sentence is right."""
    hop, many = chain.hops[-1], False
    relation, node = say_relation(hop), last if chain.depth > 1 else say_term(chain.topic)
    if not node:
        before = _phrases(_query_of(chain.upto(chain.depth - 1))).node(chain.depth - 1, several=True)
        node, many = f"the {before.text}" if " of " in before.text else before.text, True
        if before.is_long or not hop.forward:
            return ""
    if leads_to_members(hop):
        return ""
    names = is_noun(relation, had=hop.words.startswith("has"))
    verb = _verb(relation, several=many if hop.forward else several)
    first, second = (node, answers) if hop.forward else (answers, node)
    if verb or (asks and not names):
        said = f"{first} {verb or relation} {second}"
    elif not (names or is_verbal(relation)):  # a verb or a noun
        said = f"{first} – {relation}: {second}"
    elif hop.forward:
        equal = _say_equal(relation, node, answers, several=several)
        said = equal if names else f"{node}: {relation} {answers}"
    elif names:
        joined = f"have {node} as their" if several else f"has {node} as"
        said = f"{answers} {joined} {_in_singular(relation)}"
    else:
        said = f"{_capitalised(relation)} {node}: {answers}"
    return _capitalised(said) if many else said


def _say_equal(relation: str, node: str, answers: str, *, several: bool) -> str:
    first = relation.partition(" ")[0]
    is_plural = singular(first) != first and not first.endswith("s")  # "people born here"
    in_many = relation if is_plural else in_plural(relation)
    noun = in_many if several else _in_singular(relation)
    return f"The {noun} of {node} {be(several)} {answers}"


def _in_singular(relation: str) -> str:
    head, of, rest = relation.partition(" of ")
    before, space, last = head.rpartition(" ")
    return f"{before}{space}{singular(last)}{of}{rest}"


def _verb(relation: str, *, several: bool) -> str:
    """Return a relation as a verb; empty where that is not sure: before "died in" stands no "is"."""
    first, _, rest = relation.partition(" ")
    if first == "was":
        return f"were {rest}" if several else relation
    acts = singular(first) != first and is_joined(relation)
    return with_verb(relation, several=several) if acts or relation.endswith(" by") else ""


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
    by = "" if words.endswith("?") else f" ({words})"  # not by the question itself, which stands above
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
