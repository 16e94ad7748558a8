"""Which of these candidates fit the question? (CoR §4.2, step 2: entity filtering)."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Condition
from kgqa.kg.terms import Chain
from kgqa.prompts.attributes import draw_applied
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers
from kgqa.prompts.candidates import draw_candidate, draw_candidates
from kgqa.prompts.chain import draw_chain, draw_met
from kgqa.prompts.progress import Progress
from kgqa.prompts.target import Target

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

    async def answer(self, target: Target) -> FilteredCandidates:
        """Choose the answers, or what they count."""
        chosen = target.choose(await target.answers_among(self.chain, self.offered), len(self.offered))
        return FilteredCandidates(chosen=chosen, count=await target.counts(self.candidates))


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
