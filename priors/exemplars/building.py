"""Builds exemplars from questions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgqa.priors.blueprints.examples import Example, Topic
from kgqa.priors.blueprints.header import Source
from kgqa.priors.blueprints.templates import Encode
from kgqa.priors.exemplars import records, solution_records
from kgqa.priors.exemplars.errors import ExemplarError
from kgqa.priors.exemplars.gathering import gather
from kgqa.priors.exemplars.header import KIND, VERSION, Header
from kgqa.priors.exemplars.index import INDEX, SOLUTIONS, shelve
from kgqa.priors.exemplars.learning import learn
from kgqa.priors.exemplars.model import pack
from kgqa.priors.folders import digest

RECORDS = "records.jsonl"
MODEL = "model.npz"


@dataclass(frozen=True, slots=True)
class Built:
    """What was read, and how many exemplars and solutions came of it."""

    questions: int
    without: Mapping[str, int]
    exemplars: int
    templates: int


def build(
    examples: Iterable[Example],
    folder: Path,
    encode: Encode,
    encoder_name: str,
    *,
    sources: Sequence[Source] = (),
    categories: Mapping[Topic, str] | None = None,
) -> Built:
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
    KIND.check_place(folder)
    found = gather(examples, categories)
    if not found.exemplars:
        raise ExemplarError(
            "no question gives an exemplar: each needs a topic entity, and SPARQL or gold paths from it"
        )
    model = learn(found.exemplars, encode)
    files = {
        RECORDS: records.write(found.exemplars),
        MODEL: pack(model),
        SOLUTIONS: solution_records.write(found.solutions),
        INDEX: shelve(found.solutions, encode).packed(),
    }
    header = Header(
        version=VERSION,
        encoder=encoder_name,
        dimensions=model.vectors.shape[1],
        sources=tuple(sources),
        questions=found.questions,
        without=dict(found.without),
        exemplars=len(found.exemplars),
        templates=len(found.solutions),
        records=digest(files[RECORDS]),
        model=digest(files[MODEL]),
        solutions=digest(files[SOLUTIONS]),
        index=digest(files[INDEX]),
    )
    KIND.write(folder, str(header), files)
    return Built(found.questions, header.without, header.exemplars, header.templates)
