"""Judges the chains of CoG."""

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.judge import Seen, judge, misjudge
from kgqa.evaluation.simulation.stray import stray
from kgqa.kg.terms import Entity
from kgqa.prompts.candidates import SHOWN
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency


async def check_sufficiency(prompt: CheckSufficiency, case: Case) -> Sufficiency:
    """Judge a chain by where it leads, and go on from all of its ends.

    A wrong verdict is another of those offered; a wrong choice of entities takes others, or goes
    on from a candidate that leads astray. A chain that leads astray establishes nothing.
    """
    seen = Seen(prompt.chain, prompt.candidates, prompt.truncated)
    right = await judge(seen, case)
    said = misjudge(right, seen, case)
    strays = said == right and right.decision == "forward" and case.happens("entity")
    return Sufficiency(
        finding="" if right.decision == "backtrack" else f"reached {prompt.chain.hops[-1].words}",
        decision=said.decision,
        take=said.take,
        chosen=list(said.chosen),
        keep=await _astray(prompt, case) if strays else [],
    )


async def _astray(prompt: CheckSufficiency, case: Case) -> list[int]:
    """Draw what leads astray, where all candidates are shown."""
    if prompt.truncated or len(prompt.candidates) > SHOWN:
        return []
    entities = {n: c.term for n, c in enumerate(prompt.candidates, 1) if isinstance(c.term, Entity)}
    return await stray(prompt.chain, entities, case)
