// The page: asks, watches, shows, and goes another way.

import { isOutage, answersOf, outcomeOf, reasonOf, showRecord, showTurns, wasRepliedTo } from "./answer.js";
import { keepCommand, showAlternatives, takeAlternative } from "./alternatives.js";
import { Asked, offerExamples } from "./asked.js";
import * as client from "./client.js";
import { byId, copyText, textOf } from "./dom.js";
import { Proof } from "./proof.js";
import { Schema } from "./schema.js";
import { attempt, complain, inTurn, onKey, tell } from "./status.js";
import { Trail, headsOf, stepOf, stepsTo } from "./steps.js";
import { listenToTable } from "./table.js";
import { Run, listThreads, showBranches } from "./threads.js";

const THEMES = ["system", "light", "dark"];

const asked = new Asked();
const trail = new Trail(fork);
const proof = new Proof(byId("proof"));
const schema = new Schema((question) => {
  byId("question").value = question;
  asked.keep();
  byId("question").focus();
});

/** What is shown: a thread, its states, and the one that ends the branch that is shown; and the run that is watched. */
const now = { thread: null, states: [], head: null, run: null };

async function start() {
  await load();
  const thread = new URLSearchParams(location.hash.slice(1)).get("thread");
  if (thread) await openThread(thread);
}

async function load() {
  trail.machine.draw(await asked.load());
  await list();
}

const list = () => listThreads(now.thread, (thread) => inTurn(() => openThread(thread)));

// Asking

async function ask(question = asked.question) {
  if (!question) {
    byId("question").focus();
    return complain(new Error("Write a question first."));
  }
  await inTurn(() => {}); // what was begun before
  await watch(async (run) => {
    if (!asked.method) await load();
    const request = asked.request(question);
    if (asked.converses && now.head?.values.messages) {
      Object.assign(request, { checkpoint_id: now.head.checkpoint.checkpoint_id });
      clearRun();
    } else {
      const { thread_id } = await client.createThread({ question });
      run.check();
      setThread(thread_id);
      attempt(list);
    }
    await follow(run, run.begin(now.thread, request));
    if (asked.converses && asked.question === question) asked.renew();
  });
}

/** Watch a run that `work` begins or joins: one at a time. */
async function watch(work) {
  if (now.run) return complain(new Error("A run is under way; wait for its end, or stop it."));
  const run = (now.run = new Run());
  busy(true);
  await attempt(() => work(run));
  if (now.run === run) leave();
}

/** Watch no run any longer; one that is under way goes on. */
function leave() {
  now.run?.leave();
  now.run = null;
  busy(false);
}

/** Show each step of a run as it happens, then its end, then what can be gone back to. */
async function follow(run, events, known = new Set()) {
  let ended = false;
  try {
    for await (const { event, data } of events) {
      if (event === "tasks" && !known.has(data.id)) light(data);
      else if (event === "values") ended = showEnd(data);
    }
  } finally {
    if (!run.left) await refresh();
  }
  if (run.left || run.stopped) return;
  if (ended || showHead()) return reveal();
  tell("The run has ended before its answer; its steps are below.");
}

/** Bring what has come of a run into view: it may have been begun far below, or the window be a small one. */
function reveal() {
  const first = ["turns-part", "branches", "result"].map(byId).find((each) => !each.hidden);
  const { top } = first.getBoundingClientRect();
  if (top < 0 || top > innerHeight - 160) first.scrollIntoView();
}

function light(task) {
  if ("result" in task) return trail.add(stepOf(task.name, task.result ?? {}));
  trail.begin(task.name);
  tell(`Step ${trail.steps.length + 1}: ${task.name} …`);
}

function busy(is) {
  for (const id of ["ask-button", "method"]) byId(id).disabled = is;
  byId("stop").hidden = !is;
  document.body.classList.toggle("busy", is);
}

async function stop() {
  const { run } = now;
  tell("Stopping …");
  await attempt(async () => {
    await run?.stop();
    tell("Stopped.");
  });
}

// What a run comes to

/** Show what a run has ended with, if it has; tell whether it has. */
function showEnd(values) {
  showTurns(values.messages ?? []);
  const record = values.messages ? values.record : values;
  if (!(values.messages ? wasRepliedTo(values.messages) : record.outcome && record.config)) return false;
  if (record) finish(record, values.messages);
  else tell(textOf(values.messages.at(-1)));
  return true;
}

/** Show the record that a run has ended with, or one with another reading, after those `shown` of the same question. */
function finish(record, messages, shown = [record]) {
  showRecord(record, messages);
  showAlternatives(record, async (number) => {
    const taken = messages ? null : takeAlternative(shown, number);
    if (taken) finish(taken, messages, [...shown, taken]);
    else await ask(String(number)); // a conversation goes on from what it says
    byId("result-title").focus(); // the button that had it is gone
  });
  byId("keep-part").hidden = shown.length < 2;
  byId("keep-command").textContent = shown.length < 2 ? "" : keepCommand(record);
  const { length } = record.answers ?? [];
  byId("proof-part").hidden = byId("facts").hidden = false; // a drawing needs its place
  const facts = proof.draw(record);
  const why = record.query ? "Its query gives the answers; the facts behind them were not fetched." : "No facts of the graph stand behind this.";
  byId("no-proof").textContent = facts ? "" : why;
  byId("facts").hidden = !facts;
  byId("proof-part").hidden = !facts && !length;
  if (isOutage(record)) complain(new Error(`${outcomeOf(record)}: ${reasonOf(record)}`));
  else if (length) tell("Answered: ", ...answersOf(record), ` (${outcomeOf(record)}).`);
  else tell(`No answer: ${reasonOf(record)}.`);
}

/** Show what the branch that is shown has ended with, if it has; tell whether it has. */
function showHead() {
  hideEnd();
  return Boolean(now.head) && !now.head.next.length && showEnd(now.head.values);
}

function hideEnd() {
  for (const id of ["result", "proof-part"]) byId(id).hidden = true;
}

function clearRun() {
  trail.clear();
  hideEnd();
  byId("branches").hidden = true;
}

// Threads and their branches

function setThread(thread) {
  Object.assign(now, { thread, states: [], head: null });
  clearRun();
  showTurns([]);
  history.replaceState(null, "", thread ? `#thread=${thread}` : location.pathname);
}

/** Read the states of the thread, and show the branch that was run last. */
async function refresh() {
  if (!now.thread) return;
  await readStates();
  if (now.head) showBranch(now.head);
  await list();
}

async function readStates() {
  now.states = await client.history(now.thread);
  now.head = headsOf(now.states)[0] ?? null;
}

function showBranch(head) {
  now.head = head;
  showBranches(headsOf(now.states), head, now.states, openBranch);
  trail.show(stepsTo(head, now.states));
}

function openBranch(head) {
  if (now.run) return complain(new Error("A run is under way; wait for its end, or stop it."));
  showBranch(head);
  showHead();
}

/** Change the state after a step, and run on from there, as the run itself was asked. */
async function fork(step, values) {
  await watch(async (run) => {
    const [before] = await client.runs(now.thread);
    const checkpoint_id = await client.updateState(now.thread, step.checkpoint, step.node, values);
    const kept = trail.steps.slice(0, trail.steps.indexOf(step) + 1);
    clearRun();
    trail.show(kept);
    byId("steps-title").focus(); // the editor had it, and is gone
    const { context } = before.kwargs;
    const request = { assistant_id: before.assistant_id, input: null, checkpoint_id, ...(context && { context }) };
    await follow(run, run.begin(now.thread, request));
  });
}

/** Show a thread as it is, with what it was asked; go on watching where a run is under way. */
async function openThread(thread) {
  leave();
  setThread(thread);
  const runs = await client.runs(thread);
  const going = runs.find((run) => ["running", "pending"].includes(run.status));
  if (going) return void watch((run) => rejoin(run, going, runs));
  await showThread(runs);
  if (!now.head) return tell("This question has left no steps.");
  showHead();
  if (runs[0]?.status === "error") complain(new Error("This run has failed; ask again to see why."));
}

async function showThread(runs) {
  await readStates();
  const { question } = now.head?.values ?? runs[0]?.kwargs.input ?? {};
  trail.machine.draw(await asked.show(runs, question ?? ""));
  if (now.head) showBranch(now.head);
  showTurns(now.head?.values.messages ?? []);
  await list();
}

/** Show what a run has done so far, and go on watching it. */
async function rejoin(run, going, runs) {
  const events = run.join(now.thread, going.run_id);
  await events.next(); // from here on nothing is missed
  await showThread(runs);
  for (const name of now.head?.next ?? []) if (name !== "__start__") light({ name });
  const ended = now.states.filter((state) => state !== now.head);
  await follow(run, events, new Set(ended.flatMap((state) => state.tasks.map((task) => task.id))));
}

function newQuestion(question = "") {
  leave();
  setThread(null);
  byId("problem").textContent = "";
  tell("");
  asked.renew(question);
  byId("question").focus();
  return inTurn(list);
}

/** Show what is in the graph that is named, where that part of the page is open. */
const showGraph = () => byId("graph-part").open && schema.show(asked.kg);

// Themes

function setTheme(theme) {
  localStorage.setItem("kgqa-theme", theme);
  document.documentElement.dataset.theme = theme;
  byId("theme").value = theme;
  trail.machine.restyle();
  proof.restyle();
  schema.restyle();
}

// Wiring

offerExamples((question) => newQuestion(question).then(() => ask()));
const submit = (event) => {
  event.preventDefault();
  ask();
};
byId("ask").addEventListener("submit", submit);
byId("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
});
byId("method").addEventListener("change", () =>
  inTurn(async () => {
    setThread(null);
    tell("");
    trail.machine.draw(await asked.choose());
    asked.keep();
    await list();
  }),
);
byId("graph-part").addEventListener("toggle", showGraph);
byId("kg").addEventListener("change", showGraph);
byId("stop").addEventListener("click", stop);
byId("new").addEventListener("click", () => newQuestion());
byId("copy").addEventListener("click", () => copyText(byId("copy"), byId("query").textContent, byId("query")));
byId("keep").addEventListener("click", () => copyText(byId("keep"), byId("keep-command").textContent, byId("keep-command")));
listenToTable();
onKey(() => (asked.method ? list() : start()));
byId("theme").addEventListener("change", () => setTheme(byId("theme").value));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(byId("theme").value));
trail.clear();
const kept = localStorage.getItem("kgqa-theme");
setTheme(THEMES.includes(kept) ? kept : "system");
inTurn(start);
