"""Relational blueprints (CoG §3.1): which relations answered questions that are alike.

>>> topics = [{"id": "http://x/e/Ulm", "name": "Ulm"}]
>>> line = {"question": "Who was born in Ulm?", "topic_entities": topics, "gold_path": ["^born_in"]}
>>> lessons = extract_lessons(read_training_questions([line]))
>>> [(lesson.masked, str(lesson.blueprint)) for lesson in lessons]
[('Who was born in [ENT]?', '^born_in')]

```
training question ──▶ lesson ── templates ──▶ record ── building ──▶ library ──▶ match
with its query or      masked   one for each   its      a folder of   nearest()
gold paths            question  template      anchors   lines, FAISS
```
"""

from kgqa.priors.artifact_store import SourceFile
from kgqa.priors.blueprints.building import LibraryBuild, build_blueprints, extend_blueprints
from kgqa.priors.blueprints.library import BlueprintLibrary, BlueprintMatch, open_library
from kgqa.priors.errors import BlueprintError
from kgqa.priors.masking import TOPIC_MASK, mask_names
from kgqa.priors.slots import ARROW, Blueprint, Slot
from kgqa.priors.training_questions import (
    BlueprintLesson,
    RelationPath,
    Topic,
    TrainingQuestion,
    extract_lessons,
    read_training_questions,
)

__all__ = [
    "ARROW",
    "TOPIC_MASK",
    "Blueprint",
    "BlueprintError",
    "BlueprintLesson",
    "BlueprintLibrary",
    "BlueprintMatch",
    "LibraryBuild",
    "RelationPath",
    "Slot",
    "SourceFile",
    "Topic",
    "TrainingQuestion",
    "build_blueprints",
    "extend_blueprints",
    "extract_lessons",
    "mask_names",
    "open_library",
    "read_training_questions",
]
