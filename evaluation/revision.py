"""How a run verified and revised its plans, and what came of it (VoG, appendix E)."""

from collections import Counter
from collections.abc import Sequence

from typing_extensions import TypedDict

from kgqa.evaluation.accuracy import Share, share
from kgqa.evaluation.costs import Costs, costs
from kgqa.evaluation.judging import Judged
from kgqa.evaluation.planned import SOURCES, STAGES, Case, case_of
from kgqa.evaluation.statistics import interval, intervals
from kgqa.evaluation.strategies import (
    Final,
    Strategy,
    best_by_confidence,
    best_by_task,
    plans,
    strategies,
    success,
)


class Stage(Costs):
    """What a question with a plan spends on one stage, in tokens, input and output together."""

    share: float | None
    """Its share of the tokens of all these questions; null where none were spent."""


class Revision(TypedDict):
    """Verification and revision in a run."""

    planned: int
    """Questions with a plan."""
    verified: int
    """Those of them in which a step was verified."""
    rate: Share
    """The verified ones in which the plan was to be revised at any step (Figure 5, outer ring)."""
    sources: dict[str, Share]
    """The verified ones by who gave a signal at any step: none, model, nli, both (inner ring).

    A signal counts even where it was not heeded: one of two with ``verifiers=and``, or one that came
    when no revision was left. So ``rate`` may be less than all of them but ``none``.
    """
    steps: dict[str, dict[str, int]]
    """Verifications by the number of the step, and by who gave a signal."""
    verifiers: dict[str, int]
    """Verifications by what stood for the NLI verifier: ``rules``, or the name of a model."""
    revisions: Costs
    """Revisions of a question with a plan, those that came to nothing too."""
    plan_steps: Costs | None
    """Searches of the plan in force at the end (Table 9)."""
    tokens: dict[str, Stage]
    """By stage (Figure 6)."""
    success: Share
    """Revisions of a wrong plan that are right, by whatever arm; the interval is over revisions."""
    strategies: dict[str, Strategy]
    plans: dict[str, Final]
    """By what the plan in force at the end is from: ``first``, or an arm (Figure 7)."""
    entropy: float | None
    """The mean of H_t over all revisions (Table 11); null where there are none."""
    best_task: Share
    """Scored questions with a revision, those whose best one by task reward is right (Table 11)."""
    best_confidence: Share
    """The same by the share of the question's plans that agree with a revision (equation 3)."""


def revision(judged: Sequence[Judged], seed: int) -> Revision | None:
    """Measure verification and revision; None where no result tells of a plan in steps."""
    cases = [case for mark in judged if (case := case_of(mark))]
    revisions = costs([case.chosen.total() for case in cases])
    if revisions is None:
        return None
    checked = [case for case in cases if case.verified]
    sources = [_source(case) for case in checked]
    revises = [any(check.revises for check in case.verified) for case in checked]
    rows = [[source == one for one in SOURCES] for source in sources]
    lengths = [case.last.steps for case in cases if case.last and case.last.steps is not None]
    entropies = [one.entropy for case in cases for one in case.revised]
    return {
        "planned": len(cases),
        "verified": len(checked),
        "rate": share(interval(revises, seed)),
        "sources": dict(
            zip(SOURCES, map(share, intervals(rows, columns=len(SOURCES), seed=seed)), strict=True)
        ),
        "steps": _steps(cases),
        "verifiers": _verifiers(cases),
        "revisions": revisions,
        "plan_steps": costs(lengths),
        "tokens": _tokens(cases),
        "success": success(cases, seed),
        "strategies": strategies(cases, seed),
        "plans": plans(cases, seed),
        "entropy": sum(entropies) / len(entropies) if entropies else None,
        "best_task": best_by_task(cases, seed),
        "best_confidence": best_by_confidence(cases, seed),
    }


def _source(case: Case) -> str:
    found = {check.source for check in case.verified} - {"none"}
    return "both" if len(found) > 1 else next(iter(found), "none")


def _steps(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    counts = Counter((check.step, check.source) for case in cases for check in case.verified)
    steps = sorted({step for step, _ in counts})
    return {str(step): {source: counts[step, source] for source in SOURCES} for step in steps}


def _verifiers(cases: Sequence[Case]) -> dict[str, int]:
    names = (check.verifier for case in cases for check in case.verified if check.verifier)
    return dict(sorted(Counter(names).items()))


def _tokens(cases: Sequence[Case]) -> dict[str, Stage]:
    total = sum(case.tokens.total() for case in cases)
    found: dict[str, Stage] = {}
    for stage in STAGES:
        amounts = [case.tokens[stage] for case in cases]
        if cost := costs(amounts):
            found[stage] = {**cost, "share": sum(amounts) / total if total else None}
    return found
