// The view of clusters: plot, slider and panels.

import { count, el, short } from "./dom.js";
import { drawModes } from "./marks.js";
import { Panels } from "./panels.js";
import { Plot } from "./plot.js";
import { CutView } from "./view.js";

const SETTLED = 150; // milliseconds after which the panels follow, if there are many points
const MANY = 100_000;

export class ClusterView extends CutView {
  /** @param {import("./unpack.js").Payload} payload */
  constructor(payload) {
    super(payload, { noun: "cluster", reset: payload.header.reset });
    const { header, arrays } = payload;
    this.highlighted = -1;
    this.pale = new Uint8Array(this.n);
    /** @type {string[] | null} names of rows, by position */
    this.names = arrays.ids ? new TextDecoder().decode(arrays.ids).split("\0") : null;
    const offsets = header.columns.map((/** @type {any} */ _, /** @type {any} */ i) => arrays["c" + i]);
    this.plot = new Plot(header.columns, offsets, {
      tip: (position) => this.describe(position),
      select: (positions) => this.select(positions),
      equal: header.equal,
      decorate: (context, plot) => drawModes(context, plot, this.forest),
    });
    this.bar = new ToolBar(this.plot, header, () => this.select(new Int32Array(0)));
    this.panels = new Panels(this);
    const parts = [this.bar.element, this.plot.element, this.cutPanel.element];
    const main = el("div", { class: "main" }, ...parts);
    this.element = el("div", { class: "clusters" }, main, this.panels.element);
    this.plot.setAxes(header.axes);
    this.update();
    this.recut();
  }

  /** @override */
  repaint() {
    this.highlighted = -1;
    this.paint();
    this.plot.move();
    this.panels.follow();
    clearTimeout(this.timer);
    if (this.n > MANY) this.timer = setTimeout(() => this.settle(), SETTLED);
    else this.settle();
  }

  settle() {
    this.panels.settle();
    this.changed();
  }

  /** Send colors to the plot; what is not selected or highlighted is pale. */
  paint() {
    const { pale, selection, highlighted, forest } = this;
    if (highlighted >= 0) {
      for (let i = 0; i < this.n; i++) pale[i] = forest.labels[i] === highlighted ? 0 : 255;
    } else {
      pale.fill(selection.length ? 255 : 0);
      for (const i of selection) pale[i] = 0;
    }
    this.plot.setColors(forest.colors, pale);
  }

  /** Make all other clusters pale. @param {number} label or -1 */
  highlight(label) {
    if (label === this.highlighted) return;
    this.highlighted = label;
    this.paint();
    this.panels.mark(label);
  }

  /** @param {Int32Array} positions */
  select(positions) {
    this.selection = positions;
    this.highlighted = -1;
    this.bar.says(positions.length ? `${count(positions.length)} selected` : "");
    this.paint();
    this.changed();
  }

  /** Select rows. @param {Iterable<number>} rows */
  selectRows(rows) {
    const wanted = new Set(rows);
    const found = [];
    for (let i = 0; i < this.n; i++) if (wanted.has(this.rowAt(i))) found.push(i);
    this.select(Int32Array.from(found));
  }

  /** Select the points of a cluster, or nothing if they are selected. @param {number} label */
  selectCluster(label) {
    const found = [];
    for (let i = 0; i < this.n; i++) if (this.forest.labels[i] === label) found.push(i);
    const same = found.length === this.selection.length && found[0] === this.selection[0];
    this.select(Int32Array.from(same ? [] : found));
  }

  /** Show labels from elsewhere; the color of a cluster is that of its highest point.
   * @param {Int32Array} labels of the rows */
  showLabels(labels) {
    this.forest.setLabels((i) => labels[this.rowAt(i)]);
    this.state = { ...this.opening(), fitted: false, elsewhere: labels };
    this.update();
    this.recut();
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
    const label = forest.labels[position];
    const lines = [`row ${this.rowName(position)}`, `cluster ${label < 0 ? "none" : forest.nameOf(label)}`];
    const log10 = this.density(position);
    lines.push(`density ${Math.abs(log10) < 300 ? short(10 ** log10) : `10^${short(log10)}`}`);
    if (forest.parent && forest.code) {
      const parent = forest.parent[position];
      const far = arrays.starts[forest.code[position]];
      const move = far === undefined ? "" : ` at ${short(far)}${header.relative ? " τ" : ""}`;
      lines.push(parent === position ? "no parent" : `parent: row ${this.rowName(parent)}${move}`);
    }
    header.columns.slice(0, 12).forEach((/** @type {any} */ column, /** @type {any} */ i) => {
      lines.push(`${column.name}: ${short(this.plot.valueOf(i, position))}`);
    });
    return lines;
  }

  /** @override */
  rowKeys() {
    if (!this.names) return super.rowKeys();
    const names = new Array(this.n);
    this.names.forEach((name, i) => (names[this.rowAt(i)] = name.replaceAll('"', '""')));
    return { names: "row,name", of: (/** @type {number} */ row) => `${row},"${names[row]}"` };
  }

  /** @param {"light" | "dark"} theme */
  setTheme(theme) {
    this.palette = this.header[theme];
    this.plot.setPalette(this.palette);
    this.panels.settle();
  }
}

/** The buttons above a plot, and the choice of its axes. */
export class ToolBar {
  /** @param {Plot} plot @param {any} header @param {() => void} clear */
  constructor(plot, header, clear) {
    const lasso = () => {
      plot.lassoing = !plot.lassoing;
      this.lasso.setAttribute("aria-pressed", String(plot.lassoing));
      plot.overlay.classList.toggle("lassoing", plot.lassoing);
    };
    this.lasso = el("button", { type: "button", "aria-pressed": "false", click: lasso }, "Lasso");
    this.selected = el("span", { class: "selected", role: "status" });
    this.clear = el("button", { type: "button", hidden: true, click: clear }, "Clear");
    this.element = el("div", { class: "row bar", title: header.note || null }, this.lasso,
      el("button", { type: "button", click: () => plot.showAll() }, "Show all"),
      this.selected, this.clear, el("span", { class: "gap" }),
    );
    const chosen = [...header.axes];
    if (header.columns.length < 3) return;
    for (const side of [0, 1]) {
      const choose = () => {
        chosen[side] = Number(select.value);
        plot.setAxes([...chosen]);
      };
      const select = el("select", { change: choose });
      header.columns.forEach((/** @type {any} */ column, /** @type {number} */ i) => {
        select.append(el("option", { value: i, selected: i === chosen[side] }, column.name));
      });
      this.element.append(el("label", {}, `${"xy"[side]}: `, select));
    }
  }

  /** @param {string} text */
  says(text) {
    this.selected.textContent = text;
    this.clear.hidden = !text;
  }
}
