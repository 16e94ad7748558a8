"""What is the answer, from memory alone? (CoR appendix A.4: generate directly)."""

from pydantic import Field

from kgqa.prompts.base import QuestionPrompt, Reply


class DirectAnswer(Reply):
    """Answers from the model's own memory; a record labels them parametric."""

    rationale: str = Field(default="", description="one short sentence: why")
    answers: list[str] = Field(description="each answer as a short name, best first; empty if unknown")


class AnswerDirectly(QuestionPrompt[DirectAnswer]):
    """Answer without the graph, where the search has found nothing."""

    instructions = """\
Answer the question from what you know. Give each answer as a short name, number or date, one \
list item each, the most certain first. If you do not know, reply with an empty list.

Reply with one JSON object: {"rationale": "one short sentence", "answers": ["...", "..."]}.

Example
Question: "Which two seas does the Kiel Canal join?"
Reply: {"rationale": "It crosses Holstein from Brunsbüttel to Kiel.", "answers": ["North Sea", "Baltic Sea"]}
"""
