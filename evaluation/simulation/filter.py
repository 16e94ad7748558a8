"""Chooses among the ends of a chain."""

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.prompts.candidates import SHOWN
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates


async def filter_candidates(prompt: FilterCandidates, case: Case) -> FilteredCandidates:
    """Choose the gold answers; a wrong choice is of others."""
    shown = prompt.candidates[:SHOWN]
    marks = case.oracle.gold.mark([candidate.term for candidate in shown])
    right = [number for number, is_gold in enumerate(marks.right, 1) if is_gold]
    return FilteredCandidates(
        chosen=wrong_choice(right, len(shown), case.draws) if case.happens("entity") else right
    )
