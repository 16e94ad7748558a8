// What is told of how it goes, and the key that the server may want.

import { hasKey, setKey } from "./client.js";
import { byId } from "./dom.js";

export const tell = (...parts) => byId("status").replaceChildren(...parts);

export function complain(error) {
  if (error?.name === "AbortError") return;
  byId("problem").textContent = error?.message ?? String(error);
  byId("problem").scrollIntoView({ block: "nearest" });
  tell("");
  if (error?.status === 401) askKey();
}

/** Do something that may fail, and say in one line why it did. */
export async function attempt(work) {
  byId("problem").textContent = "";
  try {
    return await work();
  } catch (error) {
    complain(error);
  }
}

let before = Promise.resolve();

/** Do something after what was begun before it. */
export const inTurn = (work) => (before = before.then(() => attempt(work)));

export function askKey() {
  byId("give-key").hidden = false;
  if (!byId("key-dialog").open) byId("key-dialog").showModal();
}

/** Take up the key that was typed, then go on with `work`. */
export function onKey(work) {
  byId("give-key").hidden = !hasKey();
  byId("give-key").addEventListener("click", askKey);
  byId("key-dialog").addEventListener("close", () => {
    if (byId("key-dialog").returnValue !== "save") return;
    setKey(byId("key").value.trim());
    byId("key").value = "";
    inTurn(work);
  });
}
