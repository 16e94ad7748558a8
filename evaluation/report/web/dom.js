// Elements are made here and nowhere else. Text is text: labels of a graph are anybody's.

/** Make an element; "class", "on<event>" and other attributes by name, then children or text. */
function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

/** A label of the graph or a model's words, kept apart from the direction of the text around it. */
function said(text, attributes) {
  return el("bdi", attributes, String(text));
}

/** What a node or an answer is called. */
function nameOf(ref) {
  return String((ref && (ref.name || ref.id)) ?? "?");
}

/** The part of an IRI after its last "#" or "/". */
function localName(iri) {
  return (
    String(iri)
      .replace(/[#/]+$/, "")
      .split(/[#/]/)
      .pop() || String(iri)
  );
}

function plural(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function byId(id) {
  return document.getElementById(id);
}
