"""Exemplars of MetaQA's training questions, tried on questions that are held out of them."""

import random
import time

import pytest

from kgqa.priors.encoder import CachedEncoder, Encoder
from kgqa.priors.exemplars import ExemplarLibrary, build_exemplars, gather_exemplars
from kgqa.priors.training_questions import TrainingQuestion, read_training_questions
from kgqa.tests.support.builds import open_exemplars
from kgqa.tests.support.perfect import DATA, questions

pytestmark = [
    pytest.mark.skipif(not (DATA / "metaqa").exists(), reason=f"the training questions are not in {DATA}"),
]


@pytest.fixture(scope="module")
def parts() -> tuple[list[TrainingQuestion], list[TrainingQuestion]]:
    every = [
        each
        for hops in (1, 2, 3)
        for each in read_training_questions(questions(f"metaqa/metaqa-{hops}hop-train"))
    ]
    random.Random(0).shuffle(every)
    return every[1000::4], every[:1000]


@pytest.fixture(scope="module")
def learned(
    parts: tuple[list[TrainingQuestion], list[TrainingQuestion]],
    minilm: Encoder,
    tmp_path_factory: pytest.TempPathFactory,
) -> ExemplarLibrary:
    folder, memo = tmp_path_factory.mktemp("metaqa") / "exemplars", CachedEncoder(lambda: minilm)
    build_exemplars(parts[0], folder, memo.encode, memo.name)
    return open_exemplars(folder, memo.encode, memo.name)


def test_questions_that_were_held_out_are_nearest_to_one_of_the_same_chain(
    learned: ExemplarLibrary, parts: tuple[list[TrainingQuestion], list[TrainingQuestion]]
) -> None:
    held_out = gather_exemplars(parts[1]).exemplars
    total = sum(each.weight for each in held_out)
    near = sum(
        each.weight for each in held_out if learned.nearest(each.question, 1)[0].exemplar.chain == each.chain
    )
    assert near / total > 0.995


def test_the_hops_of_questions_that_were_held_out_are_the_likeliest(
    learned: ExemplarLibrary, parts: tuple[list[TrainingQuestion], list[TrainingQuestion]]
) -> None:
    held_out = gather_exemplars(parts[1]).exemplars
    total, right = sum(each.weight for each in held_out), 0
    for each in held_out:
        hops = learned.hops(each.question)
        wanted = (*each.chain, None)[: len(hops)]
        likeliest = [
            max(scores, key=lambda slot: scores[slot]) for scores, _ in zip(hops, wanted, strict=False)
        ]
        right += each.weight * (likeliest == list(wanted))
    assert right / total > 0.995


def test_looking_is_quick(learned: ExemplarLibrary) -> None:
    learned.nearest("who directed [ENT]?", 50)
    started = time.perf_counter()
    for _ in range(20):
        learned.nearest("who directed [ENT]?", 50)
        learned.hops("who directed [ENT]?")
    assert (time.perf_counter() - started) / 20 < 0.2
