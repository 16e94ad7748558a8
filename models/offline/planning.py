"""What to look for, and by which relations: the question itself, and those most like it."""

import numpy as np

from kgqa.models.offline.words import Encode, hops_asked, likeness, spoken
from kgqa.prompts.adapt_blueprint import HOPS, AdaptBlueprint, AdaptedBlueprint
from kgqa.prompts.decompose import Decompose, Subgoals


def decompose(prompt: Decompose, _: Encode) -> Subgoals:
    """Take the question as the only subgoal: words alone do not tell what is found first."""
    return Subgoals(rationale="the question is its own subgoal", subgoals=[prompt.question.strip() or "?"])


def adapt(prompt: AdaptBlueprint, encode: Encode) -> AdaptedBlueprint:
    """Take over the nearest exemplar of which all relations are offered, else the likest of them."""
    offered = set(prompt.relations)
    for exemplar in prompt.exemplars:
        branches = exemplar.branches[: max(1, len(prompt.topics))]
        if all(name.removeprefix("^") in offered for branch in branches for name in branch):
            return AdaptedBlueprint(
                rationale="a solved question has relations that this graph has",
                branches=[list(branch) for branch in branches],
            )
    names = [spoken(relation) for relation in prompt.relations]
    best = np.argsort(-likeness(prompt.question, names, encode), kind="stable")
    hops = min(hops_asked(prompt.question), HOPS)
    return AdaptedBlueprint(
        rationale="the relations nearest in words", branches=[[prompt.relations[at] for at in best[:hops]]]
    )
