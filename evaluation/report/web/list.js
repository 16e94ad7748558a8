// The filters, the search, and the list of questions that they leave, a page at a time.

const PAGE = 100;

const chosen = { run: "", state: "", outcome: "", hops: "", kind: "", level: "", group: "", text: "" };

/** The places in the index that the filters leave. */
let left = [];

function drawFilters() {
  const search = el("input", {
    id: "by-text",
    type: "search",
    placeholder: "words of question, id, topic or answer",
    oninput: (event) => choose("text", event.target.value),
  });
  const runs = index.runs.map((run, at) => [String(at), `${run.number} ${run.name}`]);
  const groups = index.groups.map((group, at) => [String(at), group.name]);
  const outcomes = optionsOf(index.questions.flatMap((question) => question.outcomes));
  const known = Object.entries({ hops: "Hops", kind: "Kind", level: "Level" })
    .map(([key, title]) => [key, title, optionsOf(index.questions.map((question) => question[key]))])
    .filter(([, , values]) => values.length > 1);
  const seen = lettersSeen();
  const states = Object.entries(MARKS).filter(([letter]) => seen.has(letter));
  const differ = index.runs.length > 1 ? [["differ", "runs differ"]] : [];
  byId("filters").append(
    control("text", "Search", search),
    choice("run", "Run", [["", "any run"], ...runs]),
    choice("state", "Result", [
      ["", "any result"],
      ...states.map(([letter, mark]) => [letter, mark.words.split(":")[0]]),
      ...differ,
    ]),
    choice("outcome", "Outcome", [["", "any"], ...outcomes]),
    ...known.map(([key, title, values]) => choice(key, title, [["", "any"], ...values])),
    ...(groups.length > 1 ? [choice("group", "Dataset", [["", "any"], ...groups])] : []),
  );
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

/** Each value once, in its order, as what is chosen and what is shown. */
function optionsOf(values) {
  const known = [...new Set(values)].filter((value) => value !== null);
  return known.sort((a, b) => (a > b) - (a < b)).map((value) => [String(value), String(value)]);
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
  const label = el("label", { for: `by-${key}` }, title);
  return el("div", { class: key === "text" ? "control wide" : "control" }, label, input);
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
  question.searched ??= [question.id, question.text, question.words].join(" ").toLowerCase();
  if (!words.every((word) => question.searched.includes(word))) return false;
  if (!(chosen.run || chosen.state || chosen.outcome)) return true;
  return runsOf(question).some((run, at) => fitsRun(question, run, at));
}

/** Whether what a run made of a question fits; ``at`` is the place of its mark. */
function fitsRun(question, run, at) {
  if (question.marks[at] === NOT_ASKED) return false;
  if (chosen.run !== "" && run !== index.runs[chosen.run]) return false;
  if (chosen.outcome && question.outcomes[at] !== chosen.outcome) return false;
  if (chosen.state === "differ") return new Set(question.marks.replaceAll(NOT_ASKED, "")).size > 1;
  return !chosen.state || question.marks[at] === chosen.state;
}

function drawList(page) {
  const first = page * PAGE;
  const shown = left.slice(first, first + PAGE);
  byId("count").textContent = countText(first, shown.length);
  byId("list").replaceChildren(...shown.map(drawLine));
  const last = Math.ceil(left.length / PAGE) - 1;
  const now = el("span", {}, `page ${page + 1} of ${last + 1}`);
  const turns = [
    pageButton("Previous page", page - 1, page > 0),
    now,
    pageButton("Next page", page + 1, page < last),
  ];
  byId("pages").replaceChildren(...(last < 1 ? [] : turns));
}

function countText(first, shown) {
  if (!left.length) return "No question fits; take a filter away.";
  const all = index.questions.length.toLocaleString("en");
  const range = `${(first + 1).toLocaleString("en")} to ${(first + shown).toLocaleString("en")}`;
  return `${plural(left.length, "question", "questions")} of ${all}${left.length > PAGE ? `, ${range} shown` : ""}`;
}

function pageButton(title, to, possible) {
  const go = () => {
    drawList(to);
    byId("questions").scrollIntoView();
  };
  return el("button", { type: "button", disabled: !possible, onclick: go }, title);
}

/** What the signs mean, and over them, where all questions have the same runs, the runs' numbers. */
function drawKey() {
  const seen = lettersSeen();
  const signs = Object.entries(MARKS)
    .filter(([letter]) => seen.has(letter))
    .map(([, mark]) => el("span", {}, el("span", { class: `mark ${mark.state}` }, mark.sign), ` ${mark.state}`));
  const runs = index.groups.length === 1 ? index.runs : [];
  const numbers = runs.map((run) => el("span", { class: "mark", title: run.name }, String(run.number)));
  byId("key").replaceChildren(
    el("span", { class: "signs" }, signs),
    el("span", { class: "marks", "aria-hidden": "true" }, numbers),
  );
}

function drawLine(at) {
  const question = index.questions[at];
  const marks = runsOf(question).map((run, place) => drawMark(run, question.marks[place]));
  const text = el("span", { class: "text" }, label(question.text), el("small", {}, label(factsOf(question))));
  return el("li", {}, el("a", { href: linkTo(question) }, text, el("span", { class: "marks" }, marks)));
}

function drawMark(run, letter) {
  const mark = MARKS[letter];
  if (!mark) return el("span", { class: "mark none", title: `run ${run.number}: not asked` });
  return el(
    "span",
    { class: `mark ${mark.state}`, title: `run ${run.number}, ${run.name}: ${mark.words}` },
    el("span", { class: "unseen" }, `run ${run.number} ${mark.state} `),
    el("span", { "aria-hidden": "true" }, mark.sign),
  );
}

/** The address of a question: #q=ID, and the number of the dataset if it is not the first. */
function linkTo(question) {
  const place = question.group ? { d: question.group + 1 } : {};
  return `#${new URLSearchParams({ q: question.id, ...place })}`;
}
