// The decision graph: density against the move to the parent. Modes before merging are above the line.

import { disc, drag, el, emptyCanvas, line, logTicks, short, tenTo, themeOf, ticks } from "./dom.js";
import { stepAt } from "./ladder.js";
import { drawTick } from "./marks.js";
import { NEVER } from "./recut.js";

/** @typedef {import("./clusters.js").ClusterView} ClusterView */

const HEIGHT = 210;
const LEFT = 44;
const TOP = 8;
const BOTTOM = 30;
const MOST_MODES = 1000;
const LABEL = "Cut in the decision graph, which shows the density and the move of each point";
const BY_MOVES = "Modes are the points above the line; drag it to cut elsewhere.";
const BY_SCORE = "Above the dashed line: modes before merging. Drag it to cut by moves instead.";

export class DecisionGraph {
  /** @param {ClusterView} view */
  constructor(view) {
    this.view = view;
    this.tau = view.ladders[0];
    this.canvas = el("canvas", {
      tabindex: "0", role: "slider", "aria-orientation": "vertical", "aria-label": LABEL,
      pointerdown: (event) => this.grab(event),
      pointermove: (event) => this.hover(event),
      pointerleave: () => view.highlight(-1),
      keydown: (event) => this.key(event),
    });
    const move = view.header.relative ? "move / τ" : "move";
    const title = el("h2", {}, `Decision graph: density and ${move}`);
    this.note = el("p", { class: "note" });
    this.element = el("section", { class: "decision" }, title, this.canvas, this.note);
    this.x = [0, 1]; // ends of the axes, as decimal logarithms
    this.y = [0, 1];
    this.top = 1; // points without a parent are drawn here
    this.heights = new Float32Array(0); // of the levels
    this.drawn = "";
    this.measure();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** Find the ranges of both axes, as decimal logarithms. */
  measure() {
    const { density, tau_starts: starts } = this.view.arrays;
    const known = density.filter((log10) => Number.isFinite(log10)).sort();
    let [left, right] = [known[0] ?? 0, known.at(-1) ?? 0];
    if (left === right) [left, right] = [left - 1, right + 1];
    const end = this.tau.high;
    const low = Math.log10(starts.find((start) => start > 0) ?? end);
    const high = Math.log10(Math.max(starts[starts.length - 1], end));
    this.x = [left - 0.03 * (right - left), right + 0.05 * (right - left)];
    this.y = [low - 0.05 * (high - low) - 0.05, high + 0.1 * (high - low) + 0.1];
    this.top = high + 0.05 * (high - low) + 0.05;
    this.heights = Float32Array.from(starts, (start) => (start > 0 ? Math.log10(start) : NaN));
  }

  /** @param {number} position */
  placeOf(position) {
    const code = this.view.forest.code[position];
    return this.place(this.view.density(position), code === NEVER ? this.top : this.heights[code]);
  }

  /** @param {number} x @param {number} y */
  place(x, y) {
    const wide = this.width - LEFT - 6;
    const high = HEIGHT - TOP - BOTTOM;
    const right = LEFT + ((x - this.x[0]) / (this.x[1] - this.x[0])) * wide;
    return [right, TOP + (1 - (y - this.y[0]) / (this.y[1] - this.y[0])) * high];
  }

  get width() {
    return this.canvas.clientWidth || 300;
  }

  draw() {
    if (!this.canvas.clientWidth) return;
    const theme = themeOf(this.element);
    const context = emptyCanvas(this.canvas, this.width, HEIGHT);
    context.drawImage(this.cloud(theme.muted), 0, 0, this.width, HEIGHT);
    this.drawAxes(context, theme);
    this.drawModes(context, theme);
    this.drawCut(context, theme);
  }

  /** Return a picture of all points, which is drawn once. @param {string} color */
  cloud(color) {
    const { width, height } = this.canvas;
    const key = `${width} ${color}`;
    if (this.drawn === key) return this.picture;
    this.drawn = key;
    this.picture = el("canvas", { width, height });
    const ratio = height / HEIGHT;
    const counts = new Uint32Array(width * height);
    for (let i = 0; i < this.view.n; i++) {
      const [column, row] = this.placeOf(i).map((side) => Math.round(side * ratio));
      if (column >= 0 && column < width && row >= 0 && row < height) counts[row * width + column]++;
    }
    const most = Math.log1p(counts.reduce((a, b) => Math.max(a, b)));
    const context = /** @type {CanvasRenderingContext2D} */ (this.picture.getContext("2d"));
    context.fillStyle = color;
    const side = Math.max(1, Math.min(3, 300 / Math.sqrt(this.view.n))) * ratio;
    counts.forEach((inside, p) => {
      if (!inside) return;
      context.globalAlpha = 0.25 + (0.75 * Math.log1p(inside)) / most;
      context.fillRect((p % width) - side / 2, Math.floor(p / width) - side / 2, side, side);
    });
    return this.picture;
  }

  /** @param {CanvasRenderingContext2D} context @param {Record<string, string>} theme */
  drawAxes(context, theme) {
    Object.assign(context, { fillStyle: theme.muted, strokeStyle: theme.line, lineWidth: 1 });
    const [left, floor] = [LEFT - 4, HEIGHT - BOTTOM + 4];
    line(context, [[left, TOP], [left, floor], [this.width - 4, floor]]);
    for (const value of logTicks(10 ** this.y[0], 10 ** this.y[1], 4)) {
      const log10 = Math.log10(value);
      drawTick(context, tenTo(log10, 1), [left, this.place(0, log10)[1]], false);
    }
    for (const power of ticks(this.x[0], this.x[1], 4)) {
      const [right] = this.place(power, 0);
      if (!Number.isInteger(power) || right > this.width - 18) continue;
      drawTick(context, tenTo(power, 1), [right, floor], true);
    }
    context.textAlign = "right";
    context.fillText("density", this.width - 4, HEIGHT - 13);
  }

  /** @param {CanvasRenderingContext2D} context @param {Record<string, string>} theme */
  drawModes(context, theme) {
    const { forest, palette } = this.view;
    Object.assign(context, { strokeStyle: theme.panel, lineWidth: 1 });
    for (let label = Math.min(forest.roots.length, MOST_MODES) - 1; label >= 0; label--) {
      context.fillStyle = palette[forest.colors[forest.roots[label]]];
      disc(context, this.placeOf(forest.roots[label]), 4);
    }
  }

  /** Draw the line of the cut, and say what it is.
   * @param {CanvasRenderingContext2D} context @param {Record<string, string>} theme */
  drawCut(context, theme) {
    const { ladder, step } = this.view.state;
    const byMoves = ladder.key === "tau";
    const at = Math.max(byMoves ? step : this.tau.chosen, 0);
    const value = this.tau.values[at];
    const y = this.place(0, Math.log10(Math.max(value, 1e-300)))[1];
    Object.assign(context, { strokeStyle: theme.ink, lineWidth: 1.5 });
    context.setLineDash(byMoves ? [] : [4, 3]);
    line(context, [[LEFT - 4, y], [this.width - 4, y]]);
    context.setLineDash([]);
    this.note.textContent = byMoves ? BY_MOVES : BY_SCORE;
    const last = this.tau.values.length - 1;
    const said = { min: 0, max: last, now: at, text: `${this.tau.symbol} ${short(value)}` };
    Object.entries(said).forEach(([name, text]) =>
      this.canvas.setAttribute(`aria-value${name}`, String(text)));
  }

  /** @param {PointerEvent} event */
  grab(event) {
    const to = (/** @type {PointerEvent} */ e) => {
      const share = 1 - (e.offsetY - TOP) / (HEIGHT - TOP - BOTTOM);
      const log10 = this.y[0] + share * (this.y[1] - this.y[0]);
      this.view.choose(this.tau, stepAt(this.tau.starts, 10 ** log10));
    };
    this.dragging = true;
    drag(this.canvas, event, to, () => (this.dragging = false));
    to(event);
  }

  /** Move the line to the next number of clusters. @param {KeyboardEvent} event */
  key(event) {
    if (!/^Arrow/.test(event.key)) return;
    event.preventDefault();
    const { view } = this;
    if (view.state.ladder !== this.tau) view.choose(this.tau, Math.max(this.tau.chosen, 0));
    view.cutPanel.by(/Up|Right/.test(event.key) ? -1 : 1);
  }

  /** Highlight the cluster of the mode under the pointer. @param {PointerEvent} event */
  hover(event) {
    if (this.dragging) return;
    const { roots } = this.view.forest;
    let [found, least] = [-1, 64];
    for (let label = 0; label < Math.min(roots.length, MOST_MODES); label++) {
      const [x, y] = this.placeOf(roots[label]);
      const squared = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2;
      if (squared < least) [found, least] = [label, squared];
    }
    this.view.highlight(found);
    this.canvas.title = found < 0 ? "" : `cluster ${this.view.forest.nameOf(found)}`;
  }
}
