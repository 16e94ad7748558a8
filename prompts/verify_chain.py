"""Is this chain the answer's? (CoR §4.1, step 4: reasoning)."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers
from kgqa.prompts.candidates import (
    MAX_CANDIDATES_SHOWN,
    VERDICT_RULES,
    ChainFindings,
    Take,
    check_take,
    draw_candidates,
    draw_siblings,
)
from kgqa.prompts.chain import draw_awaited, draw_chain, draw_met

Decision = Literal["stop", "forward", "filter", "backtrack"]


class Verdict(Reply):
    """What to do with a chain and, for ``stop``, which of its ends are the answer."""

    rationale: str = Field(default="", description="one short sentence: why")
    decision: Decision = Field(description="stop, filter, forward or backtrack")
    take: Take = Field(default="all", description="for stop: what of the candidates is the answer")
    chosen: list[int] = Field(
        default=[], description="for stop with take=some: candidate numbers, best first"
    )
    united: list[int] = Field(default=[], description="for stop: chains beside it that say the same")


class VerifyChain(QuestionPrompt[Verdict]):
    """Judge ``chain`` by the ``candidates`` it leads to.

    Two questions (CoR §4.1): is the chain complete and correct; if only in
    part, are its candidates of the answer's kind. ``met`` are chains from other
    topic entities whose ends the candidates also are.
    """

    chain: Chain
    candidates: tuple[Candidate, ...]
    met: tuple[Chain, ...] = ()
    truncated: bool = False
    awaited: tuple[Entity, ...] = ()
    siblings: tuple[ChainFindings, ...] = ()
    filtering: bool = True

    instructions = (
        """\
You check a search in a knowledge graph. You are given a question, a chain of relations that \
starts from an entity of the question, and the candidates: the nodes at the chain's end. Decide \
what to do next by two questions.

1. Does the chain, read with the direction of its arrows, say what the question asks?
   - yes, all of it: "stop";
   - no, it leads astray: "backtrack";
   - in part: go to 2.
2. Are the candidates already of the kind that is asked for, so that the answers are among them \
and only a condition is left to apply?
   - yes: "filter";
   - no, the chain has to go on from here: "forward".
"""
        + VERDICT_RULES
        + """
Reply with one JSON object: {"rationale": "one short sentence", "decision": "...", "take": "...", \
"chosen": [numbers, for "some" alone], "united": [numbers]}.

Example
Question: "Which rivers flow through the home town of Clara Schumann?"
Chain: "Clara Schumann" -born_in-> ?1
Candidates (1):
1. "Leipzig"
Reply: {"rationale": "A town; its rivers are still to come.", "decision": "forward", "take": "all", \
"chosen": [], "united": []}

Example
Question: "Which of Robert Schumann's songs set words by Eichendorff?"
Chain: "Robert Schumann" <-composed_by- ?1
Candidates (3):
1. "Mondnacht"
2. "Widmung"
3. "Zwielicht"
Reply: {"rationale": "Works of his, but the poet is not yet checked.", "decision": "filter", "take": "all", \
"chosen": [], "united": []}
"""
    )

    def _lines(self) -> Iterable[str]:
        yield f"Chain: {draw_chain(self.chain)}"
        yield from draw_met(self.met)
        yield from draw_awaited(self.awaited)
        yield from draw_siblings(self.siblings)
        if not self.filtering:
            yield 'Not available here: the decision "filter", and "some" in "take".'
            yield 'Where question 2 leads to "filter", decide on "stop" and take "all" or "others".'
        none = 'Candidates: none, so that only "forward" or "backtrack" is left'
        yield draw_candidates(self.candidates, self.truncated) if self.candidates else none

    def check(self, reply: Verdict) -> None:
        """Refuse a decision that is not available and an answer that was not offered."""
        if reply.decision == "filter" and not self.filtering:
            raise ValueError("the decision filter is not available")
        if reply.decision in {"stop", "filter"} and not self.candidates:
            raise ValueError("there are no candidates; decide on forward or backtrack")
        check_numbers(reply.united, len(self.siblings), "chain beside it")
        if reply.united and reply.decision != "stop":
            raise ValueError('"united" goes with decision "stop"')
        check_numbers(reply.chosen, min(MAX_CANDIDATES_SHOWN, len(self.candidates)), "candidate")
        if reply.decision == "stop":
            if reply.take == "some" and not self.filtering:
                raise ValueError('to take "some" is not available')
            check_take(reply.take, reply.chosen, self.candidates, self.truncated)
