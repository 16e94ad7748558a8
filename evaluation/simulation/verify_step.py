"""Verifies what a step of a search predicted."""

from collections.abc import Sequence

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.evidence import found, on_the_way, predicting, stage, stages
from kgqa.kg.terms import Path
from kgqa.kg.text import fold
from kgqa.prompts.facts import claims
from kgqa.prompts.plans import Statement
from kgqa.prompts.verify_step import StepVerdict, VerifyStep


async def verify_step(prompt: VerifyStep, case: Case) -> StepVerdict:
    """Call for a revision where the facts do not bear out all that was predicted.

    So too where they lead to gold answers at last, none of which was predicted. The observation
    is put right by the facts that lead on to the answers. A wrong verdict is the other one.
    """
    failed = not await _borne_out(prompt, case) or await _unforeseen(prompt, case)
    seen = predicting(stage(await on_the_way(prompt.facts, case), -1)).observation if failed else ()
    if case.happens("judge"):
        return StepVerdict(revise=not failed)
    return StepVerdict(revise=failed, observation=[list(row) for row in seen])


async def _borne_out(prompt: VerifyStep, case: Case) -> bool:
    """Tell whether the facts say what was predicted; of a relation on a way, whether they know its ends.

    A search keeps one fact of several that lead to the same entity.
    """
    facts = {_folded(statement) for statement in _stated(prompt.facts)}
    known = {name for head, _, tail in facts for name in (head, tail)}
    usual = {_folded(s)[1] for paths in await case.oracle.paths() for s in _stated(paths)}
    return all(
        (relation in usual and {head, tail} <= known)
        or any(_says(fact, (head, relation, tail)) for fact in facts)
        for head, relation, tail in map(_folded, prompt.step.observation)
    )


def _says(fact: Statement, predicted: Statement) -> bool:
    """Compare in either direction; a name that was left open ("?") is any."""
    head, relation, tail = predicted
    return relation == fact[1] and any(
        head in ("", one) and tail in ("", other) for one, other in (fact[::2], fact[::-2])
    )


async def _unforeseen(prompt: VerifyStep, case: Case) -> bool:
    """Tell whether the last of the facts lead to gold answers and the step names none of them."""
    last = stage(prompt.facts, -1)
    gold = set(map(fold, await found(last, case)))
    closed = [(head, tail) for head, _, tail in map(_folded, prompt.step.observation) if head and tail]
    named = {name for names in closed for name in names}
    return not gold.isdisjoint(fold(str(path.end)) for path in last) and named.isdisjoint(gold)


def _stated(paths: Sequence[Path]) -> list[Statement]:
    return claims([begun for path in paths for begun in stages(path)])


def _folded(statement: Statement) -> Statement:
    head, relation, tail = map(fold, statement)
    return head, relation, tail
