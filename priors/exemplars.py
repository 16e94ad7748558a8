"""Exemplars: training questions with the chains that answered them, and what they teach.

Of a question come an exemplar for each topic, from which the offline model learns (`hop_model`), and
one solution, by which methods are guided (`solutions`; EGP §4.1).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from kgqa.kg.sparql.intent import QuestionIntent, read_intent
from kgqa.kg.terms import local_name, replace_surrogates
from kgqa.priors.artifact_store import (
    ArtifactStore,
    Header,
    OpenArtifact,
    SourceFile,
    read_lines,
    write_lines,
)
from kgqa.priors.encoder import EncodeTexts, encode_once
from kgqa.priors.errors import ExemplarError
from kgqa.priors.hop_model import (
    Exemplar,
    Floats,
    HopModel,
    SparseRow,
    learn_model,
    pack_model,
    training_tasks,
    unpack_model,
)
from kgqa.priors.masking import blank_labels, mask_topic
from kgqa.priors.slots import Slot
from kgqa.priors.solutions import (
    Chain,
    Solution,
    SolutionIndex,
    index_solutions,
    merge_solutions,
    solution_labels,
    solution_of,
)
from kgqa.priors.training_questions import (
    OFF_SCHEMA,
    BranchesOrReason,
    QueryBranch,
    Topic,
    TrainingQuestion,
    gold_branches,
    is_off_schema,
    read_branches,
    solved_question,
)
from kgqa.priors.vector_index import SIMILARITY_DECIMALS, VectorIndex

EXEMPLARS_VERSION = 5
NO_TOPIC = "no chain from a topic entity"

HopScores: TypeAlias = tuple[Mapping[Slot | None, float], ...]
"""For each position of a chain from 0, the natural log-probability of each slot that training
has there; None is the end of the chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExemplarHeader(Header):
    """What a folder of exemplars is: also how many there are; its templates are those of the solutions.

    ``model`` and ``solutions`` are the SHA-256 of files. What was built ``as_published`` (EGP §4.1) has
    all chains of a topic, and templates that were encoded with their labels in place.
    """

    exemplars: int
    as_published: bool = False
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
    questions: Iterable[TrainingQuestion],
    categories: Mapping[Topic, str] | None = None,
    all_chains: bool = False,
) -> GatheredExemplars:
    """Make the exemplars and the solutions of questions, in their order; equal ones are one of more weight.

    ``categories`` are what kind of thing topics are, as far as that is known. A solution has the shortest
    chain from each topic, or ``all_chains``.
    """
    given = list(questions)
    counted: Counter[Exemplar] = Counter()
    without: Counter[str] = Counter()
    solutions: list[Solution] = []
    for each in given:
        chains = _find_chains(each, read_branches(each.sparql))
        if isinstance(chains, str):
            without[chains] += 1
        else:
            counted.update(_make_exemplars(each, chains))
            shown = {place: own if all_chains else own[:1] for place, own in chains.items()}
            solutions.append(solution_of(each, shown, categories or {}))
    weighed = (replace(exemplar, weight=weight) for exemplar, weight in counted.items())
    return GatheredExemplars(tuple(sorted(weighed)), merge_solutions(solutions), len(given), without)


def _find_chains(question: TrainingQuestion, read: BranchesOrReason) -> dict[int, list[Chain]] | str:
    """Return the chains by the places of their topics, the shortest first, or why no topic has one."""
    queried, paths = () if isinstance(read, str) else read, gold_branches(question)
    found: dict[int, list[Chain]] = {}
    for place, topic in enumerate(question.topics):
        # of a query that unites alternatives, only the first was read
        own = _branches_from(queried, topic) or _branches_from(paths, topic, alone=len(question.topics) == 1)
        if own:
            found[place] = sorted((branch.slots for branch in own), key=len)
    if any(is_off_schema(own[0]) for own in found.values()):
        return OFF_SCHEMA
    found = {place: [chain for chain in own if not is_off_schema(chain)] for place, own in found.items()}
    return found or (read if isinstance(read, str) and not paths else NO_TOPIC)


def _branches_from(branches: Iterable[QueryBranch], topic: Topic, alone: bool = False) -> list[QueryBranch]:
    """Return the branches from a topic; those from nowhere too where it is the only one."""
    name = local_name(topic.id) if topic.id else ""
    return [each for each in branches if (name == local_name(each.start) != "" if each.start else alone)]


def _make_exemplars(question: TrainingQuestion, chains: Mapping[int, list[Chain]]) -> Iterator[Exemplar]:
    asked = read_intent(question.sparql) if question.sparql else QuestionIntent()
    text = replace_surrogates(question.question)
    for place, (chain, *_) in chains.items():
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
    as_published: bool = False,
    begins: bool = False,
) -> ExemplarHeader:
    """Build exemplars; earlier ones in their place are replaced as a whole, or refused where this ``begins``.

    They are opened with the encoder of this name. ``categories`` are as for `gather_exemplars`,
    ``as_published`` as for `ExemplarHeader`.
    """
    EXEMPLAR_STORE.check_place(folder)
    found = gather_exemplars(questions, categories, all_chains=as_published)
    if not found.exemplars:
        raise ExemplarError(
            "no question gives an exemplar: each needs a topic entity, and SPARQL or gold paths from it"
        )
    header = ExemplarHeader(
        encoder=encoder_name,
        dimensions=0,
        sources=tuple(sources),
        questions=found.questions,
        without=dict(found.without),
        exemplars=0,
        templates=0,
        as_published=as_published,
    )
    return _write(folder, header, found.exemplars, found.solutions, encode, begins=begins)


def add_exemplar(
    question: str,
    query: str,
    topics: Sequence[str],
    folder: Path,
    encode: EncodeTexts,
    encoder_name: str,
) -> ExemplarHeader:
    """Add a question and its query to the exemplars of a folder, or begin a folder with it (blocking).

    ``topics`` are what the question calls the entities that the query sets out from, in its order.
    """
    solved = solved_question(question, query, topics)
    if not EXEMPLAR_STORE.exists(folder):
        return build_exemplars([solved], folder, encode, encoder_name, begins=True)
    opened = EXEMPLAR_STORE.open(folder, encoder_name)
    old, library = opened.header, read_exemplars(opened, encode)
    found = gather_exemplars([solved], all_chains=old.as_published)
    if not found.exemplars:
        raise ExemplarError(f"the question gives no exemplar: {next(iter(found.without))}")
    weights: Counter[Exemplar] = Counter()
    for each in (*library.exemplars, *found.exemplars):
        weights[replace(each, weight=1)] += each.weight
    exemplars = sorted(replace(each, weight=weight) for each, weight in weights.items())
    solutions = merge_solutions([*read_solution_index(opened, encode).solutions, *found.solutions])
    header = replace(old, questions=old.questions + 1)
    return _write(folder, header, exemplars, solutions, encode, old)


def _write(
    folder: Path,
    header: ExemplarHeader,
    exemplars: Sequence[Exemplar],
    solutions: Sequence[Solution],
    encode: EncodeTexts,
    old: ExemplarHeader | None = None,
    *,
    begins: bool = False,
) -> ExemplarHeader:
    """Write what exemplars and solutions teach, with what the header says of the questions."""
    encode = encode_once(encode)
    model = learn_model(exemplars, encode)
    header = replace(
        header,
        dimensions=model.vectors.shape[1],
        exemplars=len(exemplars),
        templates=len(solutions),
    )
    files = {
        "records": write_lines(exemplars, Exemplar),
        "model": pack_model(model),
        "solutions": write_lines(solutions, Solution),
        "index": index_solutions(solutions, encode, header.as_published).to_bytes(),
    }
    return EXEMPLAR_STORE.write(folder, header, files, old, begins=begins)


class NearExemplar(NamedTuple):
    """An exemplar near to a question, and how near it is, at most 1."""

    exemplar: Exemplar
    similarity: float


class ExemplarLibrary:
    """Exemplars, in the order of the vectors of the model that was learned from them.

    May be used from several threads at once. Where the vectors of its encoder are of another length
    than the exemplars', that is an `ExemplarError`. Its ``fingerprint`` tells them from any others.
    """

    def __init__(
        self, header: ExemplarHeader, exemplars: tuple[Exemplar, ...], model: HopModel, encode: EncodeTexts
    ) -> None:
        self.header, self.exemplars, self.fingerprint = header, exemplars, header.records
        self._model, self._encode = model, encode
        *self._slots, self._intents = (classes for classes, _ in training_tasks(exemplars))
        self._weights = np.array([each.weight for each in exemplars])

    def nearest(self, masked: str, k: int) -> list[NearExemplar]:
        """Return the ``k`` exemplars most similar to a masked question, best first; blocks.

        Of those equally similar (to six decimals) first what stands for more questions, then
        in the order of the texts.
        """
        found = np.round(self._model.similarities(*self._read(masked)), SIMILARITY_DECIMALS)
        best = np.lexsort((-self._weights, -found))[:k]
        return [NearExemplar(self.exemplars[place], min(1.0, float(found[place]))) for place in best]

    def hops(self, masked: str) -> HopScores:
        """Return the log-probabilities of what is at each position, the last after any chain; blocks."""
        read = self._read(masked)
        pairs = zip(self._slots, self._model.heads[:-1], strict=True)
        found = [dict(zip(slots, head.logs(*read).tolist(), strict=True)) for slots, head in pairs]
        return (*found, {None: 0.0})

    def asked(self, masked: str) -> Mapping[QuestionIntent, float]:
        """Return the probability of each kind of asking that there was in training; blocks."""
        shares = np.exp(self._model.heads[-1].logs(*self._read(masked)))
        return dict(zip(self._intents, shares.tolist(), strict=True))

    def _read(self, masked: str) -> tuple[SparseRow, Floats]:
        (vector,) = self._encode([blank_labels(masked)])
        if len(vector) != self.header.dimensions:
            raise ExemplarError(
                f"the encoder gives {len(vector)} numbers for a text, the exemplars have "
                f"{self.header.dimensions}; build them again with this encoder"
            )
        return self._model.vocabulary.row(masked), vector


def read_exemplars(opened: OpenArtifact[ExemplarHeader], encode: EncodeTexts) -> ExemplarLibrary:
    """Read the exemplars of a folder that is open (blocking)."""
    lines, packed = opened.read("records"), opened.read("model")
    try:
        exemplars = read_lines(lines, Exemplar)
        model = unpack_model(packed, exemplars, opened.header.dimensions)
    except ValueError:
        raise opened.damaged from None
    return ExemplarLibrary(opened.header, exemplars, model, encode)


def read_solution_index(opened: OpenArtifact[ExemplarHeader], encode: EncodeTexts) -> SolutionIndex:
    """Read the index of a folder that is open (blocking)."""
    header, lines, packed = opened.header, opened.read("solutions"), opened.read("index")
    try:
        solutions = read_lines(lines, Solution)
        length = header.dimensions if header.as_published else 2 * header.dimensions
        index = VectorIndex.from_bytes(solution_labels(solutions), packed, length)
    except ValueError:
        raise opened.damaged from None
    return SolutionIndex(
        solutions, index, encode, header.encoder, header.solutions, in_place=header.as_published
    )
