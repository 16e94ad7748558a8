"""Drafts a query: what a question names are slots, which are joined over the classes of the graph.

Words between slots say what is computed: a count, an average, an extreme, for each of what. Words that
nothing takes are left unsaid.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from kgqa.kg.dialects import XSD
from kgqa.kg.drafts.description import DescribedClass, FoundTerm
from kgqa.kg.terms import Hop, Literal
from kgqa.models.offline.query_tree import QueryTree
from kgqa.models.offline.question_slots import Alike, Question, Slot
from kgqa.models.offline.slot_roles import ATTRIBUTES, FUNCTIONS, Measure, Roles, assign_roles, list_targets
from kgqa.models.offline.vocabulary import Owned, Vocabulary
from kgqa.prompts.judge_claim import is_yes_no_question
from kgqa.retrieval.wording import MIN_STEM_SAID, head_word, relation_phrase, stem_overlap
from kgqa.retrieval.years import has_year_zero

MIN_ATTRIBUTE = 0.5  # similarity of an attribute to what is measured: "cost" and a price
MIN_RANKED = 0.65  # the same of a word that follows "most": its direction is not told by similarity
MIN_PARAPHRASE = 0.25  # similarity of words to the relation of a join that they paraphrase: "supply"
MIN_ALONE = 0.45  # the same where nothing else tells what is asked for
UNSAID_COST = 0.3  # of words that a query does not say, beside what its joins cost

_OPERATORS: dict[Callable[[Decimal, Decimal], bool], str] = {
    operator.gt: ">",
    operator.ge: ">=",
    operator.lt: "<",
    operator.le: "<=",
    operator.eq: "=",
}


@dataclass(frozen=True)
class Draft:
    """A query, its columns, what it computes, and the words that it does not say."""

    sparql: str
    columns: tuple[str, ...]
    reading: str
    unsaid: tuple[str, ...]


class _Unsayable(Exception):
    """What a query cannot say, in words."""


def draft_query(
    text: str, classes: Sequence[DescribedClass], terms: Sequence[FoundTerm], alike: Alike
) -> Draft | str:
    """Return the query that a question asks for, or what it cannot say."""
    if is_yes_no_question(text):
        return "yes or no"
    question = Question(text, Vocabulary(classes), terms, alike)
    roles = assign_roles(question)
    if isinstance(roles, str):
        return roles
    found: list[tuple[float, Draft]] = []
    reason = "what is asked for"
    for target in list_targets(question, roles):
        try:
            found.append(_Drafting(question, roles, target).draft())
        except _Unsayable as error:
            reason = str(error)
    return min(found, key=lambda each: each[0])[1] if found else reason


class _Drafting:
    """One way to draft a query: a tree for one target."""

    def __init__(self, question: Question, roles: Roles, target: str | Owned) -> None:
        self.question, self.roles = question, roles
        self.tree = QueryTree(question.vocabulary, question.says)
        self.at: dict[Slot, int] = {}
        computed = {each.function for each in (*roles.measures, roles.by) if each}
        if question.count and "COUNT" not in computed:
            raise _Unsayable(question.text_of(question.count))
        self.used = {at for at, word in enumerate(question.lemmas) if FUNCTIONS.get(word) in computed}
        extremes = sum(each.function in {"MAX", "MIN"} for each in roles.measures)
        self.used |= {*question.computing} - {*(question.other_places if extremes < 2 else ())}
        self.used |= {*(question.ranks if roles.by else ())}
        bounds = [measure for measure, _ in roles.bounds]
        for measure in (*bounds, *roles.measures, *filter(None, [roles.by])):
            self.used |= {*measure.places}
        self.target = self._begin(target)

    def _begin(self, target: str | Owned) -> int:
        """Return the variable of what is asked for."""
        tree, slot = self.tree, self.roles.target
        stated = slot is not None and bool(slot.classes)
        root = tree.add_class(target.owner if isinstance(target, Owned) else target, stated=stated)
        if root is None:
            raise _Unsayable("what is asked for")
        if isinstance(target, Owned):
            root = tree.step_from(root, target.part)
            tree.cost += 1 - target.score
        tree.asked = root
        if slot and not slot.terms:
            self._use(slot, root)
        return root

    def draft(self) -> tuple[float, Draft]:
        """Return what the query costs, and the query."""
        for slot in self._in_order():
            if slot not in self.at and not self._attach(slot) and not slot.is_weak:
                raise _Unsayable(self.question.text_of(range(slot.begin, slot.end)))
        sparql, headings, reading = self._write()
        names = [places for places in self.question.left_over(self.used) if self.question.is_name(places)]
        if names and not any(slot.terms for slot in self.at):
            raise _Unsayable(self.question.text_of(names[0]))  # nothing else tells which are meant
        unsaid = (*self._unshown(), *self._unclear(), *self._unsaid())
        if len(" ".join(unsaid).split()) > len(self.used):
            raise _Unsayable(", ".join(unsaid))
        unsaid = (*unsaid, *self._unlike(), *self._uncompared(sparql), *self._unjoined())
        return self.tree.cost + UNSAID_COST * len(unsaid), Draft(sparql, tuple(headings), reading, unsaid)

    def _in_order(self) -> list[Slot]:
        """Return classes, then what these are joined by, what was found, attributes, and last weak slots."""
        measured = self.roles.measured

        def rank(slot: Slot) -> tuple[bool, ...]:
            is_link = not slot.is_weak and any(
                self.question.vocabulary.ends(each.part) for each in slot.owned
            )
            return not slot.classes, not is_link, not slot.terms, slot.is_weak and slot not in measured

        return sorted(self.question.slots, key=rank)

    def _use(self, slot: Slot, at: int) -> None:
        self.at[slot] = at
        self.used |= {*range(slot.begin, slot.end)}

    def _attach(self, slot: Slot) -> bool:
        """Join what a slot names; return whether it could be."""
        before = [each for each in self.at if each.end <= slot.begin]
        nearest = max(before, key=lambda each: each.end, default=None)
        near = self.at[nearest] if nearest else self.target
        if slot.terms:
            at = self.tree.add_term(slot.terms, near, slot.or_terms)
        elif slot.classes:
            found = (self.tree.add_class(id) for id in slot.classes)
            at = next((each for each in found if each is not None), None)
        else:
            known_only = slot.is_weak and slot not in self.roles.measured
            near_target = self.target if slot in self.roles.columns else None
            at = self.tree.add_property(slot.owned, near_target, known_only=known_only)
        if at is None:
            return False
        self._use(slot, at)
        part = self.tree.part_to(at)
        if slot.owned and part and part.kinds == ("true or false",) and slot not in self.roles.columns:
            self.tree.bind(at, Literal("true", f"{XSD}boolean"))
        return True

    def _variable(self, measure: Measure) -> int:
        """Return the variable of what is measured; an attribute that a modifier says is found by its name."""
        if measure.slot is not None:
            counted = self.target if measure.slot.terms else self.at[measure.slot]
            at = counted if measure.function == "COUNT" else self.tree.number_at(counted)
        else:
            at = self._attribute(measure)
        return at

    def _attribute(self, measure: Measure) -> int:
        kinds = {"date"} if measure.of == "date" else ATTRIBUTES
        vocabulary = self.question.vocabulary
        offered = [
            (owner, part)
            for owner, part in vocabulary.owned()
            if kinds & {*part.kinds} or ("number" in kinds and vocabulary.number_of(part))
        ]
        texts = [relation_phrase(part.words) for _, part in offered]
        scores, stems = [0.0] * len(texts), [0.0] * len(texts)
        for phrase in measure.of.split(",") if texts else ():
            alike = self.question.alike(phrase.strip(), texts)
            scores = [max(pair) for pair in zip(scores, alike, strict=True)]
            stems = [max(pair) for pair in zip(stems, stem_overlap([phrase], texts)[0], strict=True)]
        best = [
            Owned(owner, part, min(1.0, max(like, stem)))
            for (owner, part), like, stem in zip(offered, scores, stems, strict=True)
            if max(like, stem)
            >= (MIN_RANKED if measure.places and measure is self.roles.by else MIN_ATTRIBUTE)
        ]
        at = self.tree.add_property(best)
        if at is None:
            raise _Unsayable(self.question.text_of(measure.places) or measure.of)
        return self.tree.number_at(at)

    def _write(self) -> tuple[str, list[str], str]:
        """Return the query, its headings, and what it computes."""
        tree, roles = self.tree, self.roles
        filters, having = self._bounds()
        computed = [self._computed(each) for each in roles.measures]
        order, grouped, reading = self._order()
        grouped |= bool(having) or (bool(roles.groups) and bool(computed))
        shown = [tree.number_at(self.at[slot]) for slot in self._columns()]
        shown = [at for at in dict.fromkeys(shown) if not tree.variables[at].terms and at != self.target]
        rare = [at for at in shown if self._is_rare(at)]
        body = " ".join([*tree.patterns(optional=rare, denied=self._denied()), *filters])
        if computed and not grouped:
            return self._one_number(computed, body)
        names = [f"?{tree.variables[at].name}" for at in (self.target, *shown)]
        headings = [self._name(at) for at in (self.target, *shown)]
        reading = ", ".join([*headings, *(each for each, _ in computed)]) + reading
        selected = [*names, *(f"({text} AS ?value{n})" for n, (_, text) in enumerate(computed, 1))]
        tail = f" GROUP BY {' '.join(names)}" if grouped else ""
        tail += f" HAVING({' && '.join(having)})" if having else ""
        distinct = "" if order or grouped else "DISTINCT "
        headings += [each for each, _ in computed]
        return f"SELECT {distinct}{' '.join(selected)} WHERE {{ {body} }}{tail}{order}", headings, reading

    def _columns(self) -> list[Slot]:
        """Return the slots that are shown beside the target; of groups without a number, all of them."""
        if not self.roles.groups or self.roles.measures or self.roles.by:
            return [each for each in self.roles.columns if self.question.denial_of(each) is None]
        return [each for each in self.at if each is not self.roles.target]

    def _denied(self) -> list[set[int]]:
        """Return for each word that denies something the variables that nothing else of the question has."""
        denials = {slot: self.question.denial_of(slot) for slot in self.at if slot is not self.roles.target}
        held = {self.target}
        for slot, at in self.at.items():
            if denials.get(slot) is None:
                held |= {*self.tree.way(self.target, at)}
        found: dict[range, set[int]] = {}
        for slot, denial in denials.items():
            inner = {*self.tree.way(self.target, self.at[slot])} - held
            beside = self.question.beside(slot)
            names = bool(slot.terms or slot.classes)
            unclear = denial is None and names and beside is not None and denials.get(beside) is not None
            if unclear or (denial and not inner):  # "not in Ulm and Bonn"
                raise _Unsayable(self.question.text_of(denial or range(slot.begin, slot.end)))
            if denial:
                found.setdefault(denial, set()).update(inner)
                self.used |= {*denial}
        if sum(map(len, found.values())) > len(set().union(*found.values())):
            raise _Unsayable(self.question.text_of(next(iter(found))))
        return [*found.values()]

    def _is_rare(self, at: int) -> bool:
        part = self.tree.part_to(at)
        return part is not None and part.share < 1

    def _bounds(self) -> tuple[list[str], list[str]]:
        """Return the conditions on values, and those on how many there are."""
        filters, having = [], []
        for measure, bound in self.roles.bounds:
            at = self._variable(measure)
            name, part = self.tree.variables[at].name, self.tree.part_to(at)
            before_zero = part and bound.value < 0 and has_year_zero([Hop(part.relation)])
            sign, value = _OPERATORS[bound.by], f"{(bound.value + bool(before_zero)).normalize():f}"
            if part is None or part.joins or not part.kinds:
                having.append(f"COUNT(DISTINCT ?{name}) {sign} {value}")
                continue
            dated = "date" in part.kinds
            if bound.dated not in (None, dated) or not ATTRIBUTES & {*part.kinds}:
                raise _Unsayable(value)
            filters.append(
                f"FILTER({f'YEAR(?{name})' if dated else self.tree.number_text(at)} {sign} {value})"
            )
        return filters, having

    def _computed(self, measure: Measure) -> tuple[str, str]:
        """Return the heading of what is computed, and how it is written."""
        at = self._variable(measure)
        number = self.tree.is_number(at)
        if number == (measure.function == "COUNT"):
            raise _Unsayable(f"{measure.function.lower()} of {self._name(at)}")
        return f"{measure.function.lower()} of {self._name(at)}", self._aggregate(measure.function, at)

    def _order(self) -> tuple[str, bool, str]:
        """Return how rows are ranked and cut, whether that is by groups, and this in words."""
        by, tree = self.roles.by, self.tree
        if by is None:
            return "", False, ""
        at = self._variable(by)
        part = tree.part_to(at)
        compared = part is not None and bool(ATTRIBUTES & {*part.kinds})
        function = by.function or ("" if compared else "COUNT")
        if not function and tree.repeats(at):
            function = "MAX" if self.roles.descending else "MIN"
        text = self._aggregate(function, at) if function else tree.number_text(at)
        direction, most = ("DESC", "most") if self.roles.descending else ("ASC", "least")
        offset = f" OFFSET {self.roles.offset}" if self.roles.offset else ""
        said = f" with the {most} {self._name(at)}"
        return f" ORDER BY {direction}({text}) LIMIT {self.roles.limit}{offset}", bool(function), said

    def _one_number(self, computed: list[tuple[str, str]], body: str) -> tuple[str, list[str], str]:
        """Return the query for a number of all that fits."""
        if len(computed) > 1:
            raise _Unsayable("two numbers")
        ((heading, text),) = computed
        measure = self.roles.measures[0]
        at = self._variable(measure)
        if measure.function in {"AVG", "SUM"} and self.tree.repeats(at):
            kept = " ".join(f"?{self.tree.variables[each].name}" for each in self._counted_once(at))
            body = f"{{ SELECT DISTINCT {kept} WHERE {{ {body} }} }}"
        return f"SELECT ({text} AS ?value) WHERE {{ {body} }}", [heading], heading

    def _aggregate(self, function: str, at: int) -> str:
        name = self.tree.variables[at].name
        return (
            f"COUNT(DISTINCT ?{name})" if function == "COUNT" else f"{function}({self.tree.number_text(at)})"
        )

    def _counted_once(self, at: int) -> list[int]:
        """Return the variables whose values together are one thing that is added."""
        way = self.tree.way(self.tree.owner(at), at)
        return [*dict.fromkeys(each for each in way if len(self.tree.variables[each].terms) != 1)]

    def _name(self, at: int) -> str:
        part, each = self.tree.part_to(at), self.tree.variables[at]
        if each.stated or part is None:
            of = self.question.vocabulary.classes.get(each.stated or min(each.classes, default=""))
            return of.name if of else each.name
        return relation_phrase(part.words)

    def _unlike(self) -> Iterator[str]:
        """Yield words for an attribute that its name does not have: what is only like it may be another."""
        parts = [relation_phrase(step.part.words) for step in self.tree.steps]
        slots = [slot for slot in self.at if slot.owned and not (slot.classes or slot.terms)]
        places = {at for slot in slots for at in range(slot.begin, slot.end)}
        places |= {*(self.roles.by.places if self.roles.by else ())}
        for at in sorted(filter(self.question.matters, places)):
            word = self.question.text_of([at])
            if stem_overlap(parts, [word]).max(initial=0.0) < MIN_STEM_SAID:
                yield word

    def _uncompared(self, sparql: str) -> Iterator[str]:
        """Yield the numbers that nothing is compared with, and those of which nobody says what has them."""
        ranks = self.question.ranks if self.roles.by else []
        figures = (self.question.text_of([at]) for at in self.question.figures if at not in ranks)
        compared = {each.lstrip('("').partition('"')[0].rstrip(")") for each in sparql.split()}
        yield from (each for each in figures if each not in compared)
        yield from (str(bound.value) for measure, bound in self.roles.bounds if measure.slot is None)

    def _unclear(self) -> Iterator[str]:
        """Yield the name of things that are asked for, which may be of any class."""
        slot = self.roles.target
        if slot and slot.terms:
            relations = {
                hop.relation for each in slot.terms for hop in each.hops if isinstance(each.term, Literal)
            }
            owners = [owner for owner, part in self.question.vocabulary.owned() if part.relation in relations]
            if len(owners) > 1:
                yield self.question.text_of(range(slot.begin, slot.end))

    def _unjoined(self) -> Iterator[str]:
        """Yield what was found where no word says what it has to do with the answer: "What is red?"."""
        says = (self.question.says(step.part.words) for step in self.tree.steps)
        if self._is_chain() and not any(each >= MIN_ALONE for each in says):
            for slot in self.at:
                yield self.question.text_of(range(slot.begin, slot.end))

    def _is_chain(self) -> bool:
        """Return whether a question asks for no class, and for nothing to be computed."""
        return self.roles.target is None and not self.roles.computes

    def _unshown(self) -> Iterator[str]:
        """Yield the things of which a group has an extreme, where they are asked for: its number is shown."""
        extremes = [each for each in self.roles.measures if each.function in {"MAX", "MIN"} and not each.slot]
        if self.roles.groups and extremes:
            for slot in self.at:
                if slot.classes and slot is not self.roles.target:
                    yield self.question.text_of(range(slot.begin, slot.end))

    def _unsaid(self) -> Iterator[str]:
        """Yield the words that the query does not say; for each join one phrase may paraphrase it.

        None may where a modifier alone says what is compared: "the greatest density" is no largest area.
        """
        guessed = self.roles.by is not None and self.roles.by.slot is None
        joins = [(relation_phrase(each.part.words), head_word(each.part.words)) for each in self.tree.steps]
        least = MIN_ALONE if self._is_chain() else MIN_PARAPHRASE
        for places in self.question.left_over(self.used):
            words = self.question.text_of(places)
            likes = [
                max(*self.question.alike(words, texts), *stem_overlap([words], texts)[0]) for texts in joins
            ]
            best = max(range(len(likes)), key=likes.__getitem__, default=None)
            tells = self.question.is_telling(places) or self.question.is_name(places)
            if guessed or best is None or likes[best] < least or tells:
                yield words
            else:
                joins.pop(best)
