// Opens the page: makes elements, unpacks the data, sorts tables, and shows the question of the address.

/** Make an element: its name and classes, attributes ("on<event>" listens), then children or text.
 * Elements are made here and nowhere else. Text is text: labels of a graph are anybody's. */
function el(kind, attributes, ...children) {
  const [name, ...classes] = kind.split(".");
  const made = document.createElement(name);
  made.classList.add(...classes.filter(Boolean));
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => (child ?? null) !== null));
  return made;
}

/** A label of the graph or a model's words, kept apart from the direction of the text around it. */
function label(text) {
  return el("bdi", {}, String(text));
}

/** What a node or an answer is called. */
function nameOf(ref) {
  return String((ref && (ref.name || ref.id)) ?? "?");
}

/** The part of an IRI after its last "#" or "/". */
function localName(iri) {
  const parts = String(iri).split(/[#/]+/).filter(Boolean);
  return parts.pop() || String(iri);
}

function format(number, digits = 0) {
  return number.toLocaleString("en", { maximumFractionDigits: digits });
}

function plural(count, one) {
  return `${format(count)} ${one}${count === 1 ? "" : "s"}`;
}

function byId(id) {
  return document.getElementById(id);
}

/** The index of all questions, once it is unpacked; their details are in parts. */
let index = null;

/** Unpack the gzipped JSON of a script element. */
async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const parts = new Map();

/** Return the details of a question; its part is unpacked when it is first needed. */
async function detailsOf(at) {
  const number = Math.floor(at / index.part);
  if (!parts.has(number)) parts.set(number, unpack(`part-${number}`));
  return (await parts.get(number))[at % index.part];
}

/** The runs that a question's dataset has, in the order of its marks. */
function runsOf(question) {
  return index.runs.filter((run) => run.group === question.group);
}

/** What is known of a question beside its text. */
function factsOf(question) {
  const hops = question.hops ? plural(question.hops, "hop") : null;
  return [question.id, hops, question.kind, question.level].filter(Boolean).join(" · ");
}

/** How a run did on a question, by its letter in the index; what stands before ":" is what a filter says. */
const MARKS = {
  r: { state: "right", sign: "✓", words: "right: all gold answers and no other" },
  p: { state: "partly", sign: "≈", words: "partly right" },
  w: { state: "wrong", sign: "✗", words: "wrong" },
  f: { state: "failed", sign: "!", words: "failed" },
  u: { state: "unscored", sign: "?", words: "not scored: no gold" },
  m: { state: "missing", sign: "–", words: "missing: no record" },
};

const NOT_ASKED = ".";

/** The sign of a mark; with its run where one has to be told. */
function drawMark(letter, run) {
  const mark = MARKS[letter] ?? { state: "", sign: "", words: "not asked" };
  if (!run) return el(`span.mark.${mark.state}`, {}, mark.sign);
  const title = `run ${run.number}, ${run.name}: ${mark.words}`;
  const words = el("span.unseen", {}, `run ${run.number} ${mark.state} `);
  return el(`span.mark.${mark.state}`, { title }, words, el("span", { "aria-hidden": "true" }, mark.sign));
}

/** Let a click on a title sort a table; what is not known comes last either way. */
function sortable(table) {
  const buttons = [...table.tHead.querySelectorAll("button")];
  buttons.forEach((button, column) => button.addEventListener("click", () => sort(table, column)));
}

/** Numbers that are results are sorted from the greatest at first, the rest from the least. */
function sort(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows];
  const first = rows[0]?.cells[column].classList.contains("number") ? "none" : "ascending";
  const falling = heads[column].getAttribute("aria-sort") === first;
  heads.forEach((head) => head.setAttribute("aria-sort", "none"));
  heads[column].setAttribute("aria-sort", falling ? "descending" : "ascending");
  const keyOf = (row) => row.cells[column].dataset.key ?? "";
  table.tBodies[0].append(...rows.sort((a, b) => compare(keyOf(a), keyOf(b), falling)));
}

function compare(a, b, falling) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const order = Number(a) - Number(b) || a.localeCompare(b, "en", { numeric: true });
  return falling ? -order : order;
}

/** Say over each table that is wider than the page how many columns are out of sight. */
function tellWidths() {
  for (const frame of document.querySelectorAll(".scroll")) {
    const edge = frame.getBoundingClientRect().right + 1;
    const heads = [...frame.querySelectorAll("thead th")];
    const hidden = heads.filter((head) => head.getBoundingClientRect().right > edge).length;
    const note = frame.previousElementSibling;
    note.hidden = hidden === 0;
    note.textContent = `${plural(hidden, "more column")} to the right: scroll the table sideways.`;
  }
}

const SIDE_BY_SIDE = 4;

/** Runs that are shown side by side, as far as they are chosen; the first ones else. */
const picked = new Set();

async function open() {
  const address = location.hash;
  const named = new URLSearchParams(address.slice(1));
  const id = named.get("q");
  const view = byId("question");
  byId("browser").hidden = id !== null;
  view.hidden = id === null;
  if (id === null) return;
  const group = Number(named.get("d") ?? 1) - 1;
  const at = index.questions.findIndex((question) => question.id === id && question.group === group);
  const unknown = el("p.notice", {}, "No question has the id ", label(id), ".");
  const content = at < 0 ? [unknown] : await drawQuestion(at);
  if (location.hash !== address) return; // another question was opened meanwhile
  view.replaceChildren(drawBar(at), ...content);
  view.scrollIntoView();
  view.querySelector("h3")?.focus({ preventScroll: true });
}

async function drawQuestion(at) {
  const question = index.questions[at];
  const details = await detailsOf(at);
  return [
    el("h3", { tabindex: "-1" }, label(question.text)),
    el("p.about", {}, label(factsOf(question))),
    drawGold(question, details),
    ...drawRuns(question, details),
  ];
}

/** Back to the list, and to the neighbours in it. */
function drawBar(at) {
  const place = left.indexOf(at);
  const step = (title, to) => {
    const next = place < 0 ? undefined : index.questions[left[to]];
    return next ? el("a", { href: linkTo(next) }, title) : el("span.off", {}, title);
  };
  const back = el("a", { href: "#questions" }, "All questions");
  return el("nav.bar.row", { "aria-label": "Questions" }, back, step("Previous", place - 1), step("Next", place + 1));
}

function drawGold(question, details) {
  const topics = details.topics.length ? details.topics.map(nameOf).join(", ") : "not given";
  const title = (reading, at) =>
    details.readings.length > 1 ? `Gold answers, reading ${at + 1}` : plural(reading.all, "gold answer");
  const gold = details.readings.map((reading, at) => block(title(reading, at), drawNames(reading)));
  const why = index.groups[question.group].gold ? "None: this question is not scored." : "Not at hand.";
  const paths = details.paths.map((path) => drawGoldPath(path, details.topics));
  const query = () => el("details", {}, el("summary", {}, "SPARQL"), el("pre", {}, details.sparql));
  return el(
    "div.gold.row",
    {},
    block("Topics", label(topics)),
    gold.length ? gold : block("Gold answers", none(why)),
    paths.length ? block("Gold path", paths) : null,
    details.sparql ? block("Gold query", query()) : null,
  );
}

function drawRuns(question, details) {
  const runs = runsOf(question);
  if (!runs.some((run) => picked.has(run))) runs.slice(0, SIDE_BY_SIDE).forEach((run) => picked.add(run));
  const few = runs.length <= SIDE_BY_SIDE;
  const columns = runs.map((run, at) =>
    few || picked.has(run) ? drawRun(run, question.marks[at], details.runs[at]) : null,
  );
  const choice = few ? "" : drawPicker(question, details, runs);
  return [choice, el("div.runs", {}, columns)];
}

/** Buttons that choose which of many runs stand side by side. */
function drawPicker(question, details, runs) {
  const toggle = (run) => {
    if (!picked.delete(run)) picked.add(run);
    const view = byId("question");
    view.querySelector(".picker").remove();
    view.querySelector(".runs").replaceWith(...drawRuns(question, details));
  };
  const buttons = runs.map((run, at) => {
    const state = { "aria-pressed": picked.has(run).toString(), title: run.name };
    const sign = drawMark(question.marks[at]);
    return el("button", { type: "button", ...state, onclick: () => toggle(run) }, `${run.number} `, sign);
  });
  return el("div.picker.row", { role: "group", "aria-label": "Runs side by side" }, "Runs", buttons);
}

async function begin() {
  document.querySelectorAll("table").forEach(sortable);
  document.querySelectorAll(".scroll").forEach((frame) => frame.addEventListener("scroll", tellWidths));
  addEventListener("resize", tellWidths);
  tellWidths();
  index = await unpack("index");
  drawFilters();
  drawKey();
  filter();
  await open();
  addEventListener("hashchange", open);
}

begin().catch((error) =>
  byId("questions").append(el("p.notice", {}, `The questions cannot be shown: ${error.message}`)),
);
