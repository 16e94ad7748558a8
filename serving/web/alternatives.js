// Shows what else a question may mean; the one that is clicked is shown as the answer.

import { answersOf } from "./answer.js";
import { bdi, byId, el } from "./dom.js";

/** Show the other readings of a question; `take` is given the record as it is with one of them. */
export function showAlternatives(record, take) {
  const others = record.alternatives ?? [];
  const rows = others.map((other) => {
    const click = () => take(withReading(record, other));
    return el("li", {}, el("button", { type: "button", click }, bdi(other.reading)), " ", ...answersOf(other), other.truncated ? " and more" : "");
  });
  byId("alternatives").replaceChildren(...rows);
  byId("alternatives-part").hidden = !rows.length;
}

/** The record with another reading as what was asked; its answer is one of the others then. */
function withReading(record, { truncated, ...taken }) {
  const { reading, topics, answers, query, confidence } = record;
  const first = answers.length && query ? [{ reading, topics, answers: answers.slice(0, 20), truncated: answers.length > 20, query, confidence }] : [];
  const rest = record.alternatives.filter((other) => other.query !== taken.query);
  const rows = taken.answers.map((answer) => [answer]);
  return {
    ...record,
    ...taken,
    table: truncated ? { columns: ["answer"], rows, ordered: false, truncated } : null,
    outcome: truncated ? "grounded_unverified" : "grounded",
    paths: [],
    evidence: [],
    conditions: [],
    alternatives: [...first, ...rest],
  };
}
