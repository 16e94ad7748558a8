"""Which terms of the graph are gold answers."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.matching import AnswerIndex, AnswerKeys, NameKey, answer_keys
from kgqa.evaluation.simulation.graph_cache import resolve_iri
from kgqa.kg.proof.query import Function
from kgqa.kg.terms import Term
from kgqa.prompts.candidates import Take

_MAX_IDS = 10

_TAKES: dict[Function, Take] = {"count": "count", "min": "smallest", "max": "largest"}

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


class GoldAnswers:
    """The gold answers of a question, in all its readings; compared by the rules of `matching.is_same`."""

    def __init__(self, question: Question) -> None:
        self._named = question.gold
        self._readings = [
            AnswerIndex([answer_keys(answer, aliases=True) for answer in reading])
            for reading in question.readings
            if reading
        ]
        alone = [index.answers[0] for index in self._readings if len(index.answers) == 1]
        self.is_single = bool(alone)  # one gold answer is all, in some reading
        self.is_number = any(name.kind == "number" for answer in alone for name in answer.names)
        self.takes = _computed_takes(question, single=self.is_single)
        literals = (answer for answer in alone if not (answer.id and answer.id.scheme))
        verdicts = (_VERDICTS.get(name) for answer in literals for name in answer.names)
        # None where no yes or no is asked for.
        self.verdict: YesNoVerdict | None = next(filter(None, verdicts), None)

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
        given = [answer_keys(EntityRef(term.id, term.name)) for term in terms]
        marks = [_mark_reading(given, index) for index in self._readings]
        return max(marks, key=lambda each: each.f1, default=AnswerMarks((False,) * len(terms), 0))

    def among(self, terms: Sequence[AnyTerm]) -> list[AnyTerm]:
        """Return the terms that are gold answers."""
        return [term for term, right in zip(terms, self.mark(terms).right, strict=True) if right]


def _computed_takes(question: Question, *, single: bool) -> tuple[Take, ...]:
    """Return what the answer may be computed by from what a gold path leads to: by its query, or by any."""
    if question.query is None:
        return tuple(_TAKES.values()) if single else ()
    computed = None if question.query.conditions else question.query.aggregate
    return (_TAKES[computed.function],) if computed and computed.function in _TAKES else ()


def _mark_reading(given: Sequence[AnswerKeys], gold: AnswerIndex) -> AnswerMarks:
    found = [next(iter(gold.find(answer)), None) for answer in given]
    return AnswerMarks(tuple(n is not None for n in found), len(gold.answers) - len({*found} - {None}))
