"""Relational blueprints (CoG §3.1): which relations answered questions that are alike.

>>> topics = [{"id": "http://x/e/Ulm", "name": "Ulm"}]
>>> line = {"question": "Who was born in Ulm?", "topic_entities": topics, "gold_path": ["^born_in"]}
>>> [(lesson.masked, str(lesson.blueprint)) for lesson in lessons(examples([line]))]
[('Who was born in [ENT]?', '^born_in')]

```
Example ── extraction ──▶ Lesson ── templates ──▶ Record ── folder, shelf ──▶ Library ──▶ Match
question    its query's    masked     one for each    the longest   JSON lines,   nearest()
and query   branches       question   template        question      FAISS
```
"""

from kgqa.priors.blueprints.building import Built, add, build
from kgqa.priors.blueprints.errors import BlueprintError
from kgqa.priors.blueprints.examples import Example, GoldPath, Topic, examples
from kgqa.priors.blueprints.extraction import Lesson, lessons
from kgqa.priors.blueprints.header import Source
from kgqa.priors.blueprints.library import Library, Match, open_library
from kgqa.priors.blueprints.masking import MASK, mask
from kgqa.priors.blueprints.slots import ARROW, Blueprint, Slot

__all__ = [
    "ARROW",
    "MASK",
    "Blueprint",
    "BlueprintError",
    "Built",
    "Example",
    "GoldPath",
    "Lesson",
    "Library",
    "Match",
    "Slot",
    "Source",
    "Topic",
    "add",
    "build",
    "examples",
    "lessons",
    "mask",
    "open_library",
]
