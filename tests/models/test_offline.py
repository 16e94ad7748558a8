"""The offline model: likeness of words, honestly no language model."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.models.errors import ModelUnavailable
from kgqa.models.offline import OfflineModel, spoken
from kgqa.models.usage import Usage
from kgqa.priors.encoder import open_encoder
from kgqa.prompts.answer_directly import AnswerDirectly, DirectAnswer
from kgqa.prompts.base import Prompt, Reply
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.prompts.verify_chain import VerifyChain

ULM = Entity("http://t/ulm", "Ulm")
BORN_IN, RIVER, MAYOR, MOUTH = (
    Hop(f"http://t/{name}") for name in ("place_of_birth", "river", "mayor", "mouth")
)
TWO = (Candidate(Entity("http://t/a", "Ann")), Candidate(Entity("http://t/b", "Bob"), returning=True))


@pytest.fixture(scope="module")
def model() -> OfflineModel:
    return OfflineModel(open_encoder().encode)


async def test_the_nearest_relation_comes_first(model: OfflineModel) -> None:
    hops = (BORN_IN, MAYOR, RIVER)
    answered = await model.ask(PruneRelations("Which stream flows through Ulm?", Chain(ULM), hops, width=2))
    assert answered.reply.relations[0] == 3
    assert len(answered.reply.relations) == 2
    assert answered.usage == Usage()


async def test_the_topic_s_own_name_does_not_count(model: OfflineModel) -> None:
    """Of a town called Mayor, the river is asked for."""
    chain = Chain(Entity("http://t/m", "Mayor"))
    answered = await model.ask(PruneRelations("Which river is in Mayor?", chain, (MAYOR, RIVER), width=1))
    assert answered.reply.relations == [2]


async def test_forward_comes_before_inverse(model: OfflineModel) -> None:
    answered = await model.ask(
        PruneRelations("Who is the mayor of Ulm?", Chain(ULM), (MAYOR.inverse, MAYOR), 2)
    )
    assert answered.reply.relations == [2, 1]


@pytest.mark.parametrize(
    ("question", "first"),
    [("Who is the mayor where Ann lives?", 1), ("Who else lives together with Ann?", 2)],
)
async def test_going_back_is_for_questions_of_company(model: OfflineModel, question: str, first: int) -> None:
    lives = Hop("http://t/lives_in")
    chain = Chain(Entity("http://t/ann", "Ann"), (lives,))
    answered = await model.ask(PruneRelations(question, chain, (MAYOR, lives.inverse), width=1))
    assert answered.reply.relations == [first]


async def test_a_chain_that_covers_the_words_stops(model: OfflineModel) -> None:
    answered = await model.ask(VerifyChain("What is the river of Ulm?", Chain(ULM, (RIVER,)), TWO))
    assert (answered.reply.decision, answered.reply.take) == ("stop", "others")


async def test_words_that_are_not_covered_call_for_another_hop(model: OfflineModel) -> None:
    question = "What is the mouth of the river of Ulm?"
    first = await model.ask(VerifyChain(question, Chain(ULM, (RIVER,)), TWO))
    second = await model.ask(VerifyChain(question, Chain(ULM, (RIVER, MOUTH)), TWO))
    assert (first.reply.decision, second.reply.decision) == ("forward", "stop")


async def test_how_many_is_counted_unless_it_is_a_number_already(model: OfflineModel) -> None:
    people = Chain(ULM, (Hop("http://t/population"),))
    number = (Candidate(Literal("126000")),)
    assert (await model.ask(VerifyChain("How many rivers?", Chain(ULM, (RIVER,)), TWO))).reply.take == "count"
    assert (await model.ask(VerifyChain("How many inhabitants?", people, number))).reply.take == "others"


async def test_a_date_is_nobody(model: OfflineModel) -> None:
    chain = Chain(ULM, (MAYOR,))
    answered = await model.ask(VerifyChain("Who is the mayor?", chain, (Candidate(Literal("1999-01-01")),)))
    assert answered.reply.decision == "backtrack"


async def test_what_it_cannot_check_it_keeps(model: OfflineModel) -> None:
    answered = await model.ask(FilterCandidates("Which is the oldest?", Chain(ULM, (MAYOR,)), TWO))
    assert answered.reply.chosen == [1, 2]


async def test_it_knows_no_facts(model: OfflineModel) -> None:
    assert (await model.ask(AnswerDirectly("Who?"))).reply.answers == []


async def test_another_prompt_needs_a_language_model(model: OfflineModel) -> None:
    @dataclass(frozen=True)
    class Poem(Prompt[DirectAnswer]):
        name: ClassVar[str] = "poem"
        instructions: ClassVar[str] = ""
        reply: ClassVar[type[Reply]] = DirectAnswer

        def case(self) -> str:
            return ""

    with pytest.raises(ModelUnavailable, match="cannot answer poem"):
        await model.ask(Poem())


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        ("starred_actors", "starred actors"),
        ("a.b.c_d", "b c d"),
        ("dateOfBirth", "date of birth"),
        ("P36", "p36"),
    ],
)
def test_spoken(relation: str, words: str) -> None:
    assert spoken(relation) == words
