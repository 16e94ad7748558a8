"""What is the answer, from memory alone? Where the search fails (CoR appendix A.4), and without a graph.

IO answers at once, CoT and SC step by step.
"""

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


class ReasonedAnswer(Reply):
    """Answers from the model's own memory and how it came to them; a record labels them parametric."""

    reasoning: str = Field(description="the steps, one short sentence each")
    answers: list[str] = Field(description="each answer as a short name, best first; empty if unknown")


class ReasonAloud(QuestionPrompt[ReasonedAnswer]):
    """Answer from memory, step by step.

    ``sample`` keeps equal prompts apart in a model's cache, ``temperature`` is used instead
    of the model's own; neither is shown.
    """

    sample: int = 0
    temperature: float | None = None

    instructions = """\
Answer the question from what you know. Think step by step first: say what has to be known, one \
short sentence a step, until the answer follows. Then give each answer as a short name, number or \
date, one list item each, the most certain first. If you do not know, reply with an empty list.

Reply with one JSON object: {"reasoning": "the steps", "answers": ["...", "..."]}.

Example
Question: "In which sea does the river that flows through Meissen end?"
Reply: {"reasoning": "Meissen lies on the Elbe. The Elbe ends in the North Sea at Cuxhaven.", \
"answers": ["North Sea"]}
"""
