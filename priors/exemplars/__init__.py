"""Exemplars: training questions with the chains that answered them, and what they teach.

>>> masked("Which films has Ann made with Bob?", "Ann", ["Bob"])
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

from kgqa.priors.exemplars.building import Built, build
from kgqa.priors.exemplars.categories import categories_of
from kgqa.priors.exemplars.errors import ExemplarError
from kgqa.priors.exemplars.exemplar import Exemplar, HopScores, Near
from kgqa.priors.exemplars.header import VERSION
from kgqa.priors.exemplars.index import POOL, Index, Recalled, open_index
from kgqa.priors.exemplars.library import Exemplars, open_exemplars
from kgqa.priors.exemplars.masking import OTHER, masked, templated
from kgqa.priors.exemplars.solution import Solution

__all__ = [
    "OTHER",
    "POOL",
    "VERSION",
    "Built",
    "Exemplar",
    "ExemplarError",
    "Exemplars",
    "HopScores",
    "Index",
    "Near",
    "Recalled",
    "Solution",
    "build",
    "categories_of",
    "masked",
    "open_exemplars",
    "open_index",
    "templated",
]
