// Shows the table of an answer: a heading sorts it, it is copied or saved as CSV, and drawn where it can be.

import { NUMBER, chartOf, numberOf } from "./chart.js";
import { byId, copyText, el, nameOf, plural } from "./dom.js";

/** Rows that are shown at most; CSV has all. */
const MAX_ROWS = 200;

const { compare } = new Intl.Collator(undefined, { numeric: true });

let shown = { columns: [], rows: [] };

/** Show the table of a record that has more to say than its answers; return whether it does. */
export function showTable({ table }) {
  const wide = table?.columns.length > 1;
  byId("rows-part").hidden = !wide;
  if (!wide) return false;
  shown = table;
  const more = table.truncated ? ", and more that were not read" : "";
  byId("rows-count").textContent = plural(table.rows.length, "row") + more;
  const chart = chartOf(table);
  byId("chart").replaceChildren(...(chart ?? []));
  byId("chart").hidden = !chart;
  draw(null, "none");
  return true;
}

/** Draw the rows as they are sorted: by a column, ascending or descending, or as they came. */
function draw(at, order) {
  const rows = order === "none" ? shown.rows : sorted(at, order === "descending");
  const heads = shown.columns.map((title, column) => heading(title, column, column === at ? order : "none"));
  const body = rows.slice(0, MAX_ROWS).map((row) => el("tr", {}, ...row.map(cellOf)));
  byId("rows").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body)));
  byId("rows-note").textContent = rows.length > MAX_ROWS ? `The first ${MAX_ROWS} rows are shown; the CSV has all.` : "";
}

function heading(title, column, order) {
  const next = { none: "ascending", ascending: "descending", descending: "none" }[order];
  const sort = () => {
    draw(column, next);
    byId("rows").querySelectorAll("th button")[column].focus();
  };
  return el("th", { scope: "col", "aria-sort": order }, el("button", { type: "button", click: sort }, title));
}

function cellOf(cell) {
  return el("td", { title: cell?.id, class: numberOf(cell) === null ? null : "figure" }, cell ? nameOf(cell) : "");
}

/** The rows by a column, empty cells last. */
function sorted(at, descending) {
  const [full, empty] = [shown.rows.filter((row) => row[at]), shown.rows.filter((row) => !row[at])];
  const order = (one, other) => {
    const [a, b] = [numberOf(one[at]), numberOf(other[at])];
    return a !== null && b !== null ? a - b : compare(nameOf(one[at]), nameOf(other[at]));
  };
  return [...full.sort((one, other) => (descending ? order(other, one) : order(one, other))), ...empty];
}

/** A table as CSV, in which a spreadsheet takes no text for a formula. */
export function csvOf({ columns, rows }) {
  const field = (text) => {
    const plain = text.replace(/\s+/g, " ").trim();
    const safe = /^[=+\-@]/.test(plain) && !NUMBER.test(plain) ? `'${plain}` : plain;
    return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const cells = rows.map((row) => row.map((cell) => cell?.name ?? cell?.id ?? ""));
  return [columns, ...cells].map((row) => `${row.map(field).join(",")}\n`).join("");
}

/** Listen to the buttons that copy and save the table. */
export function listenToTable() {
  byId("copy-csv").addEventListener("click", () => copyText(byId("copy-csv"), csvOf(shown), byId("rows")));
  byId("save-csv").addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([csvOf(shown)], { type: "text/csv" }));
    el("a", { href: url, download: "answer.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  });
}
