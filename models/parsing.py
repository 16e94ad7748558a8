"""From the text of a model to a reply: strict JSON, embedded JSON, repaired JSON, schema, check.

Nothing is evaluated, every step is linear in the length of the text or capped,
and only two things come out: a reply that fits, or `BadReply`.

Where a text holds several JSON objects, the last one that fits the schema is the
reply (models think aloud first). Where none fits, the prompt may read it (`Prompt.read`).
Where a key comes twice, the last value counts. A text that ends early is a reply only
if nothing but closing braces is missing: a list that is cut short would pass for a
shorter list.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from pydantic import ValidationError

from kgqa.kg.terms import one_line, replace_surrogates
from kgqa.prompts.base import Prompt, R, Reply

_SCHEMAS_BY_NAME = frozenset({"properties", "$defs"})
_PLAIN_KEYS = frozenset({"enum", "const", "required"})
_DROPPED_KEYS = frozenset({"default", "title"})


def strict_schema(reply: type[Reply]) -> dict[str, Any]:
    """Return the schema of ``reply``: every key required, no others allowed, nothing by default.

    >>> class Choice(Reply):
    ...     number: int = 1
    >>> strict_schema(Choice)["required"]
    ['number']
    """
    schema = _make_strict(reply.model_json_schema())
    return {"title": reply.__name__, **schema}


def _make_strict(schema: Any, *, by_name: bool = False) -> Any:
    if isinstance(schema, list):
        return [_make_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if by_name:
        return {name: _make_strict(each) for name, each in schema.items()}
    kept = {
        key: value if key in _PLAIN_KEYS else _make_strict(value, by_name=key in _SCHEMAS_BY_NAME)
        for key, value in schema.items()
        if key not in _DROPPED_KEYS
    }
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


MAX_REPLY_CHARS = 100_000  # characters of a reply that are looked at; a longer one is refused

MAX_REPAIR_CHARS = 10_000  # characters of broken JSON that a repair is tried on; it is slower than parsing
_MAX_REPAIR_BRACKETS = 200  # opening ones: repairs slow down with depth
_MAX_REPAIRS = 3
_MAX_LINE_CHARS = 300
_INSTRUCTION = "reply with one JSON object and nothing else"
_MARK = re.compile(r'"(?:[^"\\]|\\.?)*+"?|[][{}]', re.DOTALL)
_BARE_LIST = re.compile(r"\[([^][{}\"']*)\]")
_SEPARATORS = re.compile(r"//[^\n]*|/\*.*?\*/|#[^\n]*|[\s,;\\\uff0c]+", re.DOTALL)
_DECODER = json.JSONDecoder()


class BadReply(ValueError):
    """The text is no reply; the message is one line that a model can act on."""


def parse_reply(text: str, prompt: Prompt[R]) -> R:
    """Read the reply to ``prompt`` from ``text``.

    Raises:
        BadReply: there is no JSON object and the prompt cannot read the text, none fits the
            schema (wrong types, NaN and infinity included), or the prompt's check refuses it.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise BadReply(f"the reply is too long ({len(text)} characters); {_INSTRUCTION}")
    try:
        reply = _last_valid(text, prompt.reply)
    except BadReply:
        value = prompt.read(_strip_thoughts(text))
        if value is None:
            raise
        reply = validate_reply(value, prompt.reply)
    return check_reply(reply, prompt)


def check_reply(reply: Reply, prompt: Prompt[R]) -> R:
    """Hold a reply that fits the schema against what the prompt offered.

    Raises:
        BadReply: the prompt's check refuses it.
    """
    fitting = cast(R, reply)
    try:
        prompt.check(fitting)
    except ValueError as error:
        raise BadReply(one_line(replace_surrogates(str(error)), _MAX_LINE_CHARS)) from None
    return fitting


def validate_reply(value: object, schema: type[Reply]) -> Reply:
    """Hold a decoded JSON value against ``schema``, by the rules for JSON input.

    Raises:
        BadReply: naming the first field that does not fit.
    """
    if not isinstance(value, dict):
        raise BadReply(f"the reply holds no JSON object; {_INSTRUCTION}")
    names = [field.alias or name for name, field in schema.model_fields.items()]
    if names and not any(name in value for name in names):
        raise BadReply(f"the JSON object has none of the keys {', '.join(names)}; {_INSTRUCTION}")
    try:
        return schema.model_validate_json(json.dumps(value, allow_nan=False))
    except ValidationError as error:
        raise BadReply(_first_error(error)) from None
    except (ValueError, TypeError, RecursionError):
        raise BadReply("the JSON object holds NaN, infinity or more than JSON can hold") from None


def _last_valid(text: str, schema: type[Reply]) -> Reply:
    refused: BadReply | None = None
    for value in _json_objects(text):
        try:
            return validate_reply(value, schema)
        except BadReply as error:
            refused = refused or error
    what = "holds no JSON object" if text.strip() else "is empty"
    raise refused or BadReply(f"the reply {what}; {_INSTRUCTION}")


def _json_objects(text: str) -> Iterator[object]:
    """Return the JSON objects of a text: all of it if it is one, else the last first."""
    whole = _decode(text.strip())
    if whole is not None:
        yield whole
        return
    repairs = 0
    for piece in reversed(list(_object_texts(_strip_thoughts(text)))):
        value: object = _decode(piece)
        if value is None and repairs < _MAX_REPAIRS:
            repairs += 1
            value = _repair(piece)
        if value is not None:
            yield value


def _strip_thoughts(text: str) -> str:
    """Leave out what a model thought aloud, to the end where that has none."""
    return text.rpartition("</think>")[2].partition("<think>")[0]


def _object_texts(text: str) -> Iterator[str]:
    """Cut out every outermost ``{...}``, and the last one without its end if nothing is lost by it."""
    braces = brackets = start = 0
    mark = ""
    for match in _MARK.finditer(text, max(text.find("{"), 0)):
        mark = match.group()
        if mark == "{" and not braces:
            start, brackets = match.start(), 0
        closes = mark == "}" and braces > 0
        braces += (mark == "{") - closes
        brackets += (mark == "[") - (mark == "]")
        if closes and not braces:
            yield text[start : match.end()]
    if braces and _is_whole(text[start:], mark, brackets):
        yield text[start:]


def _is_whole(text: str, last_mark: str, open_brackets: int) -> bool:
    """Return whether only closing braces can be missing: no list, number or word is cut short.

    Where quotes do not match, brackets cannot be told apart from words, and the
    end of the text has to do.
    """
    tail = text.rstrip("` \t\r\n")
    quotes_match = not last_mark.startswith('"') or (len(last_mark) > 1 and last_mark.endswith('"'))
    if not quotes_match:
        return tail.endswith("}")
    return not open_brackets and tail.endswith(('"', "]", "}"))


def _decode(text: str) -> dict[str, Any] | None:
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _repair(text: str) -> object:
    """Repair one broken object."""
    if len(text) > MAX_REPAIR_CHARS or text.count("{") + text.count("[") > _MAX_REPAIR_BRACKETS:
        return None
    from json_repair import repair_json

    try:
        value = repair_json(text, return_objects=True, skip_json_loads=True)
        return value if _keeps_all_items(value, text) else None
    except Exception:  # a parser of arbitrary text by other people: whatever it raises means "no"
        return None


def _keeps_all_items(value: object, text: str) -> bool:
    """Return whether a repair has kept the items of lists: one that it cannot read it leaves out."""
    kept = {"", *map(_normalise_number, _item_words(value))}
    return all(
        _normalise_number(item) in kept
        for items in _BARE_LIST.findall(text)
        for item in _SEPARATORS.split(items)
    )


def _item_words(value: object) -> Iterator[str]:
    """Return the words of the texts in a value, and its numbers, truth values and nulls as JSON has them."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += each.values()
        elif isinstance(each, list):
            left += each
        else:
            yield from _SEPARATORS.split(each if isinstance(each, str) else json.dumps(each))


def _normalise_number(word: str) -> str:
    """Write a number as any other of its value; what is none stays as it is."""
    try:
        return str(float(word))
    except ValueError:
        return word


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    line = f"{place}: {first['msg']}" if place else first["msg"]
    return one_line(replace_surrogates(line), _MAX_LINE_CHARS)
