// Draws the proof of an answer as a graph: the facts that it rests on.

import { layout, Graph } from "./vendor/dagre.js";
import { byId, colour, localName, nameOf, plural, table } from "./dom.js";
import { Drawing } from "./drawing.js";

/** From how many nodes on a proof is a cloud and no longer layers, and its edges are straight. */
const MANY = 40;

const style = () => [
  {
    selector: "node",
    style: {
      shape: "round-rectangle", label: "data(label)", width: "data(width)", height: 30, "font-size": 13,
      "text-valign": "center", "background-color": colour("card"), "border-width": 1.5, "border-color": colour("soft"),
      color: colour("ink"), "min-zoomed-font-size": 7,
    },
  },
  {
    selector: "edge",
    style: {
      width: 1.5, "curve-style": "bezier", "target-arrow-shape": "triangle", "line-color": colour("soft"),
      "target-arrow-color": colour("soft"), label: "data(label)", "font-size": 11, color: colour("ink"),
      "text-background-color": colour("page"), "text-background-opacity": 0.9, "text-background-padding": 2,
      "min-zoomed-font-size": 8,
    },
  },
  { selector: "edge.many", style: { "curve-style": "haystack", "haystack-radius": 0, label: "" } },
  { selector: "node.nameless", style: { shape: "ellipse", height: 16 } },
  { selector: "node.topic", style: { "background-color": colour("topic"), "border-color": colour("link"), "border-width": 2.5 } },
  { selector: "node.answer", style: { "background-color": colour("done"), "border-color": colour("right"), "border-width": 2.5 } },
  { selector: "node:grabbed, node:selected", style: { "border-width": 4 } },
];

/** The facts of a record, each once; where it has none, what its paths say between named nodes. */
export function factsOf(record) {
  const hops = (record.paths ?? []).flat().filter((hop) => hop.head.id && hop.tail.id);
  const turned = hops.map((hop) => (hop.forward ? hop : { head: hop.tail, relation: hop.relation, tail: hop.head }));
  const facts = record.evidence?.length ? record.evidence : turned;
  const key = (fact) => JSON.stringify([fact.head.id, fact.relation, fact.tail.id]);
  return [...new Map(facts.map((fact) => [key(fact), fact])).values()];
}

/** A drawing in `container`. */
export class Proof extends Drawing {
  constructor(container) {
    super(container, style, 1.2, { minZoom: 0.05, maxZoom: 2.5, pixelRatio: 1 });
    container.addEventListener("keydown", (event) => this.move(event));
  }

  /** Draw the proof of a record; give how many facts it has. */
  draw(record) {
    const facts = factsOf(record);
    const is = (refs) => new Set((refs ?? []).map((ref) => ref.id));
    const [topics, answers] = [is(record.topics), is(record.answers)];
    const nodes = new Map(facts.flatMap(({ head, tail }) => [head, tail]).map((ref) => [ref.id, ref]));
    const kind = (id) => (answers.has(id) ? "answer" : topics.has(id) ? "topic" : "");
    const many = nodes.size > MANY;
    const drawn = [...nodes.values()].map((ref) => {
      const label = ref.name === null ? "" : short(nameOf(ref));
      const classes = `${kind(ref.id)} ${ref.name === null ? "nameless" : ""}`;
      return { data: { id: `n${ref.id}`, label, width: label ? 20 + label.length * 7.6 : 16 }, classes };
    });
    const edges = facts.map((fact, number) => ({
      data: { id: `e${number}`, source: `n${fact.head.id}`, target: `n${fact.tail.id}`, label: localName(fact.relation) },
      classes: many ? "many" : "",
    }));
    this.cy.resize();
    this.cy.elements().remove();
    this.cy.add([...drawn, ...edges]);
    this.arrange(many, this.depths(topics));
    const rows = facts.map((fact) => [nameOf(fact.head), localName(fact.relation), nameOf(fact.tail)]);
    byId("proof-table").replaceChildren(table("The facts of the proof", ["from", "relation", "to"], rows));
    const drawnAnswers = [...answers].filter((id) => nodes.has(id)).length;
    const part = drawnAnswers < answers.size ? `, of ${drawnAnswers} of ${answers.size} answers` : "";
    byId("proof-count").textContent = `${plural(facts.length, "fact")}, ${plural(nodes.size, "node")}${part}`;
    return facts.length;
  }

  /** How far each node is from the topics, else from the node that most facts are about. */
  depths(topics) {
    const named = this.cy.nodes().filter((node) => topics.has(node.id().slice(1)));
    const roots = named.length ? named : this.cy.nodes().max((node) => node.degree()).ele;
    const depths = new Map();
    const visit = (node, edge, from, number, depth) => void depths.set(node.id(), depth);
    if (roots) this.cy.elements().bfs({ roots, visit });
    return depths;
  }

  arrange(many, depths) {
    if (many) {
      const rings = this.rings(depths);
      const concentric = (node) => -rings.get(node.id());
      this.cy.layout({ name: "concentric", concentric, levelWidth: () => 1, minNodeSpacing: 6, animate: false }).run();
    } else {
      this.inLayers(depths);
    }
    this.fit();
  }

  /** The ring of each node: by its depth, and outward where one would hold too many. */
  rings(depths) {
    const far = (node) => depths.get(node.id()) ?? Infinity;
    const rings = new Map();
    let [ring, held, last] = [0, 0, 0];
    for (const node of this.cy.nodes().sort((a, b) => far(a) - far(b)).toArray()) {
      if (far(node) !== last || held === 8 + 8 * ring) [ring, held] = [ring + 1, 0];
      last = far(node);
      held += 1;
      rings.set(node.id(), ring);
    }
    return rings;
  }

  /** Lay few nodes out from the topics to the answers, whichever way the arrows point. */
  inLayers(depths) {
    const graph = new Graph({ multigraph: true });
    graph.setGraph({ rankdir: this.cy.width() < 400 ? "TB" : "LR", nodesep: 24, ranksep: 30, edgesep: 16 });
    this.cy.nodes().forEach((node) => void graph.setNode(node.id(), { width: node.data("width"), height: 30 }));
    this.cy.edges().forEach((edge) => {
      const [from, to] = [edge.data("source"), edge.data("target")];
      const ends = depths.get(from) > depths.get(to) ? [to, from] : [from, to];
      graph.setEdge(...ends, { width: edge.data("label").length * 6.4, height: 14 }, edge.id());
    });
    layout(graph);
    this.cy.nodes().positions((node) => ({ x: graph.node(node.id()).x, y: graph.node(node.id()).y }));
  }

  /** Move and zoom by keys: arrows, plus, minus, 0 for all of it. */
  move(event) {
    const by = { ArrowLeft: { x: 40, y: 0 }, ArrowRight: { x: -40, y: 0 }, ArrowUp: { x: 0, y: 40 }, ArrowDown: { x: 0, y: -40 } }[event.key];
    const zoom = { "+": 1.25, "-": 0.8 }[event.key];
    if (by) this.cy.panBy(by);
    else if (zoom) this.cy.zoom({ level: this.cy.zoom() * zoom, renderedPosition: { x: this.cy.width() / 2, y: this.cy.height() / 2 } });
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }
}

const short = (text) => (text.length > 32 ? `${text.slice(0, 31)}…` : text);
