"""Exemplars in a folder: built from training questions, and opened for those nearest to a question."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from kgqa.kg.sparql.intent import QuestionIntent, read_intent
from kgqa.kg.terms import local_name
from kgqa.priors.artifact_store import content_digest
from kgqa.priors.blueprints.store import SourceFile
from kgqa.priors.blueprints.templates import EncodeTexts
from kgqa.priors.errors import ExemplarError
from kgqa.priors.exemplars import exemplar, solutions
from kgqa.priors.exemplars.exemplar import (
    EXEMPLAR_STORE,
    EXEMPLARS_VERSION,
    Exemplar,
    ExemplarHeader,
    HopScores,
    NearExemplar,
    read_exemplar_header,
)
from kgqa.priors.exemplars.hop_model import (
    Floats,
    HopModel,
    SparseRow,
    intents_of,
    learn_model,
    pack_model,
    slots_by_position,
    unpack_model,
)
from kgqa.priors.exemplars.solutions import (
    INDEX_FILE,
    SOLUTIONS_FILE,
    Solution,
    index_solutions,
    merge_solutions,
    replace_surrogates,
    solution_of,
)
from kgqa.priors.masking import mask_topic
from kgqa.priors.slots import Slot
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

NO_TOPIC = "no chain from a topic entity"

ChainsByTopic: TypeAlias = dict[int, tuple[Slot, ...]]
"""The chains of a question by the places of their topics."""


class GatheredExemplars(NamedTuple):
    """What came of questions.

    Attributes:
        exemplars: Each once, in their order.
        solutions: Each once, in their order.
        questions: How many questions were read.
        without: How many of them gave no exemplar, by reason.
    """

    exemplars: tuple[Exemplar, ...]
    solutions: tuple[Solution, ...]
    questions: int
    without: Counter[str]


def gather_exemplars(
    examples: Iterable[TrainingQuestion], categories: Mapping[Topic, str] | None = None
) -> GatheredExemplars:
    """Make the exemplars and the solutions of questions; equal ones are one of more weight.

    Args:
        examples: the questions.
        categories: what kind of thing their topics are, as far as that is known.

    Raises:
        BlueprintError: if queries cannot be read at all.
    """
    given = list(examples)
    read = read_all_branches(example.sparql for example in given if example.sparql)
    counted: Counter[Exemplar] = Counter()
    without: Counter[str] = Counter()
    solutions: list[Solution] = []
    for example in given:
        chains = _find_chains(example, read.get(example.sparql or "", NO_QUERY_OR_PATH))
        if isinstance(chains, str):
            without[chains] += 1
        else:
            counted.update(_make_exemplars(example, chains))
            solutions.append(solution_of(example, chains, categories or {}))
    weighed = (replace(exemplar, weight=weight) for exemplar, weight in counted.items())
    return GatheredExemplars(tuple(sorted(weighed)), merge_solutions(solutions), len(given), without)


def _find_chains(example: TrainingQuestion, read: BranchesOrReason) -> ChainsByTopic | str:
    """Return the chain of each topic that has one, or in a few words why none has."""
    queried, paths = () if isinstance(read, str) else read, gold_branches(example)
    found: ChainsByTopic = {}
    for place, topic in enumerate(example.topics):
        # of a query that unites alternatives, only the first was read
        own = _branches_from(queried, topic) or _branches_from(paths, topic, alone=len(example.topics) == 1)
        if own:
            found[place] = min((branch.slots for branch in own), key=len)
    if any(map(is_off_schema, found.values())):
        return OFF_SCHEMA
    return found or (read if isinstance(read, str) and not paths else NO_TOPIC)


def _branches_from(branches: Iterable[QueryBranch], topic: Topic, alone: bool = False) -> list[QueryBranch]:
    """Return the branches from a topic; those from nowhere too where it is the only one."""
    name = local_name(topic.id) if topic.id else ""
    return [
        branch
        for branch in branches
        if (local_name(branch.start) == name if branch.start and name else alone and not branch.start)
    ]


def _make_exemplars(example: TrainingQuestion, chains: ChainsByTopic) -> Iterator[Exemplar]:
    asked = read_intent(example.sparql) if example.sparql else QuestionIntent()
    question = replace_surrogates(example.question)
    for place, chain in chains.items():
        others = [topic.name for at, topic in enumerate(example.topics) if at != place and topic.name]
        yield Exemplar(mask_topic(question, example.topics[place].name, others), chain, asked)


RECORDS_FILE = "records.jsonl"
MODEL_FILE = "model.npz"


@dataclass(frozen=True, slots=True)
class ExemplarBuild:
    """What was read, and how many exemplars and solutions came of it."""

    questions: int
    without: Mapping[str, int]
    exemplars: int
    templates: int


def build_exemplars(
    examples: Iterable[TrainingQuestion],
    folder: Path,
    encode: EncodeTexts,
    encoder_name: str,
    *,
    sources: Sequence[SourceFile] = (),
    categories: Mapping[Topic, str] | None = None,
) -> ExemplarBuild:
    """Build exemplars; earlier ones in their place are replaced as a whole.

    Args:
        examples: the questions to learn from.
        folder: the place of the exemplars.
        encode: turns texts into unit vectors; blocks.
        encoder_name: the name of the encoder, which the exemplars are opened with.
        sources: the files that the questions are from.
        categories: what kind of thing the topics are, as far as that is known.

    Raises:
        ExemplarError: if no question gives an exemplar, or something else is in the place.
    """
    EXEMPLAR_STORE.check_place(folder)
    found = gather_exemplars(examples, categories)
    if not found.exemplars:
        raise ExemplarError(
            "no question gives an exemplar: each needs a topic entity, and SPARQL or gold paths from it"
        )
    model = learn_model(found.exemplars, encode)
    files = {
        RECORDS_FILE: exemplar.write_exemplars(found.exemplars),
        MODEL_FILE: pack_model(model),
        SOLUTIONS_FILE: solutions.write_solutions(found.solutions),
        INDEX_FILE: index_solutions(found.solutions, encode).packed(),
    }
    header = ExemplarHeader(
        version=EXEMPLARS_VERSION,
        encoder=encoder_name,
        dimensions=model.vectors.shape[1],
        sources=tuple(sources),
        questions=found.questions,
        without=dict(found.without),
        exemplars=len(found.exemplars),
        templates=len(found.solutions),
        records=content_digest(files[RECORDS_FILE]),
        model=content_digest(files[MODEL_FILE]),
        solutions=content_digest(files[SOLUTIONS_FILE]),
        index=content_digest(files[INDEX_FILE]),
    )
    EXEMPLAR_STORE.write(folder, str(header), files)
    return ExemplarBuild(found.questions, header.without, header.exemplars, header.templates)


SIMILARITY_DECIMALS = 6
"""Decimals by which likenesses are compared, so that the same text is as near on any machine."""


class ExemplarLibrary:
    """Exemplars and what was learned from them; may be used from several threads at once.

    Args:
        header: what they are.
        exemplars: in the order of the model's vectors.
        model: learned from them.
        encode: turns texts into unit vectors; blocks.
    """

    def __init__(
        self, header: ExemplarHeader, exemplars: tuple[Exemplar, ...], model: HopModel, encode: EncodeTexts
    ) -> None:
        self.header, self.exemplars = header, exemplars
        self._model, self._encode = model, encode
        self._slots, self._kinds = slots_by_position(exemplars), intents_of(exemplars)
        self._weights = np.array([each.weight for each in exemplars])

    @property
    def encoder(self) -> str:
        """The name of the encoder that the vectors are from."""
        return self.header.encoder

    @property
    def fingerprint(self) -> str:
        """Tell these exemplars from any others."""
        return self.header.records

    def nearest(self, masked: str, k: int) -> list[NearExemplar]:
        """Return the ``k`` exemplars most alike to a masked question, best first; blocks.

        Of those equally alike (to six decimals) first what stands for more questions, then
        in the order of the texts.

        Raises:
            ExemplarError: if the encoder's vectors are not as long as the exemplars'.
        """
        likeness = np.round(self._model.likeness(*self._read(masked)), SIMILARITY_DECIMALS)
        best = np.lexsort((-self._weights, -likeness))[:k]
        return [NearExemplar(self.exemplars[place], min(1.0, float(likeness[place]))) for place in best]

    def hops(self, masked: str) -> HopScores:
        """Return the log-probabilities of what is at each position of the chain; blocks.

        The last position is that after the longest chain.

        Raises:
            ExemplarError: as `nearest`.
        """
        row, vector = self._read(masked)
        heads = self._model.heads[:-1]
        logs = [head.logs(row, vector).tolist() for head in heads]
        found = [dict(zip(slots, each, strict=True)) for slots, each in zip(self._slots, logs, strict=True)]
        return (*found, {None: 0.0})

    def asked(self, masked: str) -> Mapping[QuestionIntent, float]:
        """Return the probability of each kind of asking that there was in training; blocks.

        Raises:
            ExemplarError: as `nearest`.
        """
        shares = np.exp(self._model.heads[-1].logs(*self._read(masked)))
        return dict(zip(self._kinds, shares.tolist(), strict=True))

    def _read(self, masked: str) -> tuple[SparseRow, Floats]:
        (vector,) = self._encode([masked])
        if len(vector) != self.header.dimensions:
            raise ExemplarError(
                f"the encoder gives {len(vector)} numbers for a text, the exemplars have "
                f"{self.header.dimensions}; build them again with this encoder"
            )
        return self._model.vocabulary.row(masked), vector


def open_exemplars(folder: Path, encode: EncodeTexts, encoder_name: str) -> ExemplarLibrary:
    """Open exemplars (blocking).

    Args:
        folder: where they are.
        encode: turns texts into unit vectors.
        encoder_name: the name of the encoder.

    Raises:
        ExemplarError: if they are missing, foreign, damaged, or built with another encoder.
    """
    header = read_exemplar_header(folder)
    EXEMPLAR_STORE.check_encoder(folder, header.encoder, encoder_name)
    lines, packed = EXEMPLAR_STORE.read(folder, {RECORDS_FILE: header.records, MODEL_FILE: header.model})
    try:
        exemplars = exemplar.read_exemplars(lines)
        model = unpack_model(packed, exemplars)
    except ValueError:
        raise EXEMPLAR_STORE.damaged(folder) from None
    if model.vectors.shape != (len(exemplars), header.dimensions):
        raise EXEMPLAR_STORE.damaged(folder)
    return ExemplarLibrary(header, exemplars, model, encode)
