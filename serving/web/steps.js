// The steps of a run: what each did, what it asked the model, its state; and the editor that a fork begins with.

import { bdi, byId, el, nameOf, plural, textOf } from "./dom.js";
import { Machine } from "./machine.js";

/** What the server keeps by itself, or what is of the record: no edit of a step. */
const NOT_EDITED = new Set(["trace", "usage", "exchanges", "config", "method", "record_id", "question"]);

/** Likewise in a conversation, where the question is what its first step has made of a message. */
const NOT_EDITED_IN_CHAT = new Set(["messages", "record", "spend"]);

/** What a step of a conversation has done: it keeps no trace. */
const DONE_IN_CHAT = { question: String, record: ({ answers = [] }) => words(answers.slice(0, 5)) || "no answer", messages: (all) => textOf(all.at(-1)) };

/** Characters of a value that the editor begins with; longer ones are added by name. */
const MAX_FIRST_CHARS = 3000;

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The states of a thread that no other goes on from, the latest first: each ends a branch. */
export function headsOf(states) {
  const parents = new Set(states.map((state) => state.parent_checkpoint?.checkpoint_id));
  return states.filter((state) => !parents.has(state.checkpoint.checkpoint_id));
}

/** The steps that lead to a state, the first first: from the input of its run on. */
export function stepsTo(head, states) {
  const known = new Map(states.map((state) => [state.checkpoint.checkpoint_id, state]));
  const steps = [];
  for (let after = head; after; ) {
    const before = known.get(after.parent_checkpoint?.checkpoint_id);
    if (!before || after.metadata.source === "input") break;
    if (before.next[0] !== "__start__" || after.metadata.source === "update") steps.unshift(stepBetween(before, after));
    after = before;
  }
  steps.forEach((step, at) => {
    if (step.edited) step.node = steps[at - 1]?.node; // the server does not keep whose step it was
  });
  return steps;
}

function stepBetween(before, after) {
  const edited = after.metadata.source === "update";
  const changed = Object.fromEntries(
    Object.entries(after.values).filter(([key, value]) => !same(value, before.values[key])),
  );
  const entry = same(after.values.trace, before.values.trace) ? null : after.values.trace?.at(-1);
  return {
    node: before.next.join(", "),
    edited,
    entry: edited ? null : entry,
    exchanges: (edited ? null : after.values.exchanges) ?? [],
    changed,
    state: after.values,
    checkpoint: after.checkpoint.checkpoint_id,
    next: after.next,
  };
}

/** A step as the stream of a run tells of it; its state is not yet known. */
export const stepOf = (node, result) => ({
  node,
  entry: result.trace?.at(-1) ?? null,
  exchanges: result.exchanges ?? [],
  changed: result,
});

/** What a step did, in a few texts; none where it had nothing to do. */
export function summary({ entry, edited, changed, state }) {
  if (edited) return [`changed by you: ${Object.keys(editable(changed, state)).join(", ") || "nothing"}`];
  if (!entry) {
    const done = Object.entries(DONE_IN_CHAT).map(([key, say]) => (changed[key] ? say(changed[key]) : ""));
    return done.filter(Boolean);
  }
  const said = ["topics", "chain", "composed", "chosen", "kept", "plan", "answers", "error", "reason", "outcome"];
  const told = said.filter((key) => entry[key]?.length).map((key) => words(entry[key]));
  return told.length ? told : Object.entries(entry).map(counted).filter(Boolean);
}

function counted([key, value]) {
  if (key === "node" || key === "decision" || value === null) return "";
  const said = Array.isArray(value) ? value.length : value;
  return typeof said === "object" ? "" : `${key.replaceAll("_", " ")}: ${said}`;
}

function words(value) {
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (value && typeof value === "object") return "name" in value && "id" in value ? nameOf(value) : JSON.stringify(value);
  return String(value);
}

/** An item of the list of steps; `fork(step, values)` is called with what was edited. */
export function stepItem(step, number, fork) {
  const detail = el("div", { class: "detail" });
  const done = summary(step);
  const asked = step.exchanges.length ? el("span", { class: "badge" }, plural(step.exchanges.length, "prompt")) : null;
  const title = [
    el("span", { class: "number" }, String(number)),
    el("b", {}, step.node ?? "edited"),
    step.edited ? el("span", { class: "badge" }, "edited") : null,
    step.entry ? el("span", { class: "decision", title: "what it decided is next" }, step.entry.decision) : null,
    asked,
    el("span", { class: "what" }, ...(done.length ? done.flatMap((text, at) => [at ? " · " : "", bdi(text)]) : ["nothing to do here"])),
  ];
  const fill = () => element.open && detail.replaceChildren(...details(step, fork));
  const element = el("details", { toggle: fill }, el("summary", {}, ...title), detail);
  return el("li", { class: done.length ? "step" : "step passed", "data-node": step.node }, element);
}

function details(step, fork) {
  return [...edit(step, fork), ...said(step), ...prompts(step), ...state(step)];
}

function edit(step, fork) {
  if (!step.state) return [];
  if (!step.next.length) return [el("p", { class: "note" }, "The run ended here; edit a step before it to go another way.")];
  const click = () => open.replaceWith(editor(step, fork, leave));
  const open = el("button", { type: "button", click }, "Edit and run on from here");
  const leave = (form) => {
    form.replaceWith(open);
    open.focus();
  };
  return [open];
}

function said({ entry }) {
  if (!entry) return [];
  const shown = Object.entries(entry).filter(([key]) => key !== "node" && key !== "exchanges");
  return [el("dl", {}, ...shown.map(([key, value]) => el("div", {}, el("dt", {}, key), el("dd", {}, words(value)))))];
}

function prompts({ exchanges }) {
  return exchanges.flatMap(({ prompt, instructions, case: asked, reply }) => [
    el("h4", {}, `Prompt: ${prompt}`),
    el("details", {}, el("summary", {}, "Its instructions, the same each time"), pre(instructions)),
    pre(asked),
    el("h4", {}, "Reply"),
    pre(reply === null ? "none" : pretty(reply)),
  ]);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const pre = (text) => el("pre", { tabindex: "0" }, text);

/** The names of what an edit leaves alone. */
const notEdited = (state) => (state && "messages" in state ? NOT_EDITED_IN_CHAT : NOT_EDITED);

const editable = (values, state) =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !notEdited(state).has(key)));

function state(step) {
  const changed = [el("h4", {}, "State: what this step changed"), pre(JSON.stringify(editable(step.changed, step.state), null, 2))];
  if (!step.state) return changed;
  return [...changed, el("details", {}, el("summary", {}, "All of the state"), pre(JSON.stringify(step.state, null, 2)))];
}

/** A form with a part of the state as JSON, checked as it is written; what is next may be chosen as well. */
function editor(step, fork, leave) {
  const first = { decision: step.state.decision, ...editable(step.changed, step.state) };
  const kept = Object.entries(first).filter(([, value]) => value !== undefined && JSON.stringify(value).length < MAX_FIRST_CHARS);
  const area = el("textarea", { rows: "12", spellcheck: "false", "aria-label": `State after ${step.node}, as JSON`, "aria-describedby": "edit-problem" });
  const write = (values) => {
    area.value = JSON.stringify(values, null, 2);
    check();
  };
  const read = () => edited(area.value, step.state);
  const problem = el("p", { id: "edit-problem", class: "problem", role: "alert" });
  const run = el("button", { type: "submit", class: "main" }, "Run on from here");
  const check = () => {
    const { error, values } = read();
    problem.textContent = error ?? "";
    area.setAttribute("aria-invalid", String(Boolean(error)));
    run.disabled = Boolean(error);
    if (values) next.value = values.decision ?? "";
  };
  const set = (values) => write({ ...(read().values ?? {}), ...values });
  const decisions = "decision" in step.state ? step.decisions : [];
  const next = chooser(decisions, (decision) => set({ decision }));
  const names = Object.keys(editable(step.state, step.state)).sort();
  const add = chooser(["", ...names], (name) => {
    if (name) set({ [name]: step.state[name] });
    add.value = "";
  });
  const submit = (event) => {
    event.preventDefault();
    const { values, error } = read();
    if (!error) fork(step, values);
  };
  area.addEventListener("input", check);
  write(Object.fromEntries(kept));
  requestAnimationFrame(() => {
    area.focus();
    area.setSelectionRange(0, 0);
    area.scrollTop = 0;
  });
  const keydown = (event) => event.key === "Escape" && leave(form);
  const form = el("form", { class: "editor", submit, keydown },
    el("p", { class: "note" }, "Change what the step left behind; the run goes on from there, beside the one that was."),
    el("div", { class: "row" }, decisions.length ? labelled("What is next", next) : null, labelled("Add a part of the state", add)),
    area, problem, el("div", { class: "row" }, run, el("button", { type: "button", click: () => leave(form) }, "Cancel")));
  return form;
}

const labelled = (text, control) => el("label", {}, `${text} `, control);

function chooser(values, choose) {
  const made = el("select", { change: () => choose(made.value) }, ...values.map((value) => el("option", { value }, value || "…")));
  return made;
}

/** Read what was edited: its values, or in one line what is wrong. */
function edited(text, state) {
  let values;
  try {
    values = JSON.parse(text);
  } catch (error) {
    return { error: `This is no JSON: ${error.message}` };
  }
  if (!values || typeof values !== "object" || Array.isArray(values)) return { error: "Write an object: { \"decision\": … }" };
  const odd = Object.keys(values).find((key) => notEdited(state).has(key) || !(key in state));
  return odd ? { error: `The state has no part ${JSON.stringify(odd)} to edit.` } : { values };
}

/** The steps of the run that is shown, in a list and lit up in the drawing of its state machine. */
export class Trail {
  /** `fork(step, values)` is called with a step that was edited, and how. */
  constructor(fork) {
    this.fork = fork;
    this.steps = [];
    this.machine = new Machine(byId("machine"), (node) => this.open(node));
  }

  clear() {
    this.machine.clear();
    this.steps = [];
    byId("steps").replaceChildren();
    byId("steps-note").textContent = "Each step appears here as it happens.";
  }

  /** Light a node up that is at work. */
  begin(node) {
    this.machine.start(node);
  }

  /** Add a step that has ended. */
  add(step) {
    const failed = Boolean(step.entry?.error);
    if (!step.edited) this.machine.finish(step.node, this.steps.at(-1)?.node, { passed: !summary(step).length, failed });
    step.decisions = this.machine.decisions(step.node);
    this.steps.push(step);
    byId("steps").append(stepItem(step, this.steps.length, this.fork));
    byId("steps-note").textContent = "Open one to see its prompt, reply and state, or to edit it and run on from there.";
  }

  /** Show these steps; where they are as many as were shown, those stay open that were. */
  show(steps) {
    const items = () => [...byId("steps").children].map((item) => item.firstElementChild);
    const open = steps.length === this.steps.length ? items().map((item) => item.open) : [];
    this.clear();
    for (const step of steps) this.add(step);
    items().forEach((item, at) => (item.open = Boolean(open[at])));
  }

  /** Open the last step of a node, which was clicked in the drawing. */
  open(node) {
    const item = [...byId("steps").children].reverse().find((each) => each.dataset.node === node);
    this.machine.choose(item ? node : null);
    if (!item) return;
    const details = item.firstElementChild;
    details.open = true;
    details.firstElementChild.focus();
    item.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
}
