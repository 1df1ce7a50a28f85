// What is drawn around and over the points: axes, the lasso, and modes with their labels.

import { disc, line, short, themeOf, ticks } from "./dom.js";

/** @typedef {import("./plot.js").Plot} Plot */

export const MARGIN = { left: 52, right: 14, top: 14, bottom: 42 };
const MOST_NUMBERED = 60;
const MOST_STILL = 100_000;

/** Draw a tick of an axis and its text.
 * @param {CanvasRenderingContext2D} context @param {string} text @param {number[]} place
 * @param {boolean} below or on the left of its place */
export function drawTick(context, text, [x, y], below) {
  line(context, [[x, y], below ? [x, y + 4] : [x - 4, y]]);
  context.textAlign = below ? "center" : "right";
  context.textBaseline = below ? "top" : "middle";
  context.fillText(text, below ? x : x - 7, below ? y + 6 : y);
}

/** @param {CanvasRenderingContext2D} context @param {Plot} plot */
export function drawAxes(context, plot) {
  const theme = themeOf(plot.element);
  const { width, height } = plot;
  const floor = height - MARGIN.bottom;
  const ends = plot.calls.pointless ? [0, 1] : [-Infinity, Infinity]; // pictures have no outside
  const corners = [[MARGIN.left, floor], [width - 20, MARGIN.top + 12]].map(([x, y]) =>
    plot.offsetsAt(x, y).map((share) => Math.min(ends[1], Math.max(ends[0], share))));
  context.fillStyle = theme.paper;
  context.globalAlpha = 0.9;
  context.fillRect(0, 0, MARGIN.left - 4, height);
  context.fillRect(0, floor + 4, width, MARGIN.bottom);
  context.globalAlpha = 1;
  Object.assign(context, { strokeStyle: theme.line, lineWidth: 1 });
  plot.axes.forEach((axis, side) => {
    const { name, low, high } = plot.columns[axis];
    const [from, to] = corners.map((corner) => corner[side]);
    const valueAt = (/** @type {number} */ share) => low * (1 - share) + high * share;
    const room = ((to - from) * plot.scales[side]) / (side ? 60 : 90);
    context.fillStyle = theme.muted;
    for (const tick of low === high ? [low] : ticks(valueAt(from), valueAt(to), room)) {
      const share = plot.offsetOf(side, tick);
      const [x, y] = plot.place(share, share);
      if (share < from || share > to) continue;
      drawTick(context, short(tick), side ? [MARGIN.left - 4, y] : [x, floor + 4], !side);
    }
    Object.assign(context, { fillStyle: theme.ink, textAlign: side ? "left" : "right" });
    context.textBaseline = side ? "top" : "bottom";
    const text = name.length > 60 ? `${name.slice(0, 59)}…` : name;
    context.fillText(text, side ? 6 : width - 8, side ? 4 : height - 2);
  });
}

/** Draw the points without WebGL; of many, one in each cell.
 * @param {CanvasRenderingContext2D} context @param {Plot} plot */
export function drawStill(context, plot) {
  const { cells, colors, palette, n } = plot;
  for (const i of n > MOST_STILL ? cells.picture().positions : colors.keys()) {
    const [x, y] = plot.placeOf(i);
    context.fillStyle = palette[colors[i]];
    context.fillRect(x - 1, y - 1, 2, 2);
  }
}

/** @param {CanvasRenderingContext2D} context @param {Plot} plot */
export function drawMarks(context, plot) {
  const theme = themeOf(plot.element);
  Object.assign(context, { strokeStyle: theme.ink, lineWidth: 1.5, fillStyle: "transparent" });
  if (plot.hovered >= 0) disc(context, plot.placeOf(plot.hovered), 7);
  if (plot.lasso.length < 2) return;
  context.setLineDash([4, 3]);
  line(context, [...plot.lasso, plot.lasso[0]]);
  context.setLineDash([]);
  Object.assign(context, { fillStyle: theme.ink, globalAlpha: 0.08 });
  context.fill();
  context.globalAlpha = 1;
}

/** Draw the modes, with their labels if there are few.
 * @param {CanvasRenderingContext2D} context @param {Plot} plot
 * @param {import("./recut.js").Forest} forest */
export function drawModes(context, plot, forest) {
  const { roots, colors } = forest;
  const theme = themeOf(plot.element);
  const named = roots.length <= MOST_NUMBERED;
  context.font = "600 11px system-ui, sans-serif";
  Object.assign(context, { textAlign: "center", textBaseline: "middle" });
  for (let label = Math.min(roots.length, 400) - 1; label >= 0; label--) {
    const [x, y] = plot.placeOf(roots[label]);
    if (x < MARGIN.left - 4 || y > plot.height - MARGIN.bottom + 4) continue;
    context.fillStyle = theme.paper;
    context.strokeStyle = plot.palette[colors[roots[label]]] ?? theme.ink;
    context.lineWidth = named ? 2.5 : 2;
    disc(context, [x, y], named ? 9 : 3.5);
    context.fillStyle = theme.ink;
    if (named) context.fillText(forest.nameOf(label), x, y + 0.5);
  }
}
