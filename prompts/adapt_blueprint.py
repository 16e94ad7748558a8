"""Into which subgoals does it break down, and which relations answer it? (CoG §3.2.1, appendix A.5)."""

from collections.abc import Sequence

from pydantic import Field

from kgqa.kg.terms import Entity
from kgqa.prompts.base import MAX_TOPICS_SHOWN, Prompt, QuestionPrompt, Reply, draw_case, numbered, quoted
from kgqa.prompts.progress import MAX_BRANCH_HOPS, MAX_SUBGOALS, SolvedQuestion, draw_solved_questions

MAX_RELATION_NAME_CHARS = 200
MAX_RELATIONS_SHOWN = 60


class AdaptedBlueprint(Reply):
    """A blueprint for the question: the relations on the way from each topic entity to the answer."""

    rationale: str = Field(default="", description="one short sentence: how the answer is reached")
    branches: list[list[str]] = Field(
        description="one list of relation names for each topic entity, in their order"
    )


class AdaptBlueprint(Prompt[AdaptedBlueprint]):
    """Write a blueprint after the ``exemplars`` nearest to a question, with these ``relations`` or others."""

    question: str
    topics: tuple[Entity, ...]
    exemplars: tuple[SolvedQuestion, ...]
    relations: tuple[str, ...]

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

    def case(self) -> str:
        """Show the question, its topic entities, the exemplars and some relations of the graph."""
        return case_of_blueprint(self.question, self.topics, self.exemplars, self.relations)

    def check(self, reply: AdaptedBlueprint) -> None:
        """Refuse a blueprint of no branches or too many, and names that no relation has."""
        check_branches(reply.branches, self.topics)


def case_of_blueprint(
    question: str,
    topics: Sequence[Entity],
    exemplars: Sequence[SolvedQuestion],
    relations: Sequence[str],
) -> str:
    """Draw a question, its topic entities, the exemplars and some relations of the graph."""
    shown = [quoted(str(topic)) for topic in topics[:MAX_TOPICS_SHOWN]]
    names = [quoted(name, MAX_RELATION_NAME_CHARS) for name in relations[:MAX_RELATIONS_SHOWN]]
    lines = ["Topic entities:", numbered(shown)] if shown else []
    lines += draw_solved_questions(exemplars)
    lines += [f"Relations of this graph, some of them: {', '.join(names)}"] if names else []
    return draw_case(question, *lines)


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


def _check_relations(names: Sequence[str], what: str) -> None:
    if not 1 <= len(names) <= MAX_BRANCH_HOPS:
        raise ValueError(f"{what} has {len(names)} relations; give 1 to {MAX_BRANCH_HOPS}")
    limit = MAX_RELATION_NAME_CHARS
    if not all(name.removeprefix("^").strip() and len(name) <= limit for name in names):
        raise ValueError(f"{what} has a name that is blank or longer than {limit} characters")


class SearchOutline(Reply):
    """The subgoals of a search, and the relations on the way from each topic entity to the answer."""

    rationale: str = Field(default="", description="one short sentence: how the answer is reached")
    subgoals: list[str] = Field(description="what to find, each one short sentence, first one first")
    branches: list[list[str]] = Field(
        description="one list of relation names for each topic entity, in their order"
    )


class OutlineSearch(Prompt[SearchOutline]):
    """Plan a search after the ``exemplars`` nearest to a question, with these ``relations`` or others."""

    question: str
    topics: tuple[Entity, ...]
    exemplars: tuple[SolvedQuestion, ...]
    relations: tuple[str, ...]

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

    def case(self) -> str:
        """Show the question, its topic entities, the exemplars and some relations of the graph."""
        return case_of_blueprint(self.question, self.topics, self.exemplars, self.relations)

    def check(self, reply: SearchOutline) -> None:
        """Refuse what `Decompose` and `AdaptBlueprint` refuse."""
        check_subgoals(reply.subgoals)
        check_branches(reply.branches, self.topics)


class Subgoals(Reply):
    """A plan: the subgoals in the order in which a search meets them."""

    rationale: str = Field(default="", description="one short sentence: how the question is built")
    subgoals: list[str] = Field(description="the subgoals, each one short sentence, first one first")


class Decompose(Prompt[Subgoals]):
    """Split a question into the subgoals of a search over the graph, ``exemplars`` of such shown first."""

    question: str
    exemplars: tuple[SolvedQuestion, ...] = ()

    instructions = """\
You plan a search in a knowledge graph. Split the question into subgoals, as few as possible, in \
the order in which a search meets them that starts from the entities the question names.

- A subgoal is one thing to find out, usually one relation: what to find, and of what.
- A condition (a time, a number, a superlative, a comparison) comes after what it is applied to.
- A question that one relation answers has one subgoal.
- Do not answer the question, and name nothing that it does not name.

Reply with one JSON object: {"rationale": "one short sentence", "subgoals": ["first ...", "then ..."]}. \
Give at most 8.

Example
Question: "In which town did the composer of Vltava go to school?"
Reply: {"rationale": "The school is the composer's.", "subgoals": ["Find who composed Vltava.", \
"Find the school this composer went to.", "Find the town of this school."]}

Example
Question: "Which is the deepest of the lakes that the Rhine flows through?"
Reply: {"rationale": "Lakes first, then one of them.", "subgoals": ["Find the lakes that the Rhine flows \
through.", "Find the deepest of these lakes."]}
"""

    def case(self) -> str:
        """Show the solved questions, where there are any, and the question."""
        return draw_case(self.question, before=draw_solved_questions(self.exemplars))

    def check(self, reply: Subgoals) -> None:
        """Refuse a plan without subgoals, with blank ones, or with too many."""
        check_subgoals(reply.subgoals)


def check_subgoals(subgoals: Sequence[str]) -> None:
    """Raise ValueError for a plan without subgoals, with blank ones, or with too many."""
    if not 1 <= len(subgoals) <= MAX_SUBGOALS:
        raise ValueError(f"give 1 to {MAX_SUBGOALS} subgoals, not {len(subgoals)}")
    if not all(goal.strip() for goal in subgoals):
        raise ValueError("a subgoal is blank; leave it out or say what to find")


class DecomposeAlong(Decompose):
    """Split a question into subgoals along the relations that solved ``exemplars``, shown before it."""

    instructions = """\
You plan a search in a knowledge graph. You are given similar questions with the relations that solved \
them. Split the question into subgoals along such relations, in the order in which a search meets them \
that starts from the entities the question names.

- See first which of these relations are worth following for this question: a subgoal for each, in its \
words, says what to find, and of what.
- Where they do not fit, go by the question: subgoals as few as possible, usually one relation each.
- A condition (a time, a number, a superlative, a comparison) comes after what it is applied to.
- Do not answer the question, and name nothing that it does not name.

Reply with one JSON object: {"rationale": "one short sentence", "subgoals": ["first ...", "then ..."]}. \
Give at most 8.

Example
Similar questions and the relations from each topic to the answer ("^": against the arrow), as a hint:
- "Who taught the composer of [composition]?" by ["composed_by", "student_of"]
Question: "In which town did the composer of Vltava go to school?"
Reply: {"rationale": "As there the composer comes first.", "subgoals": ["Find who Vltava is composed_by.", \
"Find the school this composer went to.", "Find the town of this school."]}
"""
