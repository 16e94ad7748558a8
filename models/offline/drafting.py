"""Drafts a query: what a question names are slots, which are joined over the classes of the graph.

Words between slots say what is computed: a count, an average, an extreme, for each of what. Words that
nothing takes are left unsaid.
"""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kgqa.kg.dialects import XSD
from kgqa.kg.drafts.description import DescribedClass, FoundTerm
from kgqa.kg.terms import Literal
from kgqa.kg.text import fold
from kgqa.models.offline.query_tree import Owned, QueryTree, Vocabulary
from kgqa.models.offline.question_intent import Bound, place_cue
from kgqa.models.offline.question_slots import EACH, Alike, Question, Slot
from kgqa.prompts.judge_claim import is_yes_no_question
from kgqa.retrieval.number_words import read_ordinal
from kgqa.retrieval.wording import MIN_STEM_SAID, relation_phrase, stem_overlap

FUNCTIONS = {"average": "AVG", "mean": "AVG", "total": "SUM", "sum": "SUM", "combined": "SUM"}
BESIDE = frozenset({"with", "and", "their", "its", "including", "along"})
MIN_ATTRIBUTE = 0.45  # likeness of an attribute to what a superlative is of: "cheapest" of a price
MIN_PARAPHRASE = 0.25  # likeness of words to the relation of a join that they paraphrase: "supply"

_OPERATORS = {operator.gt: ">", operator.ge: ">=", operator.lt: "<", operator.le: "<=", operator.eq: "="}


@dataclass
class Measure:
    """What is computed or compared: what a slot names, or an attribute ``of`` some kind, by a function."""

    slot: Slot | None = None
    function: str = ""
    of: str = ""
    places: tuple[int, ...] = ()


@dataclass
class Roles:
    """What the slots of a question are for."""

    target: Slot | None = None
    groups: list[Slot] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    columns: list[Slot] = field(default_factory=list)
    bounds: list[tuple[Measure, Bound]] = field(default_factory=list)
    by: Measure | None = None
    descending: bool = True
    limit: int = 1
    offset: int = 0


@dataclass(frozen=True)
class Draft:
    """A query, its columns, what it computes, and the words that it does not say."""

    sparql: str
    columns: tuple[str, ...]
    reading: str
    unsaid: tuple[str, ...]
    computes: bool


def draft_query(
    text: str, classes: Sequence[DescribedClass], terms: Sequence[FoundTerm], alike: Alike
) -> Draft | str:
    """Return the query that a question asks for, or what it cannot say."""
    if is_yes_no_question(text):
        return "yes or no"
    vocabulary = Vocabulary(classes)
    question = Question(text, vocabulary, terms, alike)
    roles = assign_roles(question)
    if isinstance(roles, str):
        return roles
    tries = [_Drafting(question, roles, target).draft() for target in _targets(question, roles)]
    drafts = [each for each in tries if isinstance(each, tuple)]
    if not drafts:
        return next((each for each in tries if isinstance(each, str)), "what is asked for")
    return min(drafts, key=lambda each: each[0])[1]


def assign_roles(question: Question) -> Roles | str:
    """Tell what each slot is for by the words before it; what cannot be told is returned in words."""
    roles, slots = Roles(), [each for each in question.slots if not each.is_weak]
    weak = [each for each in question.slots if each.is_weak]
    lemmas, cue = question.lemmas, question.cue
    for bound, places in question.bounds:
        roles.bounds.append((_bounded(question, bound, places), bound))
    bounded = [each.slot for each, _ in roles.bounds if each.slot]
    free = [each for each in slots if each not in bounded]
    by_word = (
        cue is not None
        and "by" in lemmas[question.cue_places.start :]
        and lemmas[question.cue_places.start] == "top"
    )
    for slot in [*free, *weak]:
        between = question.between(slot)
        words = [lemmas[at] for at in between]
        function = next((FUNCTIONS[word] for word in words if word in FUNCTIONS), "")
        is_counted = any(at in question.count for at in between)
        measured = cue is not None and (
            "by" in words or (not by_word and any(at in question.cue_places for at in between))
        )
        if slot.is_weak and not (measured and not (cue and cue.of)):
            continue
        if is_counted or function:
            roles.measures.append(Measure(slot, "COUNT" if is_counted else function))
        if (
            measured
            and cue
            and (is_counted or function or not cue.of or _is_attribute(slot))
            and roles.by is None
        ):
            roles.by = roles.measures[-1] if is_counted or function else Measure(slot)
        elif EACH.intersection(words) or (words[-1:] == ["by"] and roles.measures and not slot.terms):
            roles.groups.append(slot)
        elif (
            not (is_counted or function) and BESIDE.intersection(words) and slot.owned and slot is not free[0]
        ):
            roles.columns.append(slot)
    if cue is not None:
        roles.descending = cue.kind == "largest"
        if roles.by is None:
            if not cue.of:
                return " ".join(question.words[at].text for at in question.cue_places)
            roles.by = Measure(of=cue.of)
    _read_figures(question, roles)
    used = [roles.by.slot] if roles.by else []
    used += [each.slot for each in roles.measures]
    plain = [each for each in free if each not in used and each not in roles.columns and not each.terms]
    roles.target = next(iter(roles.groups or plain), None)
    if (
        roles.by
        and roles.by.slot
        and not roles.by.function
        and _is_attribute(roles.by.slot)
        and (roles.groups or not plain)
    ):
        roles.by.function = "MAX" if roles.descending else "MIN"
        roles.measures, roles.by = [*roles.measures, roles.by], None
    if roles.by is None and not roles.groups:
        roles.target = roles.measures[0].slot if roles.measures else roles.target
    named = next((each for each in plain if each.classes), None)
    if roles.columns and roles.target and not roles.target.classes and named and not roles.measures:
        roles.columns.insert(0, roles.target)
        roles.target = named
    return roles


def _is_attribute(slot: Slot) -> bool:
    return bool(slot.owned) and any(
        {"number", "date", "number as text"} & {*each.part.kinds} for each in slot.owned
    )


def _bounded(question: Question, bound: Bound, places: range) -> Measure:
    """Return what a bound is of: the slot right after it, else the attribute before it, else what it says."""
    after = next((each for each in question.slots if each.begin >= places.stop), None)
    if (
        after
        and not after.terms
        and not any(question.matters(at) for at in range(places.stop, after.begin))
        and not bound.dated
    ):
        return Measure(after)
    before = [each for each in question.slots if each.end <= places.start]
    said = [at for at in range(before[-1].end if before else 0, places.start) if question.matters(at)]
    if said and not bound.dated:
        return Measure(of=" ".join(question.words[at].text for at in said), places=tuple(said))
    named = [each for each in before if _is_attribute(each)]
    if named:
        return Measure(named[-1])
    cue = place_cue(" ".join(question.words[at].text for at in places if question.lemmas[at] != "than"))
    return Measure(of="date" if bound.dated else cue[0].of if cue else "number")


def _read_figures(question: Question, roles: Roles) -> None:
    """Read which of the ranked are asked for: "top 5", "the third", "from the 6th to the 10th"."""
    places = [read_ordinal(fold(question.words[at].text)) for at in question.figures]
    ordinals = [each for each in places if each]
    plain = [
        int(question.words[at].text) for at, each in zip(question.figures, places, strict=True) if not each
    ]
    if ordinals:
        roles.offset, roles.limit = ordinals[0] - 1, ordinals[-1] - ordinals[0] + 1
    elif plain:
        roles.limit = plain[0]


def _targets(question: Question, roles: Roles) -> list[str | Owned | None]:
    """Return what the target may be: a class, or a property of one."""
    if roles.target is None:
        return [id for id in question.vocabulary.classes]
    if roles.target.classes:
        return [*roles.target.classes]
    return [*roles.target.owned] or [*question.vocabulary.classes]


class _Drafting:
    """One way to draft a query: a tree for one target."""

    def __init__(self, question: Question, roles: Roles, target: str | Owned | None) -> None:
        self.question, self.roles, self.target = question, roles, target
        self.tree = QueryTree(question.vocabulary, self._said)
        self.at: dict[Slot, int] = {}
        self.used: set[int] = {*question.count, *question.cue_places}
        self.used |= {at for _, places in question.bounds for at in places}
        self.used |= {*question.figures} if roles.by else set()
        self.used |= {at for measure, _ in roles.bounds for at in measure.places}
        self.used |= {
            at
            for at, word in enumerate(question.lemmas)
            if word in FUNCTIONS or word in EACH or word == "top"
        }

    def _said(self, words: str) -> float:
        """Return how far the words of the question say a relation."""
        free = [each for each in self.question.lemmas if len(each) > 2]
        best = max(stem_overlap([words], free)[0], default=0.0) if free else 0.0
        return float(best)

    def draft(self) -> tuple[float, Draft] | str:
        """Return what the query costs and the query; or the words that nothing can be joined for."""
        tree, roles = self.tree, self.roles
        if isinstance(self.target, Owned):
            owner = tree.add_class(self.target.owner, stated=False)
            if owner is None:
                return "what is asked for"
            target = tree.step_from(owner, self.target.part)
            tree.cost += 1 - self.target.score
        else:
            stated = roles.target is not None and bool(roles.target.classes)
            made = tree.add_class(self.target or "", stated=stated)
            if made is None:
                return "what is asked for"
            target = made
        tree.asked = target
        if roles.target and not roles.target.terms:
            self._use(roles.target, target)
        for slot in self._in_order():
            if slot not in self.at and not self._attach(slot):
                if slot.is_weak:
                    continue
                return " ".join(self.question.words[at].text for at in range(slot.begin, slot.end))
        written = self._write(target)
        if isinstance(written, str):
            return written
        sparql, columns, reading = written
        unsaid = [*self._unsaid()]
        computes = bool(roles.measures or roles.by or roles.groups or roles.bounds or roles.columns)
        draft = Draft(sparql, tuple(columns), reading, tuple(unsaid), computes)
        return tree.cost + len(unsaid), draft

    def _in_order(self) -> Iterator[Slot]:
        """Yield classes, then what was found, then properties, those that name nothing by themselves last."""
        needed = [each.slot for each in (*self.roles.measures, self.roles.by or Measure()) if each.slot]
        rank = {
            slot: (not slot.classes, not slot.terms, slot.is_weak and slot not in needed)
            for slot in self.question.slots
        }
        yield from sorted(self.question.slots, key=lambda slot: rank[slot])

    def _use(self, slot: Slot, at: int) -> None:
        self.at[slot] = at
        self.used |= {*range(slot.begin, slot.end)}

    def _attach(self, slot: Slot) -> bool:
        needed = [each.slot for each in (*self.roles.measures, self.roles.by or Measure())]
        if slot.terms:
            before = [each for each in self.at if each.end <= slot.begin]
            nearest = max(before, key=lambda each: each.end, default=None)
            at = self.tree.add_term(slot.terms, self.at[nearest] if nearest else None)
        elif slot.classes:
            found = (self.tree.add_class(id) for id in slot.classes)
            at = next((each for each in found if each is not None), None)
        else:
            at = self.tree.add_property(slot.owned, known_only=slot.is_weak and slot not in needed)
        if at is None:
            return False
        self._use(slot, at)
        part = self.tree.part_to(at)
        if part and part.kinds == ("true or false",) and slot not in self.roles.columns and slot.owned:
            self.tree.bind(at, Literal("true", f"{XSD}boolean"))
        return True

    def _variable(self, measure: Measure) -> int | None:
        """Return the variable of what is measured; one of an attribute that a cue says is found by its name."""
        if measure.slot is not None:
            return self.tree.number_at(self.at[measure.slot])
        kinds = {"date"} if measure.of == "date" else {"number", "number as text", "date"}
        phrases = [each.strip() for each in measure.of.split(",")]
        tree, vocabulary = self.tree, self.question.vocabulary
        offered = []
        for owner, part in vocabulary.owned():
            measured = vocabulary.number_of(part)
            if kinds & {*part.kinds} or (measured and "number" in kinds):
                offered.append((owner, part))
        texts = [relation_phrase(part.words) for _, part in offered]
        scores = [0.0] * len(offered)
        for phrase in phrases:
            alike = self.question.alike(phrase, texts)
            stems = stem_overlap([phrase], texts)[0]
            scores = [max(score, like, stem) for score, like, stem in zip(scores, alike, stems, strict=True)]
        best = [Owned(o, p, s) for (o, p), s in zip(offered, scores, strict=True) if s >= MIN_ATTRIBUTE]
        at = tree.add_property(best) if best else None
        return None if at is None else tree.number_at(at)

    def _write(self, target: int) -> tuple[str, list[str], str] | str:
        """Return the query, its headings, and what it computes."""
        tree, roles = self.tree, self.roles
        name = self._name(target)
        filters, having = [], []
        for measure, bound in roles.bounds:
            at = self._variable(measure)
            if at is None:
                return str(bound.value)
            part = tree.part_to(at)
            sign, value = _OPERATORS[bound.by], f"{bound.value.normalize():f}"
            if part is not None and not part.joins and part.kinds:
                dated = "date" in part.kinds
                if dated != bound.dated:
                    return value
                filters.append(
                    f"FILTER({f'YEAR(?{tree.variables[at].name})' if dated else tree.number_text(at)} {sign} {value})"
                )
            else:
                having.append(f"COUNT(DISTINCT ?{tree.variables[at].name}) {sign} {value}")
        order = ""
        computed: list[tuple[str, str, int]] = []
        for measure in roles.measures:
            at = (
                self.at[measure.slot]
                if measure.function == "COUNT" and measure.slot
                else self._variable(measure)
            )
            if at is None or (measure.function != "COUNT" and not tree.is_number(at)):
                return "what is to be added"
            if measure.function == "COUNT" and tree.is_number(at):
                return f"the number of {self._name(at)}"
            computed.append((measure.function, self._name(at), at))
        grouped = bool(roles.groups or having)
        direction = "DESC" if roles.descending else "ASC"
        limit = f" LIMIT {roles.limit}" + (f" OFFSET {roles.offset}" if roles.offset else "")
        reading = f"{name}"
        by_text = ""
        if roles.by is not None:
            if roles.by.function:
                at = (
                    self.at[roles.by.slot]
                    if roles.by.function == "COUNT" and roles.by.slot
                    else self._variable(roles.by)
                )
                function = roles.by.function
            else:
                at = self._variable(roles.by)
                function = ""
                if at is not None and not (
                    tree.is_number(at)
                    or "date" in ((tree.part_to(at) or None) and tree.part_to(at).kinds or ())
                ):
                    function = "COUNT"
            if at is None:
                return roles.by.of or "what it is ranked by"
            by_text = f"{function} {self._name(at)}".strip()
            if function or tree.repeats():
                grouped = True
                function = function or ("MAX" if roles.descending else "MIN")
                by = self._aggregate(function, at)
            else:
                by = tree.number_text(at)
            order = f" ORDER BY {direction}({by}){limit}"
            computed = [each for each in computed if each[2] != at]
            reading += f" with the {'most' if roles.descending else 'least'} {by_text}"
        columns = [self.at[slot] for slot in roles.columns if slot in self.at]
        columns = [tree.number_at(at) for at in columns if not tree.variables[at].terms and at != target]
        patterns = " ".join(
            [
                *tree.patterns(optional=[at for at in columns if (p := tree.part_to(at)) and p.share < 1]),
                *filters,
            ]
        )
        headings = [name]
        variable = f"?{tree.variables[target].name}"
        if computed and not grouped:
            function, words, at = computed[0]
            if len(computed) > 1:
                return "two numbers"
            reading = f"{function.lower()} of {words}"
            if function == "COUNT":
                return (
                    f"SELECT (COUNT(DISTINCT ?{tree.variables[at].name}) AS ?number) WHERE {{ {patterns} }}",
                    ["number"],
                    reading,
                )
            body = patterns
            if tree.repeats():
                inner = " ".join(f"?{tree.variables[each].name}" for each in self._counted_once(at))
                body = f"{{ SELECT DISTINCT {inner} WHERE {{ {patterns} }} }}"
            return (
                f"SELECT ({function}({tree.number_text(at)}) AS ?value) WHERE {{ {body} }}",
                [reading],
                reading,
            )
        selected = [variable, *(f"?{tree.variables[at].name}" for at in columns)]
        headings += [self._name(at) for at in columns]
        if grouped:
            groups = " ".join(dict.fromkeys(selected))
            for number, (function, words, at) in enumerate(computed):
                selected.append(f"({self._aggregate(function, at)} AS ?value{number or ''})")
                headings.append(f"{function.lower()} of {words}")
                reading += f", {function.lower()} of {words}"
            tail = f" GROUP BY {groups}" + (f" HAVING({' && '.join(having)})" if having else "")
            return f"SELECT {' '.join(selected)} WHERE {{ {patterns} }}{tail}{order}", headings, reading
        distinct = "" if order else "DISTINCT "
        return f"SELECT {distinct}{' '.join(selected)} WHERE {{ {patterns} }}{order}", headings, reading

    def _aggregate(self, function: str, at: int) -> str:
        name = self.tree.variables[at].name
        return (
            f"COUNT(DISTINCT ?{name})" if function == "COUNT" else f"{function}({self.tree.number_text(at)})"
        )

    def _counted_once(self, at: int) -> list[int]:
        """Return the variables whose values together are one thing that is added."""
        root = next((s.start for s in self.tree.steps if s.end == at), at)
        return [*dict.fromkeys([*self.tree.way(root, at), 0, at])]

    def _name(self, at: int) -> str:
        part, each = self.tree.part_to(at), self.tree.variables[at]
        if each.stated or part is None:
            of = self.question.vocabulary.classes.get(each.stated or next(iter(each.classes), ""))
            return of.name if of else each.name
        return relation_phrase(part.words)

    def _unsaid(self) -> Iterator[str]:
        """Yield the words that the query does not say; for each join one phrase may paraphrase it."""
        joins = [
            relation_phrase(step.part.words) for step in self.tree.steps if step.end not in self.at.values()
        ]
        joins += [
            relation_phrase(step.part.words) for step in self.tree.steps if step.end in self.at.values()
        ]
        for places in self.question.left_over(self.used):
            words = " ".join(self.question.words[at].text for at in places)
            likes = [*self.question.alike(words, joins)] if joins else []
            stems = [*stem_overlap([words], joins)[0]] if joins else []
            best = max(range(len(joins)), key=lambda n: max(likes[n], stems[n]), default=None)
            if best is not None and max(likes[best], stems[best]) >= MIN_PARAPHRASE:
                joins.pop(best)
            else:
                yield words
