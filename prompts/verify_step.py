"""Do the facts bear out what a step predicted? (VoG §3.3: verification by the model)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.kg.terms import Path
from kgqa.prompts.base import QuestionPrompt, Reply
from kgqa.prompts.facts import draw_facts
from kgqa.prompts.plans import PlanStep, check_observation, draw_step

ANY_NAME = "No later step has a name predicted here: other names alone are no reason to revise."


class StepVerdict(Reply):
    """Whether the plan has to be revised, and what the step should have predicted."""

    rationale: str = Field(default="", description="one short sentence: what agrees or does not")
    revise: bool = Field(description="true if the facts do not bear out the predicted observation")
    observation: list[list[str]] = Field(
        default=[], description="if revise: the observation put right, as triples of head, relation, tail"
    )


class VerifyStep(QuestionPrompt[StepVerdict]):
    """Compare the predicted observation of a ``step`` with the ``facts`` that were found, its own first.

    Where no later step has a name that it predicts, others will do (``any_name``).
    """

    step: PlanStep
    number: int
    facts: tuple[Path, ...]
    any_name: bool = False

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
        yield draw_step(self.step, self.number)
        if self.any_name:
            yield ANY_NAME
        yield from ("Facts:", draw_facts(self.facts))

    def check(self, reply: StepVerdict) -> None:
        """Refuse an observation that is not made of triples."""
        check_observation(reply.observation)
