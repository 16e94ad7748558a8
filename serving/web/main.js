// The page: asks, watches, shows, and goes another way.

import * as client from "./client.js";
import { OUTAGES, answersOf, outcomeOf, reasonOf, showRecord } from "./answer.js";
import { byId, el } from "./dom.js";
import { optionForm } from "./form.js";
import { Machine } from "./machine.js";
import { Proof } from "./proof.js";
import { headsOf, stepItem, stepOf, stepsTo } from "./steps.js";

const THEMES = ["system", "light", "dark"];
const EXAMPLES = [
  "What is the capital of Mongolia?",
  "Which currency is used in the country whose capital is Lima?",
  "Which languages would I hear in Malta?",
];

const machine = new Machine(byId("machine"), openStep);
const proof = new Proof(byId("proof"));

/** What is on the page: the methods, the one that is chosen and its form, the thread and its states, the run. */
const now = { ready: null, methods: [], assistant: null, options: null, thread: null, states: [], run: null, steps: [] };

// Messages

const tell = (text) => (byId("status").textContent = text);

function complain(error) {
  if (error?.name === "AbortError") return;
  byId("problem").textContent = error?.message ?? String(error);
  tell("");
  if (error?.status === 401) askKey();
}

/** Do something that may fail, and say in one line why it did. */
async function attempt(work) {
  byId("problem").textContent = "";
  try {
    return await work();
  } catch (error) {
    complain(error);
  }
}

/** Do something after what was begun before it. */
const inTurn = (work) => (now.ready = Promise.resolve(now.ready).then(() => attempt(work)));

// Methods and options

async function start() {
  const found = (await client.assistants()).filter((each) => each.metadata?.created_by === "system" || each.graph_id);
  now.methods = found.sort((a, b) => a.name.localeCompare(b.name));
  byId("method").replaceChildren(...now.methods.map((each) => el("option", { value: each.assistant_id }, each.name)));
  const wanted = now.methods.find((each) => each.graph_id === (draft().method ?? "compose")) ?? now.methods[0];
  byId("method").value = wanted.assistant_id;
  await chooseMethod(draft().options);
  await listThreads();
  const thread = new URLSearchParams(location.hash.slice(1)).get("thread");
  if (thread) await openThread(thread);
}

/** Show the method that is chosen: what it does, its options, its state machine. */
async function chooseMethod(texts) {
  const chosen = now.methods.find((each) => each.assistant_id === byId("method").value);
  const [schemas, graph] = await Promise.all([client.schemas(chosen.assistant_id), client.machine(chosen.assistant_id)]);
  now.assistant = chosen;
  const schema = schemas.context_schema;
  now.options = optionForm(schema, texts ?? now.options?.texts());
  byId("method-about").textContent = chosen.description ?? "";
  byId("options").replaceChildren(...now.options.elements);
  suggest("kg", schema.properties.kg, (value) => [value].flat().join(" "));
  suggest("model", schema.properties.model, String);
  const sample = schema.properties.kg?.default?.[0] === "sample";
  byId("examples").hidden = !sample;
  machine.draw(graph);
  countOptions();
}

function suggest(name, schema = {}, shown) {
  byId(name).placeholder = schema.default === undefined ? "" : shown(schema.default);
  const known = schema.examples ?? (name === "kg" ? ["sample"] : ["offline"]);
  byId(`${name}-known`).replaceChildren(...known.map((value) => el("option", { value })));
}

/** The options that are set; throws where one cannot be read. */
function context() {
  const [kg, model] = [byId("kg").value.trim(), byId("model").value.trim()];
  return { ...now.options.read(), ...(kg && { kg: kg.split(/\s*[\n,]\s*/).filter(Boolean) }), ...(model && { model }) };
}

function countOptions() {
  const number = Object.keys(now.options?.texts() ?? {}).length;
  byId("options-count").textContent = number ? `Options (${number} set)` : "Options";
}

// What was typed outlives a reload.

const draft = () => JSON.parse(sessionStorage.getItem("kgqa-draft") ?? "{}");

function keepDraft() {
  const fields = Object.fromEntries(["question", "topics", "kg", "model"].map((id) => [id, byId(id).value]));
  sessionStorage.setItem("kgqa-draft", JSON.stringify({ ...fields, options: now.options?.texts(), method: now.assistant?.graph_id }));
}

// Asking

async function ask(event) {
  event?.preventDefault();
  const question = byId("question").value.trim();
  if (!question) {
    byId("question").focus();
    return complain(new Error("Write a question first."));
  }
  await now.ready;
  await running(async () => {
    if (!now.assistant) await start();
    const asked = { assistant_id: now.assistant.assistant_id, context: context(), input: { question } };
    const topics = byId("topics").value.split(",").map((topic) => topic.trim()).filter(Boolean);
    if (topics.length) asked.input.topics = topics;
    const { thread_id } = await client.createThread({ question });
    setThread(thread_id);
    await follow(asked);
  });
}

/** Do what runs a method: one at a time. */
async function running(work) {
  if (now.run) return complain(new Error("A run is under way; wait for its end, or stop it."));
  now.run = { stop: new AbortController() };
  busy(true);
  await attempt(work);
  now.run = null;
  busy(false);
}

/** Run and show each step as it happens, then the record, then what can be gone back to. */
async function follow(request) {
  let before = null;
  now.run.recorded = false;
  try {
    for await (const { event, data } of client.run(now.thread, bare(request), now.run.stop.signal)) {
      if (event === "metadata") now.run.id = data.run_id;
      else if (event === "tasks") before = light(data, before);
      else if (event === "values" && data.config && data.outcome) finish(data);
    }
    if (!now.run.recorded) tell("The run has ended before its answer; its steps are below.");
  } finally {
    await refresh();
  }
}

const bare = ({ context, ...request }) => (context && Object.keys(context).length ? { ...request, context } : request);

/** Light up what a task tells of; give the node that was done last. */
function light(task, before) {
  if (!("result" in task)) {
    machine.start(task.name);
    tell(`Step ${now.steps.length + 1}: ${task.name} …`);
    return before;
  }
  const step = stepOf(task.name, task.result ?? {});
  machine.finish(task.name, before, { passed: !step.entry, failed: Boolean(step.entry?.error) });
  addStep(step);
  return task.name;
}

function finish(record) {
  if (now.run) now.run.recorded = true;
  showRecord(record);
  byId("proof-part").hidden = false;
  const facts = proof.draw(record);
  byId("no-proof").textContent = facts ? "" : "No facts of the graph stand behind this.";
  byId("proof").hidden = !facts;
  if (facts) proof.fit();
  const names = answersOf(record);
  if (OUTAGES.has(record.outcome)) {
    complain(new Error(`${outcomeOf(record)}: ${reasonOf(record)}`));
    tell("");
  } else tell(names ? `Answered: ${names} (${outcomeOf(record)}).` : `No answer: ${reasonOf(record)}.`);
}

function busy(is) {
  for (const id of ["ask-button", "method"]) byId(id).disabled = is;
  byId("stop").hidden = !is;
  document.body.classList.toggle("busy", is);
}

async function stop() {
  const { id, stop: abort } = now.run ?? {};
  if (!id) return;
  await attempt(() => client.cancel(now.thread, id));
  abort.abort();
  tell("Stopped.");
}

// Steps

function clearRun() {
  clearSteps();
  for (const id of ["result", "proof-part", "branches"]) byId(id).hidden = true;
}

function addStep(step) {
  step.decisions = machine.decisions(step.node);
  now.steps.push(step);
  byId("steps").append(stepItem(step, now.steps.length, fork));
  byId("steps-note").textContent = "Open one to see its prompt, reply and state, or to edit it and run on from there.";
}

/** Open the last step of a node, which was clicked in the drawing. */
function openStep(node) {
  const item = [...byId("steps").children].reverse().find((each) => each.dataset.node === node);
  machine.choose(item ? node : null);
  if (!item) return;
  const details = item.firstElementChild;
  details.open = true;
  details.firstElementChild.focus();
  item.scrollIntoView({ block: "nearest", behavior: "smooth" });
}

/** Read the states of the thread, and show the branch that ends in `head`, else the latest. */
async function refresh(head) {
  if (!now.thread) return;
  now.states = await client.history(now.thread);
  const heads = headsOf(now.states);
  const shown = heads.find((state) => state.checkpoint.checkpoint_id === head) ?? heads[0];
  showBranches(heads, shown);
  if (shown) showBranch(shown);
  await listThreads();
}

function showBranch(head) {
  const open = [...byId("steps").children].map((item) => item.firstElementChild.open);
  const steps = stepsTo(head, now.states);
  const kept = steps.length === now.steps.length;
  clearSteps();
  steps.forEach((step, at) => {
    addStep(step);
    const before = steps.slice(0, at).filter((each) => !each.edited).at(-1);
    if (!step.edited) machine.finish(step.node, before?.node, { passed: !step.entry, failed: Boolean(step.entry?.error) });
  });
  [...byId("steps").children].forEach((item, at) => (item.firstElementChild.open = kept && Boolean(open[at])));
  for (const node of head.next) if (node !== "__start__") machine.start(node);
}

function clearSteps() {
  machine.clear();
  now.steps = [];
  byId("steps").replaceChildren();
  byId("steps-note").textContent = "Each step appears here as it happens.";
}

function showBranches(heads, shown) {
  byId("branches").hidden = heads.length < 2;
  const oldest = [...heads].reverse();
  const buttons = oldest.map((head, at) => {
    const steps = stepsTo(head, now.states);
    const edit = steps.findLastIndex((step) => step.edited);
    const label = edit < 0 ? "First run" : `Fork ${at} after ${steps[edit - 1]?.node ?? "the start"}`;
    const open = () => {
      showBranches(heads, head);
      showBranch(head);
      showState(head);
    };
    return el("button", { type: "button", "aria-pressed": String(head === shown), click: open }, label);
  });
  byId("branches").replaceChildren(el("span", { class: "note" }, "Runs of this question:"), ...buttons);
}

/** Show the record of a state, where a run has ended there. */
function showState(head) {
  if (head.values.outcome && head.values.config && !head.next.length) finish(head.values);
  else for (const id of ["result", "proof-part"]) byId(id).hidden = true;
}

/** Change the state after a step, and run on from there, as the run itself was asked. */
async function fork(step, values) {
  await running(async () => {
    const run = await client.lastRun(now.thread);
    const checkpoint = await client.updateState(now.thread, step.checkpoint, step.node, values);
    const kept = now.steps.slice(0, now.steps.indexOf(step) + 1);
    clearRun();
    kept.forEach((each, at) => {
      addStep(each);
      if (!each.edited) machine.finish(each.node, kept[at - 1]?.node, { passed: !each.entry });
    });
    byId("steps-title").scrollIntoView({ block: "nearest" });
    const asked = { assistant_id: run.assistant_id, context: run.kwargs.context ?? {}, input: null, checkpoint_id: checkpoint };
    await follow(asked);
  });
}

// Past questions

function setThread(thread) {
  now.thread = thread;
  now.states = [];
  clearRun();
  history.replaceState(null, "", thread ? `#thread=${thread}` : location.pathname);
}

async function listThreads() {
  const found = await client.threads();
  byId("no-threads").hidden = found.length > 0;
  byId("threads").replaceChildren(...found.map(threadItem));
}

function threadItem({ thread_id, updated_at, status, metadata, extracted }) {
  const question = extracted?.question ?? metadata?.question ?? "(no question yet)";
  const said = status === "idle" ? (extracted?.outcome ?? "") : status;
  const about = el("small", {}, [new Date(updated_at).toLocaleString(), metadata?.graph_id, String(said).replaceAll("_", " ")].filter(Boolean).join(" · "));
  const current = thread_id === now.thread ? "true" : null;
  return el("li", {}, el("button", { type: "button", "aria-current": current, click: () => inTurn(() => openThread(thread_id)) }, question, about));
}

async function openThread(thread) {
  if (now.run) return complain(new Error("A run is under way; wait for its end, or stop it."));
  const run = await client.lastRun(thread);
  if (run && run.assistant_id !== now.assistant.assistant_id && now.methods.some((each) => each.assistant_id === run.assistant_id)) {
    byId("method").value = run.assistant_id;
    await chooseMethod();
  }
  setThread(thread);
  await refresh();
  const [head] = headsOf(now.states);
  if (!head) return tell("This question has left no steps.");
  byId("question").value = head.values.question ?? "";
  showState(head);
  if (run?.status === "error") complain(new Error("This run has failed; ask again to see why."));
}

function newQuestion() {
  if (now.run) return complain(new Error("A run is under way; wait for its end, or stop it."));
  setThread(null);
  byId("problem").textContent = "";
  tell("");
  byId("question").value = "";
  byId("question").focus();
  inTurn(listThreads);
}

// Keys, themes, copying

function askKey() {
  if (!byId("key-dialog").open) byId("key-dialog").showModal();
}

function saveKey() {
  client.setKey(byId("key").value.trim());
  byId("key").value = "";
  inTurn(now.assistant ? listThreads : start);
}

function setTheme(theme) {
  localStorage.setItem("kgqa-theme", theme);
  document.documentElement.dataset.theme = theme;
  byId("theme").value = theme;
  machine.restyle();
  proof.restyle();
}

async function copyQuery() {
  try {
    await navigator.clipboard.writeText(byId("query").textContent);
    byId("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(byId("query"));
    byId("copy").textContent = "Press Ctrl+C";
  }
  setTimeout(() => (byId("copy").textContent = "Copy"), 2000);
}

// Wiring

for (const [id, value] of Object.entries(draft())) if (["question", "topics", "kg", "model"].includes(id)) byId(id).value = value;
byId("examples").append(
  ...EXAMPLES.map((text) => el("button", { type: "button", click: () => ((byId("question").value = text), ask()) }, text)),
);
byId("ask").addEventListener("submit", ask);
byId("ask").addEventListener("input", () => (countOptions(), keepDraft()));
byId("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) ask(event);
});
byId("method").addEventListener("change", () =>
  inTurn(async () => {
    setThread(null);
    await chooseMethod();
    keepDraft();
  }),
);
byId("stop").addEventListener("click", stop);
byId("new").addEventListener("click", newQuestion);
byId("copy").addEventListener("click", copyQuery);
byId("give-key").addEventListener("click", askKey);
byId("key-dialog").addEventListener("close", () => byId("key-dialog").returnValue === "save" && saveKey());
byId("theme").addEventListener("change", () => setTheme(byId("theme").value));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(byId("theme").value));
clearSteps();
const kept = localStorage.getItem("kgqa-theme");
setTheme(THEMES.includes(kept) ? kept : "system");
inTurn(start);
