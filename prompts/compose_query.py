"""Which query of the chains near the topics answers the question? (beyond the papers)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from string import ascii_lowercase, ascii_uppercase
from typing import Literal as Choice, NamedTuple

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate, Condition
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term
from kgqa.kg.text import fold, in_words
from kgqa.locks import cached_property
from kgqa.prompts.apply_conditions import MAX_CONDITIONS, StatedCondition
from kgqa.prompts.attributes import (
    Attribute,
    Extreme,
    KnownAttributes,
    Mention,
    condition_on,
    draw_owned_values,
    draw_told_apart,
    extreme_by,
    is_alluded_to,
    is_said,
    term_text,
)
from kgqa.prompts.base import QuestionPrompt, Reply, Words, quoted
from kgqa.prompts.chain import SEARCHED, draw_arrow, draw_chain, draw_looked_for
from kgqa.prompts.solved_questions import SolvedQuestion, draw_solved_questions

MAX_ENDS_IN_ALL = 60  # ends that a prompt shows
MAX_ENDS = 20  # of one chain
MIN_ENDS = 3
MAX_END_CHARS = 40
MAX_TYPES_SHOWN = 4
MAX_FOUND = 3  # places that are named where something is found
MAX_NODE_NAMES = 3  # of the nodes that an attribute is shown of

DRAFTS = "SPARQL can be written."


@dataclass(frozen=True, slots=True)
class OfferedChain:
    """A chain from a topic and some of its ends; ``others`` say the same the other way round.

    ``named`` are the places on the way whose nodes have names, ``passed`` such nodes of each place.
    """

    chain: Chain
    ends: tuple[Candidate, ...]
    truncated: bool = False
    others: tuple[Chain, ...] = ()
    named: tuple[int, ...] = ()
    passed: tuple[tuple[Term, ...], ...] = ()

    @property
    def fresh(self) -> bool:
        """Whether what only returns to the topic is left out: it is where there is anything else.

        Of ends that are not all here, those that were read first do not tell; the chain does.
        """
        returning = {end.returning for end in self.ends}
        return len(returning) > 1 or (self.truncated and self.chain.turns_back and False in returning)

    @property
    def shown(self) -> tuple[Candidate, ...]:
        """The ends without what is left out."""
        return tuple(end for end in self.ends if not (self.fresh and end.returning))


@dataclass(frozen=True, slots=True)
class OfferedAttribute:
    """What ``nodes`` of offered chains have by some hops, each given as the chain that leads to it."""

    nodes: tuple[Chain, ...]
    hops: tuple[Hop, ...]
    values: tuple[tuple[Term, Term], ...]

    @property
    def attribute(self) -> Attribute:
        """The attribute, of its first node."""
        return Attribute(self.nodes[0].depth, self.hops, self.values)


@dataclass(frozen=True, slots=True)
class ComposedBranch:
    """Offered chains that are united, what holds of their nodes, and what is computed of them.

    Places count the hops of ``chain``, which has them. The answer is at ``place``, else the end; what other
    branches lead to is at ``met_at``, else the end.
    """

    chain: Chain
    others: tuple[Chain, ...]
    fresh: bool
    conditions: tuple[Condition, ...] = ()
    aggregate: Aggregate | None = None
    place: int | None = None
    met_at: int | None = None


class _Named(NamedTuple):
    """What a letter or the name of a node stands for: an attribute, of which nodes, and how to call it."""

    attribute: Attribute
    nodes: Sequence[Chain]
    called: str


class ComposedQuery(Reply):
    """A query of numbered chains and lettered attributes."""

    rationale: str = Field(default="", description="one short sentence: why")
    chains: list[list[int]] = Field(
        description="numbers of chains: those of one list are united, all lists have to meet; [] if none"
    )
    answer: str = Field(default="", description='the node or attribute that is the answer, "" for the end')
    conditions: list[StatedCondition] = Field(default=[], description="what else is true, all of it")
    extreme: Extreme = Field(default="none", description="smallest or largest (earliest, latest), else none")
    by: str = Field(default="", description='what the extreme compares: a letter or a node; else ""')
    count: bool = Field(default=False, description="true when the question asks how many there are")
    chosen: list[str] = Field(
        default=[], description="names of nodes, best first, only where no attribute says which"
    )
    words: Words = Field(
        default="", description="for chosen: the words of the question that no attribute says"
    )
    missing: Words = Field(default="", description="what nothing shown says and the question turns on")
    draft: bool = Field(
        default=False, description="true, where offered, if the question needs more than this"
    )


class ComposeQuery(QuestionPrompt[ComposedQuery]):
    """Compose a query of offered ``chains`` and ``attributes``.

    ``types`` are pairs of an end and a type; ``naming`` leads to the name of a node. What is missing may be
    looked for, unless this is ``final``; what was ``looked_for`` is shown, and in ``empty`` why the last
    query gave nothing. ``alternative_entities`` are topics that may be meant instead of the one before.
    Where it ``drafts``, a reply may say that SPARQL is needed.
    """

    chains: tuple[OfferedChain, ...]
    attributes: tuple[OfferedAttribute, ...] = ()
    types: tuple[tuple[Term, Term], ...] = ()
    mentions: tuple[Mention, ...] = ()
    naming: Hop | None = None
    exemplars: tuple[SolvedQuestion, ...] = ()
    empty: str = ""
    looked_for: str = ""
    final: bool = False
    alternative_entities: tuple[Entity, ...] = ()
    drafts: bool = False

    instructions = """\
You answer a question by a query of a knowledge graph. You see numbered chains of relations from its topics \
(or from a class, or "anything"), each with some nodes at its end (in brackets, how many there are), and \
lettered attributes of nodes. ?3 is the end of chain 3, ?3a the first node on the way to it, ?3b the second. \
"A -relation-> B" reads "A has the relation to B", "A <-relation- B" the other way. The graph computes your \
query over all nodes, shown or not.

- "chains": lists of chain numbers. Chains of one list say the same and are united; all lists have to meet: \
[[2, 5], [7]]. Of each topic take the chain that says what the question says of it; leave a topic out only \
where a condition names it. [] if no chain leads there.
- "answer": "" for the end; or a node on the way ("?2a"), at which other lists then meet; or a letter, for \
the values of the attribute.
- "conditions": each is {"attribute": "A", "operator": "=", "value": "..."}; what has no value fails it, \
unless it has "unknown": true; all must be true. "attribute" is a letter, or a node of a chain that you \
take. Operators: = != < <= > >=; contains (part of a text or name); year (of a date); exists; not exists \
(with a value: none equals it); type (of a node: one of the types shown). Numbers and dates need not be \
shown; 1961 equals any day of it. A node's own name is compared only with words of the question.
- "extreme": those with the "smallest" (earliest) or "largest" (latest) value of "by", a letter or a node; \
or "second largest", "third smallest" ...
- "count": true if the question asks how many.
- "missing": a few words for the relation or attribute that the question turns on and nothing shown says. It \
is looked for from the chains that you take (part of the way) or the topics. If it is found, you are asked \
again; else the rest of your reply stands, as not verified, and without chains nothing does.
- "chosen": names of nodes shown, and in "words" these words of the question: where only names (a kind, a \
year in them) say which are meant, or as your best guess where no attribute is shown for it, or none of them \
has a value. Never what values say.
- "draft": only where the last line says that SPARQL can be written: true if the question needs groups, what \
holds of groups, ranks, sums, averages, several columns, arithmetic or a comparison between two attributes, \
absence that no attribute says, or any number of steps. It is written then; "chains" are what comes nearest.

Reply with one JSON object: {"rationale": "one short sentence", "chains": [[numbers]], "answer": "", \
"conditions": [], "extreme": "none", "by": "", "count": false, "chosen": [], "words": "", "missing": "", \
"draft": false}; what is not needed stays so, or is left out.

Example
Question: "Which of Patrick Brontë's daughters who wrote novels died in Scarborough?"
From "Patrick Brontë":
1. <-father- ?1: "Anne Brontë", "Branwell Brontë", "Charlotte Brontë", "Emily Brontë" (4)
2. <-father- ?2a <-author- ?2: "Agnes Grey", "Jane Eyre", "Wuthering Heights" (3)
Attributes:
A. ?1, ?2a -place_of_death-> "Scarborough" of "Anne Brontë"; "Haworth" of 3
B. ?1, ?2a -gender-> "Male" of "Branwell Brontë"; "Female" of 3
Found: "Scarborough": A of "Anne Brontë"
Reply: {"rationale": "His children who wrote, by gender and place of death.", "chains": [[2]], "answer": \
"?2a", "conditions": [{"attribute": "A", "operator": "=", "value": "Scarborough"}, {"attribute": "B", \
"operator": "=", "value": "Female"}]}
"""

    def _lines(self) -> Iterable[str]:
        yield from draw_solved_questions(self.exemplars)
        yield from self._draw_chains()
        if self.attributes:
            yield "Attributes:"
            yield from (self._draw_attribute(letter, each) for letter, each in self.lettered.items())
        yield from self._draw_types()
        yield from self._draw_mentions()
        if self.looked_for:
            yield draw_looked_for(self.looked_for)
        if self.empty:
            yield f"Your query gives nothing: {self.empty}"
        if self.final:
            yield SEARCHED
        if self.drafts:
            yield DRAFTS

    def _draw_chains(self) -> Iterator[str]:
        left = MAX_ENDS_IN_ALL
        for topic, group in groupby(enumerate(self.chains, 1), lambda each: each[1].chain.topic):
            name, instead = quoted(str(topic)), topic in self.alternative_entities
            yield f"Or from {name}, which may be meant instead:" if instead else f"From {name}:"
            for number, each in group:
                ends = list(dict.fromkeys(self.drawn[number]))
                shown = ends[: max(MIN_ENDS, min(MAX_ENDS, left // 2))]
                left -= len(shown)
                size = f"more than {len(ends)}" if each.truncated else str(len(ends))
                yield f"{number}. {self._draw_way(number, each)}: {', '.join(shown)} ({size})"

    def _draw_way(self, number: int, offered: OfferedChain) -> str:
        """Draw a chain; some nodes on the way by name, where no chain ends there and none before has them."""
        told = {each.chain for each in self.chains}
        told |= {node for each in self.chains[: number - 1] for node in each.chain.nodes}
        parts = []
        for place, (hop, node) in enumerate(zip(offered.chain.hops, offered.chain.nodes, strict=True), 1):
            names = [] if node in told else [str(term) for term in offered.passed[place - 1]]
            more = [f"{len(names) - MIN_ENDS} more"] if len(names) > MIN_ENDS else []
            drawn = ", ".join([*(quoted(name, MAX_END_CHARS) for name in names[:MIN_ENDS]), *more])
            parts.append(
                draw_arrow(hop, node_name(number, place, offered.chain) + (f" ({drawn})" if drawn else ""))
            )
        return " ".join(parts)

    @cached_property
    def drawn(self) -> Mapping[int, Sequence[str]]:
        """The ends of each chain as they are shown, by its number."""
        return {
            number: [
                line if len(line) <= MAX_END_CHARS else quoted(str(end.term), MAX_END_CHARS)
                for end, line in zip(each.shown, _told_apart([end.term for end in each.shown]), strict=True)
            ]
            for number, each in enumerate(self.chains, 1)
        }

    def _draw_attribute(self, letter: str, offered: OfferedAttribute) -> str:
        names = [name for name, chain in self.nodes.items() if chain in offered.nodes]
        way = ", ".join(sorted(names, key=lambda name: name[-1].isalpha())[:MAX_NODE_NAMES])
        for hop in offered.hops[:-1]:
            way += f" {draw_arrow(hop, '?')}"
        return f"{letter}. {way} {draw_arrow(offered.hops[-1], draw_owned_values(offered.attribute))}"

    def _draw_types(self) -> Iterator[str]:
        if kinds := [*self.known.kinds.values()][:MAX_TYPES_SHOWN]:
            sizes = Counter(kind for _, kind in self.types)
            yield f"Types: {', '.join(f'{quoted(term_text(kind))} (of {sizes[kind]})' for kind in kinds)}"

    def _draw_mentions(self) -> Iterator[str]:
        """Say where what the question names was found: at attributes, and at nodes."""
        for each in self.mentions:
            at = [f"{ascii_uppercase[number]} of {quoted(str(node))}" for number, node in each.found]
            at += [name for name, chain in self.nodes.items() if self._standing[chain] & {*each.terms}]
            more = [f"{len(at) - MAX_FOUND} more"] if len(at) > MAX_FOUND else []
            if at:
                yield f"Found: {quoted(each.text)}: {', '.join([*at[:MAX_FOUND], *more])}"
            elif not each.is_bound and each.text.lower() != each.text and not self._is_in_a_name(each.text):
                yield f"Not found: {quoted(each.text)}"

    def _is_in_a_name(self, text: str) -> bool:
        return any(fold(text) in fold(str(term)) for terms in self._standing.values() for term in terms)

    @cached_property
    def _standing(self) -> Mapping[Chain, set[Term]]:
        """What is known to stand at each node, ends and nodes on the way."""
        standing: dict[Chain, set[Term]] = {}
        for each in self.chains:
            ends = tuple(end.term for end in each.ends)
            for node, terms in zip(each.chain.nodes, (*each.passed, ends), strict=True):
                standing.setdefault(node, set()).update(terms)
        return standing

    @cached_property
    def lettered(self) -> Mapping[str, OfferedAttribute]:
        """The attributes by the letters that they are shown with."""
        return dict(zip(ascii_uppercase, self.attributes, strict=False))

    @cached_property
    def known(self) -> KnownAttributes:
        """The types of ends as they are shown."""
        return KnownAttributes(self.chains[0].chain, types=self.types)

    @cached_property
    def nodes(self) -> Mapping[str, Chain]:
        """The nodes by the names that they are shown with, each as the chain that leads to it."""
        return {
            node_name(number, place, each.chain): each.chain.upto(place)
            for number, each in enumerate(self.chains, 1)
            for place in range(1, each.chain.depth + 1)
        }

    def branches(self, reply: ComposedQuery) -> list[ComposedBranch]:
        """Return what a reply composes, the branch that has the answer last; none of no chain.

        Raises:
            ValueError: in words that a model can act on, for what was not offered or makes no sense.
        """
        stated = [(each, self._named(each.attribute)) for each in reply.conditions]
        compared = self._named(reply.by) if reply.extreme != "none" else None
        answer = self._named(reply.answer) if reply.answer else None
        named = [each for each in (*(of for _, of in stated), compared, answer) if each]
        nodes = [node for each in named for node in each.nodes]
        united = [
            _unite([self._chain(number) for number in numbers], nodes) for numbers in reply.chains if numbers
        ]
        branches = [
            ComposedBranch(each[0].chain, _others(each), any(one.fresh for one in each)) for each in united
        ]
        if not branches:
            return []
        last = len(branches) - 1
        for each, of in stated:
            at, place = self._branch_of(of, united)
            condition = replace(each.of(self._condition(each, of)), place=place)
            conditions = dict.fromkeys((*branches[at].conditions, condition))
            branches[at] = replace(branches[at], conditions=tuple(conditions))
        if compared:
            last, place = self._branch_of(compared, united)
            own = place == branches[last].chain.depth and reply.answer in {"", reply.by}
            attribute = replace(compared.attribute, place=place)
            computed = extreme_by(attribute, compared.called, reply.extreme, end=own)
            branches[last] = replace(branches[last], aggregate=computed)
        if answer:
            at, place = self._branch_of(answer, united)
            if compared and at != last:
                raise ValueError("the extreme has to be of the chain that has the answer")
            if not answer.attribute.hops and len(branches) == 1 and self._only_narrows(branches[0], place):
                branches[0] = replace(branches[0], chain=branches[0].chain.upto(place), others=())
            branches[at : at + 1] = _answered_at(branches[at], place, answer.attribute.hops)
            last = at
        if reply.count:
            branches[last] = replace(branches[last], aggregate=Aggregate("count"))
        return [*branches[:last], *branches[last + 1 :], branches[last]]

    def _only_narrows(self, branch: ComposedBranch, place: int) -> bool:
        """Return whether what follows a node is not meant: it had to be taken, and nothing speaks of it."""
        upto, tail = branch.chain.upto(place), branch.chain.hops[place:]
        used = branch.aggregate or any(each.place > place for each in branch.conditions)
        offered = any(each.chain == upto for each in self.chains)
        said = any(is_alluded_to(self.question, in_words(hop.words)) for hop in tail)
        return not (used or offered or said)

    def chosen(self, reply: ComposedQuery) -> list[Term]:
        """Return the ends that a reply names; raise ValueError for a name that is not shown, or of two."""
        if not reply.chosen:
            return []
        taken = [number for numbers in reply.chains for number in numbers]
        passed = [term for each in self.chains for of in each.passed for term in of]
        owners = [term for each in self.attributes for pair in each.values for term in pair]
        ends: dict[str, dict[Term, None]] = {}
        for number in taken:
            for line, end in zip(self.drawn[number], self.chains[number - 1].shown, strict=True):
                ends.setdefault(line, {})[end.term] = None
        others: dict[str, dict[Term, None]] = {}
        for term in (*passed, *owners):
            others.setdefault(quoted(str(term)), {})[term] = None
        shown = others | ends
        shown |= {line[1:-1]: terms for line, terms in shown.items()}
        for name in reply.chosen:
            if len({term.id for term in shown.get(name, ())}) != 1:  # one text in two languages is one value
                how_many = "several nodes are" if name in shown else "no node is"
                raise ValueError(f"{how_many} shown as {quoted(name)}")
        return [term for name in dict.fromkeys(reply.chosen) for term in shown[name]]

    def check(self, reply: ComposedQuery) -> None:
        """Refuse what was not offered, and what makes no query."""
        if len(reply.conditions) > MAX_CONDITIONS:
            raise ValueError(f"no more than {MAX_CONDITIONS} conditions")
        if reply.count and reply.extreme != "none":
            raise ValueError('"count" goes without an "extreme"')
        said = reply.conditions or reply.chosen or reply.extreme != "none"
        if not self.branches(reply) and said and not (reply.missing or reply.draft):
            raise ValueError('"chains" is empty: name the chains that the rest is about')
        self.chosen(reply)

    def _chain(self, number: int) -> OfferedChain:
        if not 1 <= number <= len(self.chains):
            raise ValueError(f"chain {number} was not offered; choose from 1 to {len(self.chains)}")
        return self.chains[number - 1]

    def _node(self, name: str) -> Chain:
        found = self.nodes.get(name) or self.nodes.get(f"?{name}")
        if found is None:
            raise ValueError(f"no node is called {quoted(name)}")
        return found

    def _named(self, name: str) -> _Named:
        """Return what a letter or the name of a node stands for."""
        if offered := self.lettered.get(name):
            return _Named(offered.attribute, offered.nodes, f"attribute {name}")
        node = self._node(name)
        terms = dict.fromkeys(end.term for each in self.chains if each.chain == node for end in each.ends)
        topics = () if terms and all(isinstance(term, Literal) for term in terms) else self.topics
        known = tuple((term, term) for term in (*terms, *topics))
        return _Named(Attribute(node.depth, (), known), [node], f"node {name}")

    def _condition(self, stated: StatedCondition, of: _Named) -> Condition:
        attribute = of.attribute
        if stated.operator == "type":
            if attribute.hops:
                raise ValueError(f"a type is one of a node such as ?1, not of {of.called}")
            return self.known.condition("", "type", stated.value, self.question)
        if attribute.kind == "entity" and not attribute.hops and not is_said(self.question, stated.value):
            raise ValueError(f'the question does not say {quoted(stated.value)}; name nodes in "chosen"')
        return condition_on(attribute, of.called, stated.operator, stated.value, self.question, self.naming)

    def _branch_of(self, of: _Named, united: Sequence[Sequence[OfferedChain]]) -> tuple[int, int]:
        """Return which list has what is named, and at which place of it.

        An attribute that is known of the end of one chain can be asked of that of any.
        """
        for at, chains in enumerate(united):
            for node in of.nodes:
                if any(each.chain.upto(node.depth) == node for each in chains):
                    return at, _place(node, chains)
        if of.attribute.hops and any(each.chain == node for each in self.chains for node in of.nodes):
            return 0, united[0][0].chain.depth
        raise ValueError(f"{draw_chain(of.nodes[0])} is on no chain that you have chosen")


def node_name(number: int, place: int, chain: Chain) -> str:
    """Name a node of a numbered chain: its end by the number, those on the way with letters."""
    return f"?{number}{'' if place == chain.depth else ascii_lowercase[place - 1]}"


def _told_apart(terms: Sequence[Term]) -> Iterator[str]:
    """Draw nodes; entities that look the same are told apart, values are not."""
    entities = [term for term in terms if isinstance(term, Entity)]
    drawn = dict(zip(entities, draw_told_apart(entities, [""] * len(entities)), strict=True))
    return (drawn[term] if isinstance(term, Entity) else quoted(str(term)) for term in terms)


def _answered_at(branch: ComposedBranch, place: int, hops: tuple[Hop, ...]) -> list[ComposedBranch]:
    """Return a branch whose answer is the node at a place, where others lead, or what this has by hops.

    What comes after that node is a branch of its own, which leads to the node. What is computed of the node
    holds for what it has; the first of these very values is that.
    """
    if not hops:
        return [branch if place == branch.chain.depth else replace(branch, place=place, met_at=place)]
    computed, at_end = branch.aggregate, place == branch.chain.depth
    if computed and not (at_end or computed.place == place):
        raise ValueError("the extreme has to be of the node that has the answer")
    if computed and (computed.place, computed.attribute) == (place, hops):
        function: Choice["min", "max"] = "max" if computed.function == "argmax" else "min"
        computed = Aggregate(function, by=computed.by, rank=computed.rank)
    others = branch.others if at_end else ()
    chains = [each if place == each.depth else each.upto(place) for each in (branch.chain, *others)]
    first, *rest = (Chain(each.topic, (*each.hops, *hops), each.constraints) for each in chains)
    if at_end:
        return [replace(branch, chain=first, others=tuple(rest), aggregate=computed, met_at=place)]
    answered = ComposedBranch(first, (), branch.fresh, aggregate=computed, met_at=place)
    return [answered, replace(branch, aggregate=None, met_at=place)]


def _unite(chains: Sequence[OfferedChain], nodes: Sequence[Chain]) -> list[OfferedChain]:
    """Put the chain that has the named nodes on its way before those that are united with it."""
    named = [each for each in chains if any(each.chain.upto(n.depth) == n != each.chain for n in nodes)]
    if len(set(named)) > 1:
        raise ValueError("united chains have only their ends in common: take the one whose nodes you name")
    return list(dict.fromkeys([*named, *chains]))


def _others(chains: Sequence[OfferedChain]) -> tuple[Chain, ...]:
    return tuple(
        dict.fromkeys([*(each.chain for each in chains[1:]), *(o for each in chains for o in each.others)])
    )


def _place(node: Chain, chains: Sequence[OfferedChain]) -> int:
    """Return the place of a node on the first of united chains: the end where it is not on its way."""
    first = chains[0].chain
    return node.depth if first.upto(node.depth) == node else first.depth
