// The large plot: pan, zoom, hover and lasso over the points, with axes on a second canvas.

import { Cells } from "./cells.js";
import { drag, el, emptyCanvas, fitCanvas } from "./dom.js";
import { drawAxes, drawMarks, drawStill, MARGIN } from "./marks.js";
import { Scatter } from "./scatter.js";

const MANY = 300_000; // above this, a coarse picture is drawn while something moves
const SETTLED = 180; // milliseconds without movement after which all points are drawn
const HELP = "Plot of the points. Arrow keys move it, plus and minus zoom, 0 shows all.";
const SELECTS = "Enter selects what is visible, Escape selects nothing.";

/**
 * @typedef {{name: string, low: number, high: number}} Column
 * @typedef {(context: CanvasRenderingContext2D, plot: Plot) => void} Draw
 * @typedef {{tip: (position: number) => string[], select?: (positions: Int32Array) => void,
 *   background?: Draw, decorate?: Draw, pointless?: boolean, equal?: boolean}} Calls what a view
 *   does with its plot; the points of a pointless plot are not drawn, and equal lengths are drawn
 *   equally long along both axes, unless one range is far longer
 */

export class Plot {
  /** @param {Column[]} columns @param {(Float32Array | Uint16Array)[]} offsets @param {Calls} calls
   * @param {number[]} axes the columns that are drawn first */
  constructor(columns, offsets, calls, axes = [0, 1]) {
    this.columns = columns;
    this.offsets = offsets;
    this.calls = calls;
    this.n = offsets[0].length;
    this.under = el("canvas", { "aria-hidden": "true" });
    this.canvas = el("canvas", {
      "aria-hidden": "true",
      webglcontextlost: (event) => this.lose(event),
      webglcontextrestored: () => this.restore(),
    });
    this.overlay = el("canvas", {
      class: "overlay", tabindex: "0", role: "application",
      "aria-label": calls.select ? `${HELP} ${SELECTS}` : HELP,
      pointerdown: (event) => this.press(event),
      pointermove: (event) => this.hover(event),
      pointerleave: () => this.leave(),
      keydown: (event) => this.key(event),
      wheel: (event) => this.wheel(event),
    });
    this.tip = el("div", { class: "tip", hidden: true });
    this.message = el("p", { class: "message", role: "alert", hidden: true });
    const parts = [this.under, this.canvas, this.overlay, this.tip, this.message];
    this.element = el("div", { class: "plot" }, ...parts);
    /** @type {Scatter | null} */
    this.scatter = null;
    /** @type {Uint8Array} */
    this.colors = new Uint8Array(this.n);
    /** @type {Uint8Array} */
    this.state = new Uint8Array(this.n);
    /** @type {string[]} */
    this.palette = [];
    this.axes = axes;
    this.cells = new Cells(offsets[axes[0]], offsets[axes[1]]);
    this.center = [0.5, 0.5];
    this.width = 0; // in CSS pixels, as all lengths here
    this.height = 0;
    this.scales = [1, 1]; // pixels per range of a column
    this.whole = [1, 1]; // the scales that show everything
    this.lassoing = false;
    /** @type {number[][]} */
    this.lasso = [];
    this.hovered = -1;
    this.moving = false;
    this.frame = 0;
    this.restore();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  /** Start WebGL, or say that there is none. */
  restore() {
    if (this.calls.pointless) return;
    try {
      this.scatter = new Scatter(this.canvas, this.n);
      this.message.hidden = true;
      this.load();
    } catch {
      this.say("This browser has no WebGL2, so the points are drawn as a still picture.");
    }
  }

  /** @param {string} text */
  say(text) {
    this.scatter = null;
    this.message.textContent = text;
    this.message.hidden = false;
  }

  /** @param {Event} event */
  lose(event) {
    event.preventDefault();
    this.say("The graphics card stopped answering; the points are drawn as a still picture.");
    this.redraw();
  }

  /** Give the graphics card back. */
  close() {
    this.scatter?.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  /** Choose the columns that are drawn. @param {number[]} axes */
  setAxes(axes) {
    this.axes = axes;
    this.cells = new Cells(this.offsets[axes[0]], this.offsets[axes[1]]);
    this.load();
    this.showAll();
  }

  /** Send everything to the graphics card. */
  load() {
    const { scatter, cells, axes } = this;
    if (scatter) {
      scatter.setPoints(this.offsets[axes[0]], this.offsets[axes[1]], cells);
      if (this.palette.length) scatter.setPalette(this.palette);
      scatter.setColors(this.colors, this.state);
    }
    this.redraw();
  }

  /** @param {Uint8Array} colors @param {Uint8Array} state 255 for pale points */
  setColors(colors, state) {
    this.colors = colors;
    this.state = state;
    this.scatter?.setColors(colors, state);
    this.redraw();
  }

  /** @param {string[]} palette */
  setPalette(palette) {
    this.palette = palette;
    this.scatter?.setPalette(palette);
    this.redraw();
  }

  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    if (!width || !height) return;
    const { center } = this;
    const zoomed = this.width ? this.scales[0] / this.whole[0] : 1;
    [this.width, this.height] = [width, height];
    this.showAll();
    this.center = center;
    this.scales = this.whole.map((scale) => scale * zoomed);
    this.draw();
  }

  /** Show all points. */
  showAll() {
    const wide = 0.96 * (this.width - MARGIN.left - MARGIN.right);
    const high = 0.96 * (this.height - MARGIN.top - MARGIN.bottom);
    const [a, b] = this.axes.map((i) => Math.abs(this.columns[i].high / 2 - this.columns[i].low / 2));
    this.whole = [wide, high];
    if (this.calls.equal && a > 0 && b > 0 && a / b < 5 && b / a < 5) {
      const each = Math.min(wide / a, high / b);
      this.whole = [each * a, each * b];
    }
    this.scales = this.whole;
    this.center = [0.5, 0.5];
    this.redraw();
  }

  /** Return the center of the plot. */
  middle() {
    const x = (this.width + MARGIN.left - MARGIN.right) / 2;
    return [x, (this.height + MARGIN.top - MARGIN.bottom) / 2];
  }

  /** Return the place of offsets. @param {number} x @param {number} y */
  place(x, y) {
    const [mx, my] = this.middle();
    const px = mx + (x - this.center[0]) * this.scales[0];
    return [px, my - (y - this.center[1]) * this.scales[1]];
  }

  /** Return the offsets of a place. @param {number} px @param {number} py */
  offsetsAt(px, py) {
    const [mx, my] = this.middle();
    const x = this.center[0] + (px - mx) / this.scales[0];
    return [x, this.center[1] - (py - my) / this.scales[1]];
  }

  /** Return the offset of an entry of a column. @param {number} axis @param {number} value */
  offsetOf(axis, value) {
    const { low, high } = this.columns[this.axes[axis]];
    return low === high ? 0.5 : (value / 2 - low / 2) / (high / 2 - low / 2); // without overflow
  }

  /** @param {number} position */
  placeOf(position) {
    const [x, y] = this.axes.map((i) => this.offsets[i][position] * this.cells.scale);
    return this.place(x, y);
  }

  /** Return what turns offsets into the coordinates of WebGL. */
  view() {
    const { width, height, scales } = this;
    const [x, y] = this.place(0, 0);
    const stretch = [(2 * scales[0]) / width, (2 * scales[1]) / height];
    return [...stretch, (2 * x) / width - 1, 1 - (2 * y) / height];
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const notches = event.deltaY / (event.deltaMode ? 20 : 400);
    this.zoom(Math.exp(-notches), event.offsetX, event.offsetY);
  }

  /** @param {number} factor @param {number} px @param {number} py */
  zoom(factor, px, py) {
    const before = this.offsetsAt(px, py);
    const zoomed = Math.min(2e4, Math.max(0.5, (this.scales[0] / this.whole[0]) * factor));
    this.scales = this.whole.map((scale) => scale * zoomed);
    const after = this.offsetsAt(px, py);
    this.center = this.center.map((c, i) => c + before[i] - after[i]);
    this.move();
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.center = [this.center[0] - dx / this.scales[0], this.center[1] + dy / this.scales[1]];
    this.move();
  }

  /** Draw while something moves: many points only coarsely, until it stands still. */
  move() {
    if (this.n > MANY) {
      this.moving = true;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.moving = false;
        this.redraw();
      }, SETTLED);
    }
    this.redraw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const [x, y] = this.middle();
    const keys = /** @type {Record<string, () => void>} */ ({
      ArrowLeft: () => this.pan(40, 0), ArrowRight: () => this.pan(-40, 0),
      ArrowUp: () => this.pan(0, 40), ArrowDown: () => this.pan(0, -40),
      "+": () => this.zoom(1.25, x, y), "=": () => this.zoom(1.25, x, y),
      "-": () => this.zoom(0.8, x, y),
      0: () => this.showAll(),
      Enter: () => this.calls.select?.(this.inside(this.visible())),
      Escape: () => this.calls.select?.(new Int32Array(0)),
    });
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0) return;
    const drawing = this.calls.select && (this.lassoing || event.shiftKey);
    this.leave();
    let last = [event.offsetX, event.offsetY];
    this.lasso = drawing ? [last] : [];
    const moved = (/** @type {PointerEvent} */ { offsetX: x, offsetY: y }) => {
      if (drawing) this.lasso.push([x, y]);
      else this.pan(x - last[0], y - last[1]);
      last = [x, y];
      this.redraw();
    };
    const stop = () => {
      this.dragging = false;
      if (drawing) this.calls.select?.(this.inside(this.lasso));
      this.lasso = [];
      this.redraw();
    };
    this.dragging = true;
    drag(this.overlay, event, moved, stop);
  }

  /** Return the rectangle inside the axes, as a polygon. */
  visible() {
    const [right, bottom] = [this.width, this.height - MARGIN.bottom];
    return [[MARGIN.left, 0], [right, 0], [right, bottom], [MARGIN.left, bottom]];
  }

  /** Return the positions inside a polygon. @param {number[][]} polygon @returns {Int32Array} */
  inside(polygon) {
    const corners = polygon.map(([x, y]) => this.offsetsAt(x, y));
    if (corners.length < 3) return new Int32Array(0);
    const xs = corners.map((corner) => corner[0]);
    const ys = corners.map((corner) => corner[1]);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    /** @type {number[]} */
    const found = [];
    const { x, y, scale } = this.cells;
    this.cells.each(x0, y0, x1, y1, (i) => {
      if (encloses(xs, ys, x[i] * scale, y[i] * scale)) found.push(i);
    });
    return Int32Array.from(found).sort();
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (this.dragging) return;
    const [x, y] = this.offsetsAt(event.offsetX, event.offsetY);
    const found = this.cells.nearest(x, y, this.scales[0], this.scales[1], 12);
    if (found < 0) return this.leave();
    if (found !== this.hovered) {
      this.hovered = found;
      const lines = this.calls.tip(found).map((text) => el("div", {}, text));
      this.tip.replaceChildren(...lines);
      this.tip.classList.toggle("many", lines.length > 16);
      this.redraw();
    }
    this.tip.hidden = false;
    const [px, py] = this.placeOf(found);
    const [x0, y0] = this.middle();
    Object.assign(this.tip.style, { left: `${px}px`, top: `${py}px` });
    const aside = px > x0 ? "calc(-100% - 14px)" : "14px";
    this.tip.style.translate = `${aside} ${py > y0 ? "calc(-100% - 8px)" : "8px"}`;
  }

  leave() {
    this.tip.hidden = true;
    if (this.hovered >= 0) this.redraw();
    this.hovered = -1;
  }

  /** Draw before the next frame of the screen. */
  redraw() {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { width, height, scatter } = this;
    if (!width) return;
    const below = emptyCanvas(this.under, width, height);
    const context = emptyCanvas(this.overlay, width, height);
    const ratio = fitCanvas(this.canvas, width, height);
    this.calls.background?.(below, this);
    if (scatter) {
      const side = scatter.side * Math.max(...this.scales) * ratio;
      const coarse = this.moving && side < 12;
      const [size, alpha] = coarse ? [Math.ceil(side), 1] : look(this.n, this.scales);
      scatter.draw({ view: this.view(), size: coarse ? size : size * ratio, alpha, coarse });
    } else if (!this.calls.pointless) {
      drawStill(context, this);
    }
    drawAxes(context, this);
    this.calls.decorate?.(context, this);
    drawMarks(context, this);
  }

  /** Return an entry of a column, in the user's units. @param {number} column
   * @param {number} position */
  valueOf(column, position) {
    const { low, high } = this.columns[column];
    const share = this.offsets[column][position] * this.cells.scale;
    return low * (1 - share) + high * share;
  }
}

/** @param {number[]} xs corners @param {number[]} ys @param {number} x @param {number} y */
function encloses(xs, ys, x, y) {
  let odd = false;
  for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
    if (ys[i] > y !== ys[j] > y && x < ((xs[j] - xs[i]) * (y - ys[i])) / (ys[j] - ys[i]) + xs[i]) {
      odd = !odd;
    }
  }
  return odd;
}

/** Return the size of points and their opacity: together they cover about the plot.
 * @param {number} n @param {number[]} scales */
function look(n, scales) {
  const each = Math.sqrt((scales[0] * scales[1]) / n);
  const size = Math.min(8, Math.max(1.4, 0.42 * each));
  return [size, Math.min(0.9, Math.max(0.2, 0.08 + 0.25 * each))];
}
