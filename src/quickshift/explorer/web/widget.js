// The view in a notebook: its cut, labels and selection are traits of a Python object.

import { show } from "./app.js";

/** Show the payload of a widget, and keep its traits. @param {{model: any, el: HTMLElement}} given */
export async function render({ model, el: root }) {
  root.style.height = "640px";
  const view = /** @type {any} */ (await show(root, new Uint8Array(model.get("packed").buffer)));
  if (!view.labels) return;
  let sending = false;
  const send = () => {
    sending = true;
    model.set("tau", view.tau);
    model.set("labels", new DataView(view.labels().buffer));
    model.set("selection", new DataView(view.selectedRows().buffer));
    model.save_changes();
    sending = false;
  };
  const rows = (/** @type {string} */ name) => {
    const { buffer, byteOffset, byteLength } = model.get(name);
    return new Int32Array(buffer.slice(byteOffset, byteOffset + byteLength));
  };
  /** @param {string} name @param {() => void} apply */
  const on = (name, apply) => model.on(`change:${name}`, () => sending || apply());
  on("tau", () => (view.tau = model.get("tau")));
  on("selection", () => view.selectRows?.(rows("selection")));
  on("labels", () => view.showLabels?.(rows("labels")));
  view.listeners.push(send);
  send();
}
