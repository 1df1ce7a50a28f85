// The view of clusters: plot, slider and panels.

import { el, short, tenTo } from "./dom.js";
import { drawModes } from "./marks.js";
import { Panels } from "./panels.js";
import { Plot } from "./plot.js";
import { CutView } from "./view.js";

const SETTLED = 150; // milliseconds after which the panels follow, if there are many points
const MANY = 100_000;

export class ClusterView extends CutView {
  /** @param {import("./unpack.js").Payload} payload */
  constructor(payload) {
    super(payload, "cluster");
    const { header, arrays } = payload;
    this.highlighted = -1;
    this.pale = new Uint8Array(this.n);
    /** @type {string[] | null} names of rows, by position */
    this.names = arrays.ids ? new TextDecoder().decode(arrays.ids).split("\0") : null;
    /** @type {any[]} */
    const offsets = header.columns.map((/** @type {any} */ _, /** @type {number} */ i) =>
      /** @type {any} */ (arrays)[`c${i}`]);
    this.plot = new Plot(header.columns, offsets, {
      tip: (position) => this.describe(position),
      select: (positions) => this.select(positions),
      equal: header.equal,
      decorate: (context, plot) => drawModes(context, plot, this.forest),
    }, header.axes);
    this.panels = new Panels(this);
    const note = el("span", { class: "note" }, header.note);
    const bar = this.toolBar(this.plot, note, ...this.axisChoices());
    const main = el("div", { class: "main" }, bar, this.plot.element, this.cutPanel.element);
    this.element = el("div", { class: "clusters" }, main, this.panels.element);
    this.update();
    this.recut();
  }

  /** Return the choices of axes, if there are more than two columns. */
  axisChoices() {
    const { columns, axes } = this.header;
    const chosen = [...axes];
    return columns.length < 3 ? [] : chosen.map((axis, side) => {
      const choose = () => {
        chosen[side] = Number(select.value);
        this.plot.setAxes([...chosen]);
      };
      const options = columns.map((/** @type {any} */ column, /** @type {number} */ i) =>
        el("option", { value: i, selected: i === axis }, column.name));
      const select = el("select", { change: choose }, ...options);
      return el("label", {}, `${"xy"[side]}: `, select);
    });
  }

  /** @override */
  repaint() {
    this.highlighted = -1;
    this.paint();
    this.plot.move();
    clearTimeout(this.timer);
    if (this.n <= MANY) return this.settle();
    this.panels.decision?.draw(); // what is fast, while a slider moves
    this.timer = setTimeout(() => this.settle(), SETTLED);
  }

  settle() {
    this.panels.settle();
    this.changed();
  }

  /** Send colors to the plot; points that are not selected or highlighted, or in no cluster, are
   * pale. @override */
  paint() {
    const { pale, selection, highlighted } = this;
    const { labels, colors } = this.forest;
    const only = highlighted >= 0;
    for (let i = 0; i < this.n; i++) {
      pale[i] = labels[i] < 0 || (only ? labels[i] !== highlighted : selection.length) ? 255 : 0;
    }
    if (!only) for (const i of selection) pale[i] = 0;
    this.plot.setColors(colors, pale);
  }

  /** Make all other clusters pale. @param {number} label or -1 */
  highlight(label) {
    if (label === this.highlighted) return;
    this.highlighted = label;
    this.paint();
    this.panels.mark(label);
  }

  /** @param {Int32Array} positions @override */
  select(positions) {
    this.highlighted = -1;
    super.select(positions);
  }

  /** Select the points of a cluster, or nothing if they are selected. @param {number} label */
  selectCluster(label) {
    const { labels } = this.forest;
    const size = labels.filter((some) => some === label).length;
    const same = this.selection.length === size && labels[this.selection[0]] === label;
    this.selectWhere((i) => !same && labels[i] === label);
  }

  /** Return the decimal logarithm of the density at a position. @param {number} position */
  density(position) {
    const { density, rank } = this.arrays;
    if (density.length === this.n) return density[position];
    const at = (rank[position] / (this.n - 1)) * (density.length - 1); // between two that are known
    const k = Math.min(Math.floor(at), density.length - 2);
    return density[k] + (at - k) * (density[k + 1] - density[k]);
  }

  /** Return the name of a row, or its number. @param {number} position */
  rowName(position) {
    return this.names ? this.names[position] : String(this.rowAt(position));
  }

  /** Return the lines of the tip at a position. @param {number} position */
  describe(position) {
    const { header, arrays, forest } = this;
    const lines = [`row ${this.rowName(position)}`, `cluster ${forest.nameOf(forest.labels[position])}`];
    lines.push(`density ${tenTo(this.density(position))}`);
    if (forest.parent) {
      const parent = forest.parent[position];
      const far = arrays.tau_starts[forest.code[position]];
      const move = far === undefined ? "" : ` at ${short(far)}${header.relative ? " τ" : ""}`;
      lines.push(parent === position ? "no parent" : `parent: row ${this.rowName(parent)}${move}`);
    }
    header.columns.forEach((/** @type {any} */ column, /** @type {any} */ i) => {
      lines.push(`${column.name}: ${short(this.plot.valueOf(i, position))}`);
    });
    return lines;
  }

  /** @override */
  rowKeys() {
    if (!this.names) return super.rowKeys();
    const names = new Array(this.n);
    for (let i = 0; i < this.n; i++) names[this.rowAt(i)] = this.names[i].replaceAll('"', '""');
    return { names: "row,name", of: (/** @type {number} */ row) => `${row},"${names[row]}"` };
  }

  /** @param {"light" | "dark"} theme */
  setTheme(theme) {
    this.palette = this.header[theme];
    this.plot.setPalette(this.palette);
    this.panels.settle();
  }
}
