"""How a run verified and revised its plans, and what came of it (VoG, Appendix E)."""

from collections import Counter
from collections.abc import Callable, Sequence

from typing_extensions import TypedDict

from kgqa.evaluation.paper_analysis.trace import (
    SIGNAL_SOURCES,
    STAGE_NODES,
    PlanTrace,
    TracedRevision,
    read_plan_trace,
)
from kgqa.evaluation.scoring.scores import (
    GroupMetrics,
    ScoredQuestion,
    Share,
    as_share,
    is_right,
    measure_group,
)
from kgqa.evaluation.scoring.statistics import Costs, bootstrap_interval, bootstrap_intervals, summarise_costs
from kgqa.priors.answer_agreement import answer_key
from kgqa.priors.rewards import answer_confidence

FIRST_PLAN = "first"
"""What stands for the plan that a search began with, where others go by their arm."""

PLAN_ORIGINS = (FIRST_PLAN, "local", "lookahead", "global")
"""Where a plan may be from, in the order in which the metrics have them."""


class ArmMetrics(TypedDict):
    """What one arm did (Tables 6 and 9)."""

    chosen: Costs | None
    """How often a question with a plan chose it: N_c."""
    revisions: int
    """Revisions by it that have a reward."""
    accepted: int
    reward: float | None
    """Their mean reward; null where there are none."""
    wrong_before: int
    """Revisions of a plan whose answer was wrong, on scored questions."""
    success: Share
    """The share of those that are right; the interval is over revisions (Table 6)."""


class PlanOriginMetrics(GroupMetrics):
    """The questions that ended with a plan of one origin, and the accuracy over the ``n`` scored ones."""

    questions: int
    attributed: Share
    """Its share of all right answers (Figure 7)."""


def measure_arms(cases: Sequence[PlanTrace], seed: int) -> dict[str, ArmMetrics]:
    """Measure each arm that was chosen."""
    seen = {arm for case in cases for arm in (*case.chosen, *(one.arm for one in case.revised))}
    return {arm: _measure_arm(cases, arm, seed) for arm in sorted(seen, key=_origin_rank)}


def measure_plan_origins(cases: Sequence[PlanTrace], seed: int) -> dict[str, PlanOriginMetrics]:
    """Measure the questions by what the plan in force at their end is from."""
    ended = [(case.mark, case.last.arm or FIRST_PLAN) for case in cases if case.last]
    origins = sorted({origin for _, origin in ended}, key=_origin_rank)
    hits = [origin for mark, origin in ended if mark.score and mark.score.hit_at_1 > 0]
    found: dict[str, PlanOriginMetrics] = {}
    for origin in origins:
        marks, part = [mark for mark, one in ended if one == origin], [hit == origin for hit in hits]
        attributed = as_share(bootstrap_interval(part, seed))
        found[origin] = {"questions": len(marks), "attributed": attributed, **measure_group(marks, seed)}
    return found


def measure_success(cases: Sequence[PlanTrace], seed: int) -> Share:
    """Return the share of the revisions of a wrong plan that are right."""
    return as_share(bootstrap_interval(_revisions_of_wrong_plans(cases), seed))


def measure_best_by_task(cases: Sequence[PlanTrace], seed: int) -> Share:
    """Tell how often the revision of the highest task reward is right; of equals the first counts."""
    return _measure_best(cases, lambda case: [one.task for one in case.revised], seed)


def measure_best_by_confidence(cases: Sequence[PlanTrace], seed: int) -> Share:
    """Tell how often the revision that most plans agree with is right; of equals the first counts."""
    return _measure_best(cases, _plan_confidences, seed)


def _measure_arm(cases: Sequence[PlanTrace], arm: str, seed: int) -> ArmMetrics:
    own = [case._replace(revised=[one for one in case.revised if one.arm == arm]) for case in cases]
    tried = [one for case in own for one in case.revised]
    return {
        "chosen": summarise_costs([case.chosen[arm] for case in cases]),
        "revisions": len(tried),
        "accepted": sum(one.accepted for one in tried),
        "reward": sum(one.reward for one in tried) / len(tried) if tried else None,
        "wrong_before": len(_revisions_of_wrong_plans(own)),
        "success": measure_success(own, seed),
    }


def _revisions_of_wrong_plans(cases: Sequence[PlanTrace]) -> list[bool]:
    """Tell of each revision of a wrong plan whether it is right; questions without gold are left out."""
    return [
        is_right(one.answers, case.mark.question)
        for case in cases
        if case.mark.score
        for one in case.revised
        if not is_right(one.before, case.mark.question)
    ]


def _measure_best(
    cases: Sequence[PlanTrace], worth: Callable[[PlanTrace], Sequence[float]], seed: int
) -> Share:
    hits = []
    for case in cases:
        if case.mark.score and case.revised:
            worths = worth(case)
            best: TracedRevision = case.revised[worths.index(max(worths))]
            hits.append(is_right(best.answers, case.mark.question))
    return as_share(bootstrap_interval(hits, seed))


def _plan_confidences(case: PlanTrace) -> list[float]:
    """Return equation 3 over all plans of the question, the first one among them, for each revision."""
    pool = [answer_key(answers) for answers in (case.first.answers, *(one.answers for one in case.revised))]
    return [answer_confidence(pool, key) for key in pool[1:]]


def _origin_rank(origin: str) -> tuple[int, str]:
    return PLAN_ORIGINS.index(origin) if origin in PLAN_ORIGINS else len(PLAN_ORIGINS), origin


class StageCosts(Costs):
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
    tokens: dict[str, StageCosts]
    """By stage (Figure 6)."""
    success: Share
    """Revisions of a wrong plan that are right, by whatever arm; the interval is over revisions."""
    strategies: dict[str, ArmMetrics]
    plans: dict[str, PlanOriginMetrics]
    """By what the plan in force at the end is from: ``first``, or an arm (Figure 7)."""
    entropy: float | None
    """The mean of H_t over all revisions (Table 11); null where there are none."""
    best_task: Share
    """Scored questions with a revision, those whose best one by task reward is right (Table 11)."""
    best_confidence: Share
    """The same by the share of the question's plans that agree with a revision (equation 3)."""


def measure_revision(judged: Sequence[ScoredQuestion], seed: int) -> Revision | None:
    """Measure verification and revision; None where no result tells of a plan in steps."""
    cases = [case for mark in judged if (case := read_plan_trace(mark))]
    revisions = summarise_costs([case.chosen.total() for case in cases])
    if revisions is None:
        return None
    checked = [case for case in cases if case.verified]
    sources = [_question_source(case) for case in checked]
    revises = [any(check.revises for check in case.verified) for case in checked]
    rows = [[source == one for one in SIGNAL_SOURCES] for source in sources]
    lengths = [case.last.steps for case in cases if case.last and case.last.steps is not None]
    entropies = [one.entropy for case in cases for one in case.revised]
    return {
        "planned": len(cases),
        "verified": len(checked),
        "rate": as_share(bootstrap_interval(revises, seed)),
        "sources": dict(
            zip(
                SIGNAL_SOURCES,
                map(as_share, bootstrap_intervals(rows, columns=len(SIGNAL_SOURCES), seed=seed)),
                strict=True,
            )
        ),
        "steps": _count_by_step(cases),
        "verifiers": _count_verifiers(cases),
        "revisions": revisions,
        "plan_steps": summarise_costs(lengths),
        "tokens": _measure_tokens(cases),
        "success": measure_success(cases, seed),
        "strategies": measure_arms(cases, seed),
        "plans": measure_plan_origins(cases, seed),
        "entropy": sum(entropies) / len(entropies) if entropies else None,
        "best_task": measure_best_by_task(cases, seed),
        "best_confidence": measure_best_by_confidence(cases, seed),
    }


def _question_source(case: PlanTrace) -> str:
    found = {check.source for check in case.verified} - {"none"}
    return "both" if len(found) > 1 else next(iter(found), "none")


def _count_by_step(cases: Sequence[PlanTrace]) -> dict[str, dict[str, int]]:
    counts = Counter((check.step, check.source) for case in cases for check in case.verified)
    steps = sorted({step for step, _ in counts})
    return {str(step): {source: counts[step, source] for source in SIGNAL_SOURCES} for step in steps}


def _count_verifiers(cases: Sequence[PlanTrace]) -> dict[str, int]:
    names = (check.verifier for case in cases for check in case.verified if check.verifier)
    return dict(sorted(Counter(names).items()))


def _measure_tokens(cases: Sequence[PlanTrace]) -> dict[str, StageCosts]:
    total = sum(case.tokens.total() for case in cases)
    found: dict[str, StageCosts] = {}
    for stage in STAGE_NODES:
        amounts = [case.tokens[stage] for case in cases]
        if cost := summarise_costs(amounts):
            found[stage] = {**cost, "share": sum(amounts) / total if total else None}
    return found
