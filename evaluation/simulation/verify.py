"""Judges the chains of CoR."""

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.judge import Seen, judge, misjudge
from kgqa.prompts.verify_chain import Verdict, VerifyChain


async def verify(prompt: VerifyChain, case: Case) -> Verdict:
    """Judge a chain by where it leads.

    A wrong verdict is another of those offered; a wrong choice of entities takes others.
    """
    seen = Seen(prompt.chain, prompt.candidates, prompt.truncated, prompt.filtering)
    said = misjudge(await judge(seen, case), seen, case)
    return Verdict(decision=said.decision, take=said.take, chosen=list(said.chosen))
