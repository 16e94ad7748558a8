"""What do the verified segments carry? (CoG §3.3 and appendix A.4.3: grounded inference)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

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
    """A verified part of a path: a chain and what is at its end."""

    chain: Chain
    ends: tuple[Candidate, ...]


class Inferred(Reply):
    """The candidates that the evidence carries as answers."""

    rationale: str = Field(default="", description="one short sentence: what carries them")
    chosen: list[int] = Field(description="numbers of the candidates, best first; empty if none is carried")


class InferFromEvidence(QuestionPrompt[Inferred]):
    """Answer from ``segments`` alone; ``unmet`` are the conditions that could not be verified."""

    segments: tuple[Segment, ...]
    findings: tuple[str, ...]
    unmet: tuple[str, ...]

    instructions = """\
A search in a knowledge graph has ended with a part of the question not verified. You are given the \
question, the segments that it found, each a chain of relations and candidates at its end, what is \
known so far, and subgoals of which nothing is verified. Choose the candidates that this evidence \
carries as answers.

- Use the evidence alone, nothing that you know besides.
- A candidate is carried if it is of the kind that is asked for, the segments and what is known say of \
it what the question says, and only something that is not verified is missing.
- Candidates marked with * are reached only by coming back to the start of their chain.
- If the evidence carries none, reply with an empty list: no answer is better than a guess.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

Reply with one JSON object: {"rationale": "one short sentence", "chosen": [numbers, best first]}.

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
Reply: {"rationale": "Der Freischütz is his, and is known to have opened a house in Berlin.", "chosen": [1]}

Example
Question: "Who taught the painter of The Monk by the Sea?"
Segment: "The Monk by the Sea" -painted_by-> ?1
1. "Caspar David Friedrich"
Known so far:
- "Caspar David Friedrich painted it."
Not verified:
- "Find who taught this painter."
Reply: {"rationale": "Only the painter is known, none of his teachers.", "chosen": []}
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

    def check(self, reply: Inferred) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.chosen, len(self.offered), "candidate")


class InferredOrKnown(Inferred):
    """The candidates that the evidence carries, or else answers that the model knows."""

    answers: list[str] = Field(
        default=[], description="where no candidate is the answer: what you know to be it, as short names"
    )


class InferWithKnowledge(InferFromEvidence):
    """Answer from ``segments``, and where they lack the answer from what the model knows."""

    reply: ClassVar[type[Reply]] = InferredOrKnown

    instructions = """\
A search in a knowledge graph has ended with a part of the question not verified. You are given the \
question, the segments that it found, if any, each a chain of relations and candidates at its end, what \
is known so far, and subgoals of which nothing is verified. Give the most plausible answer.

- Candidates that the evidence carries come first: their numbers in "chosen", best first.
- Where none of them is the answer, bridge what is missing by what you know, and name the answers in \
"answers", as short names, the most certain first; leave "chosen" empty then.
- Candidates marked with * are reached only by coming back to the start of their chain.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

Reply with one JSON object: {"rationale": "one short sentence", "chosen": [numbers], "answers": ["..."]}.

Example
Question: "Which river runs through the town where the painter of The Monk by the Sea was born?"
Segment: "The Monk by the Sea" -painted_by-> ?1
1. "Caspar David Friedrich"
Known so far:
- "Caspar David Friedrich painted it."
Not verified:
- "Find the river of his birthplace."
Reply: {"rationale": "He was born in Greifswald, on the Ryck.", "chosen": [], "answers": ["Ryck"]}
"""

    def check(self, reply: Inferred) -> None:
        """Refuse numbers that were not offered, and answers beside them."""
        super().check(reply)
        if reply.chosen and isinstance(reply, InferredOrKnown) and reply.answers:
            raise ValueError('where candidates are chosen, leave "answers" empty')
