"""Answers from memory, at once or aloud."""

from kgqa.evaluation.simulation.case import Case
from kgqa.prompts.answer_briefly import AnswerBriefly, BriefAnswer
from kgqa.prompts.reason_aloud import ReasonAloud, ReasonedAnswer


async def answer_briefly(prompt: AnswerBriefly, case: Case) -> BriefAnswer:
    """Name the gold answers, or say that they are not known."""
    return BriefAnswer(answers=case.oracle.gold.names if case.happens("memory") else [])


async def reason_aloud(prompt: ReasonAloud, case: Case) -> ReasonedAnswer:
    """Name the gold answers, or say that they are not known; all samples agree."""
    knows = case.happens("memory")
    said = "It is known." if knows else "It is not known."
    return ReasonedAnswer(reasoning=said, answers=case.oracle.gold.names if knows else [])
