// What one run made of a question: answers with their marks, paths, evidence, trace, cost.

const BLOCKS = {
  "Read as": drawReading,
  Answers: drawAnswers,
  Paths: drawPaths,
  Evidence: drawEvidence,
  Trace: drawTrace,
  Cost: drawUsage,
};

/** Keys of a step that have a place of their own. */
const PLACED = new Set(["node", "decision", "chain", "topics", "reason", "error", "failure", "exchanges"]);

/** As many blocks for each run, so that those of several runs stand side by side. */
function drawRun(run, letter, record) {
  const mark = MARKS[letter];
  const sign = mark ? el(`span.mark.${mark.state}`, {}, `${mark.sign} ${mark.state}`) : null;
  const blocks = Object.entries(BLOCKS).map(([title, draw]) => drawBlock(title, draw, record));
  const nothing = none(letter === NOT_ASKED ? "This run was not asked this question." : "No record.");
  const head = el("h4", {}, `${run.number} `, label(run.name), sign);
  return el("section.run.card", { "aria-label": `Run ${run.number}` }, head, record ? blocks : nothing);
}

function drawBlock(title, draw, record) {
  try {
    return draw(record);
  } catch (error) {
    return block(title, none("Not in the form of a record of kgqa."));
  }
}

function none(words) {
  return el("p.none", {}, words);
}

function block(title, ...content) {
  return el("div.block", {}, el("h5", {}, title), content);
}

function drawReading(record) {
  const why = record.no_query ? none("No query gives the answers.") : null; // the query may be of an earlier version
  return block("Read as", record.reading ? label(record.reading) : why);
}

function drawAnswers(record) {
  const limit = record.stopped_by ? `stopped by the limit of ${record.stopped_by}` : null;
  const sure = record.confidence == null ? null : `confidence ${Number(record.confidence).toFixed(2)}`;
  const { outcomes } = index.labels; // an outcome may be called "constructor"
  const said = Object.hasOwn(outcomes, record.outcome) ? outcomes[record.outcome] : record.outcome;
  const outcome = [said, sure, limit].filter(Boolean).join(" · ");
  const { missed, score } = record;
  const rate = (key) => score[key].toFixed(2);
  const rates = score && `F1 ${rate("f1")}, precision ${rate("precision")}, recall ${rate("recall")}`;
  const title = el("summary", {}, `${plural(missed.all, "gold answer")} missed`);
  return block(
    plural(record.answers.all, "answer"),
    record.error ? el("p.error", {}, label(record.error)) : null,
    el("p.about", {}, label(outcome), el("small", {}, rates)),
    el("ul.answers.long", {}, record.answers.items.map(drawAnswer)),
    leftOut(record.answers),
    record.table?.columns.length > 1 ? drawTable(record.table) : null,
    missed.all ? el("details", { open: missed.all <= 5 }, title, drawNames(missed)) : null,
  );
}

function drawTable({ columns, rows }) {
  const head = el("tr", {}, columns.map((title) => el("th", { scope: "col" }, label(title))));
  const drawRow = (row) => el("tr", {}, row.map((cell) => el("td", { title: cell?.id }, cell && label(nameOf(cell)))));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, rows.items.map(drawRow)));
  return [el("div.scroll", {}, table), leftOut(rows)];
}

function drawAnswer(answer) {
  const [words, sign] = { true: ["right", "✓"], false: ["wrong", "✗"], null: ["not scored", "·"] }[answer.right];
  const before = el("span.sign", { "aria-hidden": "true" }, sign);
  return el(`li.row.${words.replace(" ", "-")}`, { title: answer.id }, before, label(nameOf(answer)), unseen(words));
}

/** Words for who cannot see a sign or an arrow. */
function unseen(words) {
  return el("span.unseen", {}, `, ${words}`);
}

function drawNames(cut) {
  const names = cut.items.map((item) => el("li", { title: item.id }, label(nameOf(item))));
  return [el("ul.row", {}, names), leftOut(cut)];
}

function leftOut(cut) {
  const more = cut.all - cut.items.length;
  return more > 0 ? none(`and ${format(more)} more, in results.jsonl`) : null;
}

/** A path of a record: topic -relation-> ? -> answer; an end that stays open stands for all answers. */
function drawPaths(record) {
  const drawn = record.paths.map((path) => {
    const steps = path.map((step) => [step.relation, step.forward, step.tail]);
    return drawSteps(path[0]?.head, steps, record.answers.all);
  });
  return block(drawn.length === 1 ? "Path" : "Paths", drawn.length ? drawn : none("No path in the graph."));
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
    return el("li.row", {}, drawArrow(relation, forward), drawNode(node, role, answers));
  });
  return el("ol.path.row", {}, el("li.row", {}, drawNode(topic, "topic")), drawn);
}

function drawNode(ref, role, answers) {
  if (ref && (ref.id !== null || ref.name)) return el(`span.node.${role}`, { title: ref.id }, label(nameOf(ref)));
  if (role === "answer" && answers > 1) return el("span.node.answer.open", {}, plural(answers, "answer"));
  return el(`span.node.${role}.open`, { title: "a node that stays open" }, "?");
}

function drawArrow(relation, forward) {
  const words = forward ? "along its arrow" : "against its arrow";
  const kind = forward ? "forward" : "backward";
  return el(`span.arrow.${kind}`, { title: `${relation}, ${words}` }, drawRelation(relation), unseen(words));
}

function drawRelation(relation) {
  return el("span.relation", { title: relation }, label(localName(relation)));
}

function drawEvidence(record) {
  const facts = record.evidence;
  if (!facts.all) return block("Evidence", none("No facts."));
  const parts = (fact) => [label(nameOf(fact.head)), " ", drawRelation(fact.relation), " ", label(nameOf(fact.tail))];
  const lines = facts.items.map((fact) => el("li", {}, parts(fact)));
  const title = el("summary", {}, plural(facts.all, "fact"));
  return block("Evidence", el("details", {}, title, el("ul.long", {}, lines)), leftOut(facts));
}

function drawTrace(record) {
  const steps = el("ol.trace", {}, record.trace.map(drawStep));
  return block("Trace", record.trace.length ? steps : none("No trace."));
}

/** What a step decided, chose, set aside, and why. */
function drawStep(step) {
  const failed = [step.failure, step.error].filter(Boolean).join(": ");
  const decision = String(step.decision ?? "");
  const style = /^\w+$/.test(decision) ? decision : "";
  const others = Object.entries(step).filter(([key]) => !PLACED.has(key));
  const lists = others.filter(([key, value]) => Array.isArray(value) && key !== "tokens");
  lists.sort(([a], [b]) => (b === "chosen") - (a === "chosen"));
  return el(
    failed ? "li.step.failing" : "li.step",
    {},
    el("p", {}, el("b", {}, label(step.node)), " ", el(`span.decision.${style}`, {}, label(decision))),
    step.chain ? el("p", {}, label(step.chain)) : null,
    step.topics ? drawItems("topics", step.topics.map(nameOf)) : null,
    lists.map(([key, items]) => drawItems(key, items.map(words))),
    drawNotes(others),
    step.reason ? el("p.reason", {}, label(step.reason)) : null,
    failed ? el("p.error", {}, label(failed)) : null,
    (step.exchanges ?? []).map(drawExchange),
  );
}

/** What the model was asked in a step, and its reply: only runs with keep_prompts=true have them. */
function drawExchange(exchange) {
  const text = (title, words) => [el("h6", {}, title), el("pre.long", { tabindex: "0" }, label(words))];
  return el(
    "details.exchange",
    {},
    el("summary", {}, "Prompt and reply: ", label(exchange.prompt)),
    el("details", {}, el("summary", {}, "Instructions"), el("pre.long", { tabindex: "0" }, label(exchange.instructions))),
    text("Case", exchange.case),
    text("Reply", exchange.reply ?? "none: it could not be reached, or was malformed"),
  );
}

function drawItems(title, items) {
  const shown = items.length ? items.map((item) => el("li", {}, label(item))) : el("li", {}, "nothing");
  return el("div.picked.row", {}, drawKeyOf(title), el("ol.row", {}, shown));
}

/** Whatever else a step notes: tokens, numbers, limits, how many were set aside. */
function drawNotes(entries) {
  const noted = entries
    .map(([key, value]) => [key, key === "tokens" && Array.isArray(value) ? value.map(words).join(" + ") : value])
    .filter(([, value]) => !Array.isArray(value) && ![null, false, ""].includes(value))
    .map(([key, value]) => el("span", {}, drawKeyOf(key), " ", label(words(value))));
  return noted.length ? el("p.noted.row", {}, noted) : null;
}

function drawKeyOf(key) {
  return el("span.key", {}, key.replaceAll("_", " "));
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
  const titles = { ...index.labels.costs, cached_calls: "calls from the cache" };
  const known = Object.entries(titles).filter(([key]) => (record.usage[key] ?? null) !== null);
  const rows = known.map(([key, title]) =>
    el("div", {}, el("dt", {}, title), el("dd", {}, format(record.usage[key], key === "seconds" ? 2 : 0))),
  );
  return block("Cost", rows.length ? el("dl.cost.row", {}, rows) : none("Not known."));
}
