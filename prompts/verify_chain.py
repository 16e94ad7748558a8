"""Is this chain the answer's? (CoR §4.1, step 4: reasoning)."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers
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

ChainDecision = Literal["stop", "forward", "filter", "backtrack"]


class Verdict(Reply):
    """What to do with a chain and, for ``stop``, which of its ends are the answer."""

    rationale: str = Field(default="", description="one short sentence: why")
    decision: ChainDecision = Field(description="stop, filter, forward or backtrack")
    take: Take = Field(default="all", description="for stop: what of the candidates is the answer")
    chosen: list[int] = Field(
        default=[], description="for stop with take=some: candidate numbers, best first"
    )
    united: list[int] = Field(default=[], description="unless forward: chains beside it that say the same")
    unsure: bool = Field(default=False, description="true if it is a guess")


class VerifyChain(QuestionPrompt[Verdict]):
    """Judge ``chain`` by the ``candidates`` it leads to.

    Two questions (CoR §4.1): is the chain complete and correct; if only in
    part, are its candidates of the answer's kind. ``met`` are chains from other
    topic entities whose ends the candidates also are; with ``attributes`` a filter sees what the graph knows.
    """

    chain: Chain
    candidates: tuple[Candidate, ...]
    met: tuple[Chain, ...] = ()
    truncated: bool = False
    filtering: bool = True
    awaited: tuple[Entity, ...] = ()
    siblings: tuple[ChainFindings, ...] = ()
    attributes: bool = False

    instructions = (
        """\
You check a search in a knowledge graph. You are given a question, a chain of relations from one of its \
entities, and the candidates at the chain's end. Decide what is next:

"""
        + VERDICT_RULES
        + """
Reply with one JSON object: {"rationale": "one short sentence", "decision": "...", "take": "...", \
"chosen": [numbers, for "some" alone], "united": [numbers], "unsure": false}.

Example
Question: "Which of Beethoven's teachers was born in a town on the Danube?"
Topic entities: "Ludwig van Beethoven", "Danube"
Chain: "Ludwig van Beethoven" -taught_by-> ?1
Checked next, by themselves: "Danube"
Candidates (2):
1. "Antonio Salieri"
2. "Joseph Haydn"
Reply: {"rationale": "His teachers; the Danube is checked next.", "decision": "stop", "take": "all", \
"chosen": [], "united": [], "unsure": false}

Example
Question: "How long is the longest river of Saxony?"
Chain: "Saxony" -population-> ?1
Candidates (1):
1. "4042422"
Reply: {"rationale": "That is no length.", "decision": "backtrack", "take": "all", "chosen": [], \
"united": [], "unsure": false}

Example
Question: "When was the oldest university of Saxony founded?"
Chain: "Saxony" <-located_in- ?1 -university.founded-> ?2
Candidates (3):
1. "1409-12-02"
2. "1765-11-21"
3. "1828-05-01"
Reply: {"rationale": "Of their dates the earliest is asked for.", "decision": "stop", "take": "smallest", \
"chosen": [], "united": [], "unsure": false}
"""
    )

    def _lines(self) -> Iterable[str]:
        yield f"Chain: {draw_chain(self.chain)}"
        yield from draw_met(self.met)
        yield from draw_awaited(self.awaited)
        yield from draw_siblings(self.siblings)
        if not self.filtering:
            yield 'Not available here: the decision "filter", and "some" in "take".'
            yield 'Where it would be "filter", decide on "stop" and take "all" or "others".'
        elif self.attributes:
            yield LEFT_TO_THE_GRAPH
        none = 'Candidates: none, so that only "forward" or "backtrack" is left'
        yield draw_candidates(self.candidates, self.truncated) if self.candidates else none

    def check(self, reply: Verdict) -> None:
        """Refuse a decision that is not available and an answer that was not offered."""
        if reply.decision == "filter" and not self.filtering:
            raise ValueError("the decision filter is not available")
        if reply.decision in {"stop", "filter"} and not self.candidates:
            raise ValueError("there are no candidates; decide on forward or backtrack")
        check_numbers(reply.united, len(self.siblings), "chain beside it")
        check_numbers(reply.chosen, min(MAX_CANDIDATES_SHOWN, len(self.candidates)), "candidate")
        if reply.decision == "stop":
            if reply.take == "some" and not self.filtering:
                raise ValueError('to take "some" is not available')
            check_take(reply.take, reply.chosen, self.candidates, self.truncated)
