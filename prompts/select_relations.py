"""Which relations does this step need? (VoG §3.2: relation selection)."""

from collections.abc import Iterable

from kgqa.kg.terms import Path
from kgqa.prompts.base import QuestionPrompt, check_numbers, numbered
from kgqa.prompts.chain import RelationChoice, draw_then
from kgqa.prompts.facts import RelationCandidate, draw_relation_candidate
from kgqa.prompts.plans import PlanStep, draw_current_step


class SelectedRelations(RelationChoice):
    """The relations that a step follows."""


class SelectRelations(QuestionPrompt[SelectedRelations]):
    """Choose those of the ``offers``, which lead on from the ``frontier``, that a ``step`` needs.

    The reply may say what comes after a single one (``outright``), which without ``filtering`` is no filter.
    """

    step: PlanStep
    frontier: tuple[Path, ...]
    offers: tuple[RelationCandidate, ...]
    outright: bool = False
    filtering: bool = True

    instructions = """\
You carry out one step of a search in a knowledge graph. You are given a question, the step at hand, \
and a numbered list of relations that lead on from where the search stands. Choose the relations that \
this step needs.

- As few as possible: one is often enough. Choose more only if you cannot tell which of them it is, or \
if each says a part of what is sought.
- If the step is about several entities, choose what it needs for each of them.
- The words of the step and of its predicted observation are a guess: go by their meaning, and by the \
question where they mislead.
- An empty list says that none of the relations can help.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ? stands for what the relation leads to. A node may have no name, and that says nothing against it: \
a relation that leads on from there may stand behind it, as one with it.

Reply with one JSON object: {"rationale": "one short sentence", "relations": [numbers]}.

Example
Question: "Which river runs through the town that the painter of The Garden Terrace was born in?"
Thought: "Then where this painter was born."
Search: "Caspar David Friedrich place of birth"
Predicted observation: ("Caspar David Friedrich", "born in", "Greifswald")
Relations:
1. "Caspar David Friedrich" -person.nationality-> ?
2. "Caspar David Friedrich" -person.place_of_birth-> ?
3. "Caspar David Friedrich" <-painting.painter- ?
Reply: {"rationale": "The step asks for the place of birth.", "relations": [2]}

Example
Question: "Do lichens and corals both live in symbiosis with algae?"
Topic entities: "lichen", "coral"
Thought: "Find what each lives in symbiosis with."
Search: "lichen and coral symbiosis"
Relations:
1. "lichen", "coral" -found_in-> ?
2. "lichen" -symbiont-> ?
3. "coral" <-partner_of- ?
Reply: {"rationale": "Each of the two has a relation of its own for it.", "relations": [2, 3]}
"""

    def _lines(self) -> Iterable[str]:
        offers = numbered(draw_relation_candidate(offer, self.frontier) for offer in self.offers)
        then = [draw_then("a single choice leads", filtering=self.filtering)] * self.outright
        return *then, *draw_current_step(self.step), "Relations:", offers

    def check(self, reply: SelectedRelations) -> None:
        """Refuse numbers that were not offered or come twice, and what is not available."""
        check_numbers(reply.relations, len(self.offers), "relation")
        if self.outright and reply.then == "filter" and not self.filtering:
            raise ValueError('"filter" is not available')
