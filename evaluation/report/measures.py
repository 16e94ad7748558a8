"""What ``metrics.json`` must be for what is made of it; anything more may stand there."""

from typing import Annotated

from pydantic import Field

from kgqa.evaluation.report.files import Count, Fields

Fraction = Annotated[float, Field(ge=0, le=1)]
Cost = Annotated[float, Field(ge=0, le=1e15)]


class Share(Fields):
    """A share with its interval."""

    value: Fraction | None = None
    low: Fraction | None = None
    high: Fraction | None = None


class Spread(Fields):
    """What a question costs."""

    mean: Cost | None = None
    p50: Cost | None = None
    p95: Cost | None = None


class Group(Fields):
    """The metrics over some questions."""

    n: Count | None = None
    hits_at_1: Share | None = None
    hit_any: Share | None = None
    precision: Share | None = None
    recall: Share | None = None
    f1: Share | None = None


class Triggered(Group):
    """Questions with a triggered refinement."""

    triggered: Count | None = None
    outcomes: dict[str, dict[str, Count]] | None = None


class Refinement(Triggered):
    """How often refinement was triggered in a run, and how it ended."""

    rate: Share | None = None
    diagnoses: Spread | None = None
    dropped: Share | None = None
    rerouted: Count | None = None
    recovered: Share | None = None
    signals: dict[str, Triggered] | None = None


class Source(Group):
    """Questions whose blueprint is from one source."""

    questions: Count | None = None
    share: Share | None = None


class Stage(Spread):
    """Tokens of one stage."""

    share: Fraction | None = None


class Strategy(Fields):
    """What one arm of a revision did."""

    chosen: Spread | None = None
    revisions: Count | None = None
    accepted: Count | None = None
    reward: Fraction | None = None
    wrong_before: Count | None = None
    success: Share | None = None


class Final(Group):
    """Questions that ended with a plan of one origin."""

    questions: Count | None = None
    attributed: Share | None = None


class Revision(Fields):
    """How a run verified and revised its plans."""

    planned: Count | None = None
    verified: Count | None = None
    rate: Share | None = None
    sources: dict[str, Share] | None = None
    steps: dict[str, dict[str, Count]] | None = None
    revisions: Spread | None = None
    plan_steps: Spread | None = None
    tokens: dict[str, Stage] | None = None
    strategies: dict[str, Strategy] | None = None
    plans: dict[str, Final] | None = None
    entropy: Fraction | None = None
    best_task: Share | None = None
    best_confidence: Share | None = None


class Lookahead(Fields):
    """How smart lookahead went in a run."""

    questions: Count | None = None
    fired: Share | None = None
    realised: Share | None = None
    ended: Share | None = None
    right: Share | None = None
    right_of_fired: Share | None = None


class Pruning(Fields):
    """How many relations survived prunings."""

    prunings: Count | None = None
    chosen: Spread | None = None
    kept: Spread | None = None
    counts: dict[str, Count] | None = None


class Metrics(Group):
    """A ``metrics.json``."""

    errors: Count | None = None
    missing: Count | None = None
    unscored: Count | None = None
    unknown_calls: Count | None = None
    cached_calls: Count | None = None
    kg_grounded_rate: Share | None = None
    kg_grounded_rate_strict: Share | None = None
    llm_calls: Spread | None = None
    input_tokens: Spread | None = None
    output_tokens: Spread | None = None
    kg_queries: Spread | None = None
    seconds: Spread | None = None
    cost: Spread | None = None
    breakdowns: dict[str, dict[str, Group] | None] | None = None
    refinement: Refinement | None = None
    blueprints: dict[str, Source] | None = None
    revision: Revision | None = None
    lookahead: Lookahead | None = None
    pruning: Pruning | None = None
