// Tables that sort by a click on a title; what is not known comes last either way.

function sortable(table) {
  const buttons = [...table.tHead.querySelectorAll("button")];
  buttons.forEach((button, column) => button.addEventListener("click", () => sort(table, column)));
}

function sort(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const now = heads[column].getAttribute("aria-sort");
  const falling = now === (firstFalls(table, column) ? "none" : "ascending");
  heads.forEach((head) => head.setAttribute("aria-sort", "none"));
  heads[column].setAttribute("aria-sort", falling ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => compare(keyOf(a, column), keyOf(b, column), falling));
  body.append(...rows);
}

/** Numbers that are results are sorted from the greatest at first, the rest from the least. */
function firstFalls(table, column) {
  const cell = table.tBodies[0].rows[0]?.cells[column];
  return Boolean(cell?.classList.contains("number"));
}

function keyOf(row, column) {
  return row.cells[column].dataset.key ?? "";
}

function compare(a, b, falling) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const both = Number(a) - Number(b);
  const order = Number.isNaN(both) ? a.localeCompare(b, "en", { numeric: true }) : both;
  return falling ? -order : order;
}
