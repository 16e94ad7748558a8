// What one run made of a question: answers with their marks, paths, evidence, trace, cost.

const OUTCOMES = {
  __proto__: null, // an outcome may be called "constructor"
  grounded: "from the graph",
  grounded_inference: "inferred from facts of the graph",
  parametric: "from the model’s memory, not from the graph",
  none: "no answer",
  kg_unavailable: "the graph was not available",
  model_unavailable: "the model was not available",
};

/** Six blocks for each run, so that those of several runs stand side by side. */
function drawRun(run, letter, found) {
  const mark = MARKS[letter];
  const sign = mark ? el("span", { class: `mark ${mark.state}` }, `${mark.sign} ${mark.state}`) : null;
  return el(
    "section",
    { class: "run", "aria-label": `Run ${run.number}` },
    el("h4", {}, `${run.number} `, said(run.name), sign),
    found
      ? drawFound(found)
      : none(letter === NOT_ASKED ? "This run was not asked this question." : "No record."),
  );
}

function drawFound(found) {
  const parts = {
    Answers: drawAnswers,
    Paths: drawPaths,
    Evidence: drawEvidence,
    Trace: drawTrace,
    Cost: drawUsage,
  };
  return Object.entries(parts).map(([title, draw]) => {
    try {
      return draw(found);
    } catch (error) {
      return block(title, none("Not in the form of a record of kgqa."));
    }
  });
}

function none(words) {
  return el("p", { class: "none" }, words);
}

function block(title, ...content) {
  return el("div", { class: "block" }, el("h5", {}, title), content);
}

function drawAnswers(found) {
  const limit = found.stopped_by ? `stopped by the limit of ${found.stopped_by}` : null;
  const outcome = [OUTCOMES[found.outcome] ?? found.outcome, limit].filter(Boolean).join(" · ");
  return block(
    plural(found.answers.all, "answer", "answers"),
    found.error ? el("p", { class: "error" }, said(found.error)) : null,
    el("p", { class: "outcome" }, said(outcome), found.score ? el("span", {}, scored(found.score)) : null),
    el("ul", { class: "answers" }, found.answers.items.map(drawAnswer)),
    more(found.answers),
    found.missed.all ? drawMissed(found.missed) : null,
  );
}

function scored(score) {
  const parts = { F1: score.f1, precision: score.precision, recall: score.recall };
  return Object.entries(parts)
    .map(([name, value]) => `${name} ${value.toFixed(2)}`)
    .join(", ");
}

function drawMissed(missed) {
  const title = `${plural(missed.all, "gold answer", "gold answers")} missed`;
  return el("details", { open: missed.all <= 5 }, el("summary", {}, title), drawNames(missed));
}

function drawAnswer(answer) {
  const known = answer.right !== null;
  const words = known ? (answer.right ? "right" : "wrong") : "not scored";
  return el(
    "li",
    { class: words, title: answer.id },
    el("span", { class: "sign", "aria-hidden": "true" }, known ? (answer.right ? "✓" : "✗") : "·"),
    said(nameOf(answer)),
    el("span", { class: "unseen" }, `, ${words}`),
  );
}

function drawNames(cut) {
  return [
    el(
      "ul",
      { class: "names" },
      cut.items.map((item) => el("li", { title: item.id }, said(nameOf(item)))),
    ),
    more(cut),
  ];
}

function more(cut) {
  const left = cut.all - cut.items.length;
  return left > 0 ? none(`and ${left.toLocaleString("en")} more, in results.jsonl`) : null;
}

function drawPaths(found) {
  const drawn = found.paths.map((path) => drawPath(path, found.answers.all));
  return block(drawn.length === 1 ? "Path" : "Paths", drawn.length ? drawn : none("No path in the graph."));
}

function drawEvidence(found) {
  const facts = found.evidence;
  if (!facts.all) return block("Evidence", none("No facts."));
  const lines = el("ul", { class: "facts-list" }, facts.items.map(drawFact));
  const title = el("summary", {}, plural(facts.all, "fact", "facts"));
  return block("Evidence", el("details", {}, title, lines), more(facts));
}

function drawFact(fact) {
  const relation = el("span", { class: "relation", title: fact.relation }, said(localName(fact.relation)));
  return el("li", {}, said(nameOf(fact.head)), " ", relation, " ", said(nameOf(fact.tail)));
}

const COSTS = [
  ["llm_calls", "LLM calls", 0],
  ["cached_calls", "from the cache", 0],
  ["input_tokens", "tokens in", 0],
  ["output_tokens", "tokens out", 0],
  ["kg_queries", "KG queries", 0],
  ["seconds", "seconds", 2],
];

function drawUsage(found) {
  const known = COSTS.filter(([key]) => (found.usage[key] ?? null) !== null);
  const rows = known.map(([key, title, digits]) => {
    const value = found.usage[key].toLocaleString("en", { maximumFractionDigits: digits });
    return el("div", {}, el("dt", {}, title), el("dd", {}, value));
  });
  return block("Cost", rows.length ? el("dl", { class: "cost" }, rows) : none("Not known."));
}
