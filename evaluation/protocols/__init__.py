"""Protocols: ours, and the arithmetic of published code, for comparison with published numbers only."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.evaluation.protocols.cor import measure_cor, measure_cor_paper, measure_rog
from kgqa.evaluation.protocols.pog import measure_cog, measure_pog, measure_vog
from kgqa.evaluation.protocols.shared import measure_exact
from kgqa.evaluation.protocols.text2sparql import measure_text2sparql
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.own import OwnMetric
from kgqa.evaluation.scoring.run_metrics import measure_results

_LEGACY_PROTOCOLS = {
    "pog": measure_pog,
    "cog": measure_cog,
    "cor": measure_cor,
    "cor_paper": measure_cor_paper,
    "vog": measure_vog,
    "exact": measure_exact,
    "rog": measure_rog,
    "text2sparql": measure_text2sparql,
}

PROTOCOLS = ("strict", *_LEGACY_PROTOCOLS)
"""The first is the one to believe; the others reproduce what the code of a paper, or a paper, counts."""


def measure_by_protocol(
    protocol: str,
    results: Sequence[Result],
    questions: Sequence[Question],
    *,
    grounded: Mapping[str, bool | None] | None = None,
    seed: int = 0,
    own: Sequence[OwnMetric] = (),
) -> dict[str, Any]:
    """Score results, in the order of their file, by a protocol; ``grounded`` and ``own`` are for ours.

    What a protocol counts is plain JSON; shares are between 0 and 1. A legacy protocol says
    ``"legacy": true``, and in ``note`` what it really measures.
    """
    check_protocol(protocol)
    if protocol == "strict":
        return dict(measure_results(results, questions, grounded=grounded, seed=seed, own=own))
    return _LEGACY_PROTOCOLS[protocol](results, questions, seed=seed)


def check_protocol(protocol: str) -> None:
    """Refuse a name that is no protocol; the error names those there are."""
    if protocol not in PROTOCOLS:
        raise ValueError(f"no protocol is called {protocol!r}; there are: {', '.join(PROTOCOLS)}")
