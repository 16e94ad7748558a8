// Shows what is in a graph: its classes and what joins them, a card for each, and questions that it answers.

import { layout, Graph } from "./vendor/dagre.js";
import * as client from "./client.js";
import { bdi, byId, colour, el, plural, table } from "./dom.js";
import { Drawing, baseStyle, short } from "./drawing.js";
import { attempt } from "./status.js";

/** Classes that are drawn at most, those with most members; all that the server names are listed. */
const MAX_DRAWN = 24;

const HEIGHT = 34;

const style = () => [
  ...baseStyle(HEIGHT, 14, 6),
  { selector: "node.chosen", style: { "background-color": colour("topic"), "border-color": colour("link"), "border-width": 2.5 } },
];

/** The view in its part of the page; `ask(question)` takes up a question that is chosen. */
export class Schema {
  constructor(ask) {
    Object.assign(this, { ask, shown: null, search: null });
    this.drawing = null;
  }

  /** Show a graph, unless it is shown already. */
  async show(kg) {
    const name = JSON.stringify(kg);
    if (this.shown === name) return;
    this.clear();
    this.shown = name;
    const shown = await Promise.all([attempt(() => this.showClasses(kg)), attempt(() => this.showQuestions(kg))]);
    if (this.shown === name && shown.includes(undefined)) this.shown = null; // try again when it is opened again
  }

  clear() {
    this.search?.abort();
    this.shown = null;
    for (const id of ["graph-shown", "class-card"]) byId(id).hidden = true;
    byId("questions").replaceChildren();
    for (const id of ["graph-note", "questions-note"]) byId(id).textContent = "";
  }

  restyle() {
    this.drawing?.restyle();
  }

  async showClasses(kg) {
    const name = this.shown;
    byId("graph-note").textContent = "Looking …";
    const found = await client.profile(kg).finally(() => this.shown === name && (byId("graph-note").textContent = ""));
    if (this.shown !== name) return true;
    const { classes, more } = found;
    byId("graph-note").textContent = sizesOf(found) + (more ? `; of its classes the ${classes.length} with most members are shown, ${more} are not` : "");
    this.classes = classes;
    byId("graph-shown").hidden = !classes.length; // a drawing needs its place
    byId("classes").replaceChildren(...classes.map((each) => this.button(each)));
    if (classes.length) this.draw(classes.filter((each) => each.is_named).slice(0, MAX_DRAWN));
    return true;
  }

  button(each) {
    return el("button", { type: "button", "aria-pressed": "false", "data-id": each.id, click: () => this.choose(each.id) }, bdi(each.name), " ", el("small", {}, each.members.toLocaleString("en")));
  }

  /** Show the card of a class. */
  choose(id) {
    const each = this.classes.find((one) => one.id === id);
    for (const button of byId("classes").children) button.setAttribute("aria-pressed", String(button.dataset.id === id));
    this.drawing.cy.nodes().removeClass("chosen");
    this.drawing.cy.$id(nodeOf(id)).addClass("chosen");
    byId("class-name").replaceChildren(bdi(each.name));
    byId("class-about").textContent = aboutOf(each);
    const rows = each.properties.map((own) => [own.name, `${Math.round(100 * own.share)} %`, leadsTo(own)]);
    byId("class-table").replaceChildren(table(`What members of ${each.name} have`, ["property", "members", "values"], rows));
    byId("class-card").hidden = false;
  }

  draw(classes) {
    if (!this.drawing) {
      this.drawing = new Drawing(byId("classes-drawn"), style, 1.2, { minZoom: 0.05, maxZoom: 2.5, pixelRatio: 1 });
      this.drawing.listenToKeys();
      this.drawing.cy.on("tap", "node", (event) => this.choose(event.target.data("class")));
    }
    const { cy } = this.drawing;
    const nodes = classes.map(({ id, name }) => {
      const label = short(name, 24);
      return { data: { id: nodeOf(id), class: id, label, width: 24 + label.length * 8 } };
    });
    cy.elements().remove();
    cy.add([...nodes, ...joinsOf(classes)]);
    arrange(cy);
    this.drawing.fit();
  }

  async showQuestions(kg) {
    this.search = new AbortController();
    const { signal } = this.search;
    const note = (text) => signal.aborted || (byId("questions-note").textContent = text);
    note("Looking for questions that it answers …");
    try {
      for await (const found of client.questions(kg, signal)) byId("questions").append(this.question(found));
    } finally {
      note(byId("questions").children.length ? "Choose one to ask it, or to change it." : "No question was found that it answers by itself.");
    }
    return true;
  }

  question({ question, answers }) {
    const more = answers.length > 3 ? ` and ${answers.length - 3} more` : "";
    return el("li", {}, el("button", { type: "button", click: () => this.ask(question) }, question), " ", el("small", {}, bdi(answers.slice(0, 3).join(", ")), more));
  }
}

const nodeOf = (id) => `n${id}`;

function sizesOf({ triples, entities, named, relations }) {
  const count = (number, noun, many) => (number === null ? "" : plural(number, noun, many));
  const nameless = entities !== null && named ? entities - named : 0;
  const sizes = [count(triples, "fact"), count(entities, "node"), nameless ? `${nameless.toLocaleString("en")} without a name` : "", count(relations || null, "relation")];
  return sizes.filter(Boolean).join(", ");
}

function aboutOf({ comment, members, naming, identifiers, superclasses, examples }) {
  const part = (words, names) => (names.length ? `${words} ${names.join(", ")}` : "");
  return [
    comment,
    plural(members, "member"),
    part("a kind of", superclasses),
    part("named by", naming),
    part("told apart by", identifiers),
    part("such as", examples),
  ].filter(Boolean).join(" · ");
}

/** What a property leads to: classes, what nodes without a name have, or values. */
function leadsTo({ leads_to, inner, kind, values }) {
  const within = inner.map((part) => (part.leads_to.length ? `${part.name} → ${part.leads_to.join(", ")}` : part.name));
  return [leads_to.join(", "), within.join(", "), [kind, values].filter(Boolean).join(": ")].filter(Boolean).join("; ");
}

/** An edge between each two classes that are joined, with the properties that do it; past nodes without a name, too. */
function joinsOf(classes) {
  const drawn = new Set(classes.map((each) => each.id));
  const found = new Map();
  for (const { id, properties } of classes) {
    for (const own of properties) {
      const ways = [own, ...own.inner.map((part) => ({ ...part, name: `${own.name} · ${part.name}` }))];
      for (const way of ways) {
        for (const end of way.classes.filter((each) => drawn.has(each))) {
          const key = JSON.stringify([id, end]);
          found.set(key, [...(found.get(key) ?? []), way.name]);
        }
      }
    }
  }
  return [...found].map(([key, names]) => {
    const [source, target] = JSON.parse(key).map(nodeOf);
    const label = short(names[0], 24) + (names.length > 1 ? ` +${names.length - 1}` : "");
    return { data: { id: `e${key}`, source, target, label } };
  });
}

/** Lay classes out in layers, and those that nothing joins in rows below. */
function arrange(cy) {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: cy.width() < 600 ? "TB" : "LR", nodesep: 26, ranksep: 40, edgesep: 14 });
  const alone = cy.nodes().filter((node) => !node.neighborhood("node").length);
  cy.nodes().difference(alone).forEach((node) => void graph.setNode(node.id(), { width: node.data("width"), height: HEIGHT }));
  cy.edges().forEach((edge) => {
    const [from, to] = [edge.data("source"), edge.data("target")];
    if (graph.hasNode(from) && from !== to) graph.setEdge(from, to, { width: edge.data("label").length * 6.2, height: 14 }, edge.id());
  });
  layout(graph);
  for (const id of graph.nodes()) cy.$id(id).position({ x: graph.node(id).x, y: graph.node(id).y });
  const { width = 0, height = 0 } = graph.graph();
  let [x, y] = [0, (Number.isFinite(height) ? height : 0) + HEIGHT];
  const most = Math.max(Number.isFinite(width) ? width : 0, cy.width(), 600);
  alone.forEach((node) => {
    const own = node.data("width");
    if (x && x + own > most) [x, y] = [0, y + HEIGHT + 20];
    node.position({ x: x + own / 2, y });
    x += own + 24;
  });
}
