"""The offline model in a planned search: likeness of words where it tells, nothing where it does not."""

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.models.offline import OfflineModel
from kgqa.models.parsing import checked
from kgqa.priors.encoder import open_encoder
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, Exemplar
from kgqa.prompts.base import Prompt, R
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.decompose import Decompose
from kgqa.prompts.diagnose import Decided, Diagnose, PrunedBranch
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.prompts.progress import Progress
from kgqa.prompts.verify_chain import VerifyChain

ULM = Entity("http://t/ulm", "Ulm")
RIVER, MAYOR, MOUTH, LAKE = (Hop(f"http://t/{name}") for name in ("river", "mayor", "mouth", "lake"))
TWO = (Candidate(Entity("http://t/a", "Ann")), Candidate(Entity("http://t/b", "Bob"), returning=True))
DATE = (Candidate(Literal("1999-01-01")),)
BEGUN = Progress(("Find it.",), 0, ())
OFFERED = ("mayor", "river", "mouth", "twin_town")


@pytest.fixture(scope="module")
def model() -> OfflineModel:
    return OfflineModel(open_encoder().encode)


async def ask(model: OfflineModel, prompt: Prompt[R]) -> R:
    """Give the reply, held against the prompt's own check."""
    reply = (await model.ask(prompt)).reply
    assert checked(reply, prompt) is reply
    return reply


async def test_a_question_is_its_own_subgoal(model: OfflineModel) -> None:
    assert (await ask(model, Decompose("Who is the mayor of Ulm?"))).subgoals == ["Who is the mayor of Ulm?"]


async def test_an_exemplar_is_taken_over_where_all_its_relations_are_offered(model: OfflineModel) -> None:
    exemplars = (
        Exemplar("where does the lake in [ENT] end", (("lake", "mouth"),)),
        Exemplar("where does the river in [ENT] end", (("^river", "mouth"),)),
    )
    reply = await ask(
        model, AdaptBlueprint("Where does the stream of Ulm end?", ("Ulm",), exemplars, OFFERED)
    )
    assert reply.branches == [["^river", "mouth"]]


async def test_of_an_exemplar_there_is_one_branch_for_each_topic(model: OfflineModel) -> None:
    exemplar = Exemplar("who is in both", (("mayor",), ("river",), ("mouth",)))
    reply = await ask(model, AdaptBlueprint("Who?", ("Ulm", "Bonn"), (exemplar,), OFFERED))
    assert reply.branches == [["mayor"], ["river"]]


async def test_without_an_exemplar_the_nearest_relations_are_taken_for_each_hop(model: OfflineModel) -> None:
    question = "What is the mouth of the river of Ulm?"
    (branch,) = (await ask(model, AdaptBlueprint(question, ("Ulm",), (), OFFERED))).branches
    assert sorted(branch) == ["mouth", "river"]


@pytest.mark.parametrize(
    ("question", "hops", "ends"),
    [
        ("What is the river of Ulm?", (RIVER,), TWO),
        ("What is the mouth of the river of Ulm?", (RIVER,), TWO),
        ("How many rivers?", (RIVER,), TWO),
        ("Who is the mayor?", (MAYOR,), DATE),
    ],
)
async def test_a_chain_is_judged_as_without_a_plan(
    model: OfflineModel, question: str, hops: tuple[Hop, ...], ends: tuple[Candidate, ...]
) -> None:
    chain = Chain(ULM, hops)
    planned = await ask(model, CheckSufficiency(question, chain, ends, BEGUN))
    verified = await ask(model, VerifyChain(question, chain, ends))
    assert (planned.decision, planned.take) == (verified.decision, verified.take)
    assert planned.keep == []


async def test_a_finding_says_the_chain_and_some_of_its_ends(model: OfflineModel) -> None:
    ends = tuple(Candidate(Entity(f"http://t/{name}", name)) for name in "abcde")
    prompt = CheckSufficiency(
        "What is the mouth of the river of Ulm?", Chain(ULM, (RIVER, MOUTH)), ends, BEGUN
    )
    assert (await ask(model, prompt)).finding == "mouth of river of Ulm: a, b, c, 2 more"


async def test_what_leads_astray_establishes_nothing(model: OfflineModel) -> None:
    prompt = CheckSufficiency("Who is the mayor?", Chain(ULM, (MAYOR,)), DATE, BEGUN)
    assert (await ask(model, prompt)).finding == ""


def diagnose(*pruned: PrunedBranch) -> Diagnose:
    first, second = Chain(ULM, (LAKE,)), Chain(ULM, (LAKE, MAYOR))
    steps = (Decided(Chain(ULM), first, (), 1, ""), Decided(first, second, (), 1, ""))
    return Diagnose("Which river flows through Ulm?", "no_gain", BEGUN, steps, pruned)


def branch(step: int, hop: Hop, relevance: float | None = None, *, waiting: bool = False) -> PrunedBranch:
    before = Chain(ULM) if step == 1 else Chain(ULM, (LAKE,))
    return PrunedBranch(step, before.then(hop), waiting, relevance)


async def test_the_last_decision_with_a_branch_left_is_blamed(model: OfflineModel) -> None:
    reply = await ask(model, diagnose(branch(2, MOUTH), branch(1, RIVER)))
    assert (reply.step, reply.recall, reply.blueprint) == (2, [1], "keep")
    reply = await ask(model, diagnose(branch(1, RIVER)))
    assert (reply.step, reply.recall) == (1, [1])


async def test_without_a_branch_left_no_decision_is_blamed(model: OfflineModel) -> None:
    reply = await ask(model, diagnose())
    assert (reply.step, reply.recall) == (0, [])


async def test_branches_are_recalled_by_likeness_to_the_question(model: OfflineModel) -> None:
    assert (await ask(model, diagnose(branch(1, MAYOR), branch(1, RIVER)))).recall == [2, 1]


async def test_likeness_to_the_blueprint_goes_before_likeness_to_the_question(model: OfflineModel) -> None:
    reply = await ask(model, diagnose(branch(1, MAYOR, 0.9), branch(1, RIVER, 0.1)))
    assert reply.recall == [1, 2]


async def test_what_was_chosen_goes_first_and_three_are_enough(model: OfflineModel) -> None:
    hops = (
        branch(1, RIVER, 0.9),
        branch(1, MAYOR, 0.8),
        branch(1, MOUTH, 0.7),
        branch(1, LAKE, 0.1, waiting=True),
    )
    assert (await ask(model, diagnose(*hops))).recall == [4, 1, 2]


async def test_evidence_is_not_weighed(model: OfflineModel) -> None:
    segments = (Segment(Chain(ULM, (RIVER,)), TWO),)
    assert (await ask(model, InferFromEvidence("What?", segments, (), ()))).chosen == []
