"""Is what was found enough? (CoG §3.2.2: entity filter, memory update and sufficiency check in one)."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers, quoted
from kgqa.prompts.candidates import (
    LEFT_TO_THE_GRAPH,
    MAX_CANDIDATES_SHOWN,
    VERDICT_RULES,
    ChainFindings,
    Take,
    check_take,
    draw_candidates,
    draw_siblings,
)
from kgqa.prompts.chain import draw_awaited, draw_chain, draw_met
from kgqa.prompts.progress import Progress


class Sufficiency(Reply):
    """What the candidates establish, what to do next, and with which of them."""

    rationale: str = Field(default="", description="one short sentence: why")
    finding: str = Field(default="", description="what is now known for the current subgoal, or empty")
    decision: Literal["stop", "filter", "forward", "backtrack"] = Field(
        description="stop, filter, forward or backtrack"
    )
    take: Take = Field(default="all", description="for stop: what of the candidates is the answer")
    chosen: list[int] = Field(
        default=[], description="candidate numbers, best first: for stop with take=some, and for filter"
    )
    keep: list[int] = Field(
        default=[], description="for forward: numbers of the candidates to go on from; empty for all"
    )
    united: list[int] = Field(default=[], description="unless forward: chains beside it that say the same")
    unsure: bool = Field(default=False, description="true if it is a guess")


class CheckSufficiency(QuestionPrompt[Sufficiency]):
    """Judge a ``chain`` by its ``candidates`` and the ``progress`` of the plan.

    ``met`` are chains from other topic entities whose ends the candidates also are, ``awaited`` topics that
    are brought together with this one next, ``siblings`` what chains lead to that were chosen beside it;
    ``expected`` is the relation with which the blueprint goes on, or empty; with ``attributes`` a filter sees
    what the graph knows.
    """

    chain: Chain
    candidates: tuple[Candidate, ...]
    progress: Progress
    met: tuple[Chain, ...] = ()
    truncated: bool = False
    expected: str = ""
    awaited: tuple[Entity, ...] = ()
    siblings: tuple[ChainFindings, ...] = ()
    attributes: bool = False
    filtering: ClassVar[bool] = True

    instructions = (
        """\
You check a search in a knowledge graph. You are given a question, its subgoals, what is verified \
so far, a chain of relations from an entity of the question, and the candidates at the chain's end. Say in \
"finding", in one short sentence, what they establish for the subgoal marked "<- now", or nothing. Then \
decide what is next:

"""
        + VERDICT_RULES
        + """With "filter", where all candidates are shown, "chosen" may name those that meet the condition.

With "forward", "keep" holds the numbers of the candidates to go on from, where the question says \
which; when in doubt none, to go on from all.

Reply with one JSON object: {"rationale": "one short sentence", "finding": "one short sentence", \
"decision": "...", "take": "...", "chosen": [numbers], "keep": [numbers], "united": [numbers], \
"unsure": false}.

Example
Question: "When was the university opened that Lise Meitner studied at?"
Subgoals, in their order:
- "Find the university that Lise Meitner studied at." <- now
- "Find when it was opened."
Verified so far: nothing
Chain: "Lise Meitner" -educated_at-> ?1
Candidates (2):
1. "Akademisches Gymnasium"
2. "University of Vienna"
Reply: {"rationale": "One is a university.", "finding": "She studied at the University \
of Vienna.", "decision": "forward", "take": "all", "chosen": [], "keep": [2], "united": [], "unsure": false}

Example
Question: "Which of Beethoven's teachers was born in a town on the Danube?"
Topic entities: "Ludwig van Beethoven", "Danube"
Subgoals, in their order:
- "Find Beethoven's teachers." <- now
- "Choose those born in a town on the Danube."
Verified so far: nothing
Chain: "Ludwig van Beethoven" -taught_by-> ?1
Checked next, by themselves: "Danube"
Candidates (2):
1. "Antonio Salieri"
2. "Joseph Haydn"
Reply: {"rationale": "His teachers; the Danube is checked next.", "finding": "Two taught \
him.", "decision": "stop", "take": "all", "chosen": [], "keep": [], "united": [], "unsure": false}

Example
Question: "How long is the longest river of Saxony?"
Verified so far: nothing
Chain: "Saxony" -population-> ?1
Candidates (1):
1. "4042422"
Reply: {"rationale": "That is no length.", "finding": "", "decision": "backtrack", "take": "all", \
"chosen": [], "keep": [], "united": [], "unsure": false}
"""
    )

    def _lines(self) -> Iterable[str]:
        yield from (self.progress.draw(), f"Chain: {draw_chain(self.chain)}")
        yield from draw_met(self.met)
        yield from draw_awaited(self.awaited)
        yield from draw_siblings(self.siblings)
        if self.expected:
            yield f"Questions built like this one go on by (a hint only): {quoted(self.expected)}"
        if self.attributes:
            yield f'{LEFT_TO_THE_GRAPH} Leave "chosen" empty with "filter".'
        yield draw_candidates(self.candidates, self.truncated)

    def check(self, reply: Sufficiency) -> None:
        """Refuse numbers that were not offered or do not go with the decision."""
        offered = min(MAX_CANDIDATES_SHOWN, len(self.candidates))
        check_numbers(reply.united, len(self.siblings), "chain beside it")
        check_numbers(reply.chosen, offered, "candidate")
        check_numbers(reply.keep, offered, "candidate")
        if reply.keep and reply.decision != "forward":
            raise ValueError(f'"keep" goes with decision "forward", not with "{reply.decision}"')
        if reply.keep and (self.truncated or len(self.candidates) > MAX_CANDIDATES_SHOWN):
            raise ValueError('not all candidates are shown; leave "keep" empty to go on from all of them')
        if reply.decision == "stop":
            check_take(reply.take, reply.chosen, self.candidates, self.truncated)
