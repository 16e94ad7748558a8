"""Which relation to follow: the one most like the question."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Hop
from kgqa.models.offline.words import Encode, likeness, masked, spoken
from kgqa.prompts.diagnose import BRANCHES, Diagnose, Diagnosis
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations

RERANKED = 12
"""Relations whose whole chain is compared with the question."""

INVERSE = 0.03
"""What a hop against its arrow must be better by."""

RETURN = 0.15
"""What going straight back must be better by, unless the question asks for company."""

RECALLED = 3
"""Branches that a diagnosis recalls at most."""

_COMPANY = re.compile(r"\b(same|also|other|others|together|co|share|shares|another|siblings?|neighbou?rs?)\b")

Scores = npt.NDArray[np.float32]


def prune(prompt: PruneRelations, encode: Encode) -> PrunedRelations:
    """Choose the relations most like the question, and their chains with them."""
    question = masked(prompt.question, prompt.chain)
    scores = _hop_scores(question, prompt.hops, encode)
    if prompt.chain.hops:
        scores = _chain_scores(question, prompt, scores, encode)
    best = np.argsort(-scores, kind="stable")[: prompt.width]
    return PrunedRelations(
        rationale=f"nearest in words, likeness {scores[best[0]]:.2f}",
        relations=[int(at) + 1 for at in best],
    )


def diagnose(prompt: Diagnose, encode: Encode) -> Diagnosis:
    """Blame the last decision that set a branch aside; recall what was chosen there, then the likest."""
    shown = prompt.pruned[:BRANCHES]
    step = max((branch.step for branch in shown), default=0)
    at = [place for place, branch in enumerate(shown) if branch.step == step]
    if not at:
        return Diagnosis(rationale="no branch is left", step=0)
    branches = [shown[place] for place in at]
    question = masked(prompt.question, branches[0].chain)
    ends = [branch.chain.hops[-1] for branch in branches]
    scores = [
        like if branch.relevance is None else branch.relevance
        for branch, like in zip(branches, _hop_scores(question, ends, encode), strict=True)
    ]
    best = sorted(range(len(at)), key=lambda place: (not branches[place].waiting, -scores[place]))
    return Diagnosis(
        rationale="the last decision with a branch left",
        step=step,
        recall=[at[place] + 1 for place in best[:RECALLED]],
    )


def _hop_scores(question: str, hops: Sequence[Hop], encode: Encode) -> Scores:
    """Compare a question with each hop: shape (hops,)."""
    against = np.array([not hop.forward for hop in hops], np.float32)
    return likeness(question, [spoken(hop.words) for hop in hops], encode) - INVERSE * against


def _chain_scores(question: str, prompt: PruneRelations, scores: Scores, encode: Encode) -> Scores:
    """Compare a question with the chains that the best hops make: shape (hops,)."""
    best = np.argsort(-scores, kind="stable")[:RERANKED]
    said = " ".join(spoken(hop.words) for hop in reversed(prompt.chain.hops))
    texts = [f"{spoken(prompt.hops[at].words)} {said}" for at in best]
    whole = scores - 1.0
    whole[best] = scores[best] + likeness(question, texts, encode)
    if not _COMPANY.search(question.lower()):
        back = prompt.chain.hops[-1].inverse
        whole[[at for at, hop in enumerate(prompt.hops) if hop == back]] -= RETURN
    return whole
