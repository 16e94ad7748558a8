// Makes elements; whatever comes from outside is put in as text.

/** Make an element; attributes that are functions listen, null and false are left out. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Put a text from outside among words of ours, whichever way it is written: it turns none of them round. */
export const bdi = (text) => el("bdi", {}, text);

/** Make a table of texts. */
export function table(caption, titles, rows) {
  const head = el("tr", {}, ...titles.map((title) => el("th", { scope: "col" }, title)));
  const body = rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))));
  return el("table", {}, el("caption", { class: "unseen" }, caption), el("thead", {}, head), el("tbody", {}, ...body));
}

/** Copy a text, and say so on the button; where that is not allowed, select what is `shown`. */
export async function copyText(button, text, shown) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(shown);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => (button.textContent = label), 2000);
}

/** The end of an IRI, or the text itself. */
export const localName = (iri) => {
  const end = /[^/#:]+$/.exec(iri)?.[0] ?? iri;
  try {
    return decodeURIComponent(end);
  } catch {
    return end;
  }
};

export const nameOf = (ref) => ref.name ?? (ref.id === null ? "?" : localName(ref.id));

export const plural = (number, noun, many = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : many}`;

/** The text of a message. */
export const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");

/** A colour of the style sheet, as the theme has it now. */
export function colour(name) {
  const probe = byId("probe");
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}
