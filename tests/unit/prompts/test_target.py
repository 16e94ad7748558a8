"""A prompt that says how it is answered needs no language model."""

from typing import Any

import pytest

from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.terms import Chain
from kgqa.models.offline import OfflineModel
from kgqa.prompts.base import QuestionPrompt, Reply
from kgqa.prompts.chain import Extension
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations
from kgqa.prompts.target import Target
from kgqa.tests.conftest import MEMO
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, chain, question


class Arrived(Reply):
    there: bool


class AskWhether(QuestionPrompt[Arrived]):
    """Ask whether a chain ends at the answers."""

    chain: Chain
    instructions = ""

    async def answer(self, target: Target) -> Arrived:
        return Arrived(there=await target.is_end(self.chain))


class OwnPruning(PruneRelations):
    """A prompt that extends one of kgqa's, and is answered otherwise."""

    async def answer(self, target: Target) -> PrunedRelations:
        return PrunedRelations(relations=[len(self.offers)])


@pytest.fixture(params=["offline", "simulated"])
def model(request, graph) -> Any:
    family = graph(FAMILY)
    if request.param == "offline":
        return OfflineModel(family, MEMO.encode)
    return SimulatedModel(question("danube", "born_in river"), family, ErrorRates())


@pytest.mark.parametrize(("path", "there"), [("born_in", False), ("born_in river", True), ("friend", False)])
async def test_it_is_answered_by_what_a_model_knows(model, path, there) -> None:
    prompt = AskWhether("What is the river of where Ann was born in?", chain("ann", path))
    assert (await model.ask(prompt)).reply.there is there


async def test_its_answer_goes_before_that_of_the_prompt_it_extends(model) -> None:
    offers = tuple(Extension(chain("ann", hop)) for hop in ("born_in", "friend", "likes"))
    assert (await model.ask(OwnPruning("Where was Ann born?", chain("ann"), offers))).reply.relations == [3]
