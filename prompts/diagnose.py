"""Which decision led astray, and what to try instead? (CoG §3.3: diagnosis and targeted re-routing)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from kgqa.kg.terms import Chain
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers, quoted
from kgqa.prompts.chain import MAX_FEW_NAMES, Extension, draw_chain, draw_extensions
from kgqa.prompts.progress import MAX_SENTENCE_CHARS, Progress

Signal = Literal["no_candidates", "no_gain", "wrong_type", "insufficient"]
"""Why a search turns to diagnosis; an outage is not one of them."""

SIGNALS: dict[Signal, str] = {
    "no_candidates": "nothing was reached: no relation was chosen, or it has no ends here",
    "no_gain": "the last steps established nothing new",
    "wrong_type": "what was reached is of a kind that neither is the answer nor leads to it",
    "insufficient": "the search is as deep as allowed, and what it reached does not answer the question",
}
"""What each signal tells the model."""

MAX_DECISIONS_SHOWN = 12
MAX_BRANCHES_SHOWN = 40
MAX_BLUEPRINT_CHARS = 1000


@dataclass(frozen=True, slots=True)
class PastDecision:
    """One decision of the trajectory: the chain ``before`` became ``after``, None if no relation was chosen.

    ``reached`` are some names at the end of ``after``, ``total`` is how many there are (0 is
    not shown), and ``finding`` what they established.
    """

    before: Chain
    after: Chain | None
    reached: tuple[str, ...]
    total: int
    finding: str


@dataclass(frozen=True, slots=True)
class PrunedBranch:
    """A ``chain`` that decision number ``step`` (from 1) set aside.

    The chain has one hop more than there was before that decision, or two. ``waiting``: chosen
    there, but not tried yet. ``relevance``: its likeness to the blueprint, None without one.
    """

    step: int
    chain: Chain
    waiting: bool
    relevance: float | None


class Diagnosis(Reply):
    """The decision to blame and the pruned branches to try in its place."""

    rationale: str = Field(default="", description="one short sentence: what went wrong")
    step: int = Field(description="number of the decision to blame; 0 if none is, or nothing else can help")
    recall: list[int] = Field(
        default=[], description="numbers of pruned branches of that decision to try instead, best first"
    )
    blueprint: Literal["keep", "drop"] = Field(default="keep", description="drop if the blueprint misleads")


class Diagnose(QuestionPrompt[Diagnosis]):
    """Find the decision of a ``trajectory`` to blame for a ``signal``; ``pruned`` are numbered from 1."""

    signal: Signal
    progress: Progress
    trajectory: tuple[PastDecision, ...]
    pruned: tuple[PrunedBranch, ...]
    blueprint: str = ""

    instructions = """\
You review a search in a knowledge graph that has run into a failure. You are given a question, its \
subgoals, what is known or verified so far, the failure, and the decisions of the search in their \
order, each with what it reached and the branches that it set aside. Where there is a blueprint, it \
lists the relations that the search was expected to take.

1. Find the earliest decision that led astray: what it reached cannot lead to the answer any more. \
Decisions before it are sound and stay. If none led astray, or neither what was set aside there nor \
another choice of relations can help, the step is 0, nothing is recalled, and the search goes no further \
from here.
2. Among the branches that this decision set aside, recall those that lead to the answer, as few \
as possible, best first: the question, the subgoal or the blueprint asks for their relation. If you \
recall none, the relations there are chosen from again.
3. Judge the blueprint: "drop" if it does not say what the question asks, so that following it led \
astray; else "keep".

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

Reply with one JSON object: {"rationale": "one short sentence", "step": number of the decision, \
"recall": [numbers of its branches], "blueprint": "keep"}.

Example
Question: "How many students has the university that Emmy Noether taught at?"
Subgoals, in their order:
- "Find the university that Emmy Noether taught at."
- "Find how many students it has." <- now
Verified so far: nothing
Blueprint: "person.employer -> university.student_count"
Failure: what was reached is of a kind that neither is the answer nor leads to it.
Decision 1: "Emmy Noether" -person.residence-> ?1
  reached 2: "Bryn Mawr", "Göttingen"
  branch 1: "Emmy Noether" -person.employer-> ?1 (likeness to the blueprint 1.00)
  branch 2: "Emmy Noether" -person.field-> ?1 (likeness to the blueprint 0.21)
Decision 2: "Emmy Noether" -person.residence-> ?1 -town.population-> ?2
  reached 2: "119801", "8201"
  branch 3: ?1 -town.mayor-> ?2 (chosen, not tried yet)
Reply: {"rationale": "The first decision went to towns, not to her employer.", "step": 1, "recall": [1], \
"blueprint": "keep"}

Example
Question: "Who was the mother of the author of Effi Briest?"
Subgoals, in their order:
- "Find the author of Effi Briest."
- "Find the mother of this author." <- now
Verified so far:
- "Theodor Fontane wrote it."
Blueprint: "book.author -> person.spouse"
Failure: what was reached is of a kind that neither is the answer nor leads to it.
Decision 1: "Effi Briest" -book.author-> ?1
  reached 1: "Theodor Fontane"
  found: "Theodor Fontane wrote it."
Decision 2: "Effi Briest" -book.author-> ?1 -person.spouse-> ?2
  reached 1: "Emilie Rouanet"
  branch 1: ?1 -person.sibling-> ?2 (likeness to the blueprint 0.52)
  branch 2: ?1 -person.mother-> ?2 (likeness to the blueprint 0.48)
Reply: {"rationale": "The blueprint led to his wife instead of his mother.", "step": 2, "recall": [2], \
"blueprint": "drop"}
"""

    def _lines(self) -> Iterable[str]:
        yield self.progress.draw()
        if self.blueprint:
            yield f"Blueprint: {quoted(self.blueprint, MAX_BLUEPRINT_CHARS)}"
        yield f"Failure: {SIGNALS[self.signal]}."
        shown = list(enumerate(self.pruned[:MAX_BRANCHES_SHOWN], 1))
        for step in range(self._first, len(self.trajectory) + 1):
            yield from _draw_decision(step, self.trajectory[step - 1])
            before = self.trajectory[step - 1].before
            yield from (_draw_branch(number, each, before) for number, each in shown if each.step == step)

    def check(self, reply: Diagnosis) -> None:
        """Refuse a decision that is not shown, and branches that it did not set aside."""
        last = len(self.trajectory)
        if reply.step and not self._first <= reply.step <= last:
            raise ValueError(
                f"decision {reply.step} is not shown; name one from {self._first} to {last}, or 0"
            )
        if reply.recall and not reply.step:
            raise ValueError('with step 0, leave "recall" empty')
        check_numbers(reply.recall, min(MAX_BRANCHES_SHOWN, len(self.pruned)), "branch")
        for number in reply.recall:
            if (step := self.pruned[number - 1].step) != reply.step:
                raise ValueError(
                    f"branch {number} was set aside by decision {step}, not by decision {reply.step}; "
                    "recall branches of the decision to blame only"
                )

    @property
    def _first(self) -> int:
        return max(1, len(self.trajectory) - MAX_DECISIONS_SHOWN + 1)


def _draw_decision(number: int, decided: PastDecision) -> Iterator[str]:
    if decided.after is None:
        yield f"Decision {number}: after {draw_chain(decided.before)} no relation was chosen"
        return
    yield f"Decision {number}: {draw_chain(decided.after)}"
    if decided.total:
        shown = decided.reached[:MAX_FEW_NAMES]
        some = f", among them {len(shown)}" if 0 < len(shown) < decided.total else ""
        yield f"  reached {decided.total}{some}: {', '.join(map(quoted, shown)) or 'none with a name'}"
    if decided.finding:
        yield f"  found: {quoted(decided.finding, MAX_SENTENCE_CHARS)}"


def _draw_branch(number: int, branch: PrunedBranch, before: Chain) -> str:
    notes = ["chosen, not tried yet"] if branch.waiting else []
    if branch.relevance is not None:
        notes.append(f"likeness to the blueprint {branch.relevance:.2f}")
    (way,) = draw_extensions([Extension(branch.chain, branch.chain.depth - before.depth)])
    return f"  branch {number}: {way}" + (f" ({'; '.join(notes)})" if notes else "")
