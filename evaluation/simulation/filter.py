"""Chooses among what was reached."""

from collections.abc import Sequence

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.kg.pages import Candidate
from kgqa.prompts.candidates import SHOWN
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred


async def filter_candidates(prompt: FilterCandidates, case: Case) -> FilteredCandidates:
    """Choose the gold answers; a wrong choice is of others."""
    return FilteredCandidates(chosen=_chosen(prompt.candidates[:SHOWN], case))


async def infer_from_evidence(prompt: InferFromEvidence, case: Case) -> Inferred:
    """Choose the gold answers; a wrong choice is of others."""
    return Inferred(chosen=_chosen(prompt.offered, case))


def _chosen(shown: Sequence[Candidate], case: Case) -> list[int]:
    marks = case.oracle.gold.mark([candidate.term for candidate in shown])
    right = [number for number, is_gold in enumerate(marks.right, 1) if is_gold]
    return wrong_choice(right, len(shown), case.draws) if case.happens("entity") else right
