"""Questions that ask for yes or no over the biomedical graph, as examples/ has them (VoG, appendix G)."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rdflib import RDFS, Graph

import kgqa
from kgqa.evaluation import evaluate
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.grounding import check_grounding
from kgqa.evaluation.scoring.scores import score_answers
from kgqa.examples import vog
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.errors import MalformedReply
from kgqa.models.scripted import ScriptedModel
from kgqa.prompts.facts import draw_fact
from kgqa.tests.integration.examples.test_cog_cases import EXAMPLES
from kgqa.tests.support.planned import entries, nodes, plan, playing, shown, take
from kgqa.tests.unit.prompts.test_instructions import HASHES, fingerprint

FILE = EXAMPLES / "biomedical.ttl"
QUESTIONS = {question.id: question for question in load(EXAMPLES / "biomedical.jsonl").questions}


class Claim(NamedTuple):
    """How a question is searched for, and which facts speak for it and against it, if they are there."""

    steps: Sequence[Sequence[str]]
    """The relations of each step."""
    favour: Sequence[str] = ()
    against: Sequence[str] = ()


CLAIMS = {
    "b1": Claim([["treats"]], ['"Metformin" -treats-> "Type 2 diabetes"']),
    "b2": Claim(
        [["inhibits"]],
        ['"Aspirin" -inhibits-> "Cyclooxygenase-1"', '"Ibuprofen" -inhibits-> "Cyclooxygenase-1"'],
    ),
    "b3": Claim(
        [["causative_gene"], ["located_on"]],
        ['"Cystic fibrosis" -causative_gene-> "CFTR"', '"CFTR" -located_on-> "Chromosome 7"'],
    ),
    "b4": Claim(
        [["blocks", "activates"]],
        ['"Naloxone" -blocks-> "Mu opioid receptor"', '"Morphine" -activates-> "Mu opioid receptor"'],
    ),
    "b5": Claim(
        [["transmitted_by"], ["kind_of"]],
        ['"Malaria" -transmitted_by-> "Anopheles"', '"Anopheles" -kind_of-> "Mosquito"'],
    ),
    "b6": Claim(
        [["treats", "does_not_treat"]],
        ['"Penicillin" -treats-> "Influenza"'],
        ['"Penicillin" -does_not_treat-> "Influenza"'],
    ),
    "b7": Claim(
        [["mode_of_inheritance"]],
        ['"Huntington\'s disease" -mode_of_inheritance-> "Autosomal recessive"'],
        ['"Huntington\'s disease" -mode_of_inheritance-> "Autosomal dominant"'],
    ),
    "b8": Claim(
        [["treats", "contraindicated_in"]],
        ['"Propranolol" -treats-> "Hypertension"'],
        ['"Propranolol" -contraindicated_in-> "Asthma"'],
    ),
    "b9": Claim([["treats"]], ['"Metformin" -treats-> "Alzheimer\'s disease"']),
    "b10": Claim([["treats"]], ['"Melatonin" -treats-> "Tinnitus"']),
}


def judging(claim: Claim, guess: str) -> ScriptedModel:
    """Script a model that guesses an answer beforehand, then goes by the facts: one against it decides."""

    def verdict(prompt: Any) -> dict[str, Any]:
        drawn = list(map(draw_fact, prompt.offered))
        favour, against = (
            [drawn.index(fact) + 1 for fact in facts if fact in drawn]
            for facts in (claim.favour, claim.against)
        )
        said = "no" if against else "yes" if favour else "unknown"
        return {"verdict": said, "favour": favour, "against": against}

    return playing(
        plan_steps=plan(*(" ".join(relations) for relations in claim.steps), answers=[guess], whether=True),
        select_relations=lambda prompt: take(*prompt.step.search.split())(prompt),
        revise_ahead=MalformedReply("no other way"),
        judge_claim=verdict,
    )


async def ask(question: Question, model: Any, **options: Any) -> kgqa.Record:
    topics = [topic.id or "" for topic in question.topics]
    return await kgqa.aask(
        question.text, kg=str(FILE), topics=topics, method="vog", model=model, id=question.id, **options
    )


def gold(question: Question) -> str | None:
    [answer] = question.gold
    return answer.name


def result(record: Any) -> Result:
    answers = tuple(EntityRef(answer["id"], answer["name"]) for answer in record["answers"])
    return Result(record["id"], record["question"], answers, record["outcome"], record=record)


@pytest.fixture(scope="module")
def medicine() -> SparqlGraph:
    return open_graph([FILE])


# With a model that goes by the facts


def test_each_question_is_played() -> None:
    assert QUESTIONS.keys() == CLAIMS.keys()
    assert {gold(question) for question in QUESTIONS.values()} == {"yes", "no", "unknown"}


@pytest.mark.parametrize("guess", ["yes", "no"])
@pytest.mark.parametrize("id", CLAIMS)
async def test_the_evidence_decides_whatever_the_plan_guessed(id: str, guess: str) -> None:
    question = QUESTIONS[id]
    record = await ask(question, judging(CLAIMS[id], guess))
    assert shown(record) == [gold(question)]
    found = score_answers(result(record).answers, question)
    assert found is not None
    assert found.f1 == 1


@pytest.mark.parametrize("id", [id for id, question in QUESTIONS.items() if gold(question) != "unknown"])
async def test_a_yes_is_grounded_in_facts_that_are_there_and_a_no_inferred_from_them(
    id: str, medicine: SparqlGraph
) -> None:
    record = await ask(QUESTIONS[id], judging(CLAIMS[id], "yes"))
    proved = gold(QUESTIONS[id]) == "yes"
    assert record["outcome"] == ("grounded" if proved else "grounded_inference")
    assert await check_grounding([result(record)], medicine) == {id: proved}
    assert [condition["by"] for condition in record["conditions"]] == ([] if proved else ["model"])


@pytest.mark.parametrize("id", [id for id, question in QUESTIONS.items() if gold(question) == "unknown"])
async def test_where_the_graph_is_silent_the_answer_is_unknown_and_nothing_is_evidence(id: str) -> None:
    record = await ask(QUESTIONS[id], judging(CLAIMS[id], "yes"))
    assert (record["answers"], record["outcome"]) == ([{"id": None, "name": "unknown"}], "none")
    assert (record["evidence"], record["paths"]) == ([], [])


async def test_facts_for_and_against_are_both_told() -> None:
    record = await ask(QUESTIONS["b8"], judging(CLAIMS["b8"], "yes"))
    [judged] = entries(record, "judge")
    assert judged["for"] == ["Propranolol -treats-> Hypertension"]
    assert judged["against"] == ["Propranolol -contraindicated_in-> Asthma"]
    assert [(fact["relation"].rpartition("/")[2], fact["tail"]["name"]) for fact in record["evidence"]] == [
        ("treats", "Hypertension"),
        ("contraindicated_in", "Asthma"),
    ]


async def test_what_something_else_is_treated_with_is_no_evidence() -> None:
    record = await ask(QUESTIONS["b9"], judging(CLAIMS["b9"], "yes"))
    [judged] = entries(record, "judge")
    assert (judged["for"], judged["against"]) == ([], [])
    assert entries(record, "filter")[0]["chosen"] == 1


async def test_nobody_is_asked_to_judge_where_nothing_was_observed() -> None:
    model = judging(CLAIMS["b10"], "yes")
    record = await ask(QUESTIONS["b10"], model)
    assert "judge" in nodes(record)
    assert "judge_claim" not in {prompt.name for prompt in model.prompts}


async def test_without_verification_the_guess_is_the_answer_and_nothing_proves_it() -> None:
    record = await ask(QUESTIONS["b6"], judging(CLAIMS["b6"], "yes"), verification=False)
    assert (record["answers"], record["outcome"]) == ([{"id": None, "name": "yes"}], "parametric")


# With the offline model, which knows nothing


@pytest.mark.parametrize("id", CLAIMS)
async def test_the_offline_model_is_right_or_says_that_it_does_not_know(id: str) -> None:
    record = await ask(QUESTIONS[id], "offline")
    assert shown(record) in ([gold(QUESTIONS[id])], ["unknown"])


@pytest.mark.parametrize(
    ("id", "side", "fact"),
    [
        ("b1", "for", "Metformin -treats-> Type 2 diabetes"),
        ("b2", "for", "Aspirin -inhibits-> Cyclooxygenase-1 <-inhibits- Ibuprofen"),
        ("b4", "for", "Naloxone -blocks-> Mu opioid receptor <-activates- Morphine"),
        ("b6", "against", "Penicillin -does_not_treat-> Influenza"),
    ],
)
async def test_the_offline_model_goes_by_what_joins_the_things_that_a_question_names(
    id: str, side: str, fact: str, medicine: SparqlGraph
) -> None:
    record = await ask(QUESTIONS[id], "offline")
    assert shown(record) == [gold(QUESTIONS[id])]
    [judged] = entries(record, "judge")
    assert fact in judged[side]
    assert judged["against" if side == "for" else "for"] == []
    assert await check_grounding([result(record)], medicine) == {id: side == "for"}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Do aspirin and ibuprofen both treat asthma?", "unknown"),
        ("Do metformin and insulin both treat type 1 diabetes?", "unknown"),
        ("Do metformin and insulin both treat type 2 diabetes?", "yes"),
        ("Do penicillin and oseltamivir both treat influenza?", "no"),
        ("Does penicillin treat strep throat, syphilis and influenza?", "no"),
        ("Do aspirin and ibuprofen treat fever and pain?", "yes"),
        ("Do aspirin and ibuprofen both treat gout?", "unknown"),
        ("Does ibuprofen interact with warfarin?", "unknown"),
        ("Is ibuprofen an NSAID?", "yes"),
        ("Is an NSAID an ibuprofen?", "unknown"),
        ("Can penicillin be used for the common cold?", "no"),
    ],
)
async def test_the_offline_model_holds_each_thing_that_a_question_joins_against_the_facts(
    text: str, answer: str
) -> None:
    record = await kgqa.aask(text, kg=str(FILE), method="vog", model="offline")
    assert shown(record) == [answer]
    assert record["outcome"] == ("none" if answer == "unknown" else "grounded_inference")


async def test_the_offline_model_tells_each_fact_once_and_by_no_roundabout_way() -> None:
    topics = [f"https://kgqa.example/e/{name}" for name in ("Aspirin", "Ibuprofen", "Fever")]
    text = "Do aspirin and ibuprofen both treat fever?"
    record = await kgqa.aask(text, kg=str(FILE), topics=topics, method="vog", model="offline")
    [judged] = entries(record, "judge")
    assert judged["for"] == ["Aspirin -treats-> Fever", "Ibuprofen -treats-> Fever"]
    assert nodes(record).count("expand") == 1


# With a simulated model, which knows the gold paths


async def test_a_perfect_model_is_right_on_each_question(tmp_path: Path) -> None:
    run = await evaluate(
        str(EXAMPLES / "biomedical.jsonl"),
        kg=str(FILE),
        method="vog",
        model="simulated",
        out=str(tmp_path / "run"),
    )
    assert run.metrics["hits_at_1"]["value"] == 1
    proved = sum(gold(question) == "yes" for question in QUESTIONS.values())
    assert run.metrics["kg_grounded_rate_strict"]["value"] == proved / len(QUESTIONS)


# The files


@pytest.fixture(scope="module")
def triples() -> Graph:
    return Graph().parse(FILE)


def test_the_graph_is_small_and_says_that_it_is_no_advice(triples: Graph) -> None:
    assert 60 <= len(triples) - len(list(triples.triples((None, RDFS.label, None)))) <= 100
    assert "no medical advice" in FILE.read_text(encoding="utf-8")


def test_nothing_is_both_treated_and_not_treated(triples: Graph) -> None:
    relation = {str(name).rpartition("/")[2]: name for name in triples.predicates()}
    said = [set(triples.subject_objects(relation[name])) for name in ("treats", "does_not_treat")]
    assert said[0].isdisjoint(said[1])
    assert said[0].isdisjoint(triples.subject_objects(relation["contraindicated_in"]))


def test_each_topic_is_in_the_graph_by_its_name(triples: Graph) -> None:
    names = {str(node): str(name) for node, name in triples.subject_objects(RDFS.label)}
    for question in QUESTIONS.values():
        assert {topic.id: topic.name for topic in question.topics}.items() <= names.items()


def test_no_question_is_a_test_question() -> None:
    if not HASHES.is_file():
        pytest.skip("no list of test questions; set KGQA_DATA to the folder that holds it")
    with gzip.open(HASHES, "rt", encoding="ascii") as lines:
        hashes = frozenset(lines.read().split())
    asked = [vog.QUESTION, *(question.text for question in QUESTIONS.values())]
    assert [question for question in asked if fingerprint(question) in hashes] == []
