"""Which relations, or entities, does the frontier need? (PoG, EGP §4.3; scored: ToG §2.1.2)."""

from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.prompts.base import QuestionPrompt, Reply, Scores, check_numbers, check_scores
from kgqa.prompts.candidates import (
    MAX_CANDIDATES_SHOWN,
    ChainFindings,
    draw_candidates,
    draw_chain_findings,
    numbered_candidates,
)
from kgqa.prompts.chain import (
    MEETING,
    MISSING,
    ChoiceOrMissing,
    Extension,
    draw_chain,
    draw_grouped_extensions,
    draw_then,
)
from kgqa.prompts.progress import PlannedPrompt


class PickedRelations(ChoiceOrMissing):
    """The relations that the search follows, as few as it needs."""


class PickRelations(PlannedPrompt[PickedRelations]):
    """Choose among ``offers``, which extend chains of the frontier; those of one stand together.

    ``reached`` are some names of what these have led to. The reply may say what comes after the choice
    (``outright``), or what is ``missing``.
    """

    offers: tuple[Extension, ...]
    outright: bool = False
    missing: bool = False
    reached: tuple[tuple[Chain, tuple[str, ...]], ...] = ()

    instructions = """\
You steer a search in a knowledge graph. You are given a question and a numbered list of relations \
that can be followed next, each under the chain that it extends. Choose those that lead to the answer.

- As few as possible: for one chain, one is often enough. Choose two only if they mean the same in other \
words, or if you cannot tell which one it is.
- Chains of several topic entities are to meet at the answer: choose what each that is shown still \
needs, and nothing for one that needs nothing more.
- Where there are subgoals, choose for those that are still open, by what the relations mean.
- Relations that only describe the database (keys, types, provenance) seldom help.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, or "only" for those named behind it; some \
may be named in brackets; they may have no names, and that says nothing against them.

Reply with one JSON object: {"rationale": "one short sentence", "relations": [numbers]}. \
An empty list says that none can help.

Example
Question: "Who of Beethoven's teachers was born in a town on the Danube?"
Topic entities: "Ludwig van Beethoven", "Danube"
From "Ludwig van Beethoven" -taught_by-> ?1:
1. -born_in-> ?2
2. -pupil-> ?2
From "Danube" <-lies_on- ?1:
3. -country-> ?2
4. <-born_in- ?2
Reply: {"rationale": "His teachers are reached; from the towns on the river, those born there.", \
"relations": [4]}
"""

    def _lines(self) -> Iterable[str]:
        if self.outright:
            yield draw_then("those that you choose lead")
            yield from [MEETING] * (len(self.topics) > 1)
        yield from [MISSING] * self.missing
        yield from draw_grouped_extensions(self.offers, dict(self.reached))

    def check(self, reply: PickedRelations) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.relations, len(self.offers), "relation")


class ChosenEntities(Reply):
    """What the search goes on from, and answers by."""

    rationale: str = Field(default="", description="one short sentence: why these")
    chosen: list[int] = Field(description="numbers of the candidates; empty if none can help")


class ChooseEntities(QuestionPrompt[ChosenEntities]):
    """Choose among at most `MAX_CANDIDATES_SHOWN` ends of one ``chain``."""

    chain: Chain
    candidates: tuple[Candidate, ...]

    instructions = """\
You steer a search in a knowledge graph. You are given a question, a chain of relations that was \
followed from an entity of it, and the candidates that its last relation has led to. Choose those \
that can be the answer or lead to it.

- As few as possible, and as many as the question needs: to compare or to count, take all that are compared.
- Hold them to what the question says of them. What nothing at hand tells apart may all be right: a \
later relation may tell.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for the nodes reached at that step.

Reply with one JSON object: {"rationale": "one short sentence", "chosen": [numbers]}.

Example
Question: "When was the university opened that Lise Meitner studied at?"
Chain: "Lise Meitner" -educated_at-> ?1
Candidates (2):
1. "Akademisches Gymnasium"
2. "University of Vienna"
Reply: {"rationale": "One of them is a university.", "chosen": [2]}
"""

    def _lines(self) -> Iterable[str]:
        return f"Chain: {draw_chain(self.chain)}", draw_candidates(self.candidates)

    def check(self, reply: ChosenEntities) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.chosen, min(MAX_CANDIDATES_SHOWN, len(self.candidates)), "candidate")


class ScoredRelations(Scores):
    """Scores of the relations that lead on."""


class ScoreRelations(QuestionPrompt[ScoredRelations]):
    """Score at most ``width`` of the ``offers`` that extend one chain of the beam."""

    offers: tuple[Extension, ...]
    width: int

    instructions = """\
You steer a beam search in a knowledge graph. You are given a question and a numbered list of \
relations that can be followed next, each under the chain that it extends. Score how much they promise \
to lead to the answer: 1 for one that surely does, 0.5 for one that may. Leave out those that do not; \
they have the score 0.

- Go by what a relation means, and by the direction of its arrow.
- Where there are several topic entities, each has a chain of its own.
- Relations that only describe the database (keys, types, provenance) seldom help.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step; they may have no names, and that says \
nothing against them.

Reply with one JSON object: {"rationale": "one short sentence", "scores": [scores]}.
A score is {"number": 3, "score": 0.8}. Give no more for one chain than allowed; an empty list says \
that none can help.

Example
Question: "In which town did the composer of Vltava go to school?"
Relations, score at most 2 for each chain:
From "Vltava":
1. -composed_by-> ?1
2. -musical_key-> ?1
3. <-recorded_work- ?1
Reply: {"rationale": "The school is the composer's.", "scores": [{"number": 1, "score": 0.9}]}
"""

    def _lines(self) -> Iterable[str]:
        yield f"Relations, score at most {self.width} for each chain:"
        yield from draw_grouped_extensions(self.offers)

    def check(self, reply: ScoredRelations) -> None:
        """Refuse numbers that were not offered, scores beyond 0 to 1, and too many for one chain."""
        check_scores(reply.scores, len(self.offers), "relation")
        given = Counter(self.offers[each.number - 1].start for each in reply.scores)
        for chain, count in given.items():
            if count > self.width:
                raise ValueError(f"{count} scores are for {draw_chain(chain)}; give at most {self.width}")


class ScoredEntities(Scores):
    """Scores of the candidates that the beam may keep."""


class ScoreEntities(QuestionPrompt[ScoredEntities]):
    """Score the candidates that are shown of what was ``found``."""

    found: tuple[ChainFindings, ...]

    instructions = """\
You steer a beam search in a knowledge graph. You are given a question and what was found: groups, \
each a chain of relations with the candidates at its end. Score how much each candidate promises to \
be the answer or to lead to it: 1 for one that surely does, 0.5 for one that may. Leave out those \
that do not; they have the score 0. Give the same score to those that the question does not tell apart.

Candidates marked with * are reached only by coming back to the start. Where there are several topic \
entities, each has a chain of its own. Do not doubt the data.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

Reply with one JSON object: {"rationale": "one short sentence", "scores": [scores]}.
A score is {"number": 3, "score": 0.8}. An empty list says that none can help.

Example
Question: "When was the university opened that Lise Meitner studied at?"
Group 1: "Lise Meitner" -educated_at-> ?1 (2)
1. "Akademisches Gymnasium"
2. "University of Vienna"
Reply: {"rationale": "One is a university.", "scores": [{"number": 2, "score": 1.0}]}
"""

    def _lines(self) -> Iterable[str]:
        return draw_chain_findings(self.found)

    def check(self, reply: ScoredEntities) -> None:
        """Refuse numbers that were not offered and scores beyond 0 to 1."""
        check_scores(reply.scores, len(numbered_candidates(self.found)), "candidate")
