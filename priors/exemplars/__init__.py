"""Exemplars: training questions with the chains that answered them, and what they teach.

>>> mask_topic("Which films has Ann made with Bob?", "Ann", ["Bob"])
'Which films has [ENT] made with [OTHER]?'

```
training question ──▶ exemplar ── hop_model ──▶ model ──▶ exemplar library
with its query or  │  one a topic: the masked   .npz      nearest(), hops(), asked()
gold paths         │  question and its chain
                   └▶ solution ── encoder ──▶ vectors ──▶ solution index
                      one a template: its       FAISS     recall(), draw()
                      categories, all chains
```

The offline model learns from the upper row, methods are guided by the lower one (EGP §4.1).
"""

from kgqa.priors.errors import ExemplarError
from kgqa.priors.exemplars.building import EXEMPLARS_VERSION, ExemplarHeader, build_exemplars
from kgqa.priors.exemplars.categories import find_topic_categories
from kgqa.priors.exemplars.library import (
    DEFAULT_POOL_SIZE,
    ExemplarLibrary,
    HopScores,
    NearExemplar,
    RecalledSolution,
    SolutionIndex,
    open_exemplars,
    open_solution_index,
)
from kgqa.priors.exemplars.records import Exemplar, Solution
from kgqa.priors.masking import OTHER_MASK, make_template, mask_topic

__all__ = [
    "DEFAULT_POOL_SIZE",
    "EXEMPLARS_VERSION",
    "OTHER_MASK",
    "Exemplar",
    "ExemplarError",
    "ExemplarHeader",
    "ExemplarLibrary",
    "HopScores",
    "NearExemplar",
    "RecalledSolution",
    "Solution",
    "SolutionIndex",
    "build_exemplars",
    "find_topic_categories",
    "make_template",
    "mask_topic",
    "open_exemplars",
    "open_solution_index",
]
