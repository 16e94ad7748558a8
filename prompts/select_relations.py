"""Which relations and entities does this step need, and is it borne out? (VoG §3.2 and §3.3)."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from kgqa.kg.terms import Path, Term
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers, numbered
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN
from kgqa.prompts.chain import RelationChoice, draw_then
from kgqa.prompts.facts import RelationCandidate, draw_facts, draw_node, draw_relation_candidate
from kgqa.prompts.plans import PlanStep, check_observation, draw_current_step, draw_step


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


class SelectedEntities(Reply):
    """What the search goes on from."""

    rationale: str = Field(default="", description="one short sentence: why these")
    keep: Literal["all", "some"] = Field(description="all, or some of those that are shown")
    chosen: list[int] = Field(default=[], description="for keep=some: their numbers, best first")


class SelectEntities(QuestionPrompt[SelectedEntities]):
    """Choose from the ``candidates``, which are shown of a ``total`` that a drawn ``relation`` has led to."""

    step: PlanStep
    relation: str
    candidates: tuple[Term, ...]
    total: int

    instructions = """\
You carry out one step of a search in a knowledge graph. You are given a question, the step at hand, \
the relation that was followed, and a numbered list of what it led to, only the likeliest where there are \
many. Say from which of them the search goes on or, if this was the last step, which of them are the answers.

- "all": the relation says all that the step asks, so that every one of them fits. It takes in \
all that are counted, shown or not. Choose it as well where nothing at hand tells them apart: a later step \
may.
- "some": the question or the step names or describes those that are meant. Give their numbers in \
"chosen", best first, as few as possible.
- The predicted observation is a guess: what it does not name may be right as well.
- A node may have no name, and that says nothing against it.

Reply with one JSON object: {"rationale": "one short sentence", "keep": "all", "chosen": [numbers]}.

Example
Question: "In which museums can pictures by Franz Marc be seen?"
Thought: "Find his pictures."
Search: "Franz Marc pictures"
Predicted observation: ("Franz Marc", "painted", "The Tower of Blue Horses")
Relation: "Franz Marc" <-painting.painter- ?
Found (12, the first 3 shown):
1. "Blue Horse I"
2. "The Yellow Cow"
3. "Tyrol"
Reply: {"rationale": "Any of his pictures may hang in a museum.", "keep": "all", "chosen": []}

Example
Question: "Which of the towns on the Neckar is the seat of an old university in Swabia?"
Thought: "Choose the university town."
Search: "towns on the Neckar"
Relation: "Neckar" <-lies_on- ?
Found (3):
1. "Heilbronn"
2. "Tübingen"
3. "Rottweil"
Reply: {"rationale": "Of these, Tübingen has the old university.", "keep": "some", "chosen": [2]}
"""

    @property
    def offered(self) -> tuple[Term, ...]:
        """The candidates that are shown, in the order of their numbers."""
        return self.candidates[:MAX_CANDIDATES_SHOWN]

    def _lines(self) -> Iterable[str]:
        shown = len(self.offered)
        note = f"{self.total}, the first {shown} shown" if self.total > shown else str(self.total)
        step, offered = draw_current_step(self.step), numbered(map(draw_node, self.offered))
        return *step, f"Relation: {self.relation}", f"Found ({note}):", offered

    def check(self, reply: SelectedEntities) -> None:
        """Refuse numbers that were not offered, come twice, or do not go with what is kept."""
        check_numbers(reply.chosen, len(self.offered), "entity")
        if reply.chosen and reply.keep == "all":
            raise ValueError('"chosen" goes with keep "some", not with "all"')
        if reply.keep == "some" and not reply.chosen:
            raise ValueError('with keep "some", name at least one number in "chosen"; else keep "all"')


class StepVerdict(Reply):
    """Whether the plan has to be revised, and what the step should have predicted."""

    rationale: str = Field(default="", description="one short sentence: what agrees or does not")
    revise: bool = Field(description="true if the facts do not bear out the predicted observation")
    observation: list[list[str]] = Field(
        default=[], description="if revise: the observation put right, as triples of head, relation, tail"
    )


class VerifyStep(QuestionPrompt[StepVerdict]):
    """Compare the predicted observation of a ``step`` with the ``facts`` that were found, its own first."""

    step: PlanStep
    number: int
    facts: tuple[Path, ...]

    instructions = """\
You check one step of a plan for a search in a knowledge graph. You are given a question, the step \
with the observation that it predicted, if any, and the facts that the graph holds. Say whether the plan \
has to be revised.

- Use the facts alone, nothing that you know besides.
- Revise if the facts say something else than was predicted (another name, another number, a relation \
with another meaning), or if they show answers to the question that were not predicted.
- Do not revise if the facts bear out what was predicted, in whatever words. What else they say is no \
reason: other relations, or more names on the way to the answers.
- Where the step has predicted nothing, revise only if the facts are not what it searches for.
- A node without a name speaks neither for the prediction nor against it: what counts are the named nodes \
around it. Where the step has led to such nodes alone, revise, so that a next step goes on from them.
- If the plan has to be revised, give in "observation" what the step should have predicted, by the \
facts; else leave it empty.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A".

Reply with one JSON object: {"rationale": "one short sentence", "revise": false, "observation": \
[["head", "relation", "tail"]]}.

Example
Question: "Which river runs through the town that the painter of The Garden Terrace was born in?"
Thought 2: "Then where this painter was born."
Action 2: Search["Caspar David Friedrich place of birth"]
Predicted observation 2: ("Caspar David Friedrich", "born in", "Dresden")
Facts:
1. "Caspar David Friedrich" -person.place_of_birth-> "Greifswald"
2. "The Garden Terrace" <-painting.painter- "Caspar David Friedrich"
Reply: {"rationale": "He was born in Greifswald, not in Dresden.", "revise": true, "observation": \
[["Caspar David Friedrich", "born in", "Greifswald"]]}

Example
Question: "Who conducted the first performance of Bolero?"
Thought 1: "Find who conducted it first."
Action 1: Search["Bolero first conductor"]
Predicted observation 1: ("Bolero", "first conducted by", "Walther Straram")
Facts:
1. "Bolero" -premiere-> (a node without a name) -conductor-> "Walther Straram"
2. "Bolero" -premiere-> (a node without a name) -venue-> "Palais Garnier"
Reply: {"rationale": "The first fact says it in other words.", "revise": false, "observation": []}

Example
Question: "Who wrote the libretto of the opera that opened the Markgräfliches Opernhaus?"
Thought 1: "Find the opera that opened it."
Action 1: Search["Markgräfliches Opernhaus opening opera"]
Predicted observation 1: ("Markgräfliches Opernhaus", "opened with", "Il trionfo di Ezio")
Facts:
1. "Markgräfliches Opernhaus" -opening-> (a node without a name)
Reply: {"rationale": "The opera is one step on, behind a node without a name.", "revise": true, \
"observation": [["Markgräfliches Opernhaus", "opening", "a node without a name"]]}
"""

    def _lines(self) -> Iterable[str]:
        return draw_step(self.step, self.number), "Facts:", draw_facts(self.facts)

    def check(self, reply: StepVerdict) -> None:
        """Refuse an observation that is not made of triples."""
        check_observation(reply.observation)
