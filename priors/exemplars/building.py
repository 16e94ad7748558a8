"""Builds a folder of exemplars and solutions from training questions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from kgqa.kg.sparql.intent import QuestionIntent, read_intent
from kgqa.kg.terms import local_name, replace_surrogates
from kgqa.priors.artifact_store import ArtifactStore, Header, SourceFile, write_lines
from kgqa.priors.encoder import EncodeTexts, encode_distinct
from kgqa.priors.errors import ExemplarError
from kgqa.priors.exemplars.hop_model import learn_model, pack_model
from kgqa.priors.exemplars.records import Chain, Exemplar, Solution, merge_solutions, solution_of
from kgqa.priors.masking import mask_topic
from kgqa.priors.training_questions import (
    NO_QUERY_OR_PATH,
    OFF_SCHEMA,
    BranchesOrReason,
    QueryBranch,
    Topic,
    TrainingQuestion,
    gold_branches,
    is_off_schema,
    read_all_branches,
)
from kgqa.priors.vector_index import VectorIndex, VectorLabel

EXEMPLARS_VERSION = 2
NO_TOPIC = "no chain from a topic entity"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExemplarHeader(Header):
    """What a folder of exemplars is; its templates are those of the solutions.

    Attributes:
        exemplars: How many exemplars there are.
        model: The SHA-256 of the file of the model.
        solutions: The SHA-256 of the file of solutions.
    """

    exemplars: int
    model: str = ""
    solutions: str = ""


EXEMPLAR_STORE = ArtifactStore(
    "folder of exemplars",
    "kgqa exemplars build --dataset FILE --out",
    "exemplars.json",
    ExemplarHeader,
    EXEMPLARS_VERSION,
    {
        "records": "records.jsonl",
        "model": "model.npz",
        "solutions": "solutions.jsonl",
        "index": "index.faiss",
    },
    ExemplarError,
)


read_exemplar_header = EXEMPLAR_STORE.read_header


class GatheredExemplars(NamedTuple):
    """What came of questions: how many were read, and how many gave no exemplar, by reason."""

    exemplars: tuple[Exemplar, ...]
    solutions: tuple[Solution, ...]
    questions: int
    without: Counter[str]


def gather_exemplars(
    questions: Iterable[TrainingQuestion], categories: Mapping[Topic, str] | None = None
) -> GatheredExemplars:
    """Make the exemplars and the solutions of questions, each once and in their order.

    Equal ones are one of more weight. ``categories`` are what kind of thing topics are, as far
    as that is known.

    Raises:
        BlueprintError: if queries cannot be read at all.
    """
    given = list(questions)
    read = read_all_branches(each.sparql for each in given if each.sparql)
    counted: Counter[Exemplar] = Counter()
    without: Counter[str] = Counter()
    solutions: list[Solution] = []
    for each in given:
        chains = _find_chains(each, read.get(each.sparql or "", NO_QUERY_OR_PATH))
        if isinstance(chains, str):
            without[chains] += 1
        else:
            counted.update(_make_exemplars(each, chains))
            solutions.append(solution_of(each, chains, categories or {}))
    weighed = (replace(exemplar, weight=weight) for exemplar, weight in counted.items())
    return GatheredExemplars(tuple(sorted(weighed)), merge_solutions(solutions), len(given), without)


def _find_chains(question: TrainingQuestion, read: BranchesOrReason) -> dict[int, Chain] | str:
    """Return the chains by the places of their topics, or in a few words why no topic has one."""
    queried, paths = () if isinstance(read, str) else read, gold_branches(question)
    found: dict[int, Chain] = {}
    for place, topic in enumerate(question.topics):
        # of a query that unites alternatives, only the first was read
        own = _branches_from(queried, topic) or _branches_from(paths, topic, alone=len(question.topics) == 1)
        if own:
            found[place] = min((branch.slots for branch in own), key=len)
    if any(map(is_off_schema, found.values())):
        return OFF_SCHEMA
    return found or (read if isinstance(read, str) and not paths else NO_TOPIC)


def _branches_from(branches: Iterable[QueryBranch], topic: Topic, alone: bool = False) -> list[QueryBranch]:
    """Return the branches from a topic; those from nowhere too where it is the only one."""
    name = local_name(topic.id) if topic.id else ""
    if not name:
        return [branch for branch in branches if alone and not branch.start]
    return [each for each in branches if (local_name(each.start) == name if each.start else alone)]


def _make_exemplars(question: TrainingQuestion, chains: Mapping[int, Chain]) -> Iterator[Exemplar]:
    asked = read_intent(question.sparql) if question.sparql else QuestionIntent()
    text = replace_surrogates(question.question)
    for place, chain in chains.items():
        others = [topic.name for at, topic in enumerate(question.topics) if at != place and topic.name]
        yield Exemplar(mask_topic(text, question.topics[place].name, others), chain, asked)


def build_exemplars(
    questions: Iterable[TrainingQuestion],
    folder: Path,
    encode: EncodeTexts,
    encoder_name: str,
    *,
    sources: Sequence[SourceFile] = (),
    categories: Mapping[Topic, str] | None = None,
) -> ExemplarHeader:
    """Build exemplars; earlier ones in their place are replaced as a whole.

    They are opened with the encoder of this name. ``categories`` are what kind of thing the
    topics are, as far as that is known.

    Raises:
        ExemplarError: if no question gives an exemplar, or something else is in the place.
    """
    EXEMPLAR_STORE.check_place(folder)
    found = gather_exemplars(questions, categories)
    if not found.exemplars:
        raise ExemplarError(
            "no question gives an exemplar: each needs a topic entity, and SPARQL or gold paths from it"
        )
    model = learn_model(found.exemplars, encode)
    header = ExemplarHeader(
        encoder=encoder_name,
        dimensions=model.vectors.shape[1],
        sources=tuple(sources),
        questions=found.questions,
        without=dict(found.without),
        exemplars=len(found.exemplars),
        templates=len(found.solutions),
    )
    files = {
        "records": write_lines(found.exemplars, Exemplar),
        "model": pack_model(model),
        "solutions": write_lines(found.solutions, Solution),
        "index": index_solutions(found.solutions, encode).to_bytes(),
    }
    return EXEMPLAR_STORE.write(folder, header, files)


def index_solutions(solutions: Sequence[Solution], encode: EncodeTexts) -> VectorIndex:
    """Encode the templates of solutions, each text once, so that equal ones are equally near; blocks."""
    texts = [text for each in solutions for text in each.templates]
    return VectorIndex(solution_labels(solutions), encode_distinct(texts, encode))


def solution_labels(solutions: Sequence[Solution]) -> list[VectorLabel]:
    """Name the vectors of each solution's templates by its number; they weigh as many questions as it."""
    labels = [VectorLabel(f"{number:09}", each.questions) for number, each in enumerate(solutions)]
    return [label for label, each in zip(labels, solutions, strict=True) for _ in each.templates]
