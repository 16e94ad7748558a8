// Shows what else a question may mean; the one that is clicked is shown as the answer.

import { answersOf } from "./answer.js";
import { bdi, byId, el } from "./dom.js";
import { DID_YOU_MEAN, MAX_OTHER_ANSWERS } from "./words.js";

/** Show the other readings of a question; `take` is given the number of one that is clicked, of which 2 is the first. */
export function showAlternatives({ alternatives = [] }, take) {
  const rows = alternatives.map((other, at) => {
    const click = () => take(at + 2);
    return el("li", {}, el("button", { type: "button", click }, bdi(other.reading)), " ", ...answersOf(other), other.truncated ? " and more" : "");
  });
  byId("alternatives").replaceChildren(...rows);
  byId("alternatives-title").textContent = DID_YOU_MEAN;
  byId("alternatives-part").hidden = !rows.length;
}

/** The record shown last with another reading as what was asked, or the one shown before that has it (`take_alternative`). */
export function takeAlternative(shown, number) {
  const record = shown.at(-1);
  const other = record.alternatives[number - 2];
  const { truncated, ...taken } = other;
  const before = shown.find((each) => each.query === taken.query);
  if (before) return before;
  const left = record.topics.filter(({ id }) => !taken.topics.some((topic) => topic.id === id));
  const settled = left.map(({ name }) => `which ${name} is meant`);
  const conditions = record.conditions.filter(({ by, words }) => by === null && !settled.includes(words));
  const rows = taken.answers.map((answer) => [answer]);
  return {
    ...record,
    ...taken,
    sentence: record.sentence ? other.sentence ?? null : null,
    table: truncated ? { columns: ["answer"], rows, ordered: false, truncated } : null,
    outcome: truncated || conditions.length ? "grounded_unverified" : "grounded",
    paths: [],
    evidence: [],
    conditions,
    alternatives: [...asAlternative(record), ...record.alternatives.filter((each) => each !== other)],
  };
}

/** The command that adds a record to exemplars, so that questions like its own are read likewise. */
export function keepCommand({ question, query, topics }) {
  const one = query.replace(/\s*\n\s*/g, " ");
  const patterns = query.replace(/^\s*FILTER.*$/gm, ""); // what a query sets out from stands in these
  const places = topics.map(({ id, name }) => ({ name: name ?? id, at: patterns.indexOf(`<${id}>`) })).filter(({ at }) => at >= 0);
  const named = places.sort((first, second) => first.at - second.at).flatMap(({ name }) => ["--topic", quoted(name)]);
  return ["kgqa exemplars add exemplars", quoted(question), "--query", quoted(one), ...named].join(" ");
}

/** A text as a shell takes it as one word. */
function quoted(text) {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}

/** What a record answers as an alternative; nothing where it has no query. */
function asAlternative({ reading, sentence, topics, answers, table, query, confidence }) {
  if (!answers.length || !query) return [];
  const truncated = answers.length > MAX_OTHER_ANSWERS || Boolean(table?.truncated);
  return [{ reading, sentence, topics, answers: answers.slice(0, MAX_OTHER_ANSWERS), truncated, query, confidence }];
}
