from typing import Literal

from pydantic import Field

from kgqa.models.parsing import strict_schema
from kgqa.prompts.base import Reply


class Inner(Reply):
    default: int = 1
    title: str | None = None


class Outer(Reply):
    """Says what it is."""

    inner: list[Inner] = Field(default=[])
    choice: Literal["title", "default"] = "title"


def test_every_object_is_closed_and_complete():
    schema = strict_schema(Outer)
    assert schema["title"] == "Outer"
    assert schema["description"] == "Says what it is."
    assert schema["required"] == ["inner", "choice"]
    assert schema["properties"]["choice"] == {"enum": ["title", "default"], "type": "string"}
    inner = schema["$defs"]["Inner"]
    assert inner["required"] == list(inner["properties"]) == ["default", "title"]
    assert inner["additionalProperties"] is schema["additionalProperties"] is False
    assert inner["properties"]["default"] == {"type": "integer"}
