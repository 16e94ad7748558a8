"""Does what was found answer the question? (CoG §3.2.2, A.3: sufficiency check and answer)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.prompts.assess_found import Evaluation, check_group
from kgqa.prompts.base import QuestionPrompt
from kgqa.prompts.candidates import ChainFindings, draw_chain_findings
from kgqa.prompts.progress import draw_subgoals

ALONE = "Go by what was found alone."
BESIDE = (
    "You may also answer from what you know: where no group has the answer, but what was found and what you "
    'know give it, decide on "stop" with group 0 and name the answers in "answers".'
)


class EvaluationWithAnswers(Evaluation):
    """An evaluation, and for ``stop`` with group 0 what the model answers from its own knowledge."""

    answers: list[str] = Field(
        default=[], description="for stop with group 0: answers from your own knowledge, as short names"
    )


class EvaluateFound(QuestionPrompt[EvaluationWithAnswers]):
    """Judge what was ``found`` by what is ``known``, with ``own_knowledge`` also by what the model knows."""

    found: tuple[ChainFindings, ...]
    subgoals: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    own_knowledge: bool = False

    instructions = """\
You answer a question by what a search in a knowledge graph has found. You are given the question, its \
subgoals, what is known of them, and groups, each a chain of relations with the candidates at its end. \
Decide:

- "stop" if a group has the answer: its chain, together with those that have the same ends, says \
what the question asks, read with the direction of the arrows;
- "filter" if the answers are among a group's candidates, only a condition is left to apply, and \
not all of them are shown; where all are shown, stop with "some";
- "forward" if this is not enough: a relation is still to be followed.

What a group shows goes before what is said to be known. Judge by the chains, not by the few candidates \
that are shown, and do not doubt the data. Where there are several topic entities, each has a chain of \
its own: prefer the group where they meet.
"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

With "stop", "take" is what the answer is of the group: "all"; the "others", without those marked \
with *, that are reached only by coming back to the start; "some", with their numbers in "chosen", \
best first; or the "count", the "smallest" or the "largest" (earliest, latest), then computed.

Reply with one JSON object: {"rationale": "one short sentence", "decision": "...", "group": number, \
"take": "...", "chosen": [numbers], "answers": []}.

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
Reply: {"rationale": "A town; its river is still to come.", "decision": "forward", "group": 0, \
"take": "all", "chosen": [], "answers": []}
"""

    def _lines(self) -> Iterable[str]:
        yield from draw_subgoals(self.subgoals, self.known)
        yield from draw_chain_findings(self.found)
        yield BESIDE if self.own_knowledge else ALONE

    def check(self, reply: EvaluationWithAnswers) -> None:
        """Refuse what was not offered, and answers from memory where they are not asked for."""
        if not reply.answers:
            check_group(reply, self.found)
        elif not self.own_knowledge:
            raise ValueError('go by what was found alone; leave "answers" empty')
        elif reply.decision != "stop" or reply.group:
            raise ValueError('"answers" goes with decision "stop" and group 0')
