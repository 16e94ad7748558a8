"""How much does each relation promise? (ToG §2.1.2: relation exploration)."""

from collections import Counter
from collections.abc import Iterable

from kgqa.prompts.base import QuestionPrompt, Scores, check_scores
from kgqa.prompts.chain import Extension, draw_chain, draw_grouped_extensions


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
