// The list of questions, a page at a time.

const PAGE = 100;

function drawList(page) {
  const first = page * PAGE;
  const shown = left.slice(first, first + PAGE);
  byId("count").textContent = counted(first, shown.length);
  byId("list").replaceChildren(...shown.map(drawLine));
  const last = Math.ceil(left.length / PAGE) - 1;
  const now = el("span", {}, `page ${page + 1} of ${last + 1}`);
  const turns = [turn("Previous page", page - 1, page > 0), now, turn("Next page", page + 1, page < last)];
  byId("pages").replaceChildren(...(last < 1 ? [] : turns));
}

function counted(first, shown) {
  if (!left.length) return "No question fits; take a filter away.";
  const all = index.questions.length.toLocaleString("en");
  const range = `${(first + 1).toLocaleString("en")} to ${(first + shown).toLocaleString("en")}`;
  return `${plural(left.length, "question", "questions")} of ${all}${left.length > PAGE ? `, ${range} shown` : ""}`;
}

function turn(title, to, possible) {
  const go = () => {
    drawList(to);
    byId("questions").scrollIntoView();
  };
  return el("button", { type: "button", disabled: !possible, onclick: go }, title);
}

/** What the signs mean, and over them, where all questions have the same runs, the runs' numbers. */
function drawKey() {
  const seen = lettersSeen();
  const signs = Object.entries(MARKS).filter(([letter]) => seen.has(letter));
  const runs = index.groups.length === 1 ? index.runs : [];
  const numbers = runs.map((run) => el("span", { class: "mark", title: run.name }, String(run.number)));
  byId("key").replaceChildren(
    el(
      "span",
      { class: "signs" },
      signs.map(([, mark]) =>
        el("span", {}, el("span", { class: `mark ${mark.state}` }, mark.sign), ` ${mark.state}`),
      ),
    ),
    el("span", { class: "marks", "aria-hidden": "true" }, numbers),
  );
}

function drawLine(at) {
  const question = index.questions[at];
  const marks = runsOf(question).map((run, place) => drawMark(run, question.marks[place]));
  return el(
    "li",
    {},
    el(
      "a",
      { href: linkTo(question) },
      el("span", { class: "text" }, said(question.text), el("small", {}, said(toldOf(question)))),
      el("span", { class: "marks" }, marks),
    ),
  );
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
  return `#${new URLSearchParams(question.group ? { q: question.id, d: question.group + 1 } : { q: question.id })}`;
}
