// The view in a notebook: its cut, labels and selection are traits of a Python object, which may have
// more than one view.

import { show } from "./app.js";

/** @typedef {{now: () => any, take: (value: any) => void}} Trait how a view gives and takes it */

/** Show the payload of a widget, and keep its traits. @param {{model: any, el: HTMLElement}} given
 * @returns {Promise<() => void>} a function to call when the view is removed */
export async function render({ model, el: root }) {
  root.style.height = "760px";
  const view = /** @type {any} */ (await show(root, new Uint8Array(model.get("packed").buffer)));
  const traits = view.labels ? traitsOf(view) : {};
  const get = (/** @type {string} */ name) => {
    const value = model.get(name);
    if (!(value instanceof DataView)) return value;
    const { buffer, byteOffset, byteLength } = value;
    return new Int32Array(buffer.slice(byteOffset, byteOffset + byteLength));
  };
  let sending = false;
  const send = () => {
    sending = true;
    for (const [name, { now }] of Object.entries(traits)) {
      const value = now();
      if (same(value, get(name))) continue;
      model.set(name, value instanceof Int32Array ? new DataView(value.buffer) : value);
    }
    model.save_changes();
    sending = false;
  };
  const heard = Object.entries(traits).map(([name, { now, take }]) => {
    const hear = () => sending || same(now(), get(name)) || take(get(name));
    model.on(`change:${name}`, hear);
    return () => model.off(`change:${name}`, hear);
  });
  if (heard.length) {
    // What was set before the view existed; a tau says more than the labels that it gives.
    const set = get("tau") !== null ? ["tau", "selection"] : ["labels", "selection"];
    for (const name of set) if (get(name)?.length !== 0) traits[name].take(get(name));
    view.listeners.push(send);
    send();
  }
  return () => {
    heard.forEach((forget) => forget());
    view.plot.close();
  };
}

/** @param {any} view @returns {Record<string, Trait>} */
function traitsOf(view) {
  return {
    tau: { now: () => view.tau, take: (tau) => (view.tau = tau) },
    labels: {
      now: () => view.labels(),
      take: (labels) => (labels.length ? view.showLabels(labels) : view.reset()),
    },
    selection: { now: () => view.selectedRows(), take: (rows) => view.selectRows(rows) },
  };
}

/** @param {any} a @param {any} b */
function same(a, b) {
  if (!(a instanceof Int32Array && b instanceof Int32Array)) return a === b;
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
