"""The drawings of the methods: what is on them is what the graph does, and they are up to date."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

import kgqa
from kgqa.graphs import METHODS, graph_of
from kgqa.scripts.drawings import captions, draw_svg, read_drawing

DRAWINGS = Path(kgqa.__file__).parent / "docs" / "drawings"

every_method = pytest.mark.parametrize("method", METHODS)


def named(method: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the decisions that are drawn, by the nodes they are between."""
    drawing = read_drawing(method)
    return {
        (drawing.nodes[edge.source], drawing.nodes[edge.target]): edge.decisions for edge in drawing.edges
    }


@every_method
def test_a_drawing_is_as_the_code_has_it(method: str) -> None:
    assert (DRAWINGS / f"{method}.svg").read_text(encoding="utf-8") == draw_svg(method), "run: make docs"


def test_there_is_no_other_drawing() -> None:
    assert {file.stem for file in DRAWINGS.iterdir()} == {*METHODS, "chat"}


@every_method
def test_what_is_drawn_is_in_the_graph_and_what_is_not_is_told(method: str) -> None:
    drawing, graph = read_drawing(method), graph_of(method).get_graph()
    inner = {name for name in graph.nodes if not name.startswith("__")}
    assert {*drawing.nodes} | {*drawing.left_out} == inner
    told = " ".join(captions(drawing))
    assert all(f"`{name}`" in told for name in drawing.left_out)
    real = {(edge.source, edge.target) for edge in graph.edges}
    assert all(ends in real for ends in named(method) if not drawing.left_out)


def test_stop_is_drawn_once_and_passed_nodes_are_left_out() -> None:
    drawn = named("cor")
    assert drawn["claim", "retrieve_relations"] == ("forward",)  # past exemplars and smart_lookahead
    assert drawn["backtrack", "look_again"] == ("backtrack",)
    assert drawn["verify", "filter"] == ("filter",)
    assert not [ends for ends in drawn if ends[1] == "answer"]
    assert read_drawing("cor").left_out == {"exemplars": "recalls", "smart_lookahead": "looks_ahead"}
    assert named("cog")["verify", "learn"] == ("stop",)  # a way of its own


@every_method
def test_nothing_is_drawn_off_the_paper_or_over_another_label(method: str) -> None:
    root = ElementTree.fromstring(draw_svg(method))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    places = [
        (float(text.attrib["x"]), float(text.attrib["y"]))
        for text in root.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert all(0 < x < width and 0 < y < height for x, y in places)
    assert len({*places}) == len(places)
