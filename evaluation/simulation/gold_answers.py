"""Which terms of the graph are gold answers."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.matching import AnswerKeys, NameKey, answer_keys
from kgqa.evaluation.simulation.graph_cache import resolve_iri
from kgqa.kg.terms import Term

_MAX_IDS = 10

AnyTerm = TypeVar("AnyTerm", bound=Term)

YesNoVerdict: TypeAlias = Literal["yes", "no", "unknown"]

_VERDICTS: dict[NameKey, YesNoVerdict] = {
    NameKey("truth", value=True): "yes",
    NameKey("truth", value=False): "no",
    NameKey("words", "unknown"): "unknown",
}


class AnswerMarks(NamedTuple):
    """How terms compare with the gold answers."""

    right: tuple[bool, ...]  # which of the terms are gold answers
    missing: int  # gold answers that are not among the terms

    @property
    def numbers(self) -> list[int]:
        """The gold answers among the terms, numbered from 1."""
        return [number for number, right in enumerate(self.right, 1) if right]

    @property
    def exact(self) -> bool:
        """Whether the terms are the gold answers."""
        return bool(self.right) and all(self.right) and not self.missing

    @property
    def f1(self) -> float:
        """How well the terms fit, from 0 to 1."""
        right = sum(self.right)
        return 2 * right / (right + self.missing + len(self.right)) if right else 0.0


class _ReadingIndex:
    """The gold answers of one reading, indexed by id and by name; the same rules as `matching.is_same`."""

    def __init__(self, answers: Sequence[EntityRef]) -> None:
        self._all = [answer_keys(answer, aliases=True) for answer in answers]
        self._ids: dict[str, int] = {}
        self._local: dict[str, int] = {}
        self._names: dict[NameKey, list[int]] = defaultdict(list)
        for number, (named, answer) in enumerate(zip(answers, self._all, strict=True)):
            if named.id:
                self._ids.setdefault(named.id, number)
            if answer.id:
                self._local.setdefault(answer.id.local, number)
            for name in answer.names:
                self._names[name].append(number)

    @property
    def size(self) -> int:
        return len(self._all)

    @property
    def is_number(self) -> bool:
        return self.size == 1 and any(name.kind == "number" for name in self._names)

    @property
    def verdict(self) -> YesNoVerdict | None:
        first = self._all[0] if self.size == 1 else None
        told_apart = first is None or (first.id is not None and first.id.scheme is not None)
        return None if told_apart else next((_VERDICTS[n] for n in self._names if n in _VERDICTS), None)

    def mark(self, terms: Iterable[Term]) -> AnswerMarks:
        found = [self._number(term) for term in terms]
        return AnswerMarks(tuple(n is not None for n in found), len(self._all) - len({*found} - {None}))

    def _number(self, term: Term) -> int | None:
        if (number := self._ids.get(term.id)) is not None:
            return number
        reading = answer_keys(EntityRef(term.id, term.name))
        if reading.id and (number := self._local.get(reading.id.local)) is not None:
            return number
        return next((n for n in self._named(reading) if self._all[n].matches(reading)), None)

    def _named(self, reading: AnswerKeys) -> Iterable[int]:
        return (number for name in reading.names for number in self._names.get(name, ()))


class GoldAnswers:
    """The gold answers of a question, in all its readings."""

    def __init__(self, question: Question) -> None:
        self._readings = [_ReadingIndex(reading) for reading in question.readings if reading]
        self._named = question.gold

    @property
    def is_single(self) -> bool:
        """Whether one gold answer is all, in some reading."""
        return any(answers.size == 1 for answers in self._readings)

    @property
    def is_number(self) -> bool:
        """Whether one number is all, in some reading."""
        return any(answers.is_number for answers in self._readings)

    @property
    def verdict(self) -> YesNoVerdict | None:
        """The answer to a question that asks for yes or no; None where an entity is asked for."""
        return next(filter(None, (answers.verdict for answers in self._readings)), None)

    @property
    def names(self) -> list[str]:
        """The names of the gold answers."""
        return [named.name or named.id or "" for named in self._named]

    @property
    def ids(self) -> list[str]:
        """The ids, as IRIs, of the gold answers that have one, some of many."""
        return list(dict.fromkeys(iri for named in self._named if (iri := resolve_iri(named.id))))[:_MAX_IDS]

    def mark(self, terms: Sequence[Term]) -> AnswerMarks:
        """Compare terms with the reading that they fit best, the first of several."""
        marks = [answers.mark(terms) for answers in self._readings] or [AnswerMarks((False,) * len(terms), 0)]
        return max(marks, key=lambda each: each.f1)

    def among(self, terms: Sequence[AnyTerm]) -> list[AnyTerm]:
        """Return the terms that are gold answers."""
        return [term for term, right in zip(terms, self.mark(terms).right, strict=True) if right]
