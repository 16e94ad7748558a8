"""Exemplars: training questions with the chains that answered them, and what they teach.

>>> mask_topic("Which films has Ann made with Bob?", "Ann", ["Bob"])
'Which films has [ENT] made with [OTHER]?'

```
Example ── gathering ──▶ Exemplar ── learning ──▶ Model ── building ──▶ Exemplars
question    one for        masked      n-grams,    .npz      a folder     nearest()
and query   each topic     question,   vectors,                           hops()
   │                       chain       heads                              asked()
   └────── gathering ──▶ Solution ── encoder ───▶ FAISS ─── building ──▶ Index
            one for each   template with                     the same     recall()
            template       categories, all chains            folder       draw()
```

The offline model learns from the upper row, methods are guided by the lower one (EGP §4.1).
"""

from kgqa.priors.errors import ExemplarError
from kgqa.priors.exemplars.categories import find_topic_categories
from kgqa.priors.exemplars.exemplar import EXEMPLARS_VERSION, Exemplar, HopScores, NearExemplar
from kgqa.priors.exemplars.library import ExemplarBuild, ExemplarLibrary, build_exemplars, open_exemplars
from kgqa.priors.exemplars.solutions import (
    DEFAULT_POOL_SIZE,
    RecalledSolution,
    Solution,
    SolutionIndex,
    open_solution_index,
)
from kgqa.priors.masking import OTHER_MASK, make_template, mask_topic

__all__ = [
    "DEFAULT_POOL_SIZE",
    "EXEMPLARS_VERSION",
    "OTHER_MASK",
    "Exemplar",
    "ExemplarBuild",
    "ExemplarError",
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
