"""Whatever bytes a file holds, it loads or fails in one line."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kgqa.evaluation.datasets import FORMATS, Dataset, DatasetError, load

CELL = {"type": "uri", "value": "http://x/a"}
RECORDS: dict[str, Any] = {
    "kgqa": {
        "id": "q1",
        "question": "who?",
        "topic_entities": [{"id": "http://x/e/t", "name": "T", "mid": "m.0"}],
        "answers": [{"id": "a", "name": "A", "aliases": ["B"]}],
        "gold_path": ["r"],
        "gold_paths": {"m.0": ["r", "^s"]},
        "query": {
            "branches": [
                {
                    "chain": {"topic": {"id": "http://x/e/t"}, "hops": [{"relation": "http://x/r"}]},
                    "places": [1],
                }
            ],
            "returned": 1,
            "conditions": [{"place": 1, "attribute": [], "operator": "=", "value": {"value": "7"}}],
        },
        "hops": 2,
        "min_hops_gold": 1,
        "kind": "chain",
        "split": "test",
    },
    "list": {"id": "q1", "question": "who?", "topics": "T|U", "split": "test"},
    "cor": {
        "id": 1,
        "question": "who?",
        "meta_data": {"compositionality_type": "other"},
        "answer": [{"id": "m.0a", "name": "A"}],
        "topic_entity": [{"id": "m.0t", "name": "T"}],
    },
    "webqsp": {
        "QuestionId": "w",
        "RawQuestion": "who?",
        "Parses": [
            {
                "TopicEntityMid": "m.0t",
                "TopicEntityName": "T",
                "InferentialChain": ["r"],
                "Sparql": "x",
                "Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.0a", "EntityName": None}],
            }
        ],
        "topic_entity": {"m.0t": "T"},
    },
    "cwq": {
        "ID": "c",
        "question": "who?",
        "answers": [{"answer_id": "m.0a", "answer": "A", "aliases": ["B"]}],
        "topic_entity": {"m.0t": "T"},
    },
    "grailqa": {
        "qid": 1,
        "question": "who?",
        "answer": [{"answer_type": "Value", "answer_argument": "1", "entity_name": None}],
        "graph_query": {"nodes": [{"node_type": "entity", "id": "m.0t", "friendly_name": "t"}]},
    },
    "webquestions": {
        "url": "u",
        "utterance": "who?",
        "targetValue": '(list (description "A") (description b))',
    },
    "qald": {
        "id": 1,
        "question": [{"language": "en", "string": "who?"}],
        "query": {"sparql": "x"},
        "answers": [{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": CELL}]}}, {"boolean": True}],
    },
    "text2sparql": {
        "id": "h:1",
        "question": "who?",
        "features": ["SELECT"],
        "sparql": "x",
        "rows": [["http://x/a", "1"], ["b", None]],
    },
    "tog": {"question": "who?", "answer": {"Q1": "A"}, "qid_topic_entity": {"Q2": "T"}},
}
TEXTS = (
    "who [T]\tA|B\nwhat [U]\tC\n",
    "who T ?\tA(B/A/)\tT#r#A#<end>#A\n",
    "who T ?\tA\tT#r_inverse#A*U#s#A\tA/B/\tT#r#A\tT/U\n",
)
FILES = (
    *(json.dumps([record, record]).encode() for record in RECORDS.values()),
    *(
        f"{json.dumps(record)}\n{json.dumps({**record, 'id': 'q2'})}\n".encode()
        for record in RECORDS.values()
    ),
    json.dumps({"dataset": {"id": "x"}, "questions": [RECORDS["qald"]]}, indent=1).encode(),
    *(text.encode() for text in TEXTS),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["m.0", "null", "\t", "(", "#"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
fuzz = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)


def loads_or_says_why(path: Path, data: bytes, format: str | None = None) -> Dataset | None:
    path.write_bytes(data)
    try:
        dataset = load(path, format)
    except DatasetError as error:
        assert len(str(error).splitlines()) == 1
        return None
    json.dumps([vars_of(question) for question in dataset.questions], allow_nan=False).encode("utf-8")
    return dataset


def vars_of(question: Any) -> list[Any]:
    return [
        question.id,
        question.text,
        question.sparql,
        question.kind,
        str(question.gold),
        dict(question.splits),
    ]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "q.jsonl"


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, inner in items for place in places(inner, (*at, key)))]


def test_the_files_to_damage_are_whole(path: Path) -> None:
    formats = {dataset.format for data in FILES if (dataset := loads_or_says_why(path, data))}
    assert formats == set(FORMATS)


@fuzz
@given(
    data=st.binary(max_size=200),
    start=st.sampled_from([b"", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"[{", b'{"', b"a\t"]),
)
def test_any_bytes(path: Path, data: bytes, start: bytes) -> None:
    loads_or_says_why(path, start + data)


@fuzz
@given(text=st.text(max_size=100), format=st.sampled_from([*FORMATS, "nope", None]))
def test_any_text_in_any_format(path: Path, text: str, format: str | None) -> None:
    loads_or_says_why(path, text.encode("utf-8", "surrogatepass"), format)


@fuzz
@given(data=st.data(), file=st.sampled_from(FILES), packed=st.booleans())
def test_damaged_files(path: Path, data: st.DataObject, file: bytes, packed: bool) -> None:
    whole = gzip.compress(file, mtime=0) if packed else file
    at = data.draw(st.integers(0, len(whole) - 1))
    to = data.draw(st.integers(at, len(whole)))
    loads_or_says_why(path, whole[:at] + data.draw(st.binary(max_size=4)) + whole[to:])


@fuzz
@given(data=st.data(), name=st.sampled_from(sorted(RECORDS)), value=VALUES, remove=st.booleans())
def test_any_value_in_any_field(path: Path, data: st.DataObject, name: str, value: Any, remove: bool) -> None:
    records = [copy.deepcopy(RECORDS[name]) for _ in range(2)]
    *way, last = data.draw(st.sampled_from(places(records)[1:]))
    inner: Any = records
    for key in way:
        inner = inner[key]
    if remove:
        del inner[last]
    else:
        inner[last] = value
    loads_or_says_why(path, json.dumps(records).encode("utf-8"))


@fuzz
@given(value=VALUES, format=st.sampled_from([*FORMATS, None]))
def test_any_json_in_any_format(path: Path, value: Any, format: str | None) -> None:
    loads_or_says_why(path, json.dumps(value).encode("utf-8"), format)
