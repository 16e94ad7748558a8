// Draws the proof of an answer as a graph: the facts that it rests on.

import { layout, Graph } from "./vendor/dagre.js";
import { byId, colour, localName, nameOf, plural, table } from "./dom.js";
import { Drawing, baseStyle, short } from "./drawing.js";

/** From how many nodes on a proof is a cloud and no longer layers, and its edges are straight. */
const MANY = 40;

const style = () => [
  ...baseStyle(30, 13, 7),
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
    this.cy.on("mouseover tap", "node, edge", (event) => (byId("proof-element").textContent = event.target.data("about")));
    this.listenToKeys();
  }

  /** Draw the proof of a record; give how many facts it has. */
  draw(record) {
    const facts = factsOf(record);
    const is = (refs) => new Set((refs ?? []).map((ref) => ref.id));
    const [topics, answers] = [is(record.topics), is(record.answers)];
    const nodes = new Map(facts.flatMap(({ head, tail }) => [head, tail]).map((ref) => [ref.id, ref]));
    const kind = (id) => (answers.has(id) ? "answer" : topics.has(id) ? "topic" : "");
    const many = nodes.size > MANY;
    this.cy.resize();
    const most = this.cy.width() < 400 ? 16 : 32;
    const drawn = [...nodes.values()].map((ref) => {
      const label = ref.name === null ? "" : short(nameOf(ref), most);
      const classes = `${kind(ref.id)} ${ref.name === null ? "nameless" : ""}`;
      const about = [ref.name, ref.id].filter((part) => part !== null).join(" · ");
      return { data: { id: `n${ref.id}`, about, label, width: label ? 20 + label.length * 7.6 : 16 }, classes };
    });
    const edges = facts.map((fact, number) => ({
      data: { id: `e${number}`, source: `n${fact.head.id}`, target: `n${fact.tail.id}`, label: localName(fact.relation), about: fact.relation },
      classes: many ? "many" : "",
    }));
    byId("proof-element").textContent = "Hover over or click what you want to know more of; drag nodes or the background, and zoom by the wheel.";
    this.cy.elements().remove();
    this.cy.add([...drawn, ...edges]);
    this.arrange(many, this.reached(topics));
    const rows = facts.map((fact) => [nameOf(fact.head), localName(fact.relation), nameOf(fact.tail)]);
    byId("proof-table").replaceChildren(table("The facts of the proof", ["from", "relation", "to"], rows));
    const drawnAnswers = [...answers].filter((id) => nodes.has(id)).length;
    const part = drawnAnswers && drawnAnswers < answers.size ? `, of ${drawnAnswers} of ${answers.size} answers` : "";
    for (const kind of ["topic", "answer"]) this.container.parentElement.querySelector(`.key .${kind}`).hidden = !this.cy.nodes(`.${kind}`).length;
    byId("proof-count").textContent = `${plural(facts.length, "fact")}, ${plural(nodes.size, "node")}${part}`;
    return facts.length;
  }

  /** The nodes from the topics on, each with how far it is and what it was reached from. */
  reached(topics) {
    const nodes = this.cy.nodes();
    const reached = new Map();
    const from = (roots) => this.cy.elements().bfs({ roots, visit: (node, edge, parent, at, depth) => void reached.set(node.id(), { depth, parent }) });
    from(nodes.filter((node) => topics.has(node.id().slice(1))));
    // what no topic leads to, from the node that most facts are about
    for (let left = nodes; (left = left.filter((node) => !reached.has(node.id()))).length; ) from(left.max((node) => node.degree()).ele);
    return reached;
  }

  arrange(many, reached) {
    if (many) this.inRings(reached);
    else this.inLayers(reached);
    this.fit();
  }

  /** Lay many nodes out in rings around the topics, each beyond what it was reached from. */
  inRings(reached) {
    const beyond = Map.groupBy(this.cy.nodes().toArray(), (node) => reached.get(node.id()).parent?.id());
    const [rings, turns] = [[], new Map()];
    let leaves = 0;
    const visit = (node) => {
      const next = (beyond.get(node.id()) ?? []).map(visit);
      const turn = next.length ? (next[0] + next.at(-1)) / 2 : leaves++;
      turns.set(node.id(), turn);
      (rings[reached.get(node.id()).depth] ??= []).push(turn);
      return turn;
    };
    beyond.get(undefined).forEach(visit);
    const widths = this.cy.nodes().map((node) => node.data("width"));
    const mean = widths.reduce((sum, width) => sum + width, 0) / widths.length;
    const room = Math.hypot(mean / 2 + 4, 36); // then two that are side by side meet nowhere on the ellipse
    const radii = [];
    rings.forEach((ring, depth) => {
      const nearest = Math.min(...ring.slice(1).map((turn, at) => turn - ring[at]));
      radii[depth] = Math.max(depth && radii[depth - 1] + room, (room * leaves) / (2 * Math.PI * nearest));
    });
    this.cy.nodes().positions((node) => {
      const angle = (2 * Math.PI * turns.get(node.id())) / leaves;
      const radius = radii[reached.get(node.id()).depth];
      return { x: 2 * radius * Math.cos(angle), y: radius * Math.sin(angle) }; // names are wider than they are high
    });
  }

  /** Lay few nodes out from the topics to the answers, whichever way the arrows point: across, or down where that is larger. */
  inLayers(reached) {
    const [across, down] = ["LR", "TB"].map((rankdir) => this.layers(rankdir, reached));
    const scale = (graph) => Math.min(this.zoom, this.cy.width() / graph.graph().width, this.cy.height() / graph.graph().height);
    const graph = scale(down) > 1.2 * scale(across) ? down : across;
    this.cy.nodes().positions((node) => ({ x: graph.node(node.id()).x, y: graph.node(node.id()).y }));
  }

  layers(rankdir, reached) {
    const graph = new Graph({ multigraph: true });
    graph.setGraph({ rankdir, nodesep: 24, ranksep: 30, edgesep: 16 });
    this.cy.nodes().forEach((node) => void graph.setNode(node.id(), { width: node.data("width"), height: 30 }));
    this.cy.edges().forEach((edge) => {
      const [from, to] = [edge.data("source"), edge.data("target")];
      const ends = reached.get(from).depth > reached.get(to).depth ? [to, from] : [from, to];
      graph.setEdge(...ends, { width: edge.data("label").length * 6.4, height: 14 }, edge.id());
    });
    layout(graph);
    return graph;
  }
}
