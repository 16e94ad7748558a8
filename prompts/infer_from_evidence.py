"""What does the evidence carry (CoG §3.3, A.4.3; PoG: half stop), or the memory of the model?"""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, draw_candidate
from kgqa.prompts.chain import draw_chain
from kgqa.prompts.progress import MAX_SUBGOALS, draw_findings, draw_list

MAX_SEGMENTS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a path: a chain and what is at its end."""

    chain: Chain
    ends: tuple[Candidate, ...]


ALONE = (
    "Go by this evidence alone, and by nothing that you know besides: where it carries no candidate, leave "
    "both lists empty. No answer is better than a guess."
)
BESIDE = (
    "Where it carries no candidate, bridge what is missing by what you know, and name the most plausible "
    'answers in "answers", as short names, the most certain first.'
)


class Inferred(Reply):
    """The candidates that the evidence carries as answers, or else answers that the model knows."""

    rationale: str = Field(default="", description="one short sentence: what carries them")
    chosen: list[int] = Field(description="numbers of the candidates, best first; empty if none is carried")
    answers: list[str] = Field(
        default=[], description="where none is, answers from your own knowledge, as short names, if asked for"
    )


class InferFromEvidence(QuestionPrompt[Inferred]):
    """Answer from ``segments``, with ``own_knowledge`` also from what the model knows.

    ``unmet`` are the conditions that could not be verified.
    """

    segments: tuple[Segment, ...]
    findings: tuple[str, ...]
    unmet: tuple[str, ...]
    own_knowledge: bool = False

    instructions = """\
A search in a knowledge graph has ended with a part of the question not verified. You are given the \
question, the segments that it found, each a chain of relations and candidates at its end, what is \
known so far, and subgoals of which nothing is verified. Choose the candidates that this evidence \
carries as answers; the line before "Reply" says what to do where it carries none.

- A candidate is carried if it is of the kind that is asked for, the segments and what is known say of \
it what the question says, and only something that is not verified is missing.
- Candidates marked with * are reached only by coming back to the start of their chain.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

Reply with one JSON object: {"rationale": "one short sentence", "chosen": [numbers, best first], \
"answers": []}. Where candidates are chosen, leave "answers" empty.

Example
Question: "Which opera by Weber did Berlin see first?"
Segment: "Carl Maria von Weber" <-composed_by- ?1
1. "Der Freischütz"
2. "Euryanthe"
Segment: "Berlin" <-located_in- ?1
3. "Schauspielhaus"
Known so far:
- "Der Freischütz opened the Schauspielhaus."
Not verified:
- "Find which of the operas had its first night in Berlin."
Go by this evidence alone, and by nothing that you know besides: where it carries no candidate, leave both \
lists empty. No answer is better than a guess.
Reply: {"rationale": "Der Freischütz is his, and is known to have opened a house in Berlin.", "chosen": \
[1], "answers": []}

Example
Question: "Who taught the painter of The Monk by the Sea?"
Segment: "The Monk by the Sea" -painted_by-> ?1
1. "Caspar David Friedrich"
Known so far:
- "Caspar David Friedrich painted it."
Not verified:
- "Find who taught this painter."
Go by this evidence alone, and by nothing that you know besides: where it carries no candidate, leave both \
lists empty. No answer is better than a guess.
Reply: {"rationale": "Only the painter is known, none of his teachers.", "chosen": [], "answers": []}
"""

    @property
    def offered(self) -> tuple[Candidate, ...]:
        """The candidates that are shown, in the order of their numbers."""
        ends = (end for segment in self.segments[:MAX_SEGMENTS_SHOWN] for end in segment.ends)
        return tuple(ends)[:MAX_CANDIDATES_SHOWN]

    def _lines(self) -> Iterable[str]:
        shown = 0
        for segment in self.segments[:MAX_SEGMENTS_SHOWN]:
            ends = segment.ends[: MAX_CANDIDATES_SHOWN - shown]
            yield f"Segment: {draw_chain(segment.chain)}"
            yield from (f"{number}. {draw_candidate(end)}" for number, end in enumerate(ends, shown + 1))
            shown += len(ends)
        if not self.segments:
            yield "Segments: none"
        yield draw_findings(self.findings)
        if self.unmet:
            yield draw_list("Not verified", self.unmet[:MAX_SUBGOALS])
        yield BESIDE if self.own_knowledge else ALONE

    def check(self, reply: Inferred) -> None:
        """Refuse numbers that were not offered or come twice, and answers where none are asked for."""
        check_numbers(reply.chosen, len(self.offered), "candidate")
        if reply.answers and not self.own_knowledge:
            raise ValueError('go by the evidence alone; leave "answers" empty')
        if reply.answers and reply.chosen:
            raise ValueError('where candidates are chosen, leave "answers" empty')


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
