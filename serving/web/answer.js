// Shows a record: its answers, how far they are to be trusted, their cost, conditions, paths, and query.

import { bdi, byId, el, localName, nameOf, plural, table, textOf } from "./dom.js";
import { showTable } from "./table.js";
import { DECIDED_BY, MAX_ANSWERS_SHOWN, OUTAGES, OUTCOME_LABELS, READ_AS } from "./words.js";

/** Answers whose facts a record has at most. */
const MAX_PROVED = 50;

export const isOutage = (record) => record.outcome in OUTAGES;

export const outcomeOf = ({ outcome }) => OUTCOME_LABELS[outcome] ?? OUTAGES[outcome] ?? String(outcome);

/** Why there is no answer, in one line. */
export function reasonOf(record) {
  const errors = (record.trace ?? []).filter((entry) => entry.error);
  if (errors.length) return errors.at(-1).error;
  if (record.stopped_by) return `the limit of ${record.stopped_by} was reached`;
  return record.trace?.at(-1)?.reason ?? (record.topics?.length ? "nothing was found in the graph" : "the question names no entity of the graph");
}

/** The first answers, for a line of words of ours. */
export function answersOf({ answers = [] }) {
  const more = answers.length > 5 ? ` and ${answers.length - 5} more` : "";
  return [...answers.slice(0, 5).flatMap((answer, at) => [at ? ", " : "", bdi(nameOf(answer))]), more];
}

/** Whether the last message of a conversation is a reply. */
export const wasRepliedTo = (messages) => messages.at(-1)?.type === "ai";

/** What was said, each reply by its first lines. */
export function showTurns(messages) {
  const said = messages.map((message) => el("li", { class: message.type }, textOf(message).split("\n\n")[0]));
  byId("turns").replaceChildren(...said);
  byId("turns-part").hidden = !said.length;
}

/** Show a record; that of a reply has made its question of the last message. */
export function showRecord(record, messages = []) {
  const answers = record.answers ?? [];
  const said = messages.findLast((message) => message.type === "human");
  byId("asked-as").textContent = said && textOf(said).trim() !== record.question ? `Asked as: ${record.question}` : "";
  byId("reading").textContent = record.reading && !record.sentence ? `${READ_AS}${record.reading}` : "";
  byId("sentence").textContent = record.sentence ?? "";
  const names = answers.map((answer) => el("li", { title: answer.id }, nameOf(answer)));
  byId("answers").replaceChildren(...names);
  byId("answers").hidden = showTable(record) || (Boolean(record.sentence) && answers.length <= MAX_ANSWERS_SHOWN);
  byId("answers").className = answers.length > 8 ? "many" : "";
  byId("answer-count").textContent = answers.length > 1 ? `${answers.length} of them` : "";
  byId("no-answer").textContent = answers.length ? "" : `No answer: ${reasonOf(record)}.`;
  byId("outcome").textContent = outcomeOf(record);
  byId("outcome").className = `outcome ${isOutage(record) ? "failed" : answers.length ? record.outcome : "none"}`;
  byId("cost").textContent = costOf(record);
  byId("paths").replaceChildren(...(record.paths ?? []).slice(0, 20).map((path) => drawnPath(path, record)));
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

function drawnPath(path, record) {
  const hops = path.flatMap(({ relation, name = localName(relation), forward, tail }, at) => [
    el("span", { class: "hop" }, forward ? ` —${name}→ ` : ` ←${name}— `),
    (at === path.length - 1 && endsOf(path, record)) || bdi(nameOf(tail)),
  ]);
  return el("li", {}, path.length ? bdi(nameOf(path[0].head)) : "", ...hops);
}

/** How many answers a path leads to, where it does not end in one thing; nothing where nobody can tell. */
function endsOf(path, { paths, answers, evidence }) {
  const { relation, forward, tail } = path.at(-1);
  if (nameOf(tail) !== "?" || answers.length < 2) return "";
  const ends = new Set(evidence.filter((fact) => fact.relation === relation).map((fact) => fact[forward ? "tail" : "head"].id));
  const known = paths.length > 1 ? answers.filter((answer) => ends.has(answer.id)) : answers;
  return paths.length > 1 && answers.length > MAX_PROVED ? "" : plural(known.length, "answer");
}

function showConditions(conditions) {
  const rows = conditions.map(({ words, by, query }) => [words, DECIDED_BY[by], query ?? ""]);
  byId("conditions").replaceChildren(
    ...(rows.length ? [el("h3", {}, "Conditions"), table("Conditions of the question", ["condition", "who decided", "in the query"], rows)] : []),
  );
}
