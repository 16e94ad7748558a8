"""Which relations does the whole frontier need? (PoG: adaptive exploration; EGP §4.3)."""

from collections.abc import Iterable

from kgqa.kg.terms import Chain
from kgqa.prompts.base import check_numbers
from kgqa.prompts.chain import (
    MEETING,
    ChoiceOrMissing,
    Extension,
    draw_grouped_extensions,
    draw_missing,
    draw_then,
)
from kgqa.prompts.progress import PlannedPrompt


class PickedRelations(ChoiceOrMissing):
    """The relations that the search follows, as few as it needs."""


class PickRelations(PlannedPrompt[PickedRelations]):
    """Choose among ``offers``, which are grouped by the chain of the frontier that they extend.

    ``reached`` are some names of what these chains have led to. ``outright``: the reply may also say where
    the choice leads. ``missing``: it may name a relation that is not offered; ``looked_for`` is what it named
    the last time.
    """

    offers: tuple[Extension, ...]
    outright: bool = False
    missing: bool = False
    looked_for: str = ""
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
            if len(self.topics) > 1:
                yield MEETING
        yield from draw_missing(self.missing, self.looked_for)
        yield from draw_grouped_extensions(self.offers, dict(self.reached))

    def check(self, reply: PickedRelations) -> None:
        """Refuse numbers that were not offered or come twice."""
        check_numbers(reply.relations, len(self.offers), "relation")
