// The trace of a record: what each step decided, chose, set aside, and why.

const SHOWN_APART = new Set(["node", "decision", "chain", "topics", "chosen", "reason", "error", "failure"]);

function drawTrace(found) {
  const steps = el("ol", { class: "trace" }, found.trace.map(drawStep));
  return block("Trace", found.trace.length ? steps : none("No trace."));
}

function drawStep(step) {
  const failed = [step.failure, step.error].filter(Boolean).join(": ");
  return el(
    "li",
    { class: failed ? "step failing" : "step" },
    el(
      "p",
      { class: "step-head" },
      el("b", {}, said(step.node)),
      " ",
      drawDecision(String(step.decision ?? "")),
    ),
    step.chain ? el("p", { class: "chain" }, said(step.chain)) : null,
    step.topics ? list("topics", step.topics.map(nameOf)) : null,
    Array.isArray(step.chosen) ? list("chosen", step.chosen.map(words)) : null,
    Object.entries(step)
      .filter(isFurtherList)
      .map(([key, items]) => list(key, items.map(words))),
    facts(step),
    step.reason ? el("p", { class: "reason" }, said(step.reason)) : null,
    failed ? el("p", { class: "error" }, said(failed)) : null,
  );
}

function drawDecision(decision) {
  return el("span", { class: `decision ${/^\w+$/.test(decision) ? decision : ""}` }, said(decision));
}

/** Whether a step notes more than the lists that are shown apart. */
function isFurtherList([key, value]) {
  return !SHOWN_APART.has(key) && Array.isArray(value) && !isTokens(key, value);
}

/** Whether this is what a step has cost: input and output. */
function isTokens(key, value) {
  return key === "tokens" && Array.isArray(value);
}

function list(title, items) {
  const shown = items.length ? items.map((item) => el("li", {}, said(item))) : [el("li", {}, "nothing")];
  return el("div", { class: "picked" }, keyOfNote(title), el("ol", {}, shown));
}

/** Whatever else a step notes: numbers, limits, how many were set aside. */
function facts(step) {
  const others = Object.entries(step)
    .map(([key, value]) => [key, isTokens(key, value) ? value.map(words).join(" + ") : value])
    .filter(isFurtherFact);
  if (!others.length) return null;
  const drawn = others.map(([key, value]) => el("span", {}, keyOfNote(key), " ", said(words(value))));
  return el("p", { class: "noted" }, drawn);
}

function isFurtherFact([key, value]) {
  if (Array.isArray(value) || [null, false, ""].includes(value)) return false;
  return key === "chosen" || !SHOWN_APART.has(key);
}

function keyOfNote(key) {
  return el("span", { class: "key" }, key.replaceAll("_", " "));
}

function pairs(value) {
  return Object.entries(value)
    .map(([key, part]) => `${key.replaceAll("_", " ")} ${words(part)}`)
    .join("; ");
}

function words(value) {
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (value === null) return "–";
  if (typeof value === "object") return value.name ?? value.id ?? pairs(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
}
