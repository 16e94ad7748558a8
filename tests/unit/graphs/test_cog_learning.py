"""Blueprints of grounded answers are added to an overlay, where the context names one."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.priors.blueprints import build_blueprints, open_library
from kgqa.priors.masking import TOPIC_MASK
from kgqa.priors.training_questions import read_training_questions
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.guided import FAMILY, choose, decide, entries, playing, shown

Ask = Callable[..., Awaitable[kgqa.Record]]

QUESTION = "Where do the children of Ada live?"
FOUND = {"decision": "forward", "finding": "something"}


def children_and_homes() -> Any:
    return playing(
        prune_relations=lambda p: choose("lives_in" if p.chain.hops else "child")(p),
        check_sufficiency=decide(child=FOUND, lives_in="stop"),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A library of one blueprint."""
    topics = [{"id": "http://t/e/ada", "name": "Ada"}]
    lines = [{"question": "What pet has Ada?", "topic_entities": topics, "gold_path": ["pet"]}]
    build_blueprints(read_training_questions(lines), tmp_path / "library", MEMO.encode, MEMO.name)
    return tmp_path / "library"


@pytest.fixture
def ask(turtle: Callable[[str], Path], folder: Path) -> Ask:
    async def run(model: Any, question: str = QUESTION, **options: Any) -> kgqa.Record:
        named: dict[str, Any] = {"kg": str(turtle(FAMILY)), "blueprints": str(folder), "adaptation": False}
        return await kgqa.aask(question, method="cog", model=model, **{**named, **options})

    return run


def learned(folder: Path, overlay: Path) -> list[tuple[str, str]]:
    """What the overlay adds to the library."""
    found = open_library(folder, MEMO.encode, MEMO.name, overlay).nearest(QUESTION, 9)
    return [(match.anchor, str(match.blueprint)) for match in found if str(match.blueprint) != "pet"]


async def test_an_answer_teaches_a_blueprint(ask: Ask, folder: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay"
    record = await ask(children_and_homes(), overlay=str(overlay))
    assert entries(record, "learn")[0]["blueprint"] == "child lives_in"
    assert learned(folder, overlay) == [(f"Where do the children of {TOPIC_MASK} live?", "child lives_in")]


async def test_the_next_question_is_helped(ask: Ask, tmp_path: Path) -> None:
    overlay = str(tmp_path / "overlay")
    first = await ask(children_and_homes(), overlay=overlay)
    second = await ask(children_and_homes(), "Where do the children of Cleo live?", overlay=overlay, tau=0.9)
    assert [entries(record, "blueprint")[0]["blueprint"] for record in (first, second)] == [
        *("pet", "child lives_in"),
    ]
    assert entries(second, "blueprint")[0]["source"] == "copied"


async def test_without_an_overlay_nothing_is_learned(ask: Ask, folder: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.rglob("*"))
    record = await ask(children_and_homes())
    assert shown(record) == ["Bonn", "Ulm"]
    assert "blueprint" not in entries(record, "learn")[0]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.suffix != ".ttl") == before


async def test_what_was_inferred_teaches_nothing(ask: Ask, folder: Path, tmp_path: Path) -> None:
    model = playing(
        prune_relations=choose("child"),
        check_sufficiency=decide(child=FOUND),
        infer_from_evidence={"chosen": [1]},
    )
    record = await ask(model, overlay=str(tmp_path / "overlay"), depth=1, refinements=0)
    assert record["outcome"] == "grounded_inference"
    assert learned(folder, tmp_path / "overlay") == []


async def test_an_overlay_of_nothing_is_refused(ask: Ask, tmp_path: Path) -> None:
    record = await ask(children_and_homes(), overlay=str(tmp_path / "overlay"), blueprints=None)
    assert record["outcome"] == "model_unavailable"
    assert any("an overlay grows a library" in entry.get("error", "") for entry in record["trace"])
