// A run that is watched: begun or joined, stopped, or left to itself.

import * as client from "./client.js";

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
