"""What a store does not take is told in one line, with its place; what it takes is read."""

from itertools import product
from pathlib import Path

import pytest

from kgqa.kg.errors import KGMalformed
from kgqa.kg.opening import open_graph
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.graph.graph import ODD, REFUSED, UNREADABLE, hostile_graph

FACT = '<http://t/e/ada> <http://t/r/knows> "Ben" .\n'


def test_what_is_no_rdf_is_one_line_with_its_place(tmp_path: Path, tried: Tried) -> None:
    lines = [f"{subject} <http://t/r/p> <http://t/e/b> .\n" for subject in REFUSED]
    lines += [f"<http://t/e/a> <http://t/r/p> {literal} .\n" for literal in UNREADABLE]
    for line, suffix in product(lines, ("nt", "ttl")):
        if suffix == "nt" or ("<no-" not in line and "<integer>" not in line):  # Turtle has relative IRIs
            path = tmp_path / f"graph.{suffix}"
            path.write_text(FACT + line, encoding="utf-8")
            with pytest.raises(KGMalformed) as raised:
                open_graph([path])
            said = str(raised.value)
            assert said.startswith(f"graph.{suffix}, line 2: not readable as {suffix}: "), line
            assert len(said) < 300 and said.isprintable()
    tried(inputs=2 * len(lines))


@pytest.mark.parametrize("tail", [b"\xff\xfe", b"\x00", b"<http://t/e/a"])
def test_bytes_that_are_no_text_are_one_line(tmp_path: Path, tail: bytes, tried: Tried) -> None:
    path = tmp_path / "graph.nt"
    path.write_bytes(FACT.encode() + tail)
    with pytest.raises(KGMalformed) as raised:
        open_graph([path])
    assert str(raised.value).isprintable()
    tried(inputs=1)


async def test_what_it_takes_is_there(tmp_path: Path, tried: Tried) -> None:
    path = tmp_path / "graph.nt"
    path.write_bytes(hostile_graph())
    graph = open_graph([path])
    info = await graph.info()
    assert (info.triples or 0) > 500
    assert all([await graph.find_entities(iri) for iri in ODD])
    tried(inputs=len(ODD))
