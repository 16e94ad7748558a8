"""What a revised plan is worth (VoG §3.4.2 and appendix B.2, equations 3 and 4).

The paper gives no weights of the four similarities and no size of the penalties, and it does
not say how H_t is normalised: those here are ours.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kgqa.priors.candidate_ranking import WEIGHT_DECIMALS, normalised_entropy
from kgqa.priors.encoder import BUNDLED_ENCODER, Vectors

RewardMetrics = Literal["scaled", "raw"]
"""How a cosine counts in the task reward: scaled to 0 to 1, or as it is (appendix B.2)."""

RewardPart = Literal["quality", "coherence", "efficiency", "alignment", "validation"]
"""What the task reward is made of; the ablation of the paper's Table 12 leaves one out."""

Vector: TypeAlias = npt.NDArray[np.float32]
AnswerKey: TypeAlias = frozenset[str]  # equal where two plans agree (`answer_agreement.answer_key`)

METRIC_WEIGHTS = {"coherence": 0.3, "quality": 0.3, "efficiency": 0.2, "alignment": 0.2}
CONTRADICTION_PENALTY = 0.5  # penalty for a prediction that the feedback contradicts
UNANSWERED_PENALTY = 0.1  # penalty for a plan that ends without an answer

REWARD_THRESHOLDS: dict[RewardMetrics, dict[str, float]] = {
    "scaled": {BUNDLED_ENCODER: 0.78, "msmarco-bert-base-dot-v5": 0.77},
    "raw": {BUNDLED_ENCODER: 0.62, "msmarco-bert-base-dot-v5": 0.77},
}
"""The reward from which a revision is taken up, by encoder: one finds texts more similar than another does.

That of the paper's encoder is the paper's for WebQSP and WebQuestions (appendix B.3); that of the bundled one
is by `kgqa calibrate` on training questions of WebQSP, with a simulated model: from 0.78 to 0.80 right plans
and wrong ones are told apart almost equally well (of raw cosines from 0.61 to 0.64), and the steps of longer
plans earn less.
"""

UNREACHABLE_REWARD = 2.0  # as a threshold: the best of the revisions of a step is taken up after the last


@dataclass(frozen=True, slots=True)
class RevisionMetrics:
    """The five metrics of a revision, each from 0 to 1, or a cosine; validation is the last two."""

    quality: float  # similarity of the predicted observation to the question
    coherence: float  # similarity of the thought to what was observed
    efficiency: float  # how different the thought is from those before it
    alignment: float  # similarity of the whole step to the question
    contradicted: bool = False  # whether what was observed contradicts the prediction
    unanswered: bool = False  # whether the plan ends without an answer, or predicts nothing


def cosine(one: Vector, other: Vector) -> float:
    """Return the similarity of two rows, without the digits in which products of equal rows may differ."""
    return round(float(one @ other), WEIGHT_DECIMALS)


def scaled_cosine(one: Vector, other: Vector) -> float:
    """Return the similarity of two rows from 0 to 1."""
    return _clip(round((float(one @ other) + 1) / 2, WEIGHT_DECIMALS))


def measure_revision(
    *,
    similarity: Callable[[Vector, Vector], float] = scaled_cosine,
    question: Vector,
    step: Vector,
    predicted: Vector | None,
    thought: Vector,
    earlier: Vectors,
    facts: Vectors,
    contradicted: bool = False,
    unanswered: bool = False,
) -> RevisionMetrics:
    """Measure step t of a revised plan, all rows of length 1.

    Efficiency is 1 less the overlap of the thought with ``earlier`` ones, which is their cosine, 0 at
    least; of these, and of the ``facts`` that were observed, the most similar counts. Efficiency is 1
    where there are no earlier thoughts, coherence 0 where there are no facts, quality 0 where nothing
    is predicted.
    """
    overlap = max((_clip(float(thought @ other)) for other in earlier), default=0.0)
    return RevisionMetrics(
        quality=0.0 if predicted is None else similarity(predicted, question),
        coherence=max((similarity(thought, fact) for fact in facts), default=0.0),
        efficiency=round(1 - overlap, WEIGHT_DECIMALS),
        alignment=similarity(step, question),
        contradicted=contradicted,
        unanswered=unanswered,
    )


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def task_reward(metrics: RevisionMetrics, ablate_reward: RewardPart | None = None) -> float:
    """Return the task-specific reward, from 0 to 1 (appendix B.2).

    The weight of a similarity that is left out goes to the others; without validation nothing is penalised.
    """
    weights = {part: weight for part, weight in METRIC_WEIGHTS.items() if part != ablate_reward}
    total = sum(weight * float(getattr(metrics, part)) for part, weight in weights.items())
    reward = total / sum(weights.values())
    if ablate_reward != "validation":
        reward -= CONTRADICTION_PENALTY * metrics.contradicted + UNANSWERED_PENALTY * metrics.unanswered
    return _clip(reward)


def answer_confidence(keys: Sequence[AnswerKey], key: AnswerKey) -> float:
    """Return the share of the plans of the pool that answer ``key`` (equation 3)."""
    return keys.count(key) / len(keys)


def answer_entropy(keys: Sequence[AnswerKey]) -> float:
    """Return the normalised entropy of what the plans of the pool answer: H_t, 0 where all agree, to 1."""
    return normalised_entropy([count / len(keys) for count in Counter(keys).values()])


def blend_rewards(local: float, conf: float, entropy: float, beta: float) -> float:
    """Return the reward of a revision out of task reward and confidence (equation 4).

    The prose below the equation says that confidence dominates where the answers are uncertain. By the
    equation, which is done here, its weight falls from ``beta`` where all agree to ``beta`` / e.
    """
    weight = beta * math.exp(-entropy)
    return (1 - weight) * local + weight * conf


def default_threshold(encoder: str | None, metrics: RewardMetrics = "scaled") -> float:
    """Return the reward from which a revision is taken up; a ValueError where none is known."""
    name = (encoder or BUNDLED_ENCODER).removeprefix("sentence-transformers/")
    thresholds = REWARD_THRESHOLDS[metrics]
    if name not in thresholds:
        raise ValueError(
            f"no threshold is known for encoder {name!r}: find one by kgqa calibrate, "
            "and give it with --option threshold="
        )
    return thresholds[name]
