"""How a run verified and revised its plans, and what came of it (VoG, Appendix E)."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import get_args

from typing_extensions import TypedDict

from kgqa.evaluation.paper_analysis.trace import (
    SIGNAL_SOURCES,
    STAGE_NODES,
    PlanTrace,
    in_order,
    read_plan_trace,
)
from kgqa.evaluation.scoring.scores import GroupMetrics, ScoredQuestion, is_right, measure_group
from kgqa.evaluation.scoring.statistics import (
    Costs,
    Count,
    Fraction,
    Share,
    mean_share,
    mean_shares,
    summarise_costs,
)
from kgqa.priors.answer_agreement import answer_key
from kgqa.priors.rewards import RewardPart, answer_confidence, task_reward

FIRST_PLAN = "first"  # the origin of the plan that a search began with; the others are named by their arm

PLAN_ORIGINS = (FIRST_PLAN, "local", "lookahead", "global", "mixed")
"""Where a plan may be from, in the order in which the metrics have them."""


REWARD_PARTS: tuple[RewardPart, ...] = get_args(RewardPart)


class ArmMetrics(TypedDict, total=False):
    """What one arm did (Tables 6 and 9)."""

    chosen: Costs | None  # how often a question with a plan chose it: N_c
    revisions: Count  # revisions by it that have a reward
    accepted: Count
    reward: Fraction | None  # their mean reward; null where there are none
    wrong_before: Count  # revisions of a plan whose answer was wrong, on scored questions
    success: Share  # the share of those that are right; the interval is over revisions (Table 6)


class PlanOriginMetrics(GroupMetrics, total=False):
    """The questions that ended with a plan of one origin, and the accuracy over the ``n`` scored ones."""

    questions: Count
    attributed: Share  # its share of all right answers (Figure 7)


class StageCosts(Costs, total=False):
    """What a question with a plan spends on one stage, in tokens, input and output together."""

    share: Fraction | None
    """Its share of the tokens of all these questions; null where none were spent."""


class Revision(TypedDict, total=False):
    """Verification and revision in a run."""

    planned: Count
    """Questions with a plan."""
    verified: Count
    """Those of them in which a step was verified."""
    rate: Share
    """The verified ones in which the plan was to be revised at any step (Figure 5, outer ring)."""
    sources: dict[str, Share]
    """The verified ones by who gave a signal at any step: none, model, nli, both (inner ring).

    A signal counts even where it was not acted on: one of two with ``verifiers=and``, or one that came
    when no revision was left. So ``rate`` may be less than all of them but ``none``.
    """
    steps: dict[str, dict[str, Count]]
    """Verifications by the number of the step, and by who gave a signal."""
    verifiers: dict[str, Count]
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
    entropy: Fraction | None
    """The mean of H_t over all revisions (Table 11); null where there are none."""
    best_task: Share
    """Scored questions with a revision, those whose best one by task reward is right (Table 11)."""
    best_confidence: Share
    """The same by the share of the question's candidate plans that agree with a revision (equation 3)."""
    best_without: dict[RewardPart, Share]
    """The same by the task reward without one of its parts (Table 12), of plans whose metrics are traced."""


def measure_revision(scored: Sequence[ScoredQuestion], seed: int) -> Revision | None:
    """Measure verification and revision; None where no result tells of a plan in steps."""
    traces = [trace for each in scored if (trace := read_plan_trace(each))]
    revisions = summarise_costs([trace.arms.total() for trace in traces])
    if revisions is None:
        return None
    verified = [trace for trace in traces if trace.verifications]
    sources = [_question_source(trace) for trace in verified]
    rows = [[source == one for one in SIGNAL_SOURCES] for source in sources]
    shares = mean_shares(rows, columns=len(SIGNAL_SOURCES), seed=seed)
    revises = [any(check.decision == "refine" for check in trace.verifications) for trace in verified]
    lengths = [trace.last.steps for trace in traces if trace.last and trace.last.steps is not None]
    entropies = [revision.entropy for trace in traces for revision in trace.revisions]
    checks = [check for trace in traces for check in trace.verifications]
    counts = Counter((check.step, check.source) for check in checks)
    return {
        "planned": len(traces),
        "verified": len(verified),
        "rate": mean_share(revises, seed),
        "sources": dict(zip(SIGNAL_SOURCES, shares, strict=True)),
        "steps": {
            str(step): {source: counts[step, source] for source in SIGNAL_SOURCES}
            for step in sorted({check.step for check in checks})
        },
        "verifiers": dict(sorted(Counter(check.verifier for check in checks if check.verifier).items())),
        "revisions": revisions,
        "plan_steps": summarise_costs(lengths),
        "tokens": _measure_tokens(traces),
        "success": mean_share(_revisions_of_wrong_plans(traces), seed),
        "strategies": _measure_arms(traces, seed),
        "plans": _measure_plan_origins(traces, seed),
        "entropy": sum(entropies) / len(entropies) if entropies else None,
        "best_task": _measure_best(traces, lambda trace: [one.task for one in trace.revisions], seed),
        "best_confidence": _measure_best(traces, _plan_confidences, seed),
        "best_without": {part: _measure_best(traces, _rewards_without(part), seed) for part in REWARD_PARTS},
    }


def _question_source(trace: PlanTrace) -> str:
    sources = {check.source for check in trace.verifications} - {"none"}
    return "both" if len(sources) > 1 else next(iter(sources), "none")


def _measure_tokens(traces: Sequence[PlanTrace]) -> dict[str, StageCosts]:
    total = sum(trace.tokens.total() for trace in traces)
    found: dict[str, StageCosts] = {}
    for stage in STAGE_NODES:
        amounts = [trace.tokens[stage] for trace in traces]
        if costs := summarise_costs(amounts):
            found[stage] = {**costs, "share": sum(amounts) / total if total else None}
    return found


def _measure_arms(traces: Sequence[PlanTrace], seed: int) -> dict[str, ArmMetrics]:
    """Measure each arm that was chosen."""
    arms = (arm for trace in traces for arm in (*trace.arms, *(one.arm for one in trace.revisions)))
    found: dict[str, ArmMetrics] = {}
    for arm in in_order(arms, PLAN_ORIGINS):
        own = [trace._replace(revisions=[r for r in trace.revisions if r.arm == arm]) for trace in traces]
        revisions = [revision for trace in own for revision in trace.revisions]
        of_wrong = _revisions_of_wrong_plans(own)
        found[arm] = {
            "chosen": summarise_costs([trace.arms[arm] for trace in traces]),
            "revisions": len(revisions),
            "accepted": sum(one.accepted for one in revisions),
            "reward": sum(one.reward for one in revisions) / len(revisions) if revisions else None,
            "wrong_before": len(of_wrong),
            "success": mean_share(of_wrong, seed),
        }
    return found


def _measure_plan_origins(traces: Sequence[PlanTrace], seed: int) -> dict[str, PlanOriginMetrics]:
    """Measure the questions by what the plan in force at their end is from."""
    ended = [(trace.scored, trace.last.arm or FIRST_PLAN) for trace in traces if trace.last]
    hits = [origin for scored, origin in ended if scored.right]
    found: dict[str, PlanOriginMetrics] = {}
    for origin in in_order((origin for _, origin in ended), PLAN_ORIGINS):
        own = [scored for scored, one in ended if one == origin]
        attributed = mean_share([hit == origin for hit in hits], seed)
        found[origin] = {"questions": len(own), "attributed": attributed, **measure_group(own, seed)}
    return found


def _revisions_of_wrong_plans(traces: Sequence[PlanTrace]) -> list[bool]:
    """Return for each revision of a wrong plan whether it is right; questions without gold are left out."""
    return [
        is_right(revision.answers, trace.scored.question)
        for trace in traces
        if trace.scored.score
        for revision in trace.revisions
        if not is_right(revision.before, trace.scored.question)
    ]


def _measure_best(
    traces: Sequence[PlanTrace], worth: Callable[[PlanTrace], Sequence[float]], seed: int
) -> Share:
    """Return how often the revision of the highest worth is right; of equals the first counts.

    A question without revisions, or of which no worths are known, is left out.
    """
    hits = []
    for trace in traces:
        if trace.scored.score and (worths := worth(trace)):
            best = trace.revisions[worths.index(max(worths))]
            hits.append(is_right(best.answers, trace.scored.question))
    return mean_share(hits, seed)


def _plan_confidences(trace: PlanTrace) -> list[float]:
    """Return equation 3 over all candidate plans of the question, for each revision."""
    keys = [answer_key(revision.answers) for revision in trace.revisions]
    pool = keys if trace.without_first else [answer_key(trace.first.answers), *keys]
    return [answer_confidence(pool, key) for key in keys]


def _rewards_without(part: RewardPart) -> Callable[[PlanTrace], Sequence[float]]:
    """Return what gives the task reward of each revision without a part; nothing where one is not traced."""

    def rewards(trace: PlanTrace) -> list[float]:
        metrics = [known for revision in trace.revisions if (known := revision.metrics)]
        return [task_reward(each, part) for each in metrics] if len(metrics) == len(trace.revisions) else []

    return rewards
