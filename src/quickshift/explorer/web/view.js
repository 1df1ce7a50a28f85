// What views of clusters and of pictures share: a forest, its cut, a selection, and what can be
// taken from them.

import { CutPanel } from "./cut_panel.js";
import { button, copy, count, download, el } from "./dom.js";
import { stepAt } from "./ladder.js";
import { Forest } from "./recut.js";

/**
 * @typedef {import("./ladder.js").Ladder} Ladder
 * @typedef {import("./plot.js").Plot} Plot
 * @typedef {{ladder: Ladder, step: number, fitted: boolean, elsewhere?: Int32Array}} State a cut,
 *   or labels of the rows from elsewhere
 */

export class CutView {
  /** @param {import("./unpack.js").Payload} payload @param {string} noun what is counted */
  constructor(payload, noun) {
    const { header, arrays } = payload;
    this.header = header;
    this.arrays = arrays;
    this.n = header.n;
    this.forest = new Forest(payload);
    /** @type {Ladder[]} */
    this.ladders = header.ladders.map((/** @type {any} */ ladder) => {
      const parts = ["starts", "values", "counts"].map((part) =>
        [part, /** @type {any} */ (arrays)[`${ladder.key}_${part}`]]);
      return { ...ladder, ...Object.fromEntries(parts) };
    });
    this.state = this.opening();
    /** @type {Int32Array} positions */
    this.selection = new Int32Array(0);
    /** @type {(() => void)[]} called after each change */
    this.listeners = [];
    /** @type {string[]} */
    this.palette = header.light;
    this.cutPanel = new CutPanel(this.ladders, this, noun, header.reset);
    this.code = el("code", { class: "python", tabindex: "0", "aria-label": "Python" });
    this.copies = button("Copy Python", () => copy(this.python()));
    const saves = button("Download labels", () => this.downloadLabels());
    this.cutPanel.element.append(el("div", { class: "row foot" }, this.code, this.copies, saves));
  }

  /** Return the row of controls above a plot. @param {Plot} plot @param {...Node} more */
  toolBar(plot, ...more) {
    const lasso = button("Lasso", () => {
      plot.lassoing = !plot.lassoing;
      lasso.setAttribute("aria-pressed", String(plot.lassoing));
      plot.overlay.classList.toggle("lassoing", plot.lassoing);
    }, { "aria-pressed": "false" });
    this.selected = el("span", { class: "note", role: "status" });
    this.clear = button("Clear", () => this.select(new Int32Array(0)), { hidden: true });
    return el("div", { class: "row bar" }, lasso, button("Show all", () => plot.showAll()),
      this.selected, this.clear, el("span", { class: "gap" }), ...more);
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
    const tau = this.ladders[0];
    if (value === null) this.reset();
    else this.choose(tau, stepAt(tau.starts, value));
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
    if (!elsewhere) this.forest.cut(this.cut);
    this.code.textContent = elsewhere ? "labels from elsewhere" : this.python().split("\n").at(-1);
    this.repaint();
  }

  /** Draw the cut; views say how. */
  repaint() {}

  /** Draw the selection; views say how. */
  paint() {}

  changed() {
    for (const listener of this.listeners) listener();
  }

  /** @param {Int32Array} positions */
  select(positions) {
    this.selection = positions;
    this.selected.textContent = positions.length ? `${count(positions.length)} selected` : "";
    this.clear.hidden = !positions.length;
    this.paint();
    this.changed();
  }

  /** Select rows. @param {Iterable<number>} rows */
  selectRows(rows) {
    const wanted = new Set(rows);
    this.selectWhere((i) => wanted.has(this.rowAt(i)));
  }

  /** @param {(position: number) => boolean} wanted */
  selectWhere(wanted) {
    const found = [];
    for (let i = 0; i < this.n; i++) if (wanted(i)) found.push(i);
    this.select(Int32Array.from(found));
  }

  /** Show labels of the rows: those of a cut as that cut, and others as they are, where the color of
   * a cluster is that of its highest point. @param {Int32Array} labels */
  showLabels(labels) {
    const clusters = new Set(labels.filter((label) => label >= 0)).size;
    /** @type {State[]} */
    const cuts = this.ladders.map((ladder) =>
      ({ ladder, step: Array.from(ladder.counts).indexOf(clusters), fitted: false }));
    const same = [this.opening(), ...cuts].find((state) => {
      this.state = state;
      if (state.step < 0) return false;
      this.forest.cut(this.cut);
      return this.labels().every((label, row) => label === labels[row]);
    });
    this.state = same ?? { ...this.opening(), fitted: false, elsewhere: labels };
    if (!same) this.forest.setLabels((i) => labels[this.rowAt(i)]);
    this.update();
    this.recut();
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
