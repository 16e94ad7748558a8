"""Whether the answers of a plan are right, as far as their names tell."""

from collections.abc import Sequence

from kgqa.evaluation.question import Named, Question
from kgqa.evaluation.scores import score


def right(answers: Sequence[str], question: Question) -> bool:
    """Tell whether the first answer is right, strictly; a question without gold has none that is."""
    found = score([Named(None, answer) for answer in answers], question)
    return found is not None and found.hit_at_1 > 0
