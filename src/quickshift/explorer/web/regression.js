// The view of a modal regression: samples, branches of modes, and prediction sets.

import { button, copy, disc, el, line, short, themeOf } from "./dom.js";
import { Plot } from "./plot.js";

export class RegressionView {
  /** @param {import("./unpack.js").Payload} payload */
  constructor({ header, arrays }) {
    this.header = header;
    this.arrays = arrays;
    this.ratio = header.ratio;
    this.coverage = header.coverage;
    /** @type {string[]} */
    this.palette = header.light;
    this.plot = new Plot(header.columns, [arrays.c0, arrays.c1], {
      tip: (position) => [
        `row ${arrays.rows[position]}`,
        ...header.columns.map((/** @type {any} */ column, /** @type {number} */ i) =>
          `${column.name}: ${short(this.plot.valueOf(i, position))}`),
      ],
      background: (context, plot) => this.drawSets(context, plot),
      decorate: (context, plot) => this.drawBranches(context, plot),
    });
    this.code = el("code", { class: "python", tabindex: "0", "aria-label": "Python" });
    const { ratios, coverages } = header;
    const sliders = [
      this.slider("Least density of a mode, as a share of the highest at the same x", ratios, "ratio"),
      this.slider("Coverage of the prediction set", coverages, "coverage"),
    ];
    const copies = button("Copy Python", () => copy(this.python()));
    const panel = el("section", { class: "cut", "aria-label": "Settings" },
      ...sliders, el("div", { class: "row foot" }, this.code, copies));
    const bar = el("div", { class: "row bar" }, button("Show all", () => this.plot.showAll()));
    this.element = el("div", { class: "main" }, bar, this.plot.element, panel);
  }

  /** Return a slider over the entries of a list.
   * @param {string} title @param {number[]} values @param {"ratio" | "coverage"} name */
  slider(title, values, name) {
    const said = el("output", { class: "said" });
    const show = () => {
      this[name] = Number(input.value);
      const value = values[this[name]];
      said.textContent = name === "ratio" ? short(value) : `${Math.round(value * 100)} %`;
      input.setAttribute("aria-valuetext", said.textContent);
      this.update();
    };
    const ends = { min: 0, max: values.length - 1, step: 1 };
    const input = el("input", { type: "range", ...ends, value: this[name], input: show });
    show();
    return el("div", { class: "setting" }, el("label", {}, el("span", {}, title, ": ", said), input));
  }

  update() {
    this.code.textContent = this.python().split("\n").at(-1);
    this.plot.redraw();
  }

  /** Return the Python that gives the branches and sets that are drawn. */
  python() {
    const { python, ratios, coverages } = this.header;
    const fit = python.fit.replace("{}", ratios[this.ratio]);
    return `model = ${fit}\nintervals = model.predict_set(X, coverage=${coverages[this.coverage]})`;
  }

  /** Return the branches at the present ratio, each as its first grid point and its heights. */
  branches() {
    const { first_branches, branch_starts, branch_ends, branch_y } = this.arrays;
    const found = [];
    for (let k = first_branches[this.ratio]; k < first_branches[this.ratio + 1]; k++) {
      found.push({ start: branch_starts[k], y: branch_y.subarray(branch_ends[k], branch_ends[k + 1]) });
    }
    return found;
  }

  /** @param {Plot} plot @param {number} x @param {number} y both in the user's units */
  place(plot, x, y) {
    return plot.place(plot.offsetOf(0, x), plot.offsetOf(1, y));
  }

  /** @param {CanvasRenderingContext2D} context @param {Plot} plot */
  drawBranches(context, plot) {
    const { paper } = themeOf(plot.element);
    this.branches().forEach(({ start, y }, number) => {
      const color = this.palette[number & 255];
      const places = Array.from(y, (height, k) => this.place(plot, this.arrays.grid[start + k], height));
      Object.assign(context, { strokeStyle: paper, lineWidth: 6 }); // a rim, against the points
      line(context, places);
      Object.assign(context, { strokeStyle: color, fillStyle: color, lineWidth: 3 });
      line(context, places);
      if (places.length === 1) disc(context, places[0], 2);
    });
  }

  /** Draw each interval halfway to the next grid points.
   * @param {CanvasRenderingContext2D} context @param {Plot} plot */
  drawSets(context, plot) {
    const { grid, first_intervals, interval_at, interval_low, interval_high } = this.arrays;
    context.fillStyle = themeOf(plot.element).faint;
    const limit = (/** @type {number} */ value) => Math.min(1e5, Math.max(-1e5, value));
    for (let k = first_intervals[this.coverage]; k < first_intervals[this.coverage + 1]; k++) {
      const q = interval_at[k];
      const left = ((grid[q - 1] ?? grid[q]) + grid[q]) / 2;
      const right = ((grid[q + 1] ?? grid[q]) + grid[q]) / 2;
      const [x0, y0] = this.place(plot, left, interval_high[k]).map(limit);
      const [x1, y1] = this.place(plot, right, interval_low[k]).map(limit);
      context.fillRect(Math.floor(x0), y0, Math.ceil(x1) - Math.floor(x0), y1 - y0);
    }
  }

  /** @param {"light" | "dark"} theme */
  setTheme(theme) {
    this.palette = this.header[theme];
    this.plot.setPalette(new Array(256).fill(theme === "dark" ? "#8b95a1" : "#7b858f"));
  }
}
