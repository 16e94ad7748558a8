"""The JSON schema of a reply, in the strict form that servers can hold a model to."""

from typing import Any

from kgqa.prompts.base import Reply

_MAPS = frozenset({"properties", "$defs"})
_DROPPED = frozenset({"default", "title"})


def strict_schema(reply: type[Reply]) -> dict[str, Any]:
    """Give the schema of ``reply``: every key required, no others allowed, nothing by default.

    >>> class Choice(Reply):
    ...     number: int = 1
    >>> strict_schema(Choice)["required"]
    ['number']
    """
    schema = _strict(reply.model_json_schema())
    return {"title": reply.__name__, **schema}


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _value(key, value) for key, value in schema.items() if key not in _DROPPED}
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def _value(key: str, value: Any) -> Any:
    if key in _MAPS:
        return {name: _strict(schema) for name, schema in value.items()}
    return value if key in {"enum", "const", "required"} else _strict(value)
