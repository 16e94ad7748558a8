"""What blueprints are learned from: the training questions of question files."""

from collections.abc import Iterable
from typing import NamedTuple

from kgqa.evaluation.datasets import Dataset, DatasetError, load
from kgqa.evaluation.question import Question
from kgqa.priors.artifact_store import SourceFile
from kgqa.priors.training_questions import RelationPath, Topic, TrainingQuestion

TRAIN_SPLIT = "train"  # the part that is learned from where a file has parts


class TrainingMaterial(NamedTuple):
    """Questions of several files, and the files."""

    examples: tuple[TrainingQuestion, ...]
    sources: tuple[SourceFile, ...]


def load_training_material(
    files: Iterable[str], split: str | None = None, format: str | None = None
) -> TrainingMaterial:
    """Read the questions to learn from.

    Args:
        files: ``sample``, or files as `kgqa.evaluation.datasets` reads them.
        split: the part to take, ``all`` for every question. None takes ``train`` of a file
            that has parts, so that no test question is learned from unasked, else all.
        format: of the files; None tells it from each.
    """
    examples: list[TrainingQuestion] = []
    sources: dict[str, SourceFile] = {}
    for file in files:
        dataset = load(file, format, own=True)
        if dataset.digest in sources:
            raise DatasetError(f"{dataset.name} is the same file as {sources[dataset.digest].name}")
        questions = dataset.select(training_split(dataset) if split is None else split)
        examples += map(_to_example, questions)
        sources[dataset.digest] = SourceFile(dataset.name, dataset.digest, len(questions))
    return TrainingMaterial(tuple(examples), tuple(sources.values()))


def _to_example(question: Question) -> TrainingQuestion:
    return TrainingQuestion(
        question=question.text,
        topics=tuple(Topic(topic.id, topic.name) for topic in question.topics),
        sparql=question.sparql,
        paths=tuple(RelationPath(path.topic, path.relations) for path in question.paths),
    )


def training_split(dataset: Dataset) -> str:
    """Name the part to learn from: ``train`` of a file that has parts, else ``all``."""
    return TRAIN_SPLIT if any("split" in question.splits for question in dataset.questions) else "all"
