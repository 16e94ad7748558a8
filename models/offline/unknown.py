"""What likeness of words cannot tell: facts."""

from kgqa.models.offline.words import Encode
from kgqa.prompts.answer_directly import AnswerDirectly, DirectAnswer
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred


def keep_all(prompt: FilterCandidates, _: Encode) -> FilteredCandidates:
    """Keep every candidate."""
    counting = "how many" in prompt.question.lower()
    numbers = list(range(1, len(prompt.candidates) + 1))
    return FilteredCandidates(
        rationale="no condition can be checked by words", chosen=numbers, count=counting
    )


def infer(prompt: InferFromEvidence, _: Encode) -> Inferred:
    """Choose nothing."""
    return Inferred(rationale="words alone carry no answer", chosen=[])


def abstain(prompt: AnswerDirectly, _: Encode) -> DirectAnswer:
    """Answer nothing."""
    return DirectAnswer(rationale="the offline model knows no facts", answers=[])
