// The steps of the run that is shown, in a list and lit up in the drawing of its state machine.

import { byId } from "./dom.js";
import { Machine } from "./machine.js";
import { stepItem, summary } from "./steps.js";

export class Trail {
  /** `fork(step, values)` is called with a step that was edited, and how. */
  constructor(fork) {
    this.fork = fork;
    this.steps = [];
    this.machine = new Machine(byId("machine"), (node) => this.open(node));
  }

  clear() {
    this.machine.clear();
    this.steps = [];
    byId("steps").replaceChildren();
    byId("steps-note").textContent = "Each step appears here as it happens.";
  }

  /** Light a node up that is at work. */
  begin(node) {
    this.machine.start(node);
  }

  /** Add a step that has ended. */
  add(step) {
    const failed = Boolean(step.entry?.error);
    if (!step.edited) this.machine.finish(step.node, this.steps.at(-1)?.node, { passed: !summary(step).length, failed });
    step.decisions = this.machine.decisions(step.node);
    this.steps.push(step);
    byId("steps").append(stepItem(step, this.steps.length, this.fork));
    byId("steps-note").textContent = "Open one to see its prompt, reply and state, or to edit it and run on from there.";
  }

  /** Show these steps; where they are as many as were shown, those stay open that were. */
  show(steps) {
    const items = () => [...byId("steps").children].map((item) => item.firstElementChild);
    const open = steps.length === this.steps.length ? items().map((item) => item.open) : [];
    this.clear();
    for (const step of steps) this.add(step);
    items().forEach((item, at) => (item.open = Boolean(open[at])));
  }

  /** Open the last step of a node, which was clicked in the drawing. */
  open(node) {
    const item = [...byId("steps").children].reverse().find((each) => each.dataset.node === node);
    this.machine.choose(item ? node : null);
    if (!item) return;
    const details = item.firstElementChild;
    details.open = true;
    details.firstElementChild.focus();
    item.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
}
