// The decision graph: density against the move to the parent. Modes before merging are above the line.

import { disc, drag, el, fitCanvas, line, logTicks, short, themeOf, ticks } from "./dom.js";
import { stepAt } from "./ladder.js";
import { NEVER } from "./recut.js";

/** @typedef {import("./clusters.js").ClusterView} ClusterView */

const HEIGHT = 210;
const LEFT = 44;
const TOP = 8;
const BOTTOM = 30;
const MOST_MODES = 1000;
const BY_MOVES = "Modes are the points above the line; drag it to cut elsewhere.";
const BY_SCORE = "Above the dashed line: modes before merging. Drag it to cut by moves instead.";

export class DecisionGraph {
  /** @param {ClusterView} view */
  constructor(view) {
    this.view = view;
    this.canvas = el("canvas", {
      role: "img",
      "aria-label": "Decision graph: density of each point against its move to the parent.",
      pointerdown: (/** @type {PointerEvent} */ event) => this.grab(event),
      pointermove: (/** @type {PointerEvent} */ event) => this.hover(event),
      pointerleave: () => view.highlight(-1),
    });
    const title = el("h2", {}, `Density and ${view.header.relative ? "move / τ" : "move"}`);
    this.note = el("p", { class: "note" });
    this.element = el("section", { class: "decision" }, title, this.canvas, this.note);
    this.x = [0, 1]; // ends of the axes, as decimal logarithms
    this.y = [0, 1];
    this.top = 1; // points without a parent are drawn here
    this.heights = new Float32Array(0); // of the levels
    this.key = "";
    this.measure();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** Find the ranges of both axes, as decimal logarithms. */
  measure() {
    const { view } = this;
    const { starts } = view.arrays;
    let [left, right] = [Infinity, -Infinity];
    const stride = Math.max(1, Math.floor(view.n / 20000));
    for (let i = 0; i < view.n; i += stride) {
      const x = view.density(i);
      if (Number.isFinite(x)) [left, right] = [Math.min(left, x), Math.max(right, x)];
    }
    if (!(right > left)) [left, right] = [(left || 0) - 1, (left || 0) + 1];
    const { high: end } = view.ladders[0];
    const low = Math.log10(starts.find((/** @type {number} */ start) => start > 0) ?? end);
    const high = Math.log10(Math.max(starts.at(-1), end));
    this.x = [left - 0.03 * (right - left), right + 0.05 * (right - left)];
    this.y = [low - 0.05 * (high - low) - 0.05, high + 0.1 * (high - low) + 0.1];
    this.heights = Float32Array.from(starts, (start) => (start > 0 ? Math.log10(start) : NaN));
    this.top = high + 0.05 * (high - low) + 0.05;
  }

  /** @param {number} position */
  placeOf(position) {
    const code = /** @type {Uint16Array} */ (this.view.forest.code)[position];
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
    this.canvas.style.height = `${HEIGHT}px`;
    const ratio = fitCanvas(this.canvas, this.width, HEIGHT);
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.cloud(ratio, theme.muted), 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawAxes(context, theme);
    this.drawModes(context, theme);
  }

  /** Return a picture of all points, which is drawn once.
   * @param {number} ratio @param {string} color @returns {HTMLCanvasElement} */
  cloud(ratio, color) {
    const key = `${this.canvas.width} ${color}`;
    if (this.key === key && this.picture) return this.picture;
    const picture = el("canvas", { width: this.canvas.width, height: this.canvas.height });
    const context = /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d"));
    const counts = new Uint32Array(picture.width * picture.height);
    let most = 1;
    for (let i = 0; i < this.view.n; i++) {
      const [x, y] = this.placeOf(i);
      const [column, row] = [Math.round(x * ratio), Math.round(y * ratio)];
      if (!(column >= 0 && column < picture.width && row >= 0 && row < picture.height)) continue;
      most = Math.max(most, ++counts[row * picture.width + column]);
    }
    context.fillStyle = color;
    const side = Math.max(1, Math.min(3, 3000 / Math.sqrt(this.view.n * 100))) * ratio;
    for (let p = 0; p < counts.length; p++) {
      if (!counts[p]) continue;
      context.globalAlpha = 0.25 + (0.75 * Math.log1p(counts[p])) / Math.log1p(most);
      const [x, y] = [p % picture.width, Math.floor(p / picture.width)];
      context.fillRect(x - side / 2, y - side / 2, side, side);
    }
    this.key = key;
    this.picture = picture;
    return picture;
  }

  /** @param {CanvasRenderingContext2D} context @param {Record<string, string>} theme */
  drawAxes(context, theme) {
    context.font = "11px system-ui, sans-serif";
    Object.assign(context, { fillStyle: theme.muted, strokeStyle: theme.line, lineWidth: 1 });
    Object.assign(context, { textAlign: "right", textBaseline: "middle" });
    const floor = HEIGHT - BOTTOM + 4;
    line(context, [[LEFT - 4, TOP], [LEFT - 4, floor], [this.width - 4, floor]]);
    for (const value of logTicks(10 ** this.y[0], 10 ** this.y[1], 4)) {
      context.fillText(tenTo(value), LEFT - 8, this.place(0, Math.log10(value))[1]);
    }
    Object.assign(context, { textAlign: "center", textBaseline: "top" });
    for (const power of ticks(this.x[0], this.x[1], 4)) {
      const right = this.place(power, 0)[0];
      if (!Number.isInteger(power) || right > this.width - 18) continue;
      context.fillText(tenTo(10 ** power), right, HEIGHT - BOTTOM + 6);
    }
    context.textAlign = "right";
    context.fillText("density", this.width - 4, HEIGHT - 13);
  }

  /** @param {CanvasRenderingContext2D} context @param {Record<string, string>} theme */
  drawModes(context, theme) {
    const { forest, palette } = this.view;
    const y = this.place(0, this.levelNow())[1];
    Object.assign(context, { strokeStyle: theme.ink, lineWidth: 1.5 });
    const byMoves = this.view.state.ladder.key === "tau";
    this.note.textContent = byMoves ? BY_MOVES : BY_SCORE;
    context.setLineDash(byMoves ? [] : [4, 3]);
    line(context, [[LEFT - 4, y], [this.width - 4, y]]);
    context.setLineDash([]);
    Object.assign(context, { strokeStyle: theme.panel, lineWidth: 1 });
    for (let label = Math.min(forest.roots.length, MOST_MODES) - 1; label >= 0; label--) {
      context.fillStyle = palette[forest.colors[forest.roots[label]]];
      disc(context, this.placeOf(forest.roots[label]), 4);
    }
  }

  /** Return the decimal logarithm of the present tau. */
  levelNow() {
    const { ladder, step } = this.view.state;
    const tau = this.view.ladders[0];
    const at = ladder.key === "tau" ? step : tau.chosen;
    return Math.log10(Math.max(tau.values[Math.max(at, 0)], 1e-300));
  }

  /** @param {PointerEvent} event */
  grab(event) {
    const tau = this.view.ladders[0];
    const to = (/** @type {PointerEvent} */ e) => {
      const share = 1 - (e.offsetY - TOP) / (HEIGHT - TOP - BOTTOM);
      const log10 = this.y[0] + share * (this.y[1] - this.y[0]);
      this.view.choose(tau, stepAt(tau.starts, 10 ** log10));
    };
    this.dragging = true;
    drag(this.canvas, event, to, () => (this.dragging = false));
    to(event);
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

/** @param {number} value */
function tenTo(value) {
  return value >= 1e-3 && value <= 1e3 ? short(value) : value.toExponential(0).replace("+", "");
}
