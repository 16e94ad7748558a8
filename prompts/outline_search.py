"""What has to be found, and by which relations? (CoG §3.2.1: decomposition and adaptation in one)."""

from pydantic import Field

from kgqa.prompts.adapt_blueprint import AdaptBlueprint, BlueprintPrompt, check_branches
from kgqa.prompts.base import Reply
from kgqa.prompts.decompose import Decompose, check_subgoals
from kgqa.prompts.target import Target


class SearchOutline(Reply):
    """The subgoals of a search, and the relations on the way from each topic entity to the answer."""

    rationale: str = Field(default="", description="one short sentence: how the answer is reached")
    subgoals: list[str] = Field(description="what to find, each one short sentence, first one first")
    branches: list[list[str]] = Field(
        description="one list of relation names for each topic entity, in their order"
    )


class OutlineSearch(BlueprintPrompt[SearchOutline]):
    """Plan a search after the ``exemplars`` nearest to a question, with these ``relations`` or others."""

    instructions = """\
You plan a search in a knowledge graph that starts from the topic entities of a question.

- "subgoals": what to find, as few as possible, at most 8, in the order in which the search meets them. A \
condition (a time, a number, a superlative, a comparison) comes after what it is applied to. Do not answer \
the question.
- "branches": for each topic entity, in their order, the 1 to 8 relations that lead from it to the answer, \
in the order in which they are walked. All branches end at the answer.

Similar questions may be given with their branches, "[ENT]" standing for a topic entity. Take over how one \
is built where yours is built alike, but no relation that your question does not ask for.

Name relations in the way of this graph. Some of them are listed; you may name others. Write "^" \
before a relation that is walked against its arrow: with book -written_by-> author, the branch \
from a book to its author is ["written_by"], and from an author to the books ["^written_by"].

Reply with one JSON object: {"rationale": "one short sentence", "subgoals": ["first ...", "then ..."], \
"branches": [["first relation", "second relation"], ["..."]]}.

Example
Question: "Which plays by Schiller had their premiere in Mannheim?"
Topic entities:
1. "Friedrich Schiller"
2. "Mannheim"
Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:
- "which books by [ENT] were printed in [ENT]" by ["^written_by"], ["^printed_in"]
Relations of this graph, some of them: "first_staged_in", "located_in", "written_by"
Reply: {"rationale": "Plays that he wrote and that were first staged there.", "subgoals": \
["Find the plays that Schiller wrote.", "Choose those first staged in Mannheim."], "branches": \
[["^written_by"], ["^first_staged_in"]]}
"""

    def check(self, reply: SearchOutline) -> None:
        """Refuse what `Decompose` and `AdaptBlueprint` refuse."""
        check_subgoals(reply.subgoals)
        check_branches(reply.branches, self.topics)

    async def answer(self, target: Target) -> SearchOutline:
        """Say what `Decompose` and `AdaptBlueprint` are answered by; either errs by itself."""
        shown = AdaptBlueprint(self.question, self.topics, self.exemplars, self.relations)
        plan, adapted = await Decompose(self.question).answer(target), await shown.answer(target)
        return SearchOutline(subgoals=plan.subgoals, branches=adapted.branches)
