// LangGraph's client in JavaScript asks the server; what it was told goes to stdout, as JSON.
import { Client } from "@langchain/langgraph-sdk";

const [apiUrl, given] = process.argv.slice(2);
const input = JSON.parse(given);
const client = new Client({ apiUrl });
const told = {};

// every stream mode
const chat = { messages: [{ role: "user", content: "Where does Ada live?" }] };
const modes = ["values", "updates", "messages", "messages-tuple", "events", "tasks", "checkpoints", "debug", "custom"];
let thread = (await client.threads.create()).thread_id;
told.modes = {};
for (const streamMode of modes) {
  const events = new Set();
  for await (const { event } of client.runs.stream(thread, "chat", { input: chat, streamMode })) events.add(event);
  told.modes[streamMode] = [...events];
}

// a run that stops before a node, is edited and goes on
const metadata = { of: "javascript" };
thread = (await client.threads.create({ metadata })).thread_id;
await client.runs.wait(thread, "cor", { input, interruptBefore: ["verify"] });
told.next = (await client.threads.getState(thread)).next;
await client.threads.updateState(thread, { values: { decision: "backtrack", candidates: [] }, asNode: "verify" });
told.edited = (await client.runs.wait(thread, "cor", { command: { resume: "go on" } })).answers;

// threads: copied, found, pruned, deleted
const copy = (await client.threads.copy(thread)).thread_id;
const steps = async (id) => (await client.threads.getHistory(id, { limit: 50 })).length;
told.same = (await steps(copy)) === (await steps(thread));
told.found = (await client.threads.search({ metadata })).length;
await client.threads.prune([copy], { strategy: "keep_latest" });
told.kept = await steps(copy);
await client.threads.delete(copy);
told.left = await client.threads.count({ metadata });

// a run that is joined
const run = await client.runs.create(thread, "cor", { input, streamMode: "updates", streamResumable: true });
told.joined = (await client.runs.join(thread, run.run_id)).answers;
told.nodes = [];
for await (const { event, data } of client.runs.joinStream(thread, run.run_id, { lastEventId: "-1" }))
  if (event === "updates") told.nodes.push(...Object.keys(data));

// a run that is cancelled while its model, which a test holds, has not answered
const held = await client.runs.create(thread, "cor", { input, context: { model: "openai:stub" } });
while (!(await client.threads.getState(thread)).next.includes("prune")) await new Promise((go) => setTimeout(go, 20));
await client.runs.cancel(thread, held.run_id, true);
told.cancelled = (await client.runs.get(thread, held.run_id)).status;

console.log(JSON.stringify(told));
