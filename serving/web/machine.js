// Draws the state machine of a method, and lights it up.

import { layout, Graph } from "./vendor/dagre.js";
import { byId, colour, table } from "./dom.js";
import { Drawing, baseStyle } from "./drawing.js";

const style = () => [
  ...baseStyle(HEIGHT, 15, 0),
  { selector: "node", style: { label: "data(id)", "border-color": colour("line") } },
  { selector: "edge", style: { label: "", "arrow-scale": 0.9, "line-color": colour("line"), "target-arrow-color": colour("line") } },
  {
    selector: "edge.routed",
    style: {
      "curve-style": "round-segments", "edge-distances": "node-position", "segment-radii": 14,
      "segment-weights": "data(weights)", "segment-distances": "data(distances)",
    },
  },
  {
    selector: "node.label",
    style: {
      width: "data(width)", height: LABEL_HEIGHT, "font-size": 12, color: colour("soft"), label: "data(text)",
      "background-color": colour("page"), "border-width": 0, events: "no",
    },
  },
  { selector: "edge:loop", style: { label: "data(label)", "font-size": 12, color: colour("soft") } },
  { selector: "edge.rare", style: { visibility: "hidden" } },
  { selector: "edge.rare.done", style: { visibility: "visible" } },
  { selector: "node.passed", style: { "border-style": "dashed" } },
  { selector: "node.walked", style: { color: colour("ink") } },
  { selector: "node.done", style: { "background-color": colour("done"), "border-color": colour("right") } },
  {
    selector: "edge.done",
    style: { width: 3, "line-color": colour("right"), "target-arrow-color": colour("right"), "z-index": 2 },
  },
  {
    selector: "node.now",
    style: { "background-color": colour("link"), "border-color": colour("link"), color: colour("card"), "border-width": 3 },
  },
  { selector: "node.failed", style: { "border-color": colour("wrong"), "border-width": 3 } },
  { selector: "node.chosen", style: { "border-color": colour("link"), "border-width": 4 } },
];

/** A drawing in `container`; `choose(node)` is called with the name of a node that is clicked. */
export class Machine extends Drawing {
  constructor(container, choose) {
    super(container, style, 1.4, { userZoomingEnabled: false, boxSelectionEnabled: false, autoungrabify: true });
    this.edges = [];
    this.cy.on("tap", "node", (event) => choose(event.target.id()));
  }

  /** Draw a graph as `/assistants/…/graph` gives it, without its start and end. */
  draw({ nodes, edges }) {
    const names = nodes.map((node) => node.id).filter((id) => !/^__(start|end)__$/.test(id));
    const inside = edges.filter((edge) => names.includes(edge.source) && names.includes(edge.target));
    const stops = inside.filter((edge) => edge.data === "stop").length > 3;
    const drawn = merged(inside).map((edge) => ({ ...edge, rare: stops && edge.labels.every((label) => label === "stop") }));
    const { place, route } = placed(names, drawn);
    this.cy.elements().remove();
    this.cy.add(names.map((id) => ({ data: { id, width: width(id) }, position: place(id) })));
    for (const edge of drawn) {
      const points = route(edge);
      this.cy.add({ data: { ...edge, ...(points && along(points)) }, classes: `${points ? "routed" : ""} ${edge.rare ? "rare" : ""}` });
      if (points?.label && edge.label) this.cy.add({ data: { id: labelOf(edge), text: edge.label, width: labelWidth(edge) }, position: points.label, classes: "label" });
    }
    this.edges = inside;
    this.container.style.height = `${Math.min(44, Math.max(16, this.cy.elements().boundingBox().h / 17))}rem`;
    this.fit();
    byId("machine-table").replaceChildren(this.asTable(names));
    byId("machine-note").textContent = stops
      ? `From any node, “stop” leads to ${names.at(-1)}; drawn where it happens. Click a node for its last step.`
      : "Click a node for its last step.";
  }

  asTable(names) {
    const rows = names.map((name) => {
      const next = this.edges.filter((edge) => edge.source === name);
      return [name, next.map((edge) => `${edge.data ?? edge.target} → ${edge.target}`).join(", ") || "end"];
    });
    return table("The state machine", ["node", "what follows"], rows);
  }

  /** The decisions that a node may come to. */
  decisions(node) {
    return [...new Set(this.edges.filter((edge) => edge.source === node && edge.conditional).map((edge) => edge.data ?? edge.target))];
  }

  clear() {
    this.cy.elements().removeClass("done now failed passed chosen walked");
  }

  /** Light a node up that is at work. */
  start(node) {
    this.cy.nodes().removeClass("now");
    this.cy.$id(node).addClass("now");
  }

  /** Show a node as done, and the edge that led to it; `passed` where it had nothing to do. */
  finish(node, before, { passed = false, failed = false } = {}) {
    this.cy.$id(node).removeClass("now").addClass(passed ? "passed" : failed ? "done failed" : "done");
    if (!before) return;
    const edge = this.cy.$id(before).edgesTo(this.cy.$id(node)).addClass("done");
    edge.forEach((each) => void this.cy.$id(labelOf(each.data())).addClass("walked"));
  }

  choose(node) {
    this.cy.nodes().removeClass("chosen");
    if (node) this.cy.$id(node).addClass("chosen");
  }
}

const HEIGHT = 34;

const LABEL_HEIGHT = 14;

const RANK_GAP = 28;

const labelOf = ({ source, target }) => `${source} → ${target}`;

const labelWidth = (edge) => (edge.label ? edge.label.length * 6.1 + 6 : 0);

const width = (name) => 20 + name.length * 8.8;

/** Put edges with the same ends together, their labels beside each other. */
function merged(edges) {
  const found = new Map();
  for (const { source, target, data } of edges) {
    const id = JSON.stringify([source, target]);
    const label = data ?? "";
    found.set(id, found.has(id) ? [...found.get(id), label] : [label]);
  }
  return [...found].map(([id, labels]) => {
    const [source, target] = JSON.parse(id);
    return { id, source, target, labels, label: labels.filter((label) => label && label !== "forward").join(", ") };
  });
}

/** Lay nodes and edges out in layers; nodes that are only stopped at stand below, and “stop” goes on the left of all. */
function placed(names, edges) {
  const routed = edges.filter((edge) => !edge.rare && edge.source !== edge.target);
  const linked = new Set(routed.flatMap((edge) => [edge.source, edge.target]));
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 20, ranksep: RANK_GAP, edgesep: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of names) if (linked.has(name)) graph.setNode(name, { width: width(name), height: HEIGHT });
  for (const edge of routed) {
    graph.setEdge(edge.source, edge.target, { width: labelWidth(edge), height: LABEL_HEIGHT, labelpos: "c" });
  }
  layout(graph);
  const places = graph.nodes().map((name) => graph.node(name));
  const [x, y] = [places[0]?.x ?? 0, Math.max(0, ...places.map((place) => place.y))];
  const bends = graph.edges().flatMap((edge) => graph.edge(edge).points);
  const left = Math.min(0, ...bends.map((point) => point.x)) - 20;
  const place = (name) => (linked.has(name) ? { x: graph.node(name).x, y: graph.node(name).y } : { x, y: y + HEIGHT + RANK_GAP });
  const route = ({ source, target, rare }) => {
    if (source === target) return null;
    if (rare) return around(place(source), place(target), left);
    const { points, x, y } = graph.edge(source, target);
    return { from: place(source), to: place(target), between: points.slice(1, -1), label: { x, y } };
  };
  return { place, route };
}

/** The way from a node past the left of all others, from below it to above where it leads; nothing where that is next. */
function around(from, to, left) {
  const gap = HEIGHT / 2 + 0.4 * RANK_GAP;
  const [below, above] = [from.y + gap, to.y - gap];
  if (above > below - gap && above < below + HEIGHT) return null;
  return { from, to, between: [{ x: from.x, y: below }, { x: left, y: below }, { x: left, y: above }, { x: to.x, y: above }] };
}

/** Where an edge bends, as Cytoscape wants it: how far along the line between its nodes, and how far beside it. */
function along({ from, to, between }) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const far = Math.hypot(dx, dy);
  const part = ({ x, y }) => ((x - from.x) * dx + (y - from.y) * dy) / far ** 2;
  const beside = ({ x, y }) => ((y - from.y) * dx - (x - from.x) * dy) / far;
  return { weights: between.map(part).join(" "), distances: between.map(beside).join(" ") };
}
