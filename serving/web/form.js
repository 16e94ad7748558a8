// The options of a method, as a form made from their schema. What is left as it is, is not sent.

import { el } from "./dom.js";

/** Those that have a place of their own on the page. */
const APART = new Set(["kg", "model"]);

const resolved = (schema, root) => {
  const name = schema.$ref?.split("/").pop();
  return name ? { ...root.$defs[name], ...schema } : schema;
};

const kinds = (schema) => (schema.anyOf ?? [schema]).map((each) => each.type);

/** Which values there are to choose from; null where anything may be written. */
function choices(schema) {
  const parts = schema.anyOf ?? [schema];
  const listed = schema.enum ?? parts.flatMap((part) => part.enum ?? ("const" in part ? [part.const] : []));
  const booleans = kinds(schema).includes("boolean") ? [true, false] : [];
  return [...booleans, ...listed].length ? [...new Set([...booleans, ...listed])] : null;
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? null));

/**
 * Draw the fields, with `texts` in those of these names. `read()` gives what was set, or throws an Error that
 * names the field; `texts()` gives what was written, whatever it is; `write(values)` sets these, and no others.
 */
export function optionForm(schema, texts = {}) {
  const fields = Object.entries(schema.properties)
    .filter(([name]) => !APART.has(name))
    .map(([name, each]) => field(name, resolved(each, schema), schema));
  const inputs = fields.flatMap((each) => each.inner ?? [each]);
  const controls = inputs.map((each) => each.control);
  for (const control of controls) if (texts[control.name]) control.value = texts[control.name];
  return {
    elements: fields.map((each) => each.element),
    texts: () => Object.fromEntries(controls.filter((each) => each.value).map((each) => [each.name, each.value])),
    read: () => {
      const read = fields.map((each) => [each.name, each.read()]);
      return Object.fromEntries(read.filter(([, value]) => value !== undefined));
    },
    write: (values) => {
      for (const each of inputs) each.write(each.name.split(".").reduce((inside, key) => inside?.[key], values));
    },
  };
}

function field(name, schema, root) {
  return schema.properties ? group(name, schema, root) : single(name, schema);
}

function group(name, schema, root) {
  const inner = Object.entries(schema.properties).map(([key, each]) => {
    const own = { ...resolved(each, root), default: schema.default?.[key] ?? each.default };
    return single(`${name}.${key}`, own, key);
  });
  const about = (schema.description ?? "").split("\n")[0];
  const element = el("fieldset", {}, el("legend", {}, name), el("p", { class: "note" }, about), ...inner.map((each) => each.element));
  return {
    name,
    element,
    inner,
    read: () => {
      const read = inner.map((each) => [each.key, each.read()]).filter(([, each]) => each !== undefined);
      return read.length ? Object.fromEntries(read) : undefined;
    },
  };
}

function single(name, schema, key = name) {
  const id = `option-${name}`;
  const about = el("p", { id: `${id}-about`, class: "note" }, schema.description ?? "");
  const options = choices(schema);
  const attributes = { id, name, "aria-describedby": about.id };
  const control = options ? select(attributes, options, schema.default) : el("input", { ...attributes, placeholder: `default: ${shown(schema.default)}`, autocomplete: "off" });
  const element = el("div", { class: "option" }, el("label", { for: id }, key), control, about);
  const read = () => {
    const text = control.value.trim();
    control.removeAttribute("aria-invalid");
    if (text === "") return undefined;
    try {
      return options ? JSON.parse(text) : parsed(text, schema);
    } catch (error) {
      control.setAttribute("aria-invalid", "true");
      throw new Error(`Option ${name}: ${error.message}`);
    }
  };
  const write = (value) => {
    control.value = value === undefined ? "" : options ? JSON.stringify(value) : shown(value);
  };
  return { name, key, element, control, read, write };
}

function select(attributes, options, own) {
  const left = el("option", { value: "" }, `default: ${shown(own)}`);
  const each = options.map((value) => el("option", { value: JSON.stringify(value) }, shown(value)));
  return el("select", attributes, left, ...each);
}

/** Read what was written, as the schema wants it. */
function parsed(text, schema) {
  const wanted = kinds(schema);
  if (text === "null" && wanted.includes("null")) return null;
  if (wanted.includes("string")) return text;
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`write ${wanted.filter(Boolean).join(" or ")}, such as ${shown(schema.default)}`);
  }
  const numeric = wanted.includes("number") || wanted.includes("integer");
  if (numeric && typeof value !== "number") throw new Error("write a number" + (wanted.includes("null") ? ", or null" : ""));
  return value;
}
