"""How does the plan have to change? (VoG appendix A.3.5: local, lookahead and global revision, and mixed)."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from kgqa.kg.terms import Path
from kgqa.prompts.base import MAX_TOPICS_SHOWN, QuestionPrompt, quoted
from kgqa.prompts.facts import RelationCandidate, draw_facts, draw_relation_candidate
from kgqa.prompts.plans import (
    MAX_PLAN_STEPS,
    STEP_FORM,
    ExplainedReply,
    PlanReply,
    SearchPlan,
    check_steps,
    draw_plan,
    parse_plan,
)
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.prompts.react_plan import read_steps

MAX_RELATIONS_SHOWN = 60

Arm = Literal["local", "lookahead", "global", "mixed"]

_RULES = """\
- What was carried out is not searched again, and what it found stays known. The search goes on with the \
step whose number is given as next: the steps before it should say what was found, and it should begin \
there. Where it is "none", only the answers are left to put right.
- Where the next step "has found nothing", it is this one that failed: no fact is its own, and the steps \
before it may be right. Choose another way for it.
- Where plan and facts differ, the facts are right. Use names as the facts have them.
- One search a step: one relation to follow, from all entities that the step is about; predict what the \
graph will say, as triples in plain words.
- End with the answers that the facts and your predictions lead to, one string each; "yes" or "no" with \
"whether" true if the question asks for that. Do not refuse the question: where you are not sure, guess.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation to A". \
A node may have no name, and that says nothing against it: where facts lead to such nodes alone, the next \
step goes on from them.
"""

_FORM = (
    """
Reply with one JSON object: {"rationale": "one short sentence", "first": number of the first new step, \
"steps": [new steps], "thought": "one sentence: how the answers follow", "answers": ["answer"], \
"whether": false}.
"""
    + STEP_FORM
)

_FIRST_RULE = """\
- "first" is the number of the first step that changes: steps before it stay as they are, those from it on \
are replaced by your steps, so write out every step from there to the end. With no steps the plan ends \
before it, unless it is the first.
"""

_RULES_FROM_A_STEP_ON = _FIRST_RULE + _RULES + _FORM
_RULES_AHEAD = _FIRST_RULE + _RULES + "? stands for what a relation leads to.\n" + _FORM


class FirstStepReply(ExplainedReply):
    """A reply that says where a plan changes."""

    first: int = Field(description="number of the first step that is revised; 1 for a new plan")


class RevisedSteps(PlanReply, FirstStepReply):
    """The steps of a plan from the first revised one on, and its new end."""


def merge_plans(plan: SearchPlan, reply: RevisedSteps, arm: Arm) -> SearchPlan:
    """Put revised steps in place of those from the first revised one on; ``global`` replaces all.

    A reply without steps ends the plan before its first revised step; one that does not say
    whether the question asks for yes or no leaves that as it is.
    """
    new = parse_plan(reply)
    kept = () if arm == "global" else plan.steps[: max(reply.first - 1, 0)]
    whether = new.whether if "whether" in reply.model_fields_set else plan.whether
    return replace(new, steps=(*kept, *new.steps), whether=whether)


class RevisePlan(QuestionPrompt[RevisedSteps]):
    """Revise a ``plan`` whose step ``done`` failed, by the ``facts`` observed, to at most ``depth`` steps.

    If ``empty``, it is the step after it that failed, of which nothing was observed; where it is
    ``unanswered``, no step failed, and this says why what was found is not the answer; then the next step
    may begin at the topics ``anew``, where the search can.
    """

    plan: SearchPlan
    done: int
    facts: tuple[Path, ...]
    _: KW_ONLY
    depth: int = MAX_PLAN_STEPS
    empty: bool = False
    unanswered: str | None = None
    anew: bool = False

    arm: ClassVar[Arm]  # the arm of the bandit that this revision is

    def _lines(self) -> Iterator[str]:
        yield from ("Plan:", draw_plan(self.plan, self.done), "Facts:", draw_facts(self.facts))
        yield from self._draw_offers()
        if self.unanswered:
            reason = quoted(self.unanswered, MAX_SENTENCE_CHARS)
            yield f"The facts stand, but were not seen to answer the question: {reason}"
            yield "If they do answer it, end the plan there."
            names = ", ".join(quoted(str(topic)) for topic in self.topics[:MAX_TOPICS_SHOWN])
            if self.anew:
                yield f"The next step may begin where this leads, or anew at {names}."
        following = f"step {self.done + 1} of at most {self.depth}{', which has found nothing' * self.empty}"
        yield f"Next: {following if self.done < self.depth else 'none, all steps are carried out'}"

    def _draw_offers(self) -> Iterable[str]:
        return ()

    def check(self, reply: RevisedSteps) -> None:
        """Refuse a plan that has no steps, too many, or one that searches for nothing, and a gap in it."""
        check_steps(reply.steps)
        last = 1 if self.arm == "global" else len(self.plan.steps) + 1
        if not 1 <= reply.first <= last:
            raise ValueError(
                f'"first" is {reply.first}; it can be 1 to {last}'
                if last > 1
                else f'"first" is {reply.first}; write the whole plan anew, from step 1 on'
            )
        total = len(merge_plans(self.plan, reply, self.arm).steps)
        if not 1 <= total <= self.depth:
            raise ValueError(f"the plan would have {total} steps; it can have 1 to {self.depth}")

    def read(self, text: str) -> dict[str, Any] | None:
        """Read steps that are written out as thoughts, actions and observations."""
        return read_steps(text)


class ReviseLocally(RevisePlan):
    """Revise by what the step at hand has observed: O_t."""

    arm: ClassVar[Arm] = "local"
    instructions = (
        """\
You put right a plan for a search in a knowledge graph. You are given a question, the plan, and the facts \
that the step carried out last has found. They do not bear out what it first predicted; the plan may show \
the prediction already put right. Change as little as these facts ask for: put this step right unless it is \
already, then whatever follows from it.

"""
        + _RULES_FROM_A_STEP_ON
        + """
Example
Question: "Which river runs through the town that the painter of The Garden Terrace was born in?"
Plan:
Thought 1: "Begin with who painted it."
Action 1: Search["The Garden Terrace painter"]
Predicted observation 1: ("The Garden Terrace", "painted by", "Caspar David Friedrich")
--- carried out up to here ---
Thought 2: "Then the river of the town where he was born."
Action 2: Search["Carl Blechen birthplace river"]
Action 3: Finish["Spree"]
Facts:
1. "The Garden Terrace" <-painting.painter- "Caspar David Friedrich"
Next: step 2 of at most 10
Reply: {"rationale": "Another painter, as step 1 now says, so another town.", "first": 2, "steps": \
[{"thought": "Then where he was born.", "search": "Caspar David Friedrich place of birth", "observation": \
[["Caspar David Friedrich", "born in", "Greifswald"]]}, {"thought": "Then the river there.", "search": \
"Greifswald river", "observation": [["Greifswald", "lies on", "Ryck"]]}], "thought": "It is the Ryck.", \
"answers": ["Ryck"], "whether": false}
"""
    )


class ReviseAhead(RevisePlan):
    """Revise by O_t and by the relations that lead on from the entities just chosen: R_(t+1)."""

    frontier: tuple[Path, ...]
    offers: tuple[RelationCandidate, ...]

    arm: ClassVar[Arm] = "lookahead"
    instructions = (
        """\
You put right a plan for a search in a knowledge graph. You are given a question, the plan, the facts \
that the step carried out last has found, and the relations that lead on from there. The facts do not bear \
out what the step first predicted; the plan may show the prediction already put right. Put this step right \
unless it is already, then let the next step follow the relation that leads towards the answer: from one of \
these entities if the question means one, else from all. Where no relation does, or the answer is found, end \
the plan there.

"""
        + _RULES_AHEAD
        + """
Example
Question: "In which town did the builder of the Sayner Hütte go to school?"
Plan:
Thought 1: "Begin with who built it."
Action 1: Search["Sayner Hütte architect"]
Predicted observation 1: ("Sayner Hütte", "built by", "Carl Ludwig Althans")
--- carried out up to here ---
Thought 2: "Then the town of his school."
Action 2: Search["Karl Friedrich Schinkel school town"]
Action 3: Finish["Neuruppin"]
Facts:
1. "Sayner Hütte" -architect-> "Carl Ludwig Althans"
Relations that lead on:
- "Carl Ludwig Althans" -person.educated_at-> ?
- "Carl Ludwig Althans" -person.employer-> ?
Next: step 2 of at most 10
Reply: {"rationale": "Another builder; the school comes first, then its town.", "first": 2, "steps": \
[{"thought": "Then his school.", "search": "Carl Ludwig Althans educated at", "observation": [["Carl Ludwig \
Althans", "educated at", "a school"]]}, {"thought": "Then the town of this school.", "search": "town of the \
school", "observation": [["a school", "located in", "Bückeburg"]]}], "thought": "The town is that of the \
school.", "answers": ["Bückeburg"], "whether": false}
"""
    )

    def _draw_offers(self) -> Iterator[str]:
        offers = self.offers[:MAX_RELATIONS_SHOWN]
        yield "Relations that lead on:" if offers else "Relations that lead on: none"
        yield from (f"- {draw_relation_candidate(offer, self.frontier)}" for offer in offers)


class ReviseMixed(ReviseAhead):
    """Revise by all that was observed and by the relations that lead on: O_1 to O_t and R_(t+1)."""

    arm: ClassVar[Arm] = "mixed"
    instructions = (
        """\
You put right a plan for a search in a knowledge graph. You are given a question, the plan, all facts \
that were found so far, those of all steps by turns, and the relations that lead on from where the search \
stands. The last step did not find what it first predicted; the plan may show the prediction already put \
right. Put right what these facts speak against, in whichever step it is, then let the next step follow the \
relation that leads towards the answer. Where no relation does, or the answer is found, end the plan there.

"""
        + _RULES_AHEAD
        + """
Example
Question: "Which river runs through the town that the painter of The Garden Terrace was born in?"
Plan:
Thought 1: "Begin with who painted it."
Action 1: Search["The Garden Terrace painter"]
Thought 2: "Then where he was born."
Action 2: Search["Caspar David Friedrich place of birth"]
Predicted observation 2: ("Caspar David Friedrich", "born in", "Dresden")
--- carried out up to here ---
Action 3: Finish["Elbe"]
Facts:
1. "Caspar David Friedrich" -person.place_of_birth-> "Greifswald"
2. "The Garden Terrace" <-painting.painter- "Caspar David Friedrich"
Relations that lead on:
- "Greifswald" -town.country-> ?
- "Greifswald" -town.lies_on-> ?
Next: step 3 of at most 10
Reply: {"rationale": "Another town, and its river can be looked up.", "first": 2, "steps": [{"thought": \
"Then where he was born.", "search": "Caspar David Friedrich place of birth", "observation": [["Caspar \
David Friedrich", "born in", "Greifswald"]]}, {"thought": "Then the river there.", "search": "Greifswald \
lies on", "observation": [["Greifswald", "lies on", "Ryck"]]}], "thought": "It is the Ryck.", "answers": \
["Ryck"], "whether": false}
"""
    )


class ReviseGlobally(RevisePlan):
    """Write the plan anew by all that was observed: O_1 to O_t."""

    arm: ClassVar[Arm] = "global"
    instructions = (
        """\
You plan a search in a knowledge graph anew. You are given a question, a plan in which a step has failed, \
and all facts that were found so far, those of all steps by turns. Do not trust the plan: read \
the question again, see what the facts say, and write the whole plan from step 1, so that "first" is 1: as \
many steps as were carried out, which say what was found, then those that lead to the answer. A step that \
led astray stays as one of them, and the plan goes on from what is of use.

"""
        + _RULES
        + _FORM
        + """
Example
Question: "Which river runs through the town that the painter of The Garden Terrace was born in?"
Plan:
Thought 1: "Begin with the palace that has this terrace."
Action 1: Search["The Garden Terrace palace"]
Thought 2: "Then the river there."
Action 2: Search["Sanssouci river"]
--- carried out up to here ---
Action 3: Finish["Havel"]
Facts:
1. "Caspar David Friedrich" -person.nationality-> "Germany"
2. "The Garden Terrace" <-painting.painter- "Caspar David Friedrich"
Next: step 3 of at most 10
Reply: {"rationale": "It is a picture; its painter is of use, his country is not.", "first": 1, "steps": \
[{"thought": "Begin with who painted it.", "search": "The Garden Terrace painter", "observation": [["The \
Garden Terrace", "painted by", "Caspar David Friedrich"]]}, {"thought": "His country leads astray.", \
"search": "Caspar David Friedrich nationality", "observation": [["Caspar David Friedrich", "nationality", \
"Germany"]]}, {"thought": "Then where the painter was born.", "search": "Caspar David Friedrich place of \
birth", "observation": [["Caspar David Friedrich", "born in", "Greifswald"]]}, {"thought": "Then the river \
there.", "search": "Greifswald river", "observation": [["Greifswald", "lies on", "Ryck"]]}], "thought": "It \
is the Ryck.", "answers": ["Ryck"], "whether": false}
"""
    )


REVISIONS: dict[Arm, type[RevisePlan]] = {
    kind.arm: kind for kind in (ReviseLocally, ReviseAhead, ReviseGlobally, ReviseMixed)
}
