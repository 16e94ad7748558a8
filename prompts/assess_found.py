"""Is what was found enough? (PoG: evaluation, with the memory update or alone; ToG: reasoning)."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import Field

from kgqa.kg.terms import Entity
from kgqa.prompts.base import Prompt, Reply, check_numbers, draw_case
from kgqa.prompts.candidates import (
    MAX_GROUPS_SHOWN,
    ChainFindings,
    Take,
    check_take,
    draw_chain_findings,
    draw_triples,
    numbered_candidates,
)
from kgqa.prompts.progress import draw_subgoals
from kgqa.prompts.solved_questions import SolvedQuestion, draw_solved_questions


class Assessment(Reply):
    """What is known now, what to do next, and for ``stop`` what the answer is."""

    rationale: str = Field(default="", description="one short sentence: why")
    known: list[str] = Field(default=[], description="what is known now: one short sentence a subgoal")
    decision: Literal["stop", "filter", "forward"] = Field(description="stop, filter or forward")
    group: int = Field(default=0, description="for stop and filter: the group's number; else 0")
    take: Take = Field(default="all", description="for stop: what of the group is the answer")
    chosen: list[int] = Field(
        default=[], description="for stop with take=some: candidate numbers, best first"
    )


class AssessFound(Prompt[Assessment]):
    """Judge what the chains of the frontier have led to; the reply's ``known`` replaces what was before."""

    question: str
    found: tuple[ChainFindings, ...]
    subgoals: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    exemplars: tuple[SolvedQuestion, ...] = ()
    topics: tuple[Entity, ...] = ()

    instructions = """\
You check a search in a knowledge graph. You are given a question and what was found: groups, each a \
chain of relations from an entity of the question with the candidates at its end. Decide:

- "stop" if a group has the answer: its chain, together with those that have the same ends, says \
what the question asks, read with the direction of the arrows;
- "filter" if the answers are among a group's candidates, only a condition is left to apply, and \
not all of them are shown; where all are shown, stop with "some";
- "forward" if a relation is still to be followed, from here or from elsewhere.

Judge by the chains, not by the few candidates that are shown, and do not doubt the data. Where there \
are several topic entities, each has a chain of its own: prefer the group where they meet.
"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

With "stop", "take" is what the answer is of the group: "all"; the "others", without those marked \
with *, that are reached only by coming back to the start; "some", with their numbers in "chosen", \
best first; or the "count", the "smallest" or the "largest" (earliest, latest), then computed.

"known": what is now known, old and new, at most one short sentence for each subgoal.

Reply with one JSON object: {"rationale": "one short sentence", "known": ["..."], "decision": "...", \
"group": number, "take": "...", "chosen": [numbers]}.

Example
Question: "Which river flows through the home town of Clara Schumann?"
Subgoals:
- "Find her home town."
- "Find the river there."
Known so far: nothing
Group 1: "Clara Schumann" -born_in-> ?1 (1)
1. "Leipzig"
Reply: {"rationale": "A town; its river is still to come.", "known": ["She comes from Leipzig."], \
"decision": "forward", "group": 0, "take": "all", "chosen": []}
"""

    def case(self) -> str:
        """Show solved questions, the question, the plan and what was found."""
        lines = [*draw_subgoals(self.subgoals, self.known), *draw_chain_findings(self.found)]
        solved = draw_solved_questions(self.exemplars)
        return draw_case(self.question, *lines, topics=self.topics, before=solved)

    def check(self, reply: Assessment) -> None:
        """Refuse a group that was not offered and candidates that are not of the group."""
        check_group(reply, self.found)


class Evaluation(Reply):
    """Whether it is enough, and for ``stop`` what the answer is."""

    rationale: str = Field(default="", description="one short sentence: why")
    decision: Literal["stop", "filter", "forward"] = Field(description="stop, filter or forward")
    group: int = Field(default=0, description="the group's number; 0 for what only the model knows")
    take: Take = Field(default="all", description="for stop: what of the group is the answer")
    chosen: list[int] = Field(
        default=[], description="for stop with take=some: candidate numbers, best first"
    )


GroupVerdict: TypeAlias = Assessment | Evaluation


class Evaluate(Prompt[Evaluation]):
    """Judge what a round, or one chain of a solved question, has led to, with the memory as it stands.

    ``found`` are all ends of the same relations together, ``triples`` the same entity by entity.
    """

    question: str
    found: tuple[ChainFindings, ...]
    subgoals: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    exemplars: tuple[SolvedQuestion, ...] = ()
    topics: tuple[Entity, ...] = ()
    triples: tuple[ChainFindings, ...] = ()

    instructions = """\
You check a search in a knowledge graph. You are given a question, what is known so far, and what was \
found last: groups, each a chain of relations from an entity of the question with the candidates at \
its end. Say whether that is enough to answer:

- "stop" if a group has the answer;
- "stop" with group 0 if none has it, but what is known together with your own knowledge answers the \
question for certain;
- "filter" if the answers are among a group's candidates, and not all of them are shown;
- "forward" if something is still to be found.

Put the graph before what you remember. "A -relation-> B" reads "A has the relation to B"; \
"A <-relation- B" reads "B has the relation to A". ?1, ?2 ... stand for the nodes reached at that step.

With "stop", "take" is what the answer is of the group: "all"; the "others", without those marked \
with *, that are reached only by coming back to the start; "some", with their numbers in "chosen", \
best first; or the "count", the "smallest" or the "largest" (earliest, latest), then computed.

Reply with one JSON object: {"rationale": "one short sentence", "decision": "...", "group": number, \
"take": "...", "chosen": [numbers]}.

Example
Question: "Which river flows through the home town of Clara Schumann?"
Subgoals:
- "Find her home town."
- "Find the river there."
Known so far:
- "She comes from Leipzig."
Group 1: "Clara Schumann" -born_in-> ?1 (1)
1. "Leipzig"
Reply: {"rationale": "A town; its river is still to come.", "decision": "forward", "group": 0, \
"take": "all", "chosen": []}
"""

    def case(self) -> str:
        """Show solved questions, the question, what is known and what was found."""
        plan, triples = draw_subgoals(self.subgoals, self.known), draw_triples(self.triples)
        lines = [*plan, *triples, *draw_chain_findings(self.found)]
        solved = draw_solved_questions(self.exemplars)
        return draw_case(self.question, *lines, topics=self.topics, before=solved)

    def check(self, reply: Evaluation) -> None:
        """Refuse a group that was not offered and candidates that are not of the group."""
        if reply.decision != "stop" or reply.group:
            check_group(reply, self.found)


def check_group(reply: GroupVerdict, groups: Sequence[ChainFindings]) -> None:
    """Raise ValueError for a group that was not offered and for candidates that are not of the group."""
    if reply.decision == "forward":
        return
    check_numbers([reply.group], min(MAX_GROUPS_SHOWN, len(groups)), "group")
    offered = numbered_candidates(groups)
    check_numbers(reply.chosen, len(offered), "candidate")
    for number in reply.chosen:
        if (group := offered[number - 1].group) != reply.group:
            raise ValueError(f"candidate {number} is of group {group}, not of group {reply.group}")
    if reply.decision == "stop":
        found = groups[reply.group - 1]
        check_take(reply.take, reply.chosen, found.named, found.truncated)
