"""How much does each entity promise? (ToG §2.1.2: entity exploration)."""

from collections.abc import Iterable, Sequence

from kgqa.prompts.base import QuestionPrompt, Score, Scores, check_scores
from kgqa.prompts.candidates import ChainFindings, draw_chain_findings, numbered_candidates
from kgqa.prompts.target import Target

BEST_SCORE = 0.9  # of what is chosen wrongly


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

    async def answer(self, target: Target) -> ScoredEntities:
        """Score what leads to answers by how well it does; what is chosen wrongly has the best score."""
        worth = await worth_of_shown(self.found, target)
        right = [number for number, each in worth.items() if each]
        chosen = target.choose(right, len(worth))
        scores = {number: worth[number] if chosen == right else BEST_SCORE for number in chosen}
        return ScoredEntities(scores=[Score(number=number, score=each) for number, each in scores.items()])


async def worth_of_shown(found: Sequence[ChainFindings], target: Target) -> dict[int, float]:
    """Return how well each candidate that is shown leads to the answers, by its number."""
    worth: dict[int, float] = {}
    rows = numbered_candidates(found)
    for place, group in enumerate(found, 1):
        terms = {row.number: row.candidate.term for row in rows if row.group == place}
        own = await target.worth(group.chain, [*terms.values()])
        worth |= {number: own.get(term, 0.0) for number, term in terms.items()}
    return worth
