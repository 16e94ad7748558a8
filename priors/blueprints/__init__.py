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

from kgqa.priors.artifact_store import SourceFile as SourceFile
from kgqa.priors.blueprints.building import (
    LibraryBuild as LibraryBuild,
    build_blueprints as build_blueprints,
    extend_blueprints as extend_blueprints,
)
from kgqa.priors.blueprints.library import (
    BlueprintLibrary as BlueprintLibrary,
    BlueprintMatch as BlueprintMatch,
    open_library as open_library,
)
from kgqa.priors.errors import BlueprintError as BlueprintError
from kgqa.priors.masking import TOPIC_MASK as TOPIC_MASK, mask_names as mask_names
from kgqa.priors.slots import Blueprint as Blueprint, Slot as Slot
from kgqa.priors.training_questions import (
    BlueprintLesson as BlueprintLesson,
    RelationPath as RelationPath,
    Topic as Topic,
    TrainingQuestion as TrainingQuestion,
    extract_lessons as extract_lessons,
    read_training_questions as read_training_questions,
)
