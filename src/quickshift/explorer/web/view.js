// What views of clusters and of pictures share: a forest, its cut, and what can be taken from it.

import { CutPanel } from "./cut_panel.js";
import { copy, download, el } from "./dom.js";
import { scoreLadder, stepAt, tauLadder } from "./ladder.js";
import { Forest } from "./recut.js";

/**
 * @typedef {import("./ladder.js").Ladder} Ladder
 * @typedef {import("./unpack.js").Payload} Payload
 * @typedef {{ladder: Ladder, step: number, fitted: boolean, elsewhere?: Int32Array}} State a cut,
 *   or labels of the rows from elsewhere
 */

export class CutView {
  /** @param {Payload} payload @param {{noun: string, reset: string}} words for the slider */
  constructor({ header, arrays }, words) {
    this.header = header;
    this.arrays = arrays;
    this.n = header.n;
    this.forest = new Forest(arrays, header.n);
    this.forest.prepare(header.chosen);
    const { code, counts, leaf, score, towards } = this.forest;
    /** @type {Ladder[]} */
    this.ladders = [];
    if (code && counts) this.ladders.push(tauLadder(header, arrays.levels, arrays.starts, counts));
    if (leaf) this.ladders.push(scoreLadder(header, score, towards));
    /** @type {State} */
    this.state = this.opening();
    /** @type {Int32Array} positions */
    this.selection = new Int32Array(0);
    /** @type {(() => void)[]} called after each change */
    this.listeners = [];
    /** @type {string[]} */
    this.palette = header.light;
    this.cutPanel = new CutPanel(this.ladders, this, words);
    this.code = el("code", { class: "python", tabindex: "0", "aria-label": "Python" });
    const [copies, saves] = [() => copy(this.python()), () => this.downloadLabels()];
    this.copies = el("button", { type: "button", click: copies }, "Copy Python");
    const save = el("button", { type: "button", click: saves }, "Download labels");
    this.cutPanel.element.append(el("div", { class: "row foot" }, this.code, this.copies, save));
  }

  /** Return the cut at which the page opens. @returns {State} */
  opening() {
    const ladder = this.ladders.find((some) => some.key === this.header.mode) ?? this.ladders[0];
    return { ladder, step: Math.max(ladder.chosen, 0), fitted: true };
  }

  /** Return the present cut as the forest takes it. */
  get cut() {
    const { ladder, step, fitted } = this.state;
    if (fitted) return /** @type {const} */ ({ fitted: true });
    return ladder.key === "tau" ? { tau: step } : { score: ladder.values[step] };
  }

  /** Return tau, or null if the cut is not at a tau. @returns {number | null} */
  get tau() {
    const { ladder, step, fitted, elsewhere } = this.state;
    const cut = !elsewhere && ladder.key === "tau" && (!fitted || this.header.mode === "tau");
    return cut ? ladder.values[step] : null;
  }

  set tau(value) {
    const ladder = this.ladders.find((some) => some.key === "tau");
    if (ladder && value !== null) this.choose(ladder, stepAt(ladder.starts, value));
  }

  /** @param {Ladder} ladder @param {number} step */
  choose(ladder, step) {
    this.state = { ladder, step, fitted: false };
    this.update();
  }

  reset() {
    this.state = this.opening();
    this.update();
  }

  /** Cut again before the next frame of the screen. */
  update() {
    const { ladder, step, fitted, elsewhere } = this.state;
    let clusters = fitted ? this.header.n_clusters : ladder.counts[step];
    if (elsewhere) clusters = this.forest.roots.length;
    this.copies.disabled = Boolean(elsewhere);
    this.cutPanel.show(ladder, step, clusters, fitted);
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => this.recut());
  }

  /** Cut again now. */
  recut() {
    cancelAnimationFrame(this.pending ?? 0);
    this.pending = 0;
    const { elsewhere } = this.state;
    if (!elsewhere) this.forest.cut(this.cut, this.header.chosen);
    this.code.textContent = elsewhere ? "labels from elsewhere" : this.python().split("\n").at(-1);
    this.repaint();
  }

  /** Draw the cut; views say how. */
  repaint() {}

  changed() {
    for (const listener of this.listeners) listener();
  }

  /** Return the row at a position. @param {number} position @returns {number} */
  rowAt(position) {
    return this.arrays.rows ? this.arrays.rows[position] : position;
  }

  /** Return the labels in the order of the rows. */
  labels() {
    if (this.state.elsewhere) return this.state.elsewhere.slice();
    const labels = new Int32Array(this.n);
    for (let i = 0; i < this.n; i++) labels[this.rowAt(i)] = this.forest.labels[i];
    return labels;
  }

  /** Return the selected rows, ascending. */
  selectedRows() {
    return this.selection.map((position) => this.rowAt(position)).sort();
  }

  /** Return the Python that gives the present labels. */
  python() {
    const { header, state } = this;
    const { fit, model, fitted, score, tau } = header.python;
    const value = state.ladder.values[state.step];
    let line = fitted;
    if (!state.fitted && state.ladder.key === "score") line = score.replace("{}", value);
    else if (!state.fitted) {
      line = tau.replace("{}", header.relative ? `${value} * ${model}.tau_` : value);
    }
    return fit ? `${model} = ${fit}\nlabels = ${line}` : `labels = ${line}`;
  }

  /** Return what identifies each row in a file: names of columns, and a function of the row. */
  rowKeys() {
    return { names: "row", of: (/** @type {number} */ row) => String(row) };
  }

  downloadLabels() {
    const keys = this.rowKeys();
    const lines = [`${keys.names},label\n`];
    this.labels().forEach((label, row) => lines.push(`${keys.of(row)},${label}\n`));
    download(lines, "labels.csv");
  }
}
