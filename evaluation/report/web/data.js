// The packed data of the page: an index of all questions, and their details in parts.

/** Unpack the gzipped JSON of a script element. */
async function unpack(id) {
  const packed = atob(byId(id).textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const parts = new Map();

/** Give the details of a question; its part is unpacked when it is first asked for. */
async function detailsOf(at) {
  const number = Math.floor(at / index.part);
  if (!parts.has(number)) parts.set(number, unpack(`part-${number}`));
  return (await parts.get(number))[at % index.part];
}

/** The index, once it is unpacked. */
let index = null;

/** The runs that a question's group has, in the order of its marks. */
function runsOf(question) {
  return index.runs.filter((run) => run.group === question.group);
}

/** What is told of a question beside its text. */
function toldOf(question) {
  const hops = question.hops ? plural(question.hops, "hop", "hops") : null;
  return [question.id, hops, question.kind, question.level].filter(Boolean).join(" · ");
}

/** How a run did on a question: its letter in the index, what that means, and the sign that shows it. */
const MARKS = {
  r: { state: "right", sign: "✓", words: "right: all gold answers and no other" },
  p: { state: "partly", sign: "≈", words: "partly right" },
  w: { state: "wrong", sign: "✗", words: "wrong" },
  f: { state: "failed", sign: "!", words: "failed" },
  u: { state: "unscored", sign: "?", words: "not scored: no gold" },
  m: { state: "missing", sign: "–", words: "missing: no record" },
};

const NOT_ASKED = ".";
