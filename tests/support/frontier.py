"""Policies for models of searches over a frontier, by the chains that a prompt shows."""

from collections.abc import Callable, Sequence
from typing import Any

from kgqa.kg.terms import Chain, Hop
from kgqa.models.scripted import Line
from kgqa.prompts.candidates import ChainFindings, numbered_candidates
from kgqa.prompts.chain import Extension, extend
from kgqa.prompts.pick_relations import PickRelations, ScoreRelations
from kgqa.prompts.prune_relations import PruneRelations

Policy = Callable[[Any], Line]


def drawn(chain: Chain) -> str:
    """Write the hops of a chain: ``child ^lives_in``."""
    return written(chain.hops)


def written(hops: Sequence[Hop]) -> str:
    """Write hops: ``child ^lives_in``."""
    return " ".join(("" if hop.forward else "^") + hop.words for hop in hops)


def pruning(question: str, chain: Chain, hops: Sequence[Hop], *more: Any, **options: Any) -> PruneRelations:
    """Make a prompt to choose among hops that lead on from a chain."""
    return PruneRelations(question, chain, tuple(extend(chain, hop) for hop in hops), *more, **options)


def picking(question: str, chains: Sequence[Chain], **options: Any) -> PickRelations:
    """Make a prompt to choose among chains, each one hop longer than one of the frontier."""
    return PickRelations(question, tuple(map(Extension, chains)), **options)


def scoring(question: str, chains: Sequence[Chain], width: int, **options: Any) -> ScoreRelations:
    """Make a prompt to score chains, each one hop longer than one of the beam."""
    return ScoreRelations(question, tuple(map(Extension, chains)), width, **options)


def places(chains: Sequence[Chain], wanted: Sequence[str]) -> list[int]:
    """Number the chains whose hops are wanted, in the order of the wish."""
    found = [drawn(chain) for chain in chains]
    return [number for wish in wanted for number, hops in enumerate(found, 1) if hops == wish]


def pick(*wanted: str) -> Policy:
    """Choose the offered chains that are wanted."""
    return lambda prompt: {"relations": places([offer.chain for offer in prompt.offers], wanted)}


def stop_at(hops: str, **reply: Any) -> Policy:
    """Stop at the first group with these hops; else go on."""

    def line(prompt: Any) -> Line:
        groups = places([each.chain for each in prompt.found], [hops])
        if not groups:
            return {"decision": "forward", "known": ["nothing yet"]}
        return {"decision": "stop", "groups": groups[:1], **reply}

    return line


def go_on(*wanted: str, recall: Sequence[str] = ()) -> Policy:
    """Go on along these chains, and come back to those."""

    def line(prompt: Any) -> Line:
        return {
            "go_on": places([each.chain for each in prompt.found], wanted),
            "recall": places([each.chain for each in prompt.history], recall),
        }

    return line


def numbers(found: Sequence[ChainFindings], names: Sequence[str]) -> list[int]:
    """Number the candidates of these names."""
    return [each.number for each in numbered_candidates(found) if each.candidate.term.name in names]


def rate(scores: dict[str, float]) -> Policy:
    """Score chains by their hops, or candidates by their names; those left out have no score."""

    def line(prompt: Any) -> Line:
        if prompt.name == "score_relations":
            texts = [drawn(offer.chain) for offer in prompt.offers]
        else:
            texts = [str(each.candidate.term) for each in numbered_candidates(prompt.found)]
        rated = [(number, scores[text]) for number, text in enumerate(texts, 1) if text in scores]
        return {"scores": [{"number": number, "score": score} for number, score in rated]}

    return line
