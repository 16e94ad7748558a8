// What is asked: the question, its topics, the method, graph, model and options.

import * as client from "./client.js";
import { byId, el } from "./dom.js";
import { optionForm } from "./form.js";

const DRAFT = "kgqa-draft";

const FIELDS = ["question", "topics", "kg", "model"];

const EXAMPLES = [
  "What is the capital of Mongolia?",
  "Which currency is used in the country whose capital is Lima?",
  "Which languages would I hear in Malta?",
];

/** The names in a field, which stand apart by commas. */
const names = (id) => byId(id).value.split(",").map((name) => name.trim()).filter(Boolean);

const listed = (value) => [value ?? []].flat().join(", ");

export class Asked {
  constructor() {
    this.methods = [];
    this.method = null;
    this.options = null;
    for (const [id, value] of Object.entries(draft())) if (FIELDS.includes(id)) byId(id).value = value;
    byId("ask").addEventListener("input", () => this.keep());
  }

  /** Whether the method converses: messages go in, and a thread goes on. */
  get converses() {
    return "messages" in this.inputs;
  }

  /** The names of the graph; none for the server's own. */
  get kg() {
    return names("kg");
  }

  get question() {
    return byId("question").value.trim();
  }

  /** Ask the server what there is; give the machine of the method that was chosen last. */
  async load() {
    const found = await client.assistants();
    this.methods = found.sort((a, b) => a.name.localeCompare(b.name));
    byId("method").replaceChildren(...this.methods.map((each) => el("option", { value: each.assistant_id }, each.name)));
    const wanted = this.methods.find((each) => each.graph_id === (draft().method ?? "compose")) ?? this.methods[0];
    return this.choose(wanted.assistant_id, draft().options);
  }

  /** Show a method: what it does, and its options, with these texts in them; give its state machine. */
  async choose(assistant = byId("method").value, texts = null) {
    byId("method").value = assistant;
    const [schemas, machine] = await Promise.all([client.schemas(assistant), client.machine(assistant)]);
    this.method = this.methods.find((each) => each.assistant_id === assistant);
    this.inputs = schemas.input_schema?.properties ?? {};
    const schema = { properties: {}, ...schemas.context_schema };
    this.options = optionForm(schema, texts ?? this.options?.texts());
    byId("method-about").textContent = this.method.description ?? "";
    byId("options").replaceChildren(...this.options.elements);
    byId("question").placeholder = `${this.converses ? "Say something, then go on: “and Ecuador?”" : "Ask something"}; Enter asks, Shift+Enter begins a line`;
    byId("topics").parentElement.hidden = !("topics" in this.inputs);
    suggest("kg", schema.properties.kg, "sample");
    suggest("model", schema.properties.model, "offline");
    this.count();
    return machine;
  }

  /** What the server is asked, for a question; throws where an option cannot be read. */
  request(question) {
    const { kg } = this;
    const [model, topics] = [byId("model").value.trim(), names("topics")];
    const context = { ...this.options.read(), ...(kg.length && { kg }), ...(model && { model }) };
    const input = this.converses ? { messages: [{ role: "user", content: question }] } : { question };
    if ("topics" in this.inputs && topics.length) input.topics = topics;
    return { assistant_id: this.method.assistant_id, input, ...(Object.keys(context).length && { context }) };
  }

  /** Show what the runs of a thread were asked, the latest first; give the state machine of their method. */
  async show(runs, question) {
    const context = runs[0]?.kwargs.context ?? {};
    const known = this.methods.find((each) => each.assistant_id === runs[0]?.assistant_id) ?? this.method;
    const machine = await this.choose(known.assistant_id, {});
    this.options.write(context);
    byId("kg").value = listed(context.kg);
    byId("model").value = context.model ?? "";
    byId("topics").value = listed(runs.find((run) => run.kwargs.input)?.kwargs.input.topics);
    byId("question").value = this.converses ? "" : question;
    this.keep();
    return machine;
  }

  /** Begin anew, with this question; graph, model and options stay. */
  renew(question = "") {
    byId("question").value = question;
    byId("topics").value = "";
    this.keep();
  }

  /** Keep what was typed: it outlives a reload. */
  keep() {
    this.count();
    const fields = Object.fromEntries(FIELDS.map((id) => [id, byId(id).value]));
    const rest = { options: this.options?.texts(), method: this.method?.graph_id };
    sessionStorage.setItem(DRAFT, JSON.stringify({ ...fields, ...rest }));
  }

  count() {
    byId("examples").hidden = (byId("kg").value.trim() || byId("kg").placeholder) !== "sample";
    const number = Object.keys(this.options?.texts() ?? {}).length;
    byId("options-count").textContent = number ? `Options (${number} set)` : "Options";
  }
}

const draft = () => JSON.parse(sessionStorage.getItem(DRAFT) ?? "{}");

function suggest(id, schema = {}, own) {
  byId(id).placeholder = listed(schema.default);
  const known = (schema.examples ?? [own]).map((value) => el("option", { value: listed(value) }));
  byId(`${id}-known`).replaceChildren(...known);
}

/** Offer examples; `ask(question)` is called with one that is chosen. */
export function offerExamples(ask) {
  byId("examples").append(...EXAMPLES.map((text) => el("button", { type: "button", click: () => ask(text) }, text)));
}
