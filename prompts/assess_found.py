"""Is what was found enough? (PoG: evaluation, with the memory update or alone; ToG: reasoning; CoG: A.3)."""

import operator
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from pydantic import Field

from kgqa.prompts.base import Reply, check_numbers
from kgqa.prompts.candidates import (
    LEFT_TO_THE_GRAPH,
    MAX_GROUPS_SHOWN,
    ChainFindings,
    Take,
    can_unite,
    check_kept,
    check_take,
    draw_chain_findings,
    draw_dead_ends,
    draw_triples,
    numbered_candidates,
)
from kgqa.prompts.progress import PlannedPrompt

RULES = """\
Decide:

- "stop" if a group has the answer: its chain, with those that have the same ends, says what the question \
asks, read by its arrows;
- "filter" if the answers are among a group's candidates, and a condition is left (a date, a number, a name, \
a kind, the largest), which the graph decides where it can; stop with "some" only for what no graph says;
- "forward" if a relation is still to be followed, from here or from elsewhere.

Stop or filter with one group, or several that say the same or have the same candidates: they are united.

With several topic entities each has a chain of its own: stop or filter where they meet, and elsewhere only \
if nothing that the others say is left. Judge by the chains, not by the few candidates that are shown. The \
data is right, but may lack facts.
"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

With "stop", "take" says what is the answer: "all"; the "others", without those marked with *, reached only \
by coming back to the start; "some", numbers in "chosen", best first; or, without "more than", the "count", \
and of numbers or dates the "smallest" or the "largest" (earliest, latest). "unsure": true if it is a guess.
"""
"""What both prompts say of groups and of what is taken of them."""


class Assessment(Reply):
    """What is known now, what to do next, and for a stop what the answer is."""

    rationale: str = Field(default="", description="one short sentence: why")
    known: list[str] = Field(default=[], description="what is known now of each subgoal, in their order")
    decision: Literal["stop", "filter", "forward"] = Field(description="stop, filter or forward")
    groups: list[int] = Field(
        default=[],
        description="for stop and filter those of the answer, for forward those to go on from",
    )
    take: Take = Field(default="all", description="for stop: what of the group is the answer")
    chosen: list[int] = Field(
        default=[], description="candidate numbers: for stop with take=some, and for forward"
    )
    unsure: bool = Field(default=False, description="true if it is a guess")
    subgoals: list[str] = Field(default=[], description="for forward, where none are given: the plan")


class AssessFound(PlannedPrompt[Assessment]):
    """Judge what the chains of the frontier have led to; the reply's ``known`` replaces what was before.

    With ``attributes`` a filter sees what the graph knows of candidates; ``elsewhere`` are chains that no
    group shows.
    """

    found: tuple[ChainFindings, ...]
    attributes: bool = False
    elsewhere: tuple[ChainFindings, ...] = ()

    instructions = (
        """\
You check a search in a knowledge graph, which has found groups: each a chain of relations from an entity \
of the question with the candidates at its end. """
        + RULES
        + """
With "forward", "groups" are those to go on from, as few as possible, of each topic entity that still \
needs a relation; "chosen" their candidates that the question means, where it says which. If none leads on, \
leave both empty: the search comes back. Where no subgoals are given, write them in \
"subgoals", in order, what is known first.

"known": what is known now of each subgoal, in their order, one short sentence or "".

Reply with one JSON object: {"rationale": "one short sentence", "known": ["..."], "decision": "...", \
"groups": [numbers], "take": "...", "chosen": [numbers], "unsure": false, "subgoals": ["..."]}.

Example
Question: "Which river flows through the home town of Clara Schumann?"
Group 1: "Clara Schumann" -born_in-> ?1 (1)
1. "Leipzig"
Group 2: "Clara Schumann" -spouse-> ?1 (1)
2. "Robert Schumann"
Reply: {"rationale": "A town; its river is still to come.", "known": ["She comes from Leipzig.", ""], \
"decision": "forward", "groups": [1], "take": "all", "chosen": [], "unsure": false, "subgoals": \
["Find her home town.", "Find the river there."]}

Example
Question: "Which of Beethoven's teachers was born in a town on the Danube?"
Topic entities: "Ludwig van Beethoven", "Danube"
Group 1: "Danube" <-lies_on- ?1 <-born_in- ?2 (1)
  these are also the ends of: "Ludwig van Beethoven" -taught_by-> ?1
1. "Joseph Haydn"
Group 2: "Ludwig van Beethoven" -taught_by-> ?1 (2)
2. "Antonio Salieri"
3. "Joseph Haydn"
Reply: {"rationale": "Both chains meet there.", "known": [], "decision": "stop", "groups": [1], \
"take": "all", "chosen": [], "unsure": false, "subgoals": []}

Example
Question: "How long is the longest river of Saxony?"
Group 1: "Saxony" -population-> ?1 (1)
1. "4042422"
Reply: {"rationale": "That is no length, and nothing leads on from it.", "known": [], "decision": \
"forward", "groups": [], "take": "all", "chosen": [], "unsure": false, "subgoals": ["Find the rivers of \
Saxony.", "Find the largest of their lengths."]}
"""
    )

    def _lines(self) -> Iterable[str]:
        if self.attributes:
            yield LEFT_TO_THE_GRAPH
        yield from draw_chain_findings(self.found)
        yield from draw_dead_ends(self.elsewhere)

    def check(self, reply: Assessment) -> None:
        """Refuse a group that was not offered and candidates that are not of the group."""
        _check_groups(reply, self.found)
        if reply.decision == "forward" and reply.groups:
            check_kept(reply.groups, reply.chosen, self.found)


class Evaluation(Reply):
    """Whether it is enough, and for a stop what the answer is, or what the model itself answers."""

    rationale: str = Field(default="", description="one short sentence: why")
    decision: Literal["stop", "filter", "forward"] = Field(description="stop, filter or forward")
    groups: list[int] = Field(default=[], description="for stop and filter: the numbers of the groups")
    take: Take = Field(default="all", description="for stop: what of the group is the answer")
    chosen: list[int] = Field(
        default=[], description="for stop with take=some: candidate numbers, best first"
    )
    unsure: bool = Field(default=False, description="true if it is a guess")
    answers: list[str] = Field(
        default=[], description="for stop without a group: answers from your own knowledge, as short names"
    )
    node: int = Field(
        default=0, exclude_if=operator.not_, description="1 for ?1: where asked, which node is the answer"
    )


GroupVerdict: TypeAlias = Assessment | Evaluation

ALONE = "Go by what was found alone."
BESIDE = (
    "You may also answer from what you know: where no group has the answer, but what was found and what you "
    'know give it, decide on "stop" without a group and name the answers in "answers".'
)


ON_THE_WAY = (
    "Where a node on the way along a chain is asked for and not the candidates at its end (say, who has the "
    'largest of these numbers), add "node": 1 for ?1, 2 for ?2 and so on. Then the answer is each such node '
    'that leads to what is taken: to any candidate with "all", to those chosen with "some", to that value '
    'with "smallest" or "largest"; "count" counts these nodes, and "filter" filters them.'
)


class EvaluateFound(PlannedPrompt[Evaluation]):
    """Judge what was ``found`` with the memory as it stands, by ``own_knowledge`` also from what one knows.

    Where groups are all ends of the same relations together, ``triples`` are the same entity by entity, or
    ``facts`` say it. With ``attributes`` a filter sees what the graph knows of candidates; with ``inner``
    the answer may be a node of a chain before its end.
    """

    found: tuple[ChainFindings, ...]
    triples: tuple[ChainFindings, ...] = ()
    own_knowledge: bool = False
    facts: tuple[str, ...] = ()
    attributes: bool = False
    inner: bool = False

    instructions = (
        """\
You answer a question by what a search in a knowledge graph has found. You are given the question, its \
subgoals, what is known of them, and groups, each a chain of relations from an entity of the question \
with the candidates at its end. Lines under "Found", where there are any, say which entity on the way led \
to which of them. What a group shows goes before what is said to be known. """
        + RULES
        + """
Reply with one JSON object: {"rationale": "one short sentence", "decision": "...", "groups": [number], \
"take": "...", "chosen": [numbers], "unsure": false, "answers": []}.

Example
Question: "Which river flows through the home town of Clara Schumann?"
Subgoals:
- "Find her home town."
- "Find the river there."
Known so far:
- "She comes from Leipzig."
Group 1: "Clara Schumann" -born_in-> ?1 (1)
1. "Leipzig"
Go by what was found alone.
Reply: {"rationale": "A town; its river is still to come.", "decision": "forward", "groups": [], \
"take": "all", "chosen": [], "unsure": false, "answers": []}

Example
Question: "Which of Beethoven's teachers was born in a town on the Danube?"
Topic entities: "Ludwig van Beethoven", "Danube"
Group 1: "Danube" <-lies_on- ?1 <-born_in- ?2 (1)
  these are also the ends of: "Ludwig van Beethoven" -taught_by-> ?1
1. "Joseph Haydn"
Group 2: "Ludwig van Beethoven" -taught_by-> ?1 (2)
2. "Antonio Salieri"
3. "Joseph Haydn"
Go by what was found alone.
Reply: {"rationale": "Both chains meet there.", "decision": "stop", "groups": [1], "take": "all", \
"chosen": [], "unsure": false, "answers": []}

Example
Question: "When was the oldest university of Saxony founded?"
Group 1: "Saxony" <-located_in- ?1 -university.founded-> ?2 (3)
1. "1409-12-02"
2. "1765-11-21"
3. "1828-05-01"
Go by what was found alone.
Reply: {"rationale": "Of their dates the earliest is asked for.", "decision": "stop", "groups": [1], \
"take": "smallest", "chosen": [], "unsure": false, "answers": []}
"""
    )

    def _lines(self) -> Iterable[str]:
        groups = draw_chain_findings(self.found)
        facts = ("Found:", *(f"- {fact}" for fact in self.facts)) if self.facts else ()
        rules = [LEFT_TO_THE_GRAPH] * self.attributes + [ON_THE_WAY] * self.inner
        shown = *rules, *draw_triples(self.triples), *facts, *groups
        return *shown, BESIDE if self.own_knowledge else ALONE

    def check(self, reply: Evaluation) -> None:
        """Refuse what was not offered, and answers from memory where they are not asked for."""
        if not reply.answers:
            _check_groups(reply, self.found)
        elif not self.own_knowledge:
            raise ValueError('go by what was found alone; leave "answers" empty')
        elif reply.decision != "stop" or reply.groups:
            raise ValueError('"answers" goes with decision "stop" and no group')
        groups = [self.found[number - 1] for number in reply.groups] if self.inner else []
        if reply.node and not (len(groups) == 1 and 0 < reply.node <= groups[0].chain.depth):
            raise ValueError(f"no group has a node {reply.node}, or more than one is named")


def _check_groups(reply: GroupVerdict, groups: Sequence[ChainFindings]) -> None:
    """Raise ValueError for groups that were not offered and for candidates that are not of them."""
    check_numbers(reply.groups, min(MAX_GROUPS_SHOWN, len(groups)), "group")
    if reply.decision == "forward":
        return
    if not reply.groups or not can_unite([groups[number - 1] for number in reply.groups]):
        allowed = "name one group, or several that have the same candidates"
        raise ValueError(f'with "{reply.decision}", {allowed}, not {len(reply.groups)}')
    offered = numbered_candidates(groups)
    check_numbers(reply.chosen, len(offered), "candidate")
    for number in reply.chosen:
        if (group := offered[number - 1].group) not in reply.groups:
            raise ValueError(f'candidate {number} is of group {group}, which is not in "groups"')
    if reply.decision == "stop":
        found = [groups[number - 1] for number in reply.groups]
        named = [end for each in found for end in each.named]
        check_take(reply.take, reply.chosen, named, any(each.truncated for each in found))
