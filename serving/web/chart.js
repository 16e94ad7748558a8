// Draws a table whose first column names what a number belongs to: bars, a line over dates, or places on a map.

import { el, nameOf } from "./dom.js";
import { short } from "./drawing.js";

export const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

/** The number that a cell is: a value, which is its own name; null where it is none. */
export const numberOf = (cell) => (cell && cell.id === cell.name && NUMBER.test(cell.id) ? Number(cell.id) : null);

const MAX_BARS = 30;

const MAX_LABELS = 30;

const [WIDTH, HEIGHT, LEFT, EDGE] = [640, 320, 190, 40];

const POINT = /^\s*point\s*\(\s*(-?[\d.]+)\s+(-?[\d.]+)/i;

/** A year, a month or a day; what may stand after it is a time. */
const DATE = /^-?\d{4,}(-\d\d){0,2}(T.*)?$/;

/** The drawing of a table with what it shows in words; null where there is none. */
export function chartOf(table) {
  if (table.rows.length < 2) return null;
  const places = placesOf(table);
  if (places) return figure(`${table.columns[0]} on a map`, map(places));
  const at = table.columns.findIndex((_, column) => column && table.rows.every((row) => !row[column] || numberOf(row[column]) !== null));
  const values = table.rows.filter((row) => row[0] && row[at]).map((row) => ({ name: nameOf(row[0]), key: row[0], value: numberOf(row[at]) }));
  if (at < 1 || values.length < 2) return null;
  const words = `${table.columns[at]} by ${table.columns[0]}`;
  const dated = values.map((each) => ({ ...each, time: timeOf(each.key) })).sort((one, other) => one.time - other.time);
  if (dated.every(({ time }, place) => time !== null && time !== dated[place - 1]?.time)) return figure(words, line(dated));
  if (values.every(({ key }) => numberOf(key) !== null)) return null;
  const first = values.slice(0, MAX_BARS);
  return figure(values.length > MAX_BARS ? `${words}, the first ${MAX_BARS} rows` : words, bars(first));
}

function figure(words, [height, ...drawn]) {
  const label = `${words}; the table below says the same`;
  return [svg("svg", { role: "img", "aria-label": label, viewBox: `0 0 ${WIDTH} ${height}` }, ...drawn), el("figcaption", { class: "note" }, words)];
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const text = (x, y, words, anchor = "start") => svg("text", { x, y, "text-anchor": anchor }, words);

const said = ({ name, value }) => `${name}: ${value.toLocaleString("en")}`;

function bars(values) {
  const scale = scaleOf([0, ...values.map((each) => each.value)], LEFT, WIDTH - EDGE * 1.5);
  const drawn = values.flatMap((each, place) => {
    const [y, from, to] = [place * 24, scale(Math.min(0, each.value)), scale(Math.max(0, each.value))];
    const bar = svg("rect", { class: "mark", x: from, y: y + 4, width: Math.max(1, to - from), height: 16 }, svg("title", {}, said(each)));
    return [text(LEFT - 8, y + 17, short(each.name, 26), "end"), bar, text(to + 5, y + 17, each.value.toLocaleString("en"))];
  });
  return [values.length * 24 + 4, ...drawn];
}

function line(values) {
  const across = scaleOf(values.map((each) => each.time), EDGE * 2, WIDTH - EDGE);
  const up = scaleOf(values.map((each) => each.value), HEIGHT - EDGE, EDGE / 2);
  const points = values.map((each) => [across(each.time), up(each.value)]);
  const [low, high] = [Math.min, Math.max].map((most) => most(...values.map((each) => each.value)));
  return [
    HEIGHT,
    svg("polyline", { class: "trace", points: points.map((point) => point.join(",")).join(" ") }),
    ...points.map(([cx, cy], place) => svg("circle", { class: "mark", cx, cy, r: 4 }, svg("title", {}, said(values[place])))),
    ...[low, high].map((value) => text(EDGE * 2 - 10, up(value) + 4, value.toLocaleString("en"), "end")),
    text(EDGE * 2, HEIGHT - 8, values[0].name),
    text(WIDTH - EDGE, HEIGHT - 8, values.at(-1).name, "end"),
  ];
}

/** Places by their degrees, on a grid of these. */
function map(places) {
  const [east, north] = ["east", "north"].map((side) => places.map((place) => place[side]));
  const span = Math.max(...[east, north].map((side) => Math.max(...side) - Math.min(...side)), 0.1);
  const step = [30, 10, 5, 1, 0.5, 0.1, 0.02].find((each) => span / each >= 3) ?? 0.02;
  const middle = (side) => (Math.max(...side) + Math.min(...side)) / 2;
  const scale = (HEIGHT - 2 * EDGE) / span;
  const x = (degrees) => WIDTH / 2 + (degrees - middle(east)) * scale;
  const y = (degrees) => HEIGHT / 2 - (degrees - middle(north)) * scale;
  const grid = (centre, reach) => {
    const first = Math.ceil((centre - reach / scale) / step);
    return Array.from({ length: Math.floor((centre + reach / scale) / step) - first + 1 }, (_, place) => Number(((first + place) * step).toFixed(2)));
  };
  const lines = [
    ...grid(middle(east), WIDTH / 2).flatMap((at) => [svg("line", { class: "grid", x1: x(at), x2: x(at), y1: 0, y2: HEIGHT }), text(x(at) + 3, HEIGHT - 4, `${Math.abs(at)}° ${at < 0 ? "W" : "E"}`)]),
    ...grid(middle(north), HEIGHT / 2).flatMap((at) => [svg("line", { class: "grid", y1: y(at), y2: y(at), x1: 0, x2: WIDTH }), text(3, y(at) - 3, `${Math.abs(at)}° ${at < 0 ? "S" : "N"}`)]),
  ];
  const marks = places.flatMap(({ name, east: right, north: top }) => [
    svg("circle", { class: "mark", cx: x(right), cy: y(top), r: 5 }, svg("title", {}, name)),
    ...(places.length <= MAX_LABELS ? [text(x(right) + 8, y(top) + 4, short(name, 26))] : []),
  ]);
  return [HEIGHT, ...lines, ...marks];
}

/** Where rows are: by a column of points as text, or two that are called latitude and longitude. */
function placesOf({ columns, rows }) {
  const called = (start) => columns.findIndex((title) => title.toLowerCase().startsWith(start));
  const [north, east] = [called("lat"), Math.max(called("lon"), called("lng"))];
  const point = columns.findIndex((_, at) => rows.every((row) => !row[at] || POINT.test(row[at].id)) && rows.some((row) => row[at]));
  const placeOf = (row) => {
    const [, right, top] = point < 0 ? [] : POINT.exec(row[point]?.id ?? "") ?? [];
    const pair = point < 0 ? [numberOf(row[east] ?? null), numberOf(row[north] ?? null)] : [Number(right), Number(top)];
    return { name: row[0] ? nameOf(row[0]) : "?", east: pair[0], north: pair[1] };
  };
  const inside = (degrees, most) => Number.isFinite(degrees) && Math.abs(degrees) <= most;
  const places = point < 0 && (north < 0 || east < 0) ? [] : rows.map(placeOf).filter((place) => inside(place.east, 180) && inside(place.north, 90));
  return places.length ? places : null;
}

function timeOf({ id }) {
  const time = DATE.test(id ?? "") ? Date.parse(id.length === 4 ? `${id}-01-01` : id) : NaN;
  return Number.isNaN(time) ? null : time;
}

function scaleOf(values, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return (value) => (high === low ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from));
}
