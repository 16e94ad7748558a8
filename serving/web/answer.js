// Shows a record: its answers, how far they are to be trusted, their cost, conditions, paths, and query.

import { byId, el, localName, nameOf, plural, table } from "./dom.js";

const OUTCOMES = {
  grounded: "proved by the graph",
  grounded_inference: "from the graph; the model picked among what the chains lead to",
  grounded_unverified: "from the graph; not all was checked",
  parametric: "from the model, not proved by the graph",
  none: "no answer",
  kg_unavailable: "the knowledge graph could not be asked",
  model_unavailable: "the model could not be asked",
};

const DECIDED = { graph: "the graph", model: "the model" };

export const OUTAGES = new Set(["kg_unavailable", "model_unavailable"]);

export const outcomeOf = (record) => OUTCOMES[record.outcome] ?? String(record.outcome);

/** Why there is no answer, in one line. */
export function reasonOf(record) {
  const errors = (record.trace ?? []).filter((entry) => entry.error);
  if (errors.length) return errors.at(-1).error;
  if (record.stopped_by) return `the limit of ${record.stopped_by} was reached`;
  return record.trace?.at(-1)?.reason ?? (record.topics?.length ? "nothing was found in the graph" : "the question names no entity of the graph");
}

/** The first answers, in a line. */
export function answersOf({ answers = [] }) {
  const more = answers.length > 5 ? ` and ${answers.length - 5} more` : "";
  return answers.slice(0, 5).map(nameOf).join(", ") + more;
}

export function showRecord(record) {
  const answers = record.answers ?? [];
  const failed = OUTAGES.has(record.outcome);
  const names = answers.map((answer) => el("li", { title: answer.id }, nameOf(answer)));
  byId("answers").replaceChildren(...names);
  byId("answers").className = answers.length > 8 ? "many" : "";
  byId("answer-count").textContent = answers.length > 1 ? `${answers.length} of them` : "";
  byId("no-answer").textContent = answers.length ? "" : `No answer: ${reasonOf(record)}.`;
  byId("outcome").textContent = outcomeOf(record);
  byId("outcome").className = `outcome ${failed ? "failed" : answers.length ? record.outcome : "none"}`;
  byId("cost").textContent = costOf(record);
  byId("paths").replaceChildren(...(record.paths ?? []).slice(0, 20).map(drawnPath));
  showConditions(record.conditions ?? []);
  byId("query-part").hidden = !record.query;
  byId("query").textContent = record.query ?? "";
  byId("result").hidden = false;
}

function costOf({ usage, method, config, confidence, stopped_by }) {
  const calls = usage.llm_calls + usage.cached_calls;
  const tokens = usage.input_tokens + usage.output_tokens;
  return [
    `${method}, ${config?.model ?? ""}`,
    typeof confidence === "number" ? `confidence ${confidence.toFixed(2)}` : "",
    calls ? plural(calls, "model call") : "",
    tokens ? `${usage.unknown_calls ? "≥ " : ""}${plural(tokens, "token")}` : "",
    plural(usage.kg_queries + usage.model_queries, "graph query", "graph queries"),
    `${usage.seconds.toFixed(2)} s`,
    stopped_by ? `stopped by the limit of ${stopped_by}` : "",
  ].filter(Boolean).join(" · ");
}

function drawnPath(path) {
  const hops = path.flatMap(({ relation, forward, tail }) => [
    el("span", { class: "hop" }, forward ? ` —${localName(relation)}→ ` : ` ←${localName(relation)}— `),
    nameOf(tail),
  ]);
  return el("li", {}, path.length ? nameOf(path[0].head) : "", ...hops);
}

function showConditions(conditions) {
  const rows = conditions.map(({ words, by, query }) => [words, DECIDED[by] ?? "nobody", query ?? ""]);
  byId("conditions").replaceChildren(
    ...(rows.length ? [el("h3", {}, "Conditions"), table("Conditions of the question", ["condition", "decided by", "in the query"], rows)] : []),
  );
}
