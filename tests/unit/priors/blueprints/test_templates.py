from collections.abc import Callable

import numpy as np
import pytest

from kgqa.priors.artifact_store import read_lines, write_lines
from kgqa.priors.blueprints import (
    Anchor,
    AnchorRule,
    TemplateRecord,
    gather_templates,
)
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import BlueprintLesson

PLACE = {"aa": (1.0, 0.0), "bb": (0.8, 0.6), "cccc": (0.0, 1.0), "dddd": (0.6, 0.8)}


def near(texts: list[str]) -> np.ndarray:
    return np.array([PLACE[text] for text in texts], np.float32)


def lesson(question: str, *branches: str, masked: str = "") -> BlueprintLesson:
    blueprint = Blueprint.parse([branch.split() for branch in branches]) if branches else "none"
    return BlueprintLesson(question, masked or question, blueprint)


def gathered(
    *lessons: BlueprintLesson, rule: AnchorRule = "longest", before: tuple[TemplateRecord, ...] = ()
) -> tuple[TemplateRecord, ...]:
    return gather_templates(lessons, rule, near, before)


LESSONS = [lesson(text, "r") for text in ("aa", "bb", "cccc", "dddd")]


@pytest.mark.parametrize(("rule", "anchor"), [("longest", "cccc"), ("shortest", "aa"), ("medoid", "bb")])
def test_the_anchor_is_chosen_by_its_rule_and_of_several_the_first(rule: AnchorRule, anchor: str) -> None:
    # the mean is (0.6, 0.6): its product with bb and dddd is 0.84, with the others 0.6
    (record,) = gathered(*LESSONS, rule=rule)
    assert record.anchors == (Anchor(anchor, 4),)


def test_the_longest_question_is_measured_as_it_was_asked() -> None:
    (record,) = gathered(lesson("who is Maximilian?", "r", masked="[ENT]?"), lesson("what now?", "r"))
    assert (record.question, record.anchors) == ("who is Maximilian?", (Anchor("[ENT]?", 2),))


def test_all_questions_stand_for_themselves() -> None:
    asked = [lesson("is A b?", "r", masked="is [ENT] b?"), lesson("is C b?", "r", masked="is [ENT] b?")]
    (record,) = gathered(lesson("b?", "r"), *asked, rule="all")
    assert record.anchors == (Anchor("is [ENT] b?", 2), Anchor("b?", 1))


def test_templates_are_told_apart_by_the_names_of_their_relations() -> None:
    records = gathered(lesson("a", "r s"), lesson("b", "s r"), lesson("c", "^r s"), lesson("d"))
    assert [(each.blueprint.template, each.questions) for each in records] == [("r -> s", 2), ("s -> r", 1)]


def test_of_the_trees_of_a_template_the_most_frequent_is_kept_then_the_first() -> None:
    (often,) = gathered(lesson("a", "r"), lesson("b", "^r"), lesson("c", "^r"))
    (tied,) = gathered(lesson("a", "^r"), lesson("b", "r"))
    assert (str(often.blueprint), often.questions) == ("^r", 3)
    assert str(tied.blueprint) == "^r"


@pytest.mark.parametrize("rule", ["longest", "shortest", "all"])
def test_adding_gives_what_one_build_gives(rule: AnchorRule) -> None:
    lessons = [
        lesson(f"{'x' * n} {n}?", *branches) for n, branches in enumerate((["r"], ["^r"], ["s"], ["^r"]))
    ]
    before = gathered(*lessons[:2], rule=rule)
    assert gathered(*lessons[2:], rule=rule, before=before) == gathered(*lessons, rule=rule)


def test_medoids_cannot_be_added_to() -> None:
    with pytest.raises(BlueprintError, match="build the library anew"):
        gathered(rule="medoid", before=gathered(*LESSONS))


@pytest.mark.parametrize("rule", ["longest", "all"])
def test_records_are_read_as_they_are_written(rule: AnchorRule) -> None:
    records = gathered(*LESSONS, lesson("ä\n\u2028?", "^r"), lesson("z?", "r s", "^t s"), rule=rule)
    assert read_lines(write_lines(records, TemplateRecord), TemplateRecord) == records


@pytest.mark.parametrize(
    "line", [b"{}", b"[]", b"\xff", b"", b'{"question": "a", "anchors": [["a", 1]], "trees": []}']
)
def test_what_is_no_record_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"validation error"):
        read_lines(line + b"\n", TemplateRecord)


def test_the_encoder_is_asked_for_medoids_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(texts: object) -> np.ndarray:
        raise AssertionError(texts)

    never: Callable[..., np.ndarray] = fail
    assert len(gather_templates(LESSONS, "all", never)) == 1
