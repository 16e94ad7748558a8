"""With a perfect simulated model PoG-EGP answers what can be derived, most of it by looking ahead."""

import gzip
import json

import pytest

from kgqa.data import SAMPLE_QUESTIONS
from kgqa.evaluation.simulation import ErrorRates
from kgqa.priors.encoder import open_encoder
from kgqa.priors.exemplars import gather_exemplars
from kgqa.priors.solutions import SolutionIndex, index_solutions
from kgqa.priors.training_questions import read_training_questions
from kgqa.runtime.node import NodeRuntime
from kgqa.tests.support.guided import entries
from kgqa.tests.unit.evaluation.simulation.public import answered, f1, graph_of, questions


@pytest.fixture(scope="module")
def solved() -> SolutionIndex:
    """The sample's training questions, templates without categories."""
    encode = open_encoder().encode
    lines = map(json.loads, gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines())
    solutions = gather_exemplars(
        read_training_questions(line for line in lines if line["split"] == "train")
    ).solutions
    return SolutionIndex(solutions, index_solutions(solutions, encode), encode, "words", "0" * 64)


@pytest.fixture
def lent(solved: SolutionIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    async def index(runtime: NodeRuntime) -> SolutionIndex:
        return solved

    monkeypatch.setattr(NodeRuntime, "exemplar_index", index)


@pytest.mark.usefixtures("lent")
@pytest.mark.parametrize("drawn", [False, True], ids=["alike", "by chance"])
async def test_what_can_be_derived_is_answered_whatever_is_recalled(drawn: bool) -> None:
    asked, opened = questions("sample", most=24), graph_of("sample")
    results = await answered(asked, opened, ErrorRates(), method="pog_egp", random_exemplars=drawn)
    assert not [q.id for q, (_, score) in zip(asked, results, strict=True) if score.f1 < 1]
    ended = [entries(record, "smart_lookahead")[0]["decision"] == "stop" for record, _ in results]
    assert (sum(ended) > len(ended) / 2) is not drawn


@pytest.mark.usefixtures("lent")
async def test_exemplars_make_up_for_a_model_that_chooses_wrongly() -> None:
    asked, opened, astray = questions("sample", most=12), graph_of("sample"), ErrorRates(accuracy=0, recall=0)
    found = {
        added: await f1(asked, opened, astray, method="pog_egp", guide_exploration=added, lookahead=False)
        for added in (True, False)
    }
    assert found[True] > found[False] + 0.2
