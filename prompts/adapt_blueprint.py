"""Which relations, in which order, would answer this? (CoG §3.2.1 and appendix A.5: adaptation)."""

from collections.abc import Sequence

from pydantic import Field

from kgqa.kg.terms import Entity
from kgqa.prompts.base import MAX_TOPICS_SHOWN, Prompt, QuestionPrompt, R, Reply, draw_case, numbered, quoted
from kgqa.prompts.solved_questions import MAX_BRANCH_HOPS, SolvedQuestion, draw_solved_questions
from kgqa.prompts.target import Target

MAX_RELATION_NAME_CHARS = 200
MAX_RELATIONS_SHOWN = 60


class AdaptedBlueprint(Reply):
    """A blueprint for the question: the relations on the way from each topic entity to the answer."""

    rationale: str = Field(default="", description="one short sentence: how the answer is reached")
    branches: list[list[str]] = Field(
        description="one list of relation names for each topic entity, in their order"
    )


class BlueprintPrompt(Prompt[R]):
    """A question with the ``exemplars`` nearest to it and some ``relations`` of the graph."""

    question: str
    topics: tuple[Entity, ...]
    exemplars: tuple[SolvedQuestion, ...]
    relations: tuple[str, ...]

    def case(self) -> str:
        """Show the question, its topic entities, the exemplars and some relations of the graph."""
        shown = [quoted(str(topic)) for topic in self.topics[:MAX_TOPICS_SHOWN]]
        names = [quoted(name, MAX_RELATION_NAME_CHARS) for name in self.relations[:MAX_RELATIONS_SHOWN]]
        lines = ["Topic entities:", numbered(shown)] if shown else []
        lines += draw_solved_questions(self.exemplars)
        lines += [f"Relations of this graph, some of them: {', '.join(names)}"] if names else []
        return draw_case(self.question, *lines)


class AdaptBlueprint(BlueprintPrompt[AdaptedBlueprint]):
    """Write a blueprint after the ``exemplars`` nearest to a question, with these ``relations`` or others."""

    instructions = """\
You plan a search in a knowledge graph. Write the blueprint of a question: for each topic entity, \
the relations that lead from it to the answer, in the order in which they are walked.

Some similar questions and their branches are given; where "[ENT]" stands, it is for a topic entity. \
Take over how a solved question is built where yours is built alike, with the relations that your \
question asks for. Do not take over relations that it does not ask for.

Name relations in the way of this graph. Some of them are listed; you may name others. Write "^" \
before a relation that is walked against its arrow: with book -written_by-> author, the branch \
from a book to its author is ["written_by"], and from an author to the books ["^written_by"].

Reply with one JSON object: {"rationale": "one short sentence", "branches": [["first relation", \
"second relation"], ["..."]]}. Give one branch of 1 to 8 relations for each topic entity, in their \
order; all of them end at the answer.

Example
Question: "In which country was the painter of The Night Watch born?"
Topic entities:
1. "The Night Watch"
Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:
- "who is the mother of the author of [ENT]" by ["book.written_work.author", "people.person.parents"]
Relations of this graph, some of them: "location.location.containedby", "people.person.place_of_birth", \
"visual_art.artwork.artist"
Reply: {"rationale": "From the painting to its painter, the birthplace and its country.", "branches": \
[["visual_art.artwork.artist", "people.person.place_of_birth", "location.location.containedby"]]}

Example
Question: "Which plays by Schiller had their premiere in Mannheim?"
Topic entities:
1. "Friedrich Schiller"
2. "Mannheim"
Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:
- "which books by [ENT] were printed in [ENT]" by ["^written_by"], ["^printed_in"]
Relations of this graph, some of them: "first_staged_in", "located_in", "written_by"
Reply: {"rationale": "Plays that he wrote and that were first staged there.", "branches": \
[["^written_by"], ["^first_staged_in"]]}
"""

    def check(self, reply: AdaptedBlueprint) -> None:
        """Refuse a blueprint of no branches or too many, and names that no relation has."""
        check_branches(reply.branches, self.topics)

    async def answer(self, target: Target) -> AdaptedBlueprint:
        """Name the relations from each topic; where there are none, those of another, or of an exemplar."""
        plans = dict(reversed(await target.plans()))  # of several from a topic the first
        hops = [plans.get(topic, ())[:MAX_BRANCH_HOPS] for topic in self.topics]
        branches = [[("" if hop.forward else "^") + hop.words for hop in each] for each in hops]
        first = next(filter(None, branches), None)
        if target.plans_well() and first:
            return AdaptedBlueprint(branches=[branch or first for branch in branches])
        nearest = self.exemplars[0].branches if self.exemplars else (self.relations[:1],)
        kept = nearest[: max(1, len(self.topics))]
        return AdaptedBlueprint(branches=[list(branch[:MAX_BRANCH_HOPS]) for branch in kept])


def check_branches(branches: Sequence[Sequence[str]], topics: Sequence[Entity]) -> None:
    """Raise ValueError for no branches or too many, and for names that no relation has."""
    most = max(1, len(topics))
    if not 1 <= len(branches) <= most:
        raise ValueError(f"give a branch for each topic entity, at most {most}, not {len(branches)}")
    for number, branch in enumerate(branches, 1):
        _check_relations(branch, f"branch {number}")


class LinearBlueprint(Reply):
    """A blueprint for the question as one list of relations (CoG equation 3)."""

    rationale: str = Field(default="", description="one short sentence: what the question asks for")
    relations: list[str] = Field(description="the relations on the way to the answer, in their order")

    @classmethod
    def of(cls, adapted: AdaptedBlueprint) -> "LinearBlueprint":
        """Return the branches of a blueprint as one list, without their directions."""
        names = [name.removeprefix("^") for branch in adapted.branches for name in branch]
        return cls(rationale=adapted.rationale, relations=names[:MAX_BRANCH_HOPS])


class AdaptFreely(QuestionPrompt[LinearBlueprint]):
    """Write a blueprint after the ``exemplars`` nearest to a question, each of one list of relations."""

    exemplars: tuple[SolvedQuestion, ...]

    instructions = """\
You plan a search in a knowledge graph. Write the blueprint of a question: the relations that lead to \
its answer, as one list in their order.

Solved questions that are like it are given, each with its blueprint; an entity in one may be written \
"[ENT]". See first what your question asks for. Take from the others how a blueprint is built and \
how relations are named, but no relation that your question does not ask for; you may name new ones.

Reply with one JSON object: {"rationale": "one short sentence", "relations": ["first", "second"]}. Give 1 \
to 8 relations.

Example
Question: "In which country was the painter of The Night Watch born?"
Solved questions and their blueprints:
- "who is the mother of the author of Effi Briest" by ["book.written_work.author", "people.person.parents"]
Reply: {"rationale": "The birthplace of a painter, and its country.", "relations": \
["visual_art.artwork.artist", "people.person.place_of_birth", "location.location.containedby"]}
"""

    def case(self) -> str:
        """Show the question and the exemplars."""
        solved = draw_solved_questions(self.exemplars, "Solved questions and their blueprints:")
        return draw_case(self.question, *solved)

    def check(self, reply: LinearBlueprint) -> None:
        """Refuse no relations or too many, and names that no relation has."""
        _check_relations(reply.relations, "the blueprint")

    async def answer(self, target: Target) -> LinearBlueprint:
        """Name the relations of what `AdaptBlueprint` is answered by, one branch after the other."""
        adapted = await AdaptBlueprint(self.question, self.topics, self.exemplars, ()).answer(target)
        return LinearBlueprint.of(adapted)


def _check_relations(names: Sequence[str], what: str) -> None:
    if not 1 <= len(names) <= MAX_BRANCH_HOPS:
        raise ValueError(f"{what} has {len(names)} relations; give 1 to {MAX_BRANCH_HOPS}")
    limit = MAX_RELATION_NAME_CHARS
    if not all(name.removeprefix("^").strip() and len(name) <= limit for name in names):
        raise ValueError(f"{what} has a name that is blank or longer than {limit} characters")
