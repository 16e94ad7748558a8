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

from kgqa.priors.errors import ExemplarError as ExemplarError
from kgqa.priors.exemplars.building import (
    EXEMPLARS_VERSION as EXEMPLARS_VERSION,
    ExemplarHeader as ExemplarHeader,
    build_exemplars as build_exemplars,
)
from kgqa.priors.exemplars.categories import find_topic_categories as find_topic_categories
from kgqa.priors.exemplars.library import (
    DEFAULT_POOL_SIZE as DEFAULT_POOL_SIZE,
    ExemplarLibrary as ExemplarLibrary,
    HopScores as HopScores,
    NearExemplar as NearExemplar,
    RecalledSolution as RecalledSolution,
    SolutionIndex as SolutionIndex,
    open_exemplars as open_exemplars,
    open_solution_index as open_solution_index,
)
from kgqa.priors.exemplars.records import Exemplar as Exemplar, Solution as Solution
from kgqa.priors.masking import (
    OTHER_MASK as OTHER_MASK,
    make_template as make_template,
    mask_topic as mask_topic,
)
