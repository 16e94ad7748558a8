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

const BLOCKS = {
  Answers: drawAnswers,
  Paths: drawPaths,
  Evidence: drawEvidence,
  Trace: drawTrace,
  Cost: drawUsage,
};

const COSTS = [
  ["llm_calls", "LLM calls", 0],
  ["cached_calls", "from the cache", 0],
  ["input_tokens", "tokens in", 0],
  ["output_tokens", "tokens out", 0],
  ["kg_queries", "KG queries", 0],
  ["seconds", "seconds", 2],
];

/** Keys of a step that have a place of their own. */
const PLACED = new Set(["node", "decision", "chain", "topics", "chosen", "reason", "error", "failure"]);

/** Six blocks for each run, so that those of several runs stand side by side. */
function drawRun(run, letter, record) {
  const mark = MARKS[letter];
  const sign = mark ? el("span", { class: `mark ${mark.state}` }, `${mark.sign} ${mark.state}`) : null;
  return el(
    "section",
    { class: "run", "aria-label": `Run ${run.number}` },
    el("h4", {}, `${run.number} `, label(run.name), sign),
    record
      ? Object.entries(BLOCKS).map(([title, draw]) => drawBlock(title, draw, record))
      : none(letter === NOT_ASKED ? "This run was not asked this question." : "No record."),
  );
}

function drawBlock(title, draw, record) {
  try {
    return draw(record);
  } catch (error) {
    return block(title, none("Not in the form of a record of kgqa."));
  }
}

function none(words) {
  return el("p", { class: "none" }, words);
}

function block(title, ...content) {
  return el("div", { class: "block" }, el("h5", {}, title), content);
}

function drawAnswers(record) {
  const limit = record.stopped_by ? `stopped by the limit of ${record.stopped_by}` : null;
  const outcome = [OUTCOMES[record.outcome] ?? record.outcome, limit].filter(Boolean).join(" · ");
  return block(
    plural(record.answers.all, "answer", "answers"),
    record.error ? el("p", { class: "error" }, label(record.error)) : null,
    el("p", { class: "outcome" }, label(outcome), record.score ? el("span", {}, scoreText(record.score)) : null),
    el("ul", { class: "answers" }, record.answers.items.map(drawAnswer)),
    leftOut(record.answers),
    record.missed.all ? drawMissed(record.missed) : null,
  );
}

function scoreText(score) {
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
  const [words, sign] = { true: ["right", "✓"], false: ["wrong", "✗"], null: ["not scored", "·"] }[answer.right];
  return el(
    "li",
    { class: words, title: answer.id },
    el("span", { class: "sign", "aria-hidden": "true" }, sign),
    label(nameOf(answer)),
    el("span", { class: "unseen" }, `, ${words}`),
  );
}

function drawNames(cut) {
  const names = cut.items.map((item) => el("li", { title: item.id }, label(nameOf(item))));
  return [el("ul", { class: "names" }, names), leftOut(cut)];
}

function leftOut(cut) {
  const left = cut.all - cut.items.length;
  return left > 0 ? none(`and ${left.toLocaleString("en")} more, in results.jsonl`) : null;
}

function drawPaths(record) {
  const drawn = record.paths.map((path) => drawPath(path, record.answers.all));
  return block(drawn.length === 1 ? "Path" : "Paths", drawn.length ? drawn : none("No path in the graph."));
}

/** Draw a path of a record: topic -relation-> ? -> answer; an end that stays open stands for all answers. */
function drawPath(path, answers) {
  const steps = path.map((step) => [step.relation, step.forward, step.tail]);
  return drawSteps(path[0]?.head, steps, answers);
}

/** Draw a gold path: a topic and the names of relations, with "^" against the arrow. */
function drawGoldPath(path, topics) {
  const topic = topics.find((one) => one.id === path.topic) ?? (path.topic ? { id: path.topic } : topics[0]);
  const steps = path.relations.map((name) => [name.replace(/^\^/, ""), !name.startsWith("^"), null]);
  return drawSteps(topic, steps);
}

function drawSteps(topic, steps, answers) {
  const drawn = steps.map(([relation, forward, node], at) => {
    const role = at === steps.length - 1 ? "answer" : "between";
    return el("li", {}, drawArrow(relation, forward), drawNode(node, role, answers));
  });
  return el("ol", { class: "path" }, el("li", {}, drawNode(topic, "topic")), drawn);
}

function drawNode(ref, role, answers) {
  const open = !ref || (ref.id === null && !ref.name);
  const all = role === "answer" && answers > 1 ? plural(answers, "answer", "answers") : "?";
  const text = open ? all : nameOf(ref);
  const title = ref?.id ?? (open && text === "?" ? "a node that stays open" : null);
  return el("span", { class: `node ${role}${open ? " open" : ""}`, title }, label(text));
}

function drawArrow(relation, forward) {
  const words = forward ? "along its arrow" : "against its arrow";
  return el(
    "span",
    { class: forward ? "arrow forward" : "arrow backward", title: `${relation}, ${words}` },
    el("span", { class: "relation" }, label(localName(relation))),
    el("span", { class: "unseen" }, `, ${words}`),
  );
}

function drawEvidence(record) {
  const facts = record.evidence;
  if (!facts.all) return block("Evidence", none("No facts."));
  const lines = el("ul", { class: "facts-list" }, facts.items.map(drawFact));
  const title = el("summary", {}, plural(facts.all, "fact", "facts"));
  return block("Evidence", el("details", {}, title, lines), leftOut(facts));
}

function drawFact(fact) {
  const relation = el("span", { class: "relation", title: fact.relation }, label(localName(fact.relation)));
  return el("li", {}, label(nameOf(fact.head)), " ", relation, " ", label(nameOf(fact.tail)));
}

function drawTrace(record) {
  const steps = el("ol", { class: "trace" }, record.trace.map(drawStep));
  return block("Trace", record.trace.length ? steps : none("No trace."));
}

/** What a step decided, chose, set aside, and why. */
function drawStep(step) {
  const failed = [step.failure, step.error].filter(Boolean).join(": ");
  const decision = String(step.decision ?? "");
  const style = `decision ${/^\w+$/.test(decision) ? decision : ""}`;
  const others = Object.entries(step).filter(([key]) => !PLACED.has(key) || key === "chosen");
  const isList = ([key, value]) => Array.isArray(value) && key !== "tokens" && key !== "chosen";
  return el(
    "li",
    { class: failed ? "step failing" : "step" },
    el("p", {}, el("b", {}, label(step.node)), " ", el("span", { class: style }, label(decision))),
    step.chain ? el("p", {}, label(step.chain)) : null,
    step.topics ? drawItems("topics", step.topics.map(nameOf)) : null,
    Array.isArray(step.chosen) ? drawItems("chosen", step.chosen.map(words)) : null,
    others.filter(isList).map(([key, items]) => drawItems(key, items.map(words))),
    drawNotes(others),
    step.reason ? el("p", { class: "reason" }, label(step.reason)) : null,
    failed ? el("p", { class: "error" }, label(failed)) : null,
  );
}

function drawItems(title, items) {
  const shown = items.length ? items.map((item) => el("li", {}, label(item))) : el("li", {}, "nothing");
  return el("div", { class: "picked" }, drawKeyOf(title), el("ol", {}, shown));
}

/** Whatever else a step notes: tokens, numbers, limits, how many were set aside. */
function drawNotes(entries) {
  const noted = entries
    .map(([key, value]) => [key, key === "tokens" && Array.isArray(value) ? value.map(words).join(" + ") : value])
    .filter(([, value]) => !Array.isArray(value) && ![null, false, ""].includes(value))
    .map(([key, value]) => el("span", {}, drawKeyOf(key), " ", label(words(value))));
  return noted.length ? el("p", { class: "noted" }, noted) : null;
}

function drawKeyOf(key) {
  return el("span", { class: "key" }, key.replaceAll("_", " "));
}

function words(value) {
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return typeof value === "number" ? value.toLocaleString("en") : String(value);
  const pairs = () => Object.entries(value).map(([key, part]) => `${key.replaceAll("_", " ")} ${words(part)}`);
  return value.name ?? value.id ?? pairs().join("; ");
}

function drawUsage(record) {
  const known = COSTS.filter(([key]) => (record.usage[key] ?? null) !== null);
  const rows = known.map(([key, title, digits]) => {
    const value = record.usage[key].toLocaleString("en", { maximumFractionDigits: digits });
    return el("div", {}, el("dt", {}, title), el("dd", {}, value));
  });
  return block("Cost", rows.length ? el("dl", { class: "cost" }, rows) : none("Not known."));
}
