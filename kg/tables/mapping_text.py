"""Writes an inferred mapping as TOML, with a comment on each guess."""

from collections.abc import Mapping
from typing import Any

import tomlkit

from kgqa.kg.tables.inference import Inference
from kgqa.kg.terms import one_line

MAX_COMMENT_CHARS = 1_000


def write_toml(inferred: Inference) -> str:
    """Return a mapping as TOML, with its notes and reasons as comments."""
    document = tomlkit.document()
    document.add(tomlkit.comment("Inferred by kgqa; correct what is wrong. Keys are in docs/graphs.md."))
    for name, table in inferred.tables.items():
        reasons = {key: why for (of, key), why in inferred.reasons.items() if of == name}
        section = tomlkit.table()
        for note in inferred.notes[name]:
            section.add(tomlkit.comment(one_line(note, MAX_COMMENT_CHARS)))
        given = table.model_dump(exclude_defaults=True)
        parts = {key: given.pop(key) for key in ("values", "links") if key in given}
        _fill(section, given, reasons)
        for key, said in parts.items():
            section.add(key, _fill(tomlkit.table(), said, reasons))
        document.add(name, section)
    return tomlkit.dumps(document)


def _fill(part: Any, said: Mapping[str, object], reasons: Mapping[str, str]) -> Any:
    for key, value in said.items():
        part.add(key, _shorten(value))
        if why := reasons.get(key):
            part[key].comment(one_line(why, MAX_COMMENT_CHARS))
    return part


def _shorten(said: Any) -> Any:
    """Return a part of a mapping as short as it can be written."""
    if isinstance(said, dict):
        if said.keys() == {"column"}:
            return said["column"]
        inline = tomlkit.inline_table()
        inline.update(said)
        return inline
    return (
        [*said] if isinstance(said, tuple) and len(said) > 1 else said[0] if isinstance(said, tuple) else said
    )
