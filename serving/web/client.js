// The server's HTTP API, as far as the page needs it.

const KEY = "kgqa-key";

/** What the server refuses, or that it is gone, in one line that says what to do. */
export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export const hasKey = () => sessionStorage.getItem(KEY) !== null;
export const setKey = (key) => sessionStorage.setItem(KEY, key);

/** Ask the server: without a body by GET, else by POST. */
async function call(path, body, signal) {
  const headers = { "content-type": "application/json" };
  if (hasKey()) headers["x-api-key"] = sessionStorage.getItem(KEY);
  const method = body === undefined ? "GET" : "POST";
  let response;
  try {
    response = await fetch(path, { method, headers, body: JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw gone();
  }
  if (!response.ok) throw new Refusal(await reason(response), response.status);
  return response;
}

const gone = () =>
  new Refusal("The server does not answer. See whether it is still running, then ask again; nothing you typed is lost.", 0);

async function reason(response) {
  const text = await response.text();
  let said = text;
  try {
    const { detail, message } = JSON.parse(text);
    said = detail ?? message ?? text;
  } catch {
    // an answer in plain text
  }
  return `${typeof said === "string" ? said : JSON.stringify(said)} (${response.status})`;
}

const json = async (...request) => (await call(...request)).json();

export const assistants = () => json("assistants/search", { limit: 1000 });
export const schemas = (assistant) => json(`assistants/${assistant}/schemas`);
export const machine = (assistant) => json(`assistants/${assistant}/graph`);
export const createThread = (metadata) => json("threads", { metadata });
export const history = (thread) => json(`threads/${thread}/history`, { limit: 1000 });
/** The runs of a thread, the latest first. */
export const runs = (thread) => json(`threads/${thread}/runs?limit=100`);
export const cancel = (thread, run) => json(`threads/${thread}/runs/${run}/cancel?wait=true`, {});

export const threads = () =>
  json("threads/search", {
    limit: 100,
    sort_by: "updated_at",
    sort_order: "desc",
    select: ["thread_id", "updated_at", "status", "metadata"],
    extract: { question: "values.question", outcome: "values.outcome", replied: "values.record.outcome" },
  });

const named = (kg) => new URLSearchParams(kg.map((name) => ["kg", name]));

/** The classes of a graph, and what their members have. */
export const profile = (kg) => json(`graph/profile?${named(kg)}`);

/** Yield questions that a graph answers, each once it is known. */
export async function* questions(kg, signal) {
  for await (const { data } of events(await call(`graph/questions?${named(kg)}`, undefined, signal))) yield data;
}

/** Change the state after a step, as if its node had written the changes; give the new checkpoint. */
export async function updateState(thread, checkpoint, node, values) {
  const body = { values, as_node: node, checkpoint: { thread_id: thread, checkpoint_ns: "", checkpoint_id: checkpoint } };
  return (await json(`threads/${thread}/state`, body)).checkpoint.checkpoint_id;
}

/** Run, and yield what happens as {event, data}: first the run's id. An error of the run is thrown. */
export async function* run(thread, request, signal) {
  const body = { ...request, stream_mode: ["tasks", "values"] };
  const response = await call(`threads/${thread}/runs/stream`, body, signal);
  yield { event: "begun", data: response.headers.get("content-location").split("/").at(-1) };
  yield* events(response);
}

/** Yield what happens from now on in a run that is under way. */
export async function* join(thread, run, signal) {
  const response = await call(`threads/${thread}/runs/${run}/stream`, undefined, signal);
  yield { event: "begun", data: run };
  yield* events(response);
}

async function* events(response) {
  try {
    for await (const part of parts(response.body.getReader())) {
      if (part.event === "error") throw new Refusal(part.data.message ?? part.data.error ?? "the run failed", 500);
      yield part;
    }
  } catch (error) {
    if (error instanceof Refusal || error.name === "AbortError") throw error;
    throw gone();
  }
}

/** Read server-sent events. */
async function* parts(reader) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true }).replaceAll("\r", "")).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = block.split("\n").map((line) => /^(event|data): ?(.*)$/s.exec(line)).filter(Boolean);
      const event = fields.find(([, name]) => name === "event")?.[2];
      const data = fields.filter(([, name]) => name === "data").map(([, , text]) => text).join("\n");
      if (event && data) yield { event, data: JSON.parse(data) };
    }
  }
}
