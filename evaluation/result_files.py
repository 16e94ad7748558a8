"""Reads files of results: ours, those of PoG, CoG, VoG, ToG, CoR and RoG, the TEXT2SPARQL challenge's."""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Required, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field, Strict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import Item, describe_error
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.record_files import UnreadableFile, read_json_records
from kgqa.evaluation.result import Result, ResultsError, Usage
from kgqa.kg.terms import one_line

Record = Mapping[str, Any]
Parsed = TypeVar("Parsed")

RESULT_FILE_NAMES = ("results.jsonl", "results.jsonl.gz", "predict.jsonl")  # of a run of ours, or of CoR's
QUESTION_KEYS = ("question", "RawQuestion", "input", "sentence")  # from dataset to dataset

PUBLISHED_USAGE_KEYS = {
    "call_num": "llm_calls",
    "input_token": "input_tokens",
    "output_token": "output_tokens",
    "time": "seconds",
}
"""What PoG's records call the parts of our usage."""

COR_OUTCOMES = {"stop": "grounded", "constraint": "grounded", "error": "model_unavailable"}
"""What CoR's actions mean as an outcome; under any other one the answers are from the model's memory."""

_QUOTED = re.compile(r'"Answer"\s*:\s*"((?:[^"\\]|\\.)*)"')
_LISTED = re.compile(r'"Answer"\s*:\s*\[([^\]]*)\]')
_QUOTED_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'')
_BRACES = re.compile(r"\{([^{}]*)\}")
_SEPARATOR = re.compile(r", |/| and ")


_MAX = int(sys.float_info.max)
_Amount = (
    Annotated[float, Strict(), Field(ge=0, le=_MAX)] | Annotated[int, Strict(), Field(ge=0, le=_MAX)] | None
)
_Usage = dict[str, _Amount]
_Answers = list[Item]
_Id = Annotated[str, Strict()] | Annotated[int, Strict()]  # GrailQA and QALD-10 number their questions


def _lines(value: object) -> object:
    return value.split("\n") if isinstance(value, str) else value


class _Record(TypedDict, total=False):
    """What is read of a record: our own, one of CoR or of RoG, or one of PoG, CoG, VoG and ToG."""

    id: _Id | None
    question: Required[Annotated[str, Field(validation_alias=AliasChoices(*QUESTION_KEYS))]]
    answers: _Answers
    outcome: str | None
    error: str | None
    usage: _Usage | None
    results: str | _Answers | None  # the raw reply of a model, null where it gave none; of CoR its answers
    action: str | None
    prediction: Annotated[list[str], BeforeValidator(_lines)]
    call_num: _Amount
    input_token: _Amount
    output_token: _Amount
    time: _Amount


_RECORD: TypeAdapter[_Record] = TypeAdapter(_Record)
_TIMING = TypeAdapter(_Usage)


class InvalidRecord(ValueError):
    """A record that is wrong in a field; the message names the field."""


def read_results(path: str | Path) -> list[Result]:
    """Read a file of results, or a folder with one; the format is told from each record.

    Formats: our ``results.jsonl`` (times are joined from ``timings.jsonl`` beside it),
    the outputs of PoG, CoG, VoG and ToG, and CoR's ``predict.jsonl``; JSON lines or a
    JSON list, plain or gzipped. In a run that goes on or was killed, a last line that
    was not written to its end is left out.
    """
    file = find_results_file(path)
    beside = file.with_name("timings.jsonl")
    times: dict[str | None, Usage] = {}
    try:
        results = list(_parse_records(file, parse_result))
        if file.name in RESULT_FILE_NAMES[:2] and os.path.isfile(beside):
            times.update(_parse_records(beside, _parse_timing))
    except UnreadableFile as error:
        raise ResultsError(str(error)) from None
    if not results and not os.path.exists(file.with_name("run.json")):
        raise ResultsError(f"{one_line(str(file))} holds no results")
    return [
        replace(result, usage={**result.usage, **times[result.id]}) if result.id in times else result
        for result in results
    ]


def find_results_file(path: str | Path) -> Path:
    """Return the results file that a path means: itself, or the one in the folder."""
    if not os.path.isdir(path):
        return Path(path)
    for name in RESULT_FILE_NAMES:
        if (Path(path) / name).is_file():
            return Path(path) / name
    raise ResultsError(f"the folder {one_line(str(path))} holds no results.jsonl and no predict.jsonl")


def _parse_records(file: Path, parse: Callable[[Record], Parsed]) -> Iterator[Parsed]:
    for place, record in read_json_records(file):
        try:
            yield parse(record)
        except InvalidRecord as error:
            raise ResultsError(f"{one_line(str(file))}, {place}: {error}") from None


def _parse_timing(record: Record) -> tuple[str, Usage]:
    return str(record.get("id")), _validate(_TIMING, {key: record[key] for key in record if key != "id"})


def _validate(shape: TypeAdapter[Parsed], given: Any) -> Parsed:
    try:
        return shape.validate_python(given)
    except ValidationError as error:
        raise InvalidRecord(describe_error(error, given)) from None


def parse_result(record: Record) -> Result:
    """Read a record of any known shape; an `InvalidRecord` names the field that is missing or wrong."""
    is_bare = record.keys().isdisjoint({"answers", "results", "prediction"})
    if is_bare and {"question", "query"} <= record.keys():  # of the TEXT2SPARQL challenge
        return Result(record.get("qname"), str(record["question"]), (), record=record)
    if is_bare:
        raise InvalidRecord("field answers (or results, in published outputs): is missing")
    read = _validate(_RECORD, record)
    id = read.get("id")
    begun = Result(None if id in (None, "") else str(id), read["question"], (), record=record)
    if "answers" in read:
        answers, usage = _refs(read["answers"]), read.get("usage") or {}
        return replace(
            begun, answers=answers, outcome=read.get("outcome"), error=read.get("error"), usage=usage
        )
    if "results" not in read:  # of RoG: each once and the most frequent first
        names = Counter(filter(None, read["prediction"])).most_common()
        return replace(begun, answers=tuple(EntityRef(None, name) for name, _ in names))
    found = read["results"]
    if isinstance(found, str | None):
        said = extract_answers(found or "", record.get("reasoning_chains"))
        usage = {ours: record.get(key) for key, ours in PUBLISHED_USAGE_KEYS.items()}
        return replace(begun, answers=tuple(EntityRef(None, name) for name in said), usage=usage, text=found)
    answers, action = _refs(found), read.get("action")
    from_memory = "parametric" if answers else "none"
    outcome = None if action is None else COR_OUTCOMES.get(action.casefold(), from_memory)
    return replace(begun, answers=answers, outcome=outcome)


def _refs(answers: _Answers) -> tuple[EntityRef, ...]:
    return tuple(EntityRef(item.get("id") or None, item.get("name") or None) for item in answers)


def extract_answers(text: str, chains: Any = ()) -> tuple[str, ...]:
    """Return the answers that a reply states, each once, in its order.

    The reply's JSON decides (``A.Answer`` or ``Answer``, PoG and CoG); where it is
    malformed, the last quoted ``"Answer"`` or the first list; where it has none, the
    last braces that are not a bare yes or no (ToG); a text without braces is the
    answer itself (VoG). A list is taken as it is. One string is split on comma and
    space, on slashes, and on "and", for the reply has no other way to give several;
    but not when the whole of it is a name in the record's own reasoning ``chains``.

    >>> extract_answers('{"A": {"Sufficient": "Yes", "Answer": "Ulm and Bonn"}}')
    ('Ulm', 'Bonn')
    >>> extract_answers('{"Answer": "Preston, Ohio"}', chains=[[[["Ann", "lives_in", "Preston, Ohio"]]]])
    ('Preston, Ohio',)
    >>> extract_answers('{"Answer": ["Washington, D.C."]}')
    ('Washington, D.C.',)
    >>> extract_answers("{Yes}. The answer is {Danube}.")
    ('Danube',)
    """
    found = _stated_answer(text)
    if isinstance(found, str):
        whole = _SEPARATOR.search(found) and _contains_name(chains, found.strip())
        found = [found] if whole else _SEPARATOR.split(found)
    return tuple(dict.fromkeys(part.strip() for part in map(_item_text, found) if part.strip()))


def _contains_name(chains: Any, name: str) -> bool:
    """Return whether a name is in nested lists."""
    waiting = [chains]
    while waiting:
        given = waiting.pop()
        if given == name:
            return True
        if isinstance(given, list):
            waiting.extend(given)
    return False


def _stated_answer(text: str) -> str | list[Any]:
    start = text.find("{")
    if start < 0:
        return text
    try:
        reply = json.loads(text[start:])
        inner = reply.get("A", reply)
        answer = inner.get("Answer") if isinstance(inner, dict) else None
    except (ValueError, RecursionError):
        answer = None
    if answer is None or isinstance(answer, dict):
        return _answer_by_pattern(text[start:])
    return answer if isinstance(answer, list) else _item_text(answer)


def _answer_by_pattern(text: str) -> str | list[Any]:
    if quoted := _QUOTED.findall(text):
        return str(quoted[-1])
    if listed := _LISTED.search(text):
        return [double or single for double, single in _QUOTED_ITEM.findall(listed.group(1))]
    said = [inside for inside in _BRACES.findall(text) if '":' not in inside]
    said = [inside for inside in said if inside.strip().casefold() not in ("yes", "no", "")]
    return str(said[-1]) if said else []


def _item_text(value: Any) -> str:
    """Write an item of a list as text; true and false as JSON has them, null as nothing."""
    if value is None or isinstance(value, dict | list):
        return ""
    return value if isinstance(value, str) else json.dumps(value)
