// The questions that were asked before, and their runs: watched, stopped, or left to themselves.

import { outcomeOf } from "./answer.js";
import * as client from "./client.js";
import { byId, el } from "./dom.js";
import { stepsTo } from "./steps.js";

/** List the threads; `open(thread)` is called with one that is chosen. */
export async function listThreads(current, open) {
  const found = await client.threads();
  byId("no-threads").hidden = found.length > 0;
  byId("threads").replaceChildren(...found.map((thread) => threadItem(thread, current, open)));
}

function threadItem({ thread_id, updated_at, status, metadata, extracted }, current, open) {
  const question = metadata?.question ?? extracted?.question ?? "(no question yet)";
  const outcome = extracted?.outcome ?? extracted?.replied;
  const said = status === "idle" ? outcome && outcomeOf({ outcome }) : status;
  const when = new Date(updated_at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const about = [when, metadata?.graph_id, said];
  const is = thread_id === current ? "true" : null;
  const click = () => open(thread_id);
  const told = el("small", {}, about.filter(Boolean).join(" · "));
  return el("li", {}, el("button", { type: "button", "aria-current": is, click }, question, told));
}

/** Offer the ends of a thread's runs, the latest first, where there are several; `open(head)` is called with one. */
export function showBranches(heads, shown, states, open) {
  byId("branches").hidden = heads.length < 2;
  const buttons = [...heads].reverse().map((head, at) => {
    const steps = stepsTo(head, states);
    const edit = steps.findLast((step) => step.edited);
    const label = edit ? `Fork ${at} after ${edit.node ?? "the start"}` : "First run";
    const click = () => open(head);
    return el("button", { type: "button", "aria-pressed": String(head === shown), click }, label);
  });
  byId("branches").replaceChildren(el("span", { class: "note" }, "Runs of this question:"), ...buttons);
}

/** A run that is watched: begun or joined, stopped, or left to itself. */
export class Run {
  constructor() {
    this.watching = new AbortController();
    this.left = false;
    this.stopped = false;
    this.begun = new Promise((tell) => (this.tellId = tell));
  }

  /** Throw where it is watched no longer. */
  check() {
    this.watching.signal.throwIfAborted();
  }

  /** Begin a run of a thread, and yield what happens in it. */
  begin(thread, request) {
    return this.follow(thread, client.run(thread, request, this.watching.signal));
  }

  /** Yield what happens from now on in a run that is under way. */
  join(thread, id) {
    return this.follow(thread, client.join(thread, id, this.watching.signal));
  }

  async *follow(thread, events) {
    this.thread = thread;
    try {
      for await (const event of events) {
        if (this.left) return;
        if (event.event === "begun") this.tellId(event.data);
        yield event;
      }
    } catch (error) {
      if (!this.stopped) throw error;
    } finally {
      this.tellId(null); // where it has never begun
    }
  }

  /** Have the server stop it, as soon as it has begun. */
  async stop() {
    this.stopped = true;
    const id = this.thread ? await this.begun : null;
    if (id && !this.left) await client.cancel(this.thread, id);
    this.watching.abort();
  }

  /** Watch it no longer; it goes on. */
  leave() {
    this.left = true;
    this.watching.abort();
  }
}
