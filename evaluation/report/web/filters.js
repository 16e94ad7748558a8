// Filters and search: which questions are left.

const chosen = { run: "", state: "", outcome: "", hops: "", kind: "", level: "", group: "", text: "" };

/** The places in the index that the filters leave. */
let left = [];

const STATES = {
  "": "any result",
  r: "right",
  p: "partly right",
  w: "wrong",
  f: "failed",
  u: "not scored",
  m: "missing",
  differ: "runs differ",
};

function drawFilters() {
  const search = el("input", {
    id: "by-text",
    type: "search",
    placeholder: "words of question, id, topic or answer",
    oninput: (event) => choose("text", event.target.value),
  });
  const runs = index.runs.map((run, at) => [String(at), `${run.number} ${run.name}`]);
  const groups = index.groups.map((group, at) => [String(at), group.name]);
  const outcomes = pairsOf(index.questions.flatMap((question) => question.outcomes));
  const known = Object.entries({ hops: "Hops", kind: "Kind", level: "Level" })
    .map(([key, title]) => [key, title, pairsOf(index.questions.map((question) => question[key]))])
    .filter(([, , values]) => values.length > 1);
  byId("filters").append(
    control("text", "Search", search),
    choice("run", "Run", [["", "any run"], ...runs]),
    choice("state", "Result", statesSeen()),
    choice("outcome", "Outcome", [["", "any"], ...outcomes]),
    ...known.map(([key, title, values]) => choice(key, title, [["", "any"], ...values])),
    ...(groups.length > 1 ? [choice("group", "Dataset", [["", "any"], ...groups])] : []),
  );
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

/** Each value once, in its order, as what is chosen and what is shown. */
function pairsOf(values) {
  const known = [...new Set(values)].filter((value) => value !== null);
  return known.sort((a, b) => (a > b) - (a < b)).map((value) => [String(value), String(value)]);
}

function statesSeen() {
  const seen = lettersSeen();
  const possible = (key) => key === "" || seen.has(key) || (key === "differ" && index.runs.length > 1);
  return Object.entries(STATES).filter(([key]) => possible(key));
}

function lettersSeen() {
  return new Set(index.questions.flatMap((question) => [...question.marks]));
}

function choice(key, title, options) {
  const select = el("select", { id: `by-${key}`, onchange: (event) => choose(key, event.target.value) });
  select.append(...options.map(([value, text]) => el("option", { value }, text)));
  return control(key, title, select);
}

function control(key, title, input) {
  return el(
    "div",
    { class: key === "text" ? "control wide" : "control" },
    el("label", { for: `by-${key}` }, title),
    input,
  );
}

function choose(key, value) {
  chosen[key] = value;
  filter();
}

function filter() {
  const words = chosen.text.toLowerCase().split(/\s+/).filter(Boolean);
  left = [...index.questions.keys()].filter((at) => fits(index.questions[at], words));
  drawList(0);
}

function fits(question, words) {
  const agrees = (key) => chosen[key] === "" || String(question[key]) === chosen[key];
  if (!["hops", "kind", "level", "group"].every(agrees)) return false;
  question.sought ??= [question.id, question.text, question.words].join(" ").toLowerCase();
  if (!words.every((word) => question.sought.includes(word))) return false;
  return !(chosen.run || chosen.state || chosen.outcome) || places(question).some((at) => done(question, at));
}

/** The places of the question's marks that the choice of a run leaves. */
function places(question) {
  const all = runsOf(question).map((_, at) => at);
  const run = index.runs[chosen.run];
  const asked = all.filter((at) => question.marks[at] !== NOT_ASKED);
  return chosen.run === "" ? asked : asked.filter((at) => runsOf(question)[at] === run);
}

function done(question, at) {
  if (chosen.outcome && question.outcomes[at] !== chosen.outcome) return false;
  if (chosen.state === "differ") return new Set(question.marks.replaceAll(NOT_ASKED, "")).size > 1;
  return !chosen.state || question.marks[at] === chosen.state;
}
