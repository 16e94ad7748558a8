"""Exemplars: training questions with the chains that answered them, and what they teach.

>>> masked("Which films has Ann made with Bob?", "Ann", ["Bob"])
'Which films has [ENT] made with [OTHER]?'

```
Example ── gathering ──▶ Exemplar ── learning ──▶ Model ── building ──▶ Exemplars
question    one for        masked      n-grams,    .npz      a folder     nearest()
and query   each topic     question,   vectors,                           hops()
                           chain       heads                              asked()
```
"""

from kgqa.priors.exemplars.building import Built, build
from kgqa.priors.exemplars.errors import ExemplarError
from kgqa.priors.exemplars.exemplar import Exemplar, HopScores, Near
from kgqa.priors.exemplars.header import VERSION
from kgqa.priors.exemplars.library import Exemplars, open_exemplars
from kgqa.priors.exemplars.masking import OTHER, masked

__all__ = [
    "OTHER",
    "VERSION",
    "Built",
    "Exemplar",
    "ExemplarError",
    "Exemplars",
    "HopScores",
    "Near",
    "build",
    "masked",
    "open_exemplars",
]
