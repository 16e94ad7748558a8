"""What each slot of a question is for: what is asked for, grouped, computed, compared, ranked or shown.

The words between slots tell: "how many", "average", "for each", "more than", "most".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from kgqa.kg.text import fold
from kgqa.models.offline.question_intent import Bound, Modifier, place_modifier
from kgqa.models.offline.question_slots import EACH, Question, Slot
from kgqa.models.offline.vocabulary import Owned
from kgqa.retrieval.number_words import read_ordinal

FUNCTIONS = {"average": "AVG", "mean": "AVG", "total": "SUM", "sum": "SUM", "combined": "SUM"}
BESIDE = frozenset({"with", "and", "their", "its", "including", "along"})
ATTRIBUTES = frozenset({"number", "date", "number as text"})
MIN_LISTED = 3  # attributes in a row that are shown, whatever stands before them
HAVING = frozenset({"has", "have", "had"})


@dataclass
class Measure:
    """What is computed or compared: what a slot names, or an attribute ``of`` some kind, by a function.

    ``places`` are the words of the question that say what it is of.
    """

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

    @property
    def computes(self) -> bool:
        """Whether more is asked for than the members of a class."""
        return bool(self.measures or self.by or self.groups or self.bounds or self.columns)

    @property
    def measured(self) -> list[Slot]:
        """The slots of what is computed or ranked by."""
        by = [self.by] if self.by else []
        return [each.slot for each in (*self.measures, *by) if each.slot]


def is_attribute(slot: Slot, question: Question) -> bool:
    """Return whether a slot names a number or a date."""
    parts = (each.part for each in slot.owned)
    return any(ATTRIBUTES & {*each.kinds} or question.vocabulary.number_of(each) for each in parts)


def assign_roles(question: Question) -> Roles | str:
    """Return what each slot is for; or the words for which that cannot be told."""
    roles = Roles(bounds=[(_bounded(question, bound, at), bound) for bound, at in question.bounds])
    bounded = [each.slot for each, _ in roles.bounds]
    free = [each for each in question.slots if each not in bounded]
    for slot in free:
        _assign(slot, question, roles)
    _list_columns(question, roles)
    plain = [
        each
        for each in free
        if not (each.is_weak or each.terms or each in roles.measured or each in roles.columns)
    ]
    if (unclear := _rank(question, roles, plain)) is not None:
        return unclear
    _read_figures(question, roles)
    roles.target = _target(question, roles, plain)
    named = next((each for each in plain if each.classes), None)
    if roles.columns and roles.target and not roles.target.classes and named and not roles.measures:
        roles.columns.insert(0, roles.target)  # attributes are told of what has them
        roles.target = named
    return roles


def _assign(slot: Slot, question: Question, roles: Roles) -> None:
    """Tell what a slot is for by the words before it."""
    between = question.between(slot)
    words = [question.lemmas[at] for at in between]
    function = next((FUNCTIONS[word] for word in words if word in FUNCTIONS), "")
    if any(at in question.count for at in between):
        function = "COUNT"
    ranked = "by" in words if question.is_top else any(at in question.modifier_places for at in between)
    if slot.is_weak and not (ranked and question.modifier and not question.modifier.of):
        return
    if function and not (slot.terms and function != "COUNT"):
        roles.measures.append(Measure(slot, function))
    can_rank = function or (question.modifier and not question.modifier.of) or is_attribute(slot, question)
    if ranked and can_rank and roles.by is None and not (slot.terms and not function):
        roles.by = roles.measures.pop() if function else Measure(slot)
    elif EACH.intersection(words) or (words[-1:] == ["by"] and roles.measures and not slot.terms):
        roles.groups.append(slot)
    elif not function and BESIDE.intersection(words) and slot.owned and slot is not question.slots[0]:
        roles.columns.append(slot)


def _list_columns(question: Question, roles: Roles) -> None:
    """Take attributes that are listed for columns: "name, country and price", and those listed with one."""
    for listed, run in groupby(_listed(question), key=lambda slots: bool(slots)):
        row = [*dict.fromkeys(slot for slots in run for slot in slots)] if listed else []
        told = any(slot in roles.columns for slot in row)
        if len(row) >= MIN_LISTED or told:
            taken = (*roles.columns, *roles.measured, *roles.groups)
            roles.columns += [slot for slot in row if slot not in taken]
    roles.columns.sort(key=lambda slot: slot.begin)


def _listed(question: Question) -> Iterator[tuple[Slot, ...]]:
    """Yield each pair of attributes with nothing but "and" between them, and for each other pair nothing."""
    for one, two in pairwise(question.slots):
        between = {question.lemmas[at] for at in question.between(two)}
        attributes = one.owned and two.owned and not (one.is_weak or two.is_weak)
        yield (one, two) if attributes and between <= {"and"} else ()


def _rank(question: Question, roles: Roles, plain: Sequence[Slot]) -> str | None:
    """Tell what is ranked by, or of which groups an extreme is computed; return words that nothing says."""
    modifier = question.modifier
    if modifier is None:
        return None
    roles.descending = modifier.kind == "largest"
    if roles.by is None:
        after = question.modifier_places.stop
        noun = after < len(question.words) and question.matters(after) and not question.slot_at(after)
        if noun:
            roles.by = Measure(of=question.words[after].text, places=(after,))
        elif modifier.of:
            roles.by = Measure(of=modifier.of)
        else:
            return " ".join(question.words[at].text for at in question.modifier_places)
    slot = roles.by.slot
    asked = (
        slot is not None and is_attribute(slot, question) and all(each.begin > slot.begin for each in plain)
    )
    if not roles.by.function and (roles.groups or asked):
        roles.measures.append(_extreme(roles.by, modifier))
        roles.by = None
        if roles.groups and question.other_cue:
            roles.measures.append(_extreme(Measure(of=question.other_cue.of), question.other_cue))
    return None


def _extreme(measure: Measure, modifier: Modifier) -> Measure:
    function = "MAX" if modifier.kind == "largest" else "MIN"
    return Measure(measure.slot, function, measure.of, measure.places)


def _target(question: Question, roles: Roles, plain: Sequence[Slot]) -> Slot | None:
    """Return the slot of what is asked for; None where it is what has something that is said."""
    if roles.groups:
        return roles.groups[0]
    if roles.measures and roles.by is None:
        return roles.measures[0].slot
    first = question.slots[0] if question.slots else None
    if first and first.terms and question.asks_for(first):
        return None
    target = next(iter(plain), None)
    if (
        target
        and target.owned
        and HAVING.intersection(question.lemmas[at] for at in question.between(target))
    ):
        return None
    return target


def _bounded(question: Question, bound: Bound, places: range) -> Measure:
    """Return what a bound is of: the slot right after it, else what is said before it, else its own words."""
    after = next((each for each in question.slots if each.begin >= places.stop), None)
    beside = after and not any(question.matters(at) for at in range(places.stop, after.begin))
    if after and beside and not (after.terms or bound.dated):
        return Measure(after)
    before = [each for each in question.slots if each.end <= places.start]
    said = [at for at in range(before[-1].end if before else 0, places.start) if question.matters(at)]
    if said and not bound.dated:
        return Measure(of=" ".join(question.words[at].text for at in said), places=tuple(said))
    if named := [each for each in before if is_attribute(each, question)]:
        return Measure(named[-1])
    modifier = place_modifier(
        " ".join(question.words[at].text for at in places if question.lemmas[at] != "than")
    )
    return Measure(of="date" if bound.dated else modifier[0].of if modifier else "number")


def _read_figures(question: Question, roles: Roles) -> None:
    """Read which of the ranked are asked for: "top 5", "the third", "from the 6th to the 10th"."""
    words = [fold(question.words[at].text) for at in question.ranks]
    ordinals = [place for word in words if (place := read_ordinal(word))]
    plain = [int(word) for word in words if word.isdigit()]
    if ordinals:
        roles.offset, roles.limit = ordinals[0] - 1, max(1, ordinals[-1] - ordinals[0] + 1)
    elif plain:
        roles.limit = plain[0]


def list_targets(question: Question, roles: Roles) -> list[str | Owned]:
    """Return what the target may be: a class, or a property of one."""
    if roles.target is None or roles.target.terms:
        named = dict.fromkeys(id for slot in question.slots for id in slot.classes)
        return [id for id in question.vocabulary.classes if id not in named] or [*named]
    return [*roles.target.classes] or [*roles.target.owned]
