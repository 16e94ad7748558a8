"""Draws the state machine of a method as SVG: nodes in a column, lines ahead on the right, back on the left.

What every node may do, ``stop``, is one arrow; nodes that the default options pass over are left out.
"""

import pkgutil
from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from typing import NamedTuple

from kgqa import nodes
from kgqa.runtime.node import Node

STEP, BOX_WIDTH, BOX_HEIGHT = 50, 170, 28  # from node to node, and a node
LANE, CORNER = 19, 7  # between two lines side by side, and their corners
PORTS = 11  # how far from the middle of a node a line may begin or end
CHAR_WIDTH = 6.2  # of a letter of a label

STYLE = """
text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: #1d2228; }
.said { font-size: 10.5px; fill: #5c6570; }
rect { fill: #f2f3f5; stroke: #5c6570; }
.end { fill: #5c6570; stroke: none; }
path { fill: none; stroke: #5c6570; }
marker path { fill: #5c6570; stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e7eb; } .said { fill: #a3acb8; } rect { fill: #23282e; stroke: #a3acb8; }
  .end, marker path { fill: #a3acb8; } path { stroke: #a3acb8; }
}
"""


class Edge(NamedTuple):
    """What leads from one node to another, by their places, and after which decisions."""

    source: int
    target: int
    decisions: tuple[str, ...]


class Drawing(NamedTuple):
    """What is drawn: nodes, the edges between them, whether any may stop; and nodes left out, by option."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    stops: bool
    left_out: dict[str, str]


def read_drawing(method: str) -> Drawing:
    """Read off the graph of a method what is drawn of it."""
    graph = import_module(f"kgqa.graphs.{method}").graph
    context = graph.builder.context_schema(kg=("sample",), model="offline")
    optional = {name: option for name, option in _options().items() if hasattr(context, option)}
    drawn = graph.get_graph()
    inner = [name for name in drawn.nodes if not name.startswith("__")]
    left_out = {name: optional[name] for name in inner if not getattr(context, optional.get(name, ""), True)}
    between = [edge for edge in drawn.edges if {edge.source, edge.target} <= {*inner}]
    stops = [edge for edge in between if edge.data == "stop" and edge.target == inner[-1]]
    edges = [
        (edge.source, edge.target, str(edge.data or (edge.target if edge.conditional else "")))
        for edge in between
        if edge not in stops
    ]
    passed = {source: target for source, target, said in edges if source in left_out and said == "forward"}
    kept = [name for name in inner if name not in left_out]
    found: dict[tuple[int, int], list[str]] = {}
    for source, target, said in edges:
        while target in passed:
            target = passed[target]
        if source in kept and target in kept:
            found.setdefault((kept.index(source), kept.index(target)), []).append(said)
    ordered = sorted(found.items())
    lines = tuple(Edge(*ends, tuple(said)) for ends, said in ordered)
    return Drawing(tuple(kept), lines, bool(stops), left_out)


def draw_svg(method: str) -> str:
    """Draw the state machine of a method."""
    drawing = read_drawing(method)
    last = len(drawing.nodes) - 1
    straight = [edge for edge in drawing.edges if edge.target == edge.source + 1]
    ahead = [edge for edge in drawing.edges if edge.target > edge.source + 1]
    back = [edge for edge in drawing.edges if edge.target <= edge.source]
    lanes = {edge: lane for side in (ahead, back) for edge, lane in _lanes(side).items()}
    right, left = (2 + max((lanes[edge] for edge in side), default=0) for side in (ahead, back))
    middle = left * LANE + BOX_WIDTH / 2
    width, height = middle + BOX_WIDTH / 2 + right * LANE, (last + 2) * STEP + 10
    ends = _ports(ahead) | _ports(back)
    parts = [f'<circle class="end" cx="{middle:g}" cy="14" r="6"/>', _line(f"M{middle:g} 20V{_top(0):g}")]
    for edge in straight:
        parts.append(_line(f"M{middle:g} {_bottom(edge.source):g}V{_top(edge.target):g}"))
        if words := _words(edge):
            x = middle + 6 + CHAR_WIDTH * len(words) / 2
            parts.append(_text(words, x, (_bottom(edge.source) + _top(edge.target)) / 2 + 3))
    for side, edges in ((1, ahead), (-1, back)):
        for edge in edges:
            wall, lane = (
                middle + side * BOX_WIDTH / 2,
                middle + side * (BOX_WIDTH / 2 + LANE * (lanes[edge] + 1)),
            )
            y1, y2 = ends[edge, "source"], ends[edge, "target"]
            parts.append(_line(_path(wall, lane, y1, y2)))
            x, y = lane - 4 if side > 0 else lane + 12, (y1 + y2) / 2
            parts.append(_text(_words(edge), x, y, f' transform="rotate(-90 {x:g} {y:g})"'))
    if drawing.stops:
        stop, stub = _top(last) - (STEP - BOX_HEIGHT) / 2, middle - BOX_WIDTH / 2 + 30
        parts.append(_line(f"M{stub - 22:g} {stop - 4:g}H{stub:g}V{_top(last):g}"))
        parts.append(_text("stop", stub - 36, stop))
    parts += [
        _line(f"M{middle:g} {_bottom(last):g}V{height - 18:g}"),
        f'<circle class="end" cx="{middle:g}" cy="{height - 12:g}" r="6"/>',
        *(_box(name, middle, place) for place, name in enumerate(drawing.nodes)),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img" aria-label="{escape(describe(method))}">',
            f"<style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>',
            *parts,
            "</svg>",
            "",
        ]
    )


def describe(method: str) -> str:
    """Say what the drawing of a method shows."""
    return f"The nodes of {method}: {', '.join(read_drawing(method).nodes)}"


def _options() -> dict[str, str]:
    """Return which option each node has that is passed over where it is off."""
    found = {}
    for module in pkgutil.walk_packages(nodes.__path__, f"{nodes.__name__}."):
        each = [one for one in vars(import_module(module.name)).values() if isinstance(one, Node)]
        found.update({node.name: node.option for node in each if node.option})
    return found


def _lanes(edges: Sequence[Edge]) -> dict[Edge, int]:
    """Give each line a lane, the short ones the inner ones, so that no two in a lane overlap."""
    lanes: dict[Edge, int] = {}
    for edge in sorted(edges, key=lambda edge: (abs(edge.target - edge.source), edge)):
        low, high = sorted(edge[:2])
        taken = {
            lane for other, lane in lanes.items() if max(min(other[:2]), low) <= min(max(other[:2]), high)
        }
        lanes[edge] = next(lane for lane in range(len(edges)) if lane not in taken)
    return lanes


def _ports(edges: Sequence[Edge]) -> dict[tuple[Edge, str], float]:
    """Return at which height each line begins and ends: those of a node apart, ordered by the other end."""
    heights = {}
    for place in {end for edge in edges for end in edge[:2]}:
        here = [(edge.target, edge, "source") for edge in edges if edge.source == place]
        here += [(edge.source, edge, "target") for edge in edges if edge.target == place]
        apart = 2 * PORTS / max(len(here) - 1, 1) if len(here) > 1 else 0
        for number, (_, edge, end) in enumerate(sorted(here)):
            heights[edge, end] = _top(place) + BOX_HEIGHT / 2 + (number * apart - PORTS if apart else 0)
    return heights


def _path(wall: float, lane: float, y1: float, y2: float) -> str:
    """Draw a line from a height of a wall over a lane to another height, with round corners."""
    turn, down = (CORNER if lane > wall else -CORNER), (CORNER if y2 > y1 else -CORNER)
    return (
        f"M{wall:g} {y1:g}H{lane - turn:g}Q{lane:g} {y1:g} {lane:g} {y1 + down:g}"
        f"V{y2 - down:g}Q{lane:g} {y2:g} {lane - turn:g} {y2:g}H{wall:g}"
    )


def _top(place: int) -> float:
    return 38 + place * STEP


def _bottom(place: int) -> float:
    return _top(place) + BOX_HEIGHT


def _words(edge: Edge) -> str:
    return ", ".join(dict.fromkeys(filter(None, edge.decisions)))


def _line(path: str) -> str:
    return f'<path d="{path}" marker-end="url(#tip)"/>'


def _text(words: str, x: float, y: float, more: str = "") -> str:
    return f'<text class="said" x="{x:g}" y="{y:g}"{more}>{escape(words)}</text>'


def _box(name: str, middle: float, place: int) -> str:
    shape = (
        f'x="{middle - BOX_WIDTH / 2:g}" y="{_top(place):g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"'
    )
    return f'<rect {shape}/><text x="{middle:g}" y="{_top(place) + 18:g}">{escape(name)}</text>'


def captions(drawing: Drawing) -> Iterator[str]:
    """Yield what a reader of a drawing has to know beside it."""
    if drawing.stops:
        end = drawing.nodes[-1]
        yield f"`stop`, by which any node leads to `{end}` unless drawn otherwise, is one arrow."
    if drawing.left_out:
        names = ", ".join(f"`{name}`" for name in drawing.left_out)
        yield f"Not drawn, as the default options pass them over: {names}."
