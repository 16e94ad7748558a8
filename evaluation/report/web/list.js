// The filters, the search, and the list of questions that they leave, a page at a time.

const PAGE = 100;

/** What the filters are set to, and the places in the index that they leave. */
let chosen = {};
let left = [];

function drawFilters() {
  const runs = index.runs.map((run, at) => [at, `${run.number} ${run.name}`]);
  const groups = index.groups.map((group, at) => [at, group.name]);
  const states = lettersSeen().map((letter) => [letter, MARKS[letter].words.split(":")[0]]);
  if (index.runs.length > 1) states.push(["differ", "runs differ"]);
  const choices = [
    ["run", "Run", runs, "any run"],
    ["state", "Result", states, "any result"],
    ["outcome", "Outcome", valuesOf("outcomes"), "any"],
    ...["hops", "kind", "level"].map((key) => [key, key[0].toUpperCase() + key.slice(1), valuesOf(key), "any"]),
    ["group", "Dataset", groups, "any"],
  ];
  const shown = choices.filter(([, , options], at) => at < 3 || options.length > 1);
  byId("filters").append(...shown.map((choice) => drawChoice(...choice)));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("input", filter);
}

function drawChoice(key, title, options, any) {
  const made = [["", any], ...options].map(([value, text]) => el("option", { value }, text));
  const select = el("select", { id: `by-${key}`, name: key }, made);
  return el("div", {}, el("label", { for: select.id }, title), select);
}

/** What the questions have under a key, each value once and in order, as what is chosen and what is shown. */
function valuesOf(key) {
  const known = new Set(index.questions.flatMap((question) => question[key] ?? []).filter((value) => value !== null));
  return [...known].sort((a, b) => (a > b) - (a < b)).map((value) => [value, value]);
}

function lettersSeen() {
  const seen = new Set(index.questions.flatMap((question) => [...question.marks]));
  return Object.keys(MARKS).filter((letter) => seen.has(letter));
}

function filter() {
  chosen = Object.fromEntries(new FormData(byId("filters")));
  const words = chosen.text.toLowerCase().split(/\s+/).filter(Boolean);
  left = [...index.questions.keys()].filter((at) => fits(index.questions[at], words));
  drawList(0);
}

function fits(question, words) {
  const agrees = (key) => !chosen[key] || String(question[key]) === chosen[key];
  if (!["hops", "kind", "level", "group"].every(agrees)) return false;
  question.searched ??= [question.id, question.text, question.words].join(" ").toLowerCase();
  if (!words.every((word) => question.searched.includes(word))) return false;
  if (!(chosen.run || chosen.state || chosen.outcome)) return true;
  return runsOf(question).some((run, at) => fitsRun(question, run, at));
}

/** Whether what a run made of a question fits; ``at`` is the place of its mark. */
function fitsRun(question, run, at) {
  if (question.marks[at] === NOT_ASKED) return false;
  if (chosen.run && run !== index.runs[chosen.run]) return false;
  if (chosen.outcome && question.outcomes[at] !== chosen.outcome) return false;
  if (chosen.state === "differ") return new Set(question.marks.replaceAll(NOT_ASKED, "")).size > 1;
  return !chosen.state || question.marks[at] === chosen.state;
}

function drawList(page) {
  const first = page * PAGE;
  const shown = left.slice(first, first + PAGE);
  const last = Math.ceil(left.length / PAGE) - 1;
  const range = last > 0 ? `, ${format(first + 1)} to ${format(first + shown.length)} shown` : "";
  byId("count").textContent = left.length
    ? `${plural(left.length, "question")} of ${format(index.questions.length)}${range}`
    : "No question fits; take a filter away.";
  byId("list").replaceChildren(...shown.map(drawLine));
  const turn = (title, to) => {
    const go = () => {
      drawList(to);
      byId("questions").scrollIntoView();
    };
    return el("button", { type: "button", disabled: to < 0 || to > last, onclick: go }, title);
  };
  const now = el("span", {}, `page ${page + 1} of ${last + 1}`);
  const turns = last > 0 ? [turn("Previous page", page - 1), now, turn("Next page", page + 1)] : [];
  byId("pages").replaceChildren(...turns);
}

/** What the signs mean, and over them, where all questions have the same runs, the runs' numbers. */
function drawKey() {
  const runs = index.groups.length === 1 ? index.runs : [];
  const numbers = runs.map((run) => el("span.mark", { title: run.name }, run.number));
  const signs = lettersSeen().map((letter) => el("span", {}, drawMark(letter), ` ${MARKS[letter].state}`));
  byId("key").replaceChildren(el("span.row", {}, signs), el("span.row.marks", { "aria-hidden": "true" }, numbers));
}

function drawLine(at) {
  const question = index.questions[at];
  const marks = runsOf(question).map((run, place) => drawMark(question.marks[place], run));
  const text = el("span.text", {}, label(question.text), el("small", {}, label(factsOf(question))));
  return el("li", {}, el("a", { href: linkTo(question) }, text, el("span.row.marks", {}, marks)));
}

/** The address of a question: #q=ID, and the number of the dataset if it is not the first. */
function linkTo(question) {
  const place = question.group ? { d: question.group + 1 } : {};
  return `#${new URLSearchParams({ q: question.id, ...place })}`;
}
