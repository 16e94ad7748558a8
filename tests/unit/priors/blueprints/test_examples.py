import pytest

from kgqa.priors.errors import BlueprintError
from kgqa.priors.training_questions import RelationPath, Topic, extract_lessons, read_training_questions


def paths(**fields: object) -> tuple[RelationPath, ...]:
    return next(
        read_training_questions([{"question": "q?", "topic_entities": [{"id": "t", "name": "T"}], **fields}])
    ).paths


def test_a_gold_path_starts_at_the_first_topic() -> None:
    assert paths(gold_path=["a", "^b"]) == (RelationPath("t", ("a", "^b")),)


def test_branches_may_be_listed_or_keyed_by_their_topic() -> None:
    branches = (RelationPath("t", ("a",)), RelationPath("u", ("b",)))
    assert paths(gold_paths=[{"topic": "t", "path": ["a"]}, {"topic": "u", "path": ["b"]}]) == branches
    assert paths(gold_paths={"t": ["a"], "u": ["b"], "v": []}) == branches


def test_topics_without_a_name_are_not_masked() -> None:
    line = {"question": "q of U?", "topic_entities": [{"id": "t", "name": None}, {"id": None, "name": "U"}]}
    (example,) = read_training_questions([line])
    assert example.topics == (Topic("t", None), Topic(None, "U"))
    assert [lesson.masked for lesson in extract_lessons([example])] == ["q of [ENT]?"]


@pytest.mark.parametrize(
    "line", [{}, {"question": "q?", "topic_entities": 3}, {"question": "q?", "gold_path": 1}]
)
def test_what_is_no_question_is_named_by_its_place(line: dict[str, object]) -> None:
    with pytest.raises(BlueprintError, match="record 2 is no question"):
        list(read_training_questions([{"question": "q?"}, line]))
