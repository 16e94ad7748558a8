"""Where CoG takes its blueprint from: copied, adapted, or none (§3.2.1)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.priors.blueprints import build_blueprints
from kgqa.priors.encoder import open_encoder
from kgqa.priors.training_questions import read_training_questions
from kgqa.tests.support.guided import (
    FAMILY,
    Shelf,
    Unlisted,
    asked,
    choose,
    copied,
    decide,
    entries,
    playing,
    shown,
)
from kgqa.tests.support.method_fixtures import AskCoG

GIVE_UP: dict[str, Any] = {"diagnose": {"step": 0}, "infer_from_evidence": {"chosen": []}}


def stopping(**more: Any) -> Any:
    """A model that goes to the children and stops there."""
    return playing(prune_relations=choose("child"), check_sufficiency=decide(child="stop"), **more)


@pytest.mark.parametrize(
    ("similarity", "library", "context", "source"),
    [
        (0.93, 0.92, None, "copied"),
        (0.92, 0.92, None, "adapted"),
        (0.92, 0.99, 0.5, "copied"),
        (0.92, 0.5, 0.99, "adapted"),
        (1.0, 1.0, None, "adapted"),
        (0.1, 0.5, 0.0, "copied"),
    ],
)
async def test_a_blueprint_is_copied_above_the_threshold_and_adapted_below(
    cog: AskCoG, similarity: float, library: float, context: float | None, source: str
) -> None:
    model = stopping(adapt_blueprint={"branches": [["pet", "^child"]]})
    record = await cog(model, Shelf((similarity, [["child"]]), tau=library), tau=context)
    [entry] = entries(record, "blueprint")
    assert (entry["source"], entry["similarity"], entry["anchor"]) == (source, similarity, "anchor 1")
    assert entry["blueprint"] == ("child" if source == "copied" else "pet ^child")
    assert len(asked(model, "adapt_blueprint")) == (source == "adapted")


async def test_the_model_adapts_from_the_nearest_two(cog: AskCoG) -> None:
    model = stopping(adapt_blueprint={"branches": [["child"]]}, **GIVE_UP)
    library = Shelf((0.5, [["child", "^pet"], ["mayor"]]), (0.4, [["pet"]]), (0.3, [["spouse"]]))
    await cog(model, library, topics=["Ada", "Ulm"])
    [prompt] = asked(model, "adapt_blueprint")
    assert [topic.name for topic in prompt.topics] == ["Ada", "Ulm"]
    assert [(each.question, each.branches) for each in prompt.exemplars] == [
        ("anchor 1", (("child", "^pet"), ("mayor",))),
        ("anchor 2", (("pet",),)),
    ]
    assert set(prompt.relations) == {"child", "employer", "lives_in", "mayor", "pet", "spouse"}


async def test_relations_that_the_graph_does_not_have_are_dropped(cog: AskCoG) -> None:
    model = stopping(adapt_blueprint={"branches": [["school", "^child", "^school", "pet"]]})
    record = await cog(model, Shelf((0.5, [["child"]])))
    [entry] = entries(record, "blueprint")
    assert (entry["source"], entry["blueprint"]) == ("adapted", "^child pet")
    assert entry["dropped"] == ["school", "school"]


async def test_where_nobody_lists_the_relations_adapted_ones_stay_as_hints(
    cog: AskCoG, graph: Callable[[str], SparqlGraph]
) -> None:
    model = stopping(adapt_blueprint={"branches": [["^school", "child", "^^pet"]]})
    library = Shelf((0.5, [["mayor"]]))
    record = await cog(model, library, kg=Unlisted(graph(FAMILY)))
    [entry] = entries(record, "blueprint")
    assert (entry["source"], entry["blueprint"]) == ("adapted", "^school child")
    assert entry["dropped"] == ["^pet"]
    [prompt] = asked(model, "adapt_blueprint")
    assert set(prompt.relations) == {"child", "lives_in", "employer", "pet", "spouse"}  # those at the topic
    assert entries(record, "rerank")[0]["slot"] in ("^school", "child")
    assert shown(record) == ["Ben", "Cleo"]


async def test_free_adaptation_writes_one_list_after_templates_and_takes_what_is_named(cog: AskCoG) -> None:
    model = stopping(adapt_freely={"relations": ["school.place", "child"]})
    record = await cog(model, Shelf((0.5, [["mayor"], ["^pet", "mayor"]])), adaptation="free")
    [entry] = entries(record, "blueprint")
    assert (entry["source"], entry["blueprint"], entry["dropped"]) == ("adapted", "school.place child", [])
    assert asked(model, "adapt_freely")[0].exemplars[0].branches == (("mayor", "pet"),)
    assert shown(record) == ["Ben", "Cleo"]


async def test_a_branch_of_which_nothing_is_left_leaves_the_others_in_their_places(cog: AskCoG) -> None:
    model = playing(
        adapt_blueprint={"branches": [["school"], ["^employer"]]},
        prune_relations=lambda p: choose("child" if str(p.chain.topic) == "Ada" else "^employer")(p),
        check_sufficiency=decide(child="stop"),
        **GIVE_UP,
    )
    record = await cog(model, Shelf((0.5, [["child"], ["mayor"]])), topics=["Ada", "Mill"], depth=1)
    assert entries(record, "blueprint")[0]["blueprint"].endswith("& ^employer")
    assert entries(record, "rerank")[-1]["slot"] == "^employer"


async def test_where_none_is_left_the_nearest_blueprint_stays(cog: AskCoG) -> None:
    record = await cog(stopping(adapt_blueprint={"branches": [["school"]]}), Shelf((0.5, [["child"]])))
    [entry] = entries(record, "blueprint")
    assert (entry["source"], entry["blueprint"], entry["dropped"]) == ("nearest", "child", ["school"])
    assert entries(record, "rerank")[0]["slot"] == "child"
    assert shown(record) == ["Ben", "Cleo"]


async def test_relations_near_to_the_question_are_named_where_there_are_many(cog: AskCoG) -> None:
    many = (
        'e:ada rdfs:label "Ada"@en ; r:child e:ben . e:ben rdfs:label "Ben"@en ; r:zoo e:ada .\n'
        + "\n".join(f"e:ben r:thing{number} e:ada ." for number in range(60))
    )
    model = stopping(adapt_blueprint={"branches": [["child"]]})
    await cog(model, Shelf((0.5, [["child"]])), kg=many, question="child or zoo or both")
    [prompt] = asked(model, "adapt_blueprint")
    assert (len(prompt.relations), prompt.relations[:2]) == (40, ("child", "zoo"))


async def test_a_blueprint_speaks_the_graph_s_words(cog: AskCoG) -> None:
    """Two relations are called child here, so that the graph calls each by its IRI."""
    two = """
    e:ada rdfs:label "Ada"@en ; r:child e:ben ; <http://t/s/child> e:cleo ; r:pet e:rex .
    e:ben rdfs:label "Ben"@en . e:cleo rdfs:label "Cleo"@en . e:rex rdfs:label "Rex"@en .
    """
    model = playing(
        prune_relations={"relations": []}, check_sufficiency=decide(**{"http://t/s/child": "stop"})
    )
    record = await cog(model, copied("http://t/s/child"), kg=two)
    assert shown(record) == ["Cleo"]


async def test_a_library_and_the_bundled_encoder(turtle: Callable[[str], Path], tmp_path: Path) -> None:
    """Nothing stands in for anything here but the model."""
    topics = [{"id": "http://t/e/ada", "name": "Ada"}]
    known = [("Where do Ada's kids live?", ["child", "lives_in"]), ("Who employs Ada?", ["employer"])]
    lines = [{"question": text, "topic_entities": topics, "gold_path": path} for text, path in known]
    encoder = open_encoder()
    build_blueprints(read_training_questions(lines), tmp_path / "library", encoder.encode, encoder.name)
    record = await kgqa.aask(
        "Where do Ada's children live?",
        method="cog",
        kg=str(turtle(FAMILY)),
        model=stopping(),
        blueprints=str(tmp_path / "library"),
        tau=0.5,
    )
    [found] = entries(record, "blueprint")
    assert (found["source"], found["anchor"]) == ("copied", "Where do [ENT]'s kids live?")
    assert found["blueprint"] == "child lives_in"
    assert entries(record, "rerank")[0]["slot"] == "child"
    assert shown(record) == ["Ben", "Cleo"]


async def test_no_library_no_blueprint(turtle: Callable[[str], Path]) -> None:
    record = await kgqa.aask("Where?", topics="Ada", method="cog", kg=str(turtle(FAMILY)), model=stopping())
    assert entries(record, "blueprint")[0]["source"] == "none"
    assert shown(record) == ["Ben", "Cleo"]


async def test_a_library_that_is_not_there_ends_the_question(
    turtle: Callable[[str], Path], tmp_path: Path
) -> None:
    options: Any = {"kg": str(turtle(FAMILY)), "blueprints": str(tmp_path / "nothing")}
    record = await kgqa.aask("Where?", topics="Ada", method="cog", model=stopping(), **options)
    assert record["outcome"] == "model_unavailable"
    assert any(entry.get("failure") == "BlueprintError" for entry in record["trace"])


async def test_the_blueprint_is_looked_up_by_the_masked_question(cog: AskCoG) -> None:
    library = copied("child")
    await cog(stopping(), library, question="Who are ADA's children?", top_k=7)
    assert library.asked == [("Who are [ENT]'s children?", 7)]


async def test_an_empty_library_is_none(cog: AskCoG) -> None:
    record = await cog(stopping(), Shelf())
    assert entries(record, "blueprint")[0]["source"] == "none"
