"""Which candidates fit the question? (CoR §4.2, step 2; over a frontier, CoG §3.2.2, A.2.2)."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Condition
from kgqa.kg.terms import Chain
from kgqa.prompts.attributes import draw_applied
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers
from kgqa.prompts.candidates import (
    ChainFindings,
    draw_candidate,
    draw_candidates,
    draw_chain_findings,
    numbered_candidates,
)
from kgqa.prompts.chain import draw_chain, draw_met
from kgqa.prompts.progress import PlannedPrompt, Progress

MAX_LOT_CHARS = 40_000  # characters of the candidates that one prompt shows at most: of some 1,500 names
_LINE_CHARS = 6  # characters of a line around a candidate: its number and the end of the line


class FilteredCandidates(Reply):
    """The candidates that meet every condition of the question."""

    rationale: str = Field(default="", description="one short sentence: by which conditions")
    chosen: list[int] = Field(description="numbers of the candidates that fit, best first")
    count: bool = Field(default=False, description="true when the question asks how many fit")


class FilterCandidates(QuestionPrompt[FilteredCandidates]):
    """Choose among the ends of a chain, in lots; those of ``met`` have them as well, all meet ``applied``."""

    chain: Chain
    candidates: tuple[Candidate, ...]
    progress: Progress | None = None
    met: tuple[Chain, ...] = ()
    applied: tuple[Condition, ...] = ()

    instructions = """\
You finish a search in a knowledge graph. You are given a question, the chain of relations that \
leads to its kind of answer, and the candidates at the end of the chain. Choose every candidate \
that meets all conditions of the question at once: attributes, times, comparisons, superlatives. All \
candidates meet what this chain says, and any other chain that they are also the ends of.

Choose only from the numbered candidates. If several fit, choose all of them; if none fits, \
reply with an empty list. If the question asks how many, choose those to be counted and set \
"count" to true.

Reply with one JSON object: {"rationale": "one short sentence", "chosen": [numbers, best first], \
"count": false}.

Example
Question: "Which of the Brontë sisters died in Scarborough?"
Chain: "Patrick Brontë" <-father- ?1
Candidates (4):
1. "Anne Brontë"
2. "Branwell Brontë"
3. "Charlotte Brontë"
4. "Emily Brontë"
Reply: {"rationale": "Anne died there in 1849.", "chosen": [1], "count": false}
"""

    def _lines(self) -> Iterable[str]:
        progress = (self.progress.draw(),) if self.progress else ()
        candidates = draw_candidates(self.candidates, shown=len(self.offered))
        chains = f"Chain: {draw_chain(self.chain)}", *draw_met(self.met), *draw_applied(self.applied)
        return *progress, *chains, candidates

    @property
    def lots(self) -> list[tuple[Candidate, ...]]:
        """The candidates in lots that one prompt can show each, in their order."""
        return list(split_lots(self.candidates, map(draw_candidate, self.candidates)))

    @property
    def offered(self) -> tuple[Candidate, ...]:
        """The candidates that the prompt shows."""
        return next(iter(self.lots), ())

    def check(self, reply: FilteredCandidates) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.chosen, len(self.offered), "candidate")


def split_lots(candidates: Sequence[Candidate], drawn: Iterable[str]) -> Iterator[tuple[Candidate, ...]]:
    """Yield the candidates in lots, as long as they are ``drawn``."""
    lot: list[Candidate] = []
    chars = 0
    for candidate, text in zip(candidates, drawn, strict=True):
        line = len(text) + _LINE_CHARS
        if lot and chars + line > MAX_LOT_CHARS:
            yield tuple(lot)
            lot, chars = [], 0
        lot.append(candidate)
        chars += line
    if lot:
        yield tuple(lot)


class KeptCandidates(Reply):
    """The candidates that the search keeps."""

    rationale: str = Field(default="", description="one short sentence: why these")
    keep: list[int] = Field(description="numbers of the candidates to keep; empty if none can help")


class FilterFound(PlannedPrompt[KeptCandidates]):
    """Choose among the candidates that are shown of what was ``found``."""

    found: tuple[ChainFindings, ...]

    instructions = """\
You filter what a search in a knowledge graph has found. You are given a question, its subgoals and \
what is known of them, and groups, each a chain of relations with the candidates at its end. Name the \
candidates that the answer can be reached from, or that are answers: no more than the question's \
conditions let through, and all of those that they do not tell apart.

- Leave out a whole group whose chain leads astray. If no group helps, the list is empty.
- Where there are several topic entities, each has a chain of its own: what the question says of \
another one need not be true of this chain alone.
- Candidates marked with * are reached only by coming back to the start. Do not doubt the data.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

Reply with one JSON object: {"rationale": "one short sentence", "keep": [numbers]}.

Example
Question: "When was the university opened that Lise Meitner studied at?"
Subgoals:
- "Find the university."
- "Find when it was opened."
Known so far: nothing
Group 1: "Lise Meitner" -educated_at-> ?1 (2)
1. "Akademisches Gymnasium"
2. "University of Vienna"
Group 2: "Lise Meitner" -award-> ?1 (1)
3. "Leibniz Medal"
Reply: {"rationale": "One is a university; a medal leads nowhere.", "keep": [2]}
"""

    def _lines(self) -> Iterable[str]:
        return draw_chain_findings(self.found)

    def check(self, reply: KeptCandidates) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.keep, len(numbered_candidates(self.found)), "candidate")
