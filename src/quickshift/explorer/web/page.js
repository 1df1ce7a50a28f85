// The view of clusters: plot, slider and panels, and the cut that they share.

import { CutPanel } from "./cut_panel.js";
import { copy, count, download, el, short } from "./dom.js";
import { Forest } from "./recut.js";
import { scoreLadder, tauLadder } from "./ladder.js";
import { Panels } from "./panels.js";
import { Plot } from "./plot.js";

/**
 * @typedef {import("./ladder.js").Ladder} Ladder
 * @typedef {import("./unpack.js").Payload} Payload
 * @typedef {{ladder: Ladder, step: number, fitted: boolean}} State
 */

const SETTLED = 150; // milliseconds after which the panels follow, if there are many points

export class ClusterView {
  /**
   * @param {Payload} payload
   */
  constructor({ header, arrays }) {
    this.header = header;
    this.arrays = arrays;
    this.n = header.n;
    this.forest = new Forest(arrays, header.n);
    this.forest.prepare(header.chosen);
    this.ladders = this.makeLadders();
    const mode = this.ladders.find((ladder) => ladder.key === header.mode) ?? this.ladders[0];
    /** @type {State} */
    this.state = { ladder: mode, step: Math.max(mode.chosen, 0), fitted: true };
    /** @type {Int32Array} positions */
    this.selection = new Int32Array(0);
    this.highlighted = -1;
    this.pale = new Uint8Array(this.n);
    /** @type {(() => void)[]} */
    this.listeners = [];
    this.build();
  }

  makeLadders() {
    const { header, arrays, forest } = this;
    const ladders = [];
    if (forest.code && forest.counts) {
      ladders.push(tauLadder(header, arrays.levels, arrays.starts, forest.counts));
    }
    if (forest.leaf) ladders.push(scoreLadder(header, forest.score, forest.towards));
    return ladders;
  }

  build() {
    const { header, arrays } = this;
    const offsets = header.columns.map((/** @type {any} */ _, /** @type {number} */ i) => arrays[`c${i}`]);
    this.plot = new Plot(header.columns, offsets, {
      tip: (position) => this.describe(position),
      select: (positions) => this.select(positions),
      decorate: (context, plot) => plot.drawModes(context, this.forest.roots, this.forest.colors),
    });
    const calls = {
      choose: (/** @type {Ladder} */ ladder, /** @type {number} */ step) => this.choose(ladder, step),
      reset: () => this.reset(),
    };
    this.cutPanel = new CutPanel(this.ladders, calls, { noun: "cluster" });
    this.panels = new Panels(this);
    this.code = el("code", { class: "python", tabindex: "0", "aria-label": "Python" });
    const foot = el(
      "div",
      { class: "row foot" },
      this.code,
      el("button", { type: "button", click: () => this.copyPython() }, "Copy Python"),
      el("button", { type: "button", click: () => this.downloadLabels() }, "Download labels"),
    );
    this.cutPanel.element.append(foot);
    this.element = el(
      "div",
      { class: "clusters" },
      el("div", { class: "main" }, this.toolbar(), this.plot.element, this.cutPanel.element),
      this.panels.element,
    );
    this.plot.setAxes(header.axes);
    this.update();
  }

  toolbar() {
    const { columns, axes, note } = this.header;
    this.lassoButton = el(
      "button",
      { type: "button", "aria-pressed": "false", click: () => this.toggleLasso() },
      "Lasso",
    );
    const parts = [
      this.lassoButton,
      el("button", { type: "button", click: () => this.plot?.showAll() }, "Show all"),
    ];
    this.selected = el("span", { class: "selected", role: "status" });
    this.clear = el(
      "button",
      { type: "button", hidden: true, click: () => this.select(new Int32Array(0)) },
      "Clear",
    );
    parts.push(this.selected, this.clear, el("span", { class: "gap" }));
    if (columns.length > 2) {
      const chosen = [...axes];
      const selects = ["x", "y"].map((name, side) => {
        const select = el("select", {
          change: () => {
            chosen[side] = Number(select.value);
            this.plot?.setAxes([...chosen]);
          },
        });
        columns.forEach((/** @type {any} */ column, /** @type {number} */ i) => {
          select.append(el("option", { value: i, selected: i === axes[side] }, column.name));
        });
        return el("label", {}, `${name}: `, select);
      });
      parts.push(...selects);
    }
    const bar = el("div", { class: "row bar" }, ...parts);
    if (note) bar.title = note;
    return bar;
  }

  toggleLasso() {
    if (!this.plot) return;
    this.plot.lassoing = !this.plot.lassoing;
    this.lassoButton.setAttribute("aria-pressed", String(this.plot.lassoing));
    this.plot.overlay.classList.toggle("lassoing", this.plot.lassoing);
  }

  /** Return the present cut as the forest takes it. */
  get cut() {
    const { ladder, step, fitted } = this.state;
    if (fitted) return /** @type {const} */ ({ fitted: true });
    return ladder.key === "tau" ? { tau: step } : { score: ladder.values[step] };
  }

  /**
   * @param {Ladder} ladder
   * @param {number} step
   */
  choose(ladder, step) {
    this.state = { ladder, step, fitted: false };
    this.update();
  }

  reset() {
    const ladder = this.ladders.find((some) => some.key === this.header.mode) ?? this.ladders[0];
    this.state = { ladder, step: Math.max(ladder.chosen, 0), fitted: true };
    this.update();
  }

  /** Cut again before the next frame of the screen. */
  update() {
    this.cutPanel?.show(this.state.ladder, this.state.step, this.countNow(), this.state.fitted);
    if (this.pending) return;
    this.pending = true;
    const recut = () => {
      this.pending = false;
      this.recut();
    };
    if (this.drawn) requestAnimationFrame(recut);
    else recut();
  }

  countNow() {
    if (this.state.fitted) return this.header.n_clusters;
    return this.state.ladder.counts[this.state.step];
  }

  recut() {
    const started = performance.now();
    this.forest.cut(this.cut, this.header.chosen);
    this.recutTime = performance.now() - started;
    this.highlighted = -1;
    this.paint();
    if (this.drawn) this.plot?.move();
    this.drawn = true;
    this.code.textContent = this.python().split("\n").at(-1);
    this.panels?.follow();
    clearTimeout(this.timer);
    const settle = () => {
      this.panels?.settle();
      for (const listener of this.listeners) listener();
    };
    if (this.n > 100_000) this.timer = setTimeout(settle, SETTLED);
    else settle();
  }

  /** Send colors to the plot; what is not selected or highlighted is pale. */
  paint() {
    const { pale, selection, highlighted, forest } = this;
    if (highlighted >= 0) {
      for (let i = 0; i < this.n; i++) pale[i] = forest.labels[i] === highlighted ? 0 : 255;
    } else if (selection.length) {
      pale.fill(255);
      for (const i of selection) pale[i] = 0;
    } else pale.fill(0);
    this.plot?.setColors(forest.colors, pale);
  }

  /**
   * Make all other clusters pale.
   * @param {number} label or -1
   */
  highlight(label) {
    if (label === this.highlighted) return;
    this.highlighted = label;
    this.paint();
    this.panels?.mark(label);
  }

  /**
   * @param {Int32Array} positions
   */
  select(positions) {
    this.selection = positions;
    const text = positions.length ? `${count(positions.length)} selected` : "";
    this.selected.textContent = text;
    this.clear.hidden = !positions.length;
    this.paint();
    for (const listener of this.listeners) listener();
  }

  /**
   * Select the points of a cluster, or nothing if they are selected.
   * @param {number} label
   */
  selectCluster(label) {
    const found = [];
    for (let i = 0; i < this.n; i++) if (this.forest.labels[i] === label) found.push(i);
    const same = found.length === this.selection.length && found[0] === this.selection[0];
    this.highlighted = -1;
    this.select(Int32Array.from(same ? [] : found));
  }

  /**
   * Return the decimal logarithm of the density at a position.
   * @param {number} position
   */
  density(position) {
    const { density, rank } = this.arrays;
    if (density.length === this.n) return density[position];
    const at = (rank[position] / (this.n - 1)) * (density.length - 1);
    const k = Math.min(Math.floor(at), density.length - 2);
    return density[k] + (at - k) * (density[k + 1] - density[k]);
  }

  /**
   * Return the number of a row, or its name.
   * @param {number} position
   */
  rowName(position) {
    const { rows, ids } = this.arrays;
    if (ids && !this.names) this.names = new TextDecoder().decode(ids).split("\0");
    return this.names ? this.names[position] : String(rows[position]);
  }

  /**
   * Return the lines of the tip at a position.
   * @param {number} position
   */
  describe(position) {
    const { header, arrays, forest } = this;
    const label = forest.labels[position];
    const lines = [`row ${this.rowName(position)}`, `cluster ${label < 0 ? "none" : label}`];
    const log10 = this.density(position);
    if (Number.isFinite(log10)) {
      const shown = Math.abs(log10) < 300 ? short(10 ** log10) : `10^${short(log10)}`;
      lines.push(`density ${shown}`);
    }
    if (forest.parent && forest.code) {
      const parent = forest.parent[position];
      const far = arrays.starts[forest.code[position]];
      const move = far === undefined ? "" : ` at ${short(far)}${header.relative ? " τ" : ""}`;
      lines.push(parent === position ? "no parent" : `parent ${this.rowName(parent)}${move}`);
    }
    header.columns.slice(0, 12).forEach((/** @type {any} */ column, /** @type {number} */ i) => {
      lines.push(`${column.name} ${short(this.valueOf(i, position))}`);
    });
    return lines;
  }

  /**
   * Return an entry of a column.
   * @param {number} column
   * @param {number} position
   */
  valueOf(column, position) {
    const { low, high } = this.header.columns[column];
    const offsets = this.arrays[`c${column}`];
    const share = offsets[position] / (offsets instanceof Uint16Array ? 65535 : 1);
    return low * (1 - share) + high * share;
  }

  /** Return the labels in the order of the rows. */
  labels() {
    const labels = new Int32Array(this.n);
    const { rows } = this.arrays;
    for (let i = 0; i < this.n; i++) labels[rows[i]] = this.forest.labels[i];
    return labels;
  }

  /** Return the selected rows, ascending. */
  selectedRows() {
    return this.selection.map((position) => this.arrays.rows[position]).sort();
  }

  /** Return the Python that gives the present labels. */
  python() {
    const { header, state } = this;
    const { fit, model } = header.python;
    const value = state.ladder.values[state.step];
    let line = header.python.fitted;
    if (!state.fitted && state.ladder.key === "score") {
      line = header.python.score.replace("{}", String(value));
    } else if (!state.fitted) {
      const tau = header.relative ? `${value} * ${model}.tau_` : String(value);
      line = header.python.tau.replace("{}", tau);
    }
    return fit ? `${model} = ${fit}\nlabels = ${line}` : `labels = ${line}`;
  }

  async copyPython() {
    await copy(this.python());
  }

  downloadLabels() {
    const labels = this.labels();
    const lines = ["row,label\n"];
    /** @type {string[] | null} */
    let names = null;
    if (this.arrays.ids) {
      names = new Array(this.n);
      for (let i = 0; i < this.n; i++) names[this.arrays.rows[i]] = this.rowName(i);
      lines[0] = "row,name,label\n";
    }
    for (let i = 0; i < this.n; i++) {
      const name = names ? `,"${names[i].replaceAll('"', '""')}"` : "";
      lines.push(`${i}${name},${labels[i]}\n`);
    }
    download(lines, "labels.csv");
  }

  /**
   * @param {"light" | "dark"} theme
   */
  setTheme(theme) {
    this.palette = this.header[theme];
    this.plot?.setPalette(this.header[theme]);
    this.cutPanel?.draw();
    this.panels?.settle();
  }
}
