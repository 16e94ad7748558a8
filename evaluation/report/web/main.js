// Opens the page, and the question that its address names.

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
  const content =
    at < 0 ? [bar(-1), notice("No question has the id ", said(id), ".")] : await drawQuestion(at);
  if (location.hash !== address) return; // another question was opened meanwhile
  view.replaceChildren(...content);
  view.scrollIntoView();
  view.querySelector("h3")?.focus({ preventScroll: true });
}

function notice(...words) {
  return el("p", { class: "notice" }, words);
}

async function drawQuestion(at) {
  const question = index.questions[at];
  const found = await detailsOf(at);
  return [
    bar(at),
    el("h3", { tabindex: "-1" }, said(question.text)),
    el("p", { class: "about" }, said(toldOf(question))),
    drawGoldBlock(question, found),
    ...drawRuns(question, found),
  ];
}

/** Back to the list, and to the neighbours in it. */
function bar(at) {
  const place = left.indexOf(at);
  const step = (title, to) => {
    const next = place < 0 ? undefined : left[to];
    return next === undefined
      ? el("span", { class: "off" }, title)
      : el("a", { href: linkTo(index.questions[next]) }, title);
  };
  return el(
    "nav",
    { class: "bar", "aria-label": "Questions" },
    el("a", { href: "#questions" }, "All questions"),
    step("Previous", place - 1),
    step("Next", place + 1),
  );
}

function drawGoldBlock(question, found) {
  const topics = found.topics.length ? found.topics.map(nameOf).join(", ") : "not given";
  const gold = found.readings.map((reading, at) =>
    block(
      found.readings.length > 1
        ? `Gold answers, reading ${at + 1}`
        : plural(reading.all, "gold answer", "gold answers"),
      drawNames(reading),
    ),
  );
  const none = index.groups[question.group].gold ? "None: this question is not scored." : "Not at hand.";
  return el(
    "div",
    { class: "gold" },
    block("Topics", el("p", {}, said(topics))),
    gold.length ? gold : block("Gold answers", el("p", { class: "none" }, none)),
    found.paths.length
      ? block(
          "Gold path",
          found.paths.map((path) => drawGold(path, found.topics)),
        )
      : null,
    found.sparql
      ? block("Gold query", el("details", {}, el("summary", {}, "SPARQL"), el("pre", {}, found.sparql)))
      : null,
  );
}

function drawRuns(question, found) {
  const runs = runsOf(question);
  const shown = runs.length <= SIDE_BY_SIDE ? runs : runs.filter((run) => picked.has(run));
  const columns = (shown.length ? shown : runs.slice(0, SIDE_BY_SIDE)).map((run) => {
    const place = runs.indexOf(run);
    return drawRun(run, question.marks[place], found.runs[place]);
  });
  return [
    runs.length > SIDE_BY_SIDE ? picker(question, found, runs) : null,
    el("div", { class: "runs" }, columns),
  ].filter(Boolean);
}

/** Buttons that choose which of many runs stand side by side. */
function picker(question, found, runs) {
  if (!runs.some((run) => picked.has(run))) runs.slice(0, SIDE_BY_SIDE).forEach((run) => picked.add(run));
  const toggle = (run) => {
    if (!picked.delete(run)) picked.add(run);
    byId("question").querySelector(".picker").remove();
    byId("question")
      .querySelector(".runs")
      .replaceWith(...drawRuns(question, found));
  };
  const buttons = runs.map((run, at) => {
    const mark = MARKS[question.marks[at]];
    const button = el(
      "button",
      {
        type: "button",
        "aria-pressed": String(picked.has(run)),
        title: run.name,
        onclick: () => toggle(run),
      },
      String(run.number),
    );
    if (mark) button.append(el("span", { class: `mark ${mark.state}` }, mark.sign));
    return button;
  });
  return el("div", { class: "picker", role: "group", "aria-label": "Runs side by side" }, "Runs", buttons);
}

async function begin() {
  document.querySelectorAll("table.sortable").forEach(sortable);
  index = await unpack("index");
  drawFilters();
  drawKey();
  filter();
  await open();
  addEventListener("hashchange", open);
}

begin().catch((error) => byId("questions").append(notice(`The questions cannot be shown: ${error.message}`)));
