"""Where does the search go on, and what does it come back to? (PoG: reflection)."""

from collections.abc import Iterable

from pydantic import Field

from kgqa.prompts.base import Reply, check_numbers
from kgqa.prompts.candidates import (
    MAX_GROUPS_SHOWN,
    ChainFindings,
    check_kept,
    draw_chain_findings,
    draw_dead_ends,
    draw_earlier_chains,
    numbered_candidates,
)
from kgqa.prompts.progress import PlannedPrompt
from kgqa.prompts.target import Target

MAX_EARLIER_CHAINS = 30


class Reflection(Reply):
    """From what to go on, and what to come back to."""

    rationale: str = Field(default="", description="one short sentence: why")
    go_on: list[int] = Field(description="numbers of the groups to go on from")
    keep: list[int] = Field(
        default=[], description="numbers of the candidates of these groups to go on from; empty for all"
    )
    recall: list[int] = Field(default=[], description="numbers of the earlier chains to come back to")


class Reflect(PlannedPrompt[Reflection]):
    """Choose among what was ``found`` now and the ``history`` of the search, as far as it is shown.

    Of ``spent`` chains nothing more can be chosen.
    """

    found: tuple[ChainFindings, ...]
    history: tuple[ChainFindings, ...]
    spent: tuple[ChainFindings, ...] = ()

    instructions = """\
You steer a search in a knowledge graph that has not reached the answer yet. You are given the \
question, the groups that were found last, each a chain of relations with the candidates at its end, \
and chains that were reached earlier. Choose where the search goes on.

- "go_on": the groups from which the answer can still be reached, as few as possible. Where there are \
several topic entities, each has a chain of its own: go on from each that still needs a relation.
- "keep": the candidates of these groups that the question means, where it says which and all of the \
group are shown; when in doubt leave it empty, to go on from all.
- "recall": earlier chains to come back to, where the search has gone astray after them or left out \
something that the question asks; else leave it empty. A topic entity alone is a chain too.

If nothing leads to the answer, leave all three empty.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step; they may have no names, and that says \
nothing against them. Do not doubt the data.

Reply with one JSON object: {"rationale": "one short sentence", "go_on": [group numbers], \
"keep": [candidate numbers], "recall": [numbers of earlier chains]}.

Example
Question: "Who was the mother of the author of Effi Briest?"
Group 1: "Effi Briest" -author-> ?1 -spouse-> ?2 (1)
1. "Emilie Rouanet"
Reached earlier:
Chain 1: "Effi Briest"
Chain 2: "Effi Briest" -author-> ?1 (1): "Theodor Fontane"
Reply: {"rationale": "A wife leads astray; back to the author.", "go_on": [], "keep": [], "recall": [2]}
"""

    def _lines(self) -> Iterable[str]:
        yield from draw_chain_findings(self.found)
        yield from draw_earlier_chains(self.history[:MAX_EARLIER_CHAINS])
        yield from draw_dead_ends(self.spent)
        if not self.found:
            yield 'No group is left: "go_on" and "keep" stay empty.'
        if not self.history:
            yield 'There is nothing to come back to: "recall" stays empty.'

    def check(self, reply: Reflection) -> None:
        """Refuse what was not offered, and candidates of groups that are not gone on from."""
        check_numbers(reply.go_on, min(MAX_GROUPS_SHOWN, len(self.found)), "group")
        check_numbers(reply.recall, min(MAX_EARLIER_CHAINS, len(self.history)), "earlier chain")
        check_kept(reply.go_on, reply.keep, self.found)

    async def answer(self, target: Target) -> Reflection:
        """Go on from what leads on; where nothing does, come back to what is furthest, one for each topic."""
        found = [each.chain for each in self.found[:MAX_GROUPS_SHOWN]]
        right = await target.going_on(found)
        others = [number for number in range(1, len(found) + 1) if number not in right]
        going = target.judge("wrong groups", (right, others), right)
        keep = [kept for number in right if going == right for kept in await self._narrow(number, target)]
        if right:
            return Reflection(go_on=going, keep=keep)
        earlier = [each.chain for each in self.history[:MAX_EARLIER_CHAINS]]
        seen = [*earlier, *found]
        back = {seen[number - 1].topic: number for number in reversed(await target.unfinished(seen))}
        recall = sorted(number for number in back.values() if number <= len(earlier))
        return Reflection(go_on=going, recall=target.come_back(recall, len(earlier)))

    async def _narrow(self, number: int, target: Target) -> list[int]:
        """Choose among the candidates of a group, where all are shown."""
        group = self.found[number - 1]
        rows = [row for row in numbered_candidates(self.found) if row.group == number]
        if group.truncated or len(rows) < len(group.named):
            return []
        return await target.narrow(group.chain, {row.number: row.candidate.term for row in rows})
