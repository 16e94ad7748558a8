"""What is the answer, at once? (IO: input and output alone)."""

from pydantic import Field

from kgqa.prompts.base import QuestionPrompt, Reply


class BriefAnswer(Reply):
    """Answers from the model's own memory, without a reason; a record labels them parametric."""

    answers: list[str] = Field(description="each answer as a short name, best first; empty if unknown")


class AnswerBriefly(QuestionPrompt[BriefAnswer]):
    """Answer from memory, without reasoning."""

    instructions = """\
Answer the question from what you know, at once and without an explanation. Give each answer as a \
short name, number or date, one list item each, the most certain first. If you do not know, reply \
with an empty list.

Reply with one JSON object: {"answers": ["...", "..."]}.

Example
Question: "Which two seas does the Kiel Canal join?"
Reply: {"answers": ["North Sea", "Baltic Sea"]}
"""
