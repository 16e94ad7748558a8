"""Is it so, by what was found? (VoG appendix G: questions that ask for yes or no)."""

import re
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from kgqa.kg.languages import detect_language
from kgqa.kg.terms import Path
from kgqa.prompts.base import QuestionPrompt, Reply, check_numbers
from kgqa.prompts.facts import MAX_FACTS_SHOWN, draw_fact, draw_facts

_BEGINS = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|must)(?:n't)?\s"
    r"(?!\s*(?:you|i|we|anyone|anybody|someone|somebody)\b)",
    re.IGNORECASE,
)
_ASKS_OTHERWISE = re.compile(r"\bor\b|\band (?:what|where|when|which|who|whom|whose|how)\b", re.IGNORECASE)


def is_yes_no_question(question: str) -> bool:
    """Return whether a question in English asks for yes or no: by how it begins.

    >>> is_yes_no_question("Is Ulm on the Danube?"), is_yes_no_question("Can you tell me where Ulm is?")
    (True, False)
    >>> is_yes_no_question("Is the Rhine or the Danube longer?"), is_yes_no_question("Was ist der Rhein?")
    (False, False)
    """
    begins = _BEGINS.match(question.lstrip()) is not None and _ASKS_OTHERWISE.search(question) is None
    return begins and detect_language(question) in ("", "en")


class Judgement(Reply):
    """The verdict and the facts that speak for and against it."""

    rationale: str = Field(default="", description="one short sentence: what decides it")
    verdict: Literal["yes", "no", "unknown"] = Field(description="yes, no or unknown")
    favour: list[int] = Field(default=[], description="numbers of the facts that speak for yes")
    against: list[int] = Field(default=[], description="numbers of the facts that speak for no")


class JudgeClaim(QuestionPrompt[Judgement]):
    """Answer a question that asks for yes or no, from ``facts`` alone."""

    facts: tuple[Path, ...]

    instructions = """\
You answer a question that asks for yes or no. You are given the question and the facts that a search \
in a knowledge graph has found. Weigh them.

- Use the facts alone, nothing that you know besides.
- "yes": at least one fact says it, alone or together with others; give their numbers in "favour".
- "no": at least one fact says the opposite or rules it out; give their numbers in "against".
- "unknown": the facts say neither. That a fact is missing is no proof of the opposite.
- Where some speak for it and some against it, name both and decide by those that say it most directly.
- Leave out facts that say nothing about it.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". A node may have no name, and that says nothing against it.

Reply with one JSON object: {"rationale": "one short sentence", "verdict": "yes", "favour": [numbers], \
"against": [numbers]}.

Example
Question: "Do mosses take up water by roots?"
Facts:
1. "moss" -lacks-> "root"
2. "moss" -takes_up_water_by-> "leaf surface"
3. "moss" -grows_on-> "bark"
Reply: {"rationale": "They have no roots and use their leaves.", "verdict": "no", "favour": [], \
"against": [1, 2]}

Example
Question: "Do lichens and corals both live in symbiosis with algae?"
Facts:
1. "lichen" -symbiont-> "green algae"
2. "coral" <-partner_of- "zooxanthellae"
3. "zooxanthellae" -kind_of-> "algae"
Reply: {"rationale": "Both have algae as partners.", "verdict": "yes", "favour": [1, 2, 3], "against": []}

Example
Question: "Does birch sap lower a fever?"
Facts:
1. "birch sap" -contains-> "xylitol"
Reply: {"rationale": "Nothing is said of fever.", "verdict": "unknown", "favour": [], "against": []}
"""

    @property
    def offered(self) -> tuple[Path, ...]:
        """The facts that are shown, in the order of their numbers; of those drawn alike the first."""
        distinct: dict[str, Path] = {}
        for path in self.facts:
            distinct.setdefault(draw_fact(path), path)
        return tuple(distinct.values())[:MAX_FACTS_SHOWN]

    def _lines(self) -> Iterable[str]:
        return "Facts:", draw_facts(self.facts)

    def check(self, reply: Judgement) -> None:
        """Refuse numbers that were not offered or come twice, and a verdict that no fact bears."""
        offered = len(self.offered)
        check_numbers(reply.favour, offered, "fact")
        check_numbers(reply.against, offered, "fact")
        if reply.verdict == "yes" and not reply.favour:
            raise ValueError('a "yes" needs a fact in "favour"; if none says it, the verdict is "unknown"')
        if reply.verdict == "no" and not reply.against:
            raise ValueError(
                'a "no" needs a fact in "against"; if none rules it out, the verdict is "unknown"'
            )
