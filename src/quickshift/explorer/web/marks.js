// What is drawn around and over the points: axes, the lasso, and modes with their labels.

import { disc, line, short, themeOf, ticks } from "./dom.js";

/** @typedef {import("./plot.js").Plot} Plot */

export const MARGIN = { left: 52, right: 14, top: 14, bottom: 42 };
const MOST_NUMBERED = 60;

/** @param {CanvasRenderingContext2D} context @param {Plot} plot */
export function drawAxes(context, plot) {
  const theme = themeOf(plot.element);
  const [w, h] = [plot.width ?? 0, plot.height ?? 0];
  const [low, high] = [plot.offsetsAt(MARGIN.left, h - MARGIN.bottom), plot.offsetsAt(w, 0)];
  context.fillStyle = theme.paper;
  context.globalAlpha = 0.9;
  context.fillRect(0, 0, MARGIN.left - 4, h);
  context.fillRect(0, h - MARGIN.bottom + 4, w, MARGIN.bottom);
  context.globalAlpha = 1;
  context.font = "11px system-ui, sans-serif";
  Object.assign(context, { fillStyle: theme.muted, strokeStyle: theme.line, lineWidth: 1 });
  plot.axes.forEach((axis, side) => {
    const { name, low: least, high: most } = plot.columns[axis];
    const valueAt = (/** @type {number} */ o) => least * (1 - o) + most * o;
    const room = side ? h / 60 : w / 90;
    const constant = most === least;
    const found = constant ? [least] : ticks(valueAt(low[side]), valueAt(high[side]), room);
    for (const tick of found) {
      const share = constant ? 0.5 : (tick / 2 - least / 2) / (most / 2 - least / 2);
      const [x, y] = plot.place(share, share);
      const floor = h - MARGIN.bottom;
      if (side) {
        if (y > floor || y < MARGIN.top + 12) continue;
        Object.assign(context, { textAlign: "right", textBaseline: "middle" });
        line(context, [[MARGIN.left - 8, y], [MARGIN.left - 4, y]]);
        context.fillText(short(tick), MARGIN.left - 11, y);
      } else {
        if (x < MARGIN.left || x > w - 20) continue;
        Object.assign(context, { textAlign: "center", textBaseline: "top" });
        line(context, [[x, floor + 4], [x, floor + 8]]);
        context.fillText(short(tick), x, floor + 10);
      }
    }
    context.fillStyle = theme.ink;
    context.textAlign = side ? "left" : "right";
    context.textBaseline = side ? "top" : "bottom";
    const label = name.length > 60 ? `${name.slice(0, 59)}…` : name;
    context.fillText(label, side ? 6 : w - 8, side ? 4 : h - 2);
    context.fillStyle = theme.muted;
  });
}

/** @param {CanvasRenderingContext2D} context @param {Plot} plot */
export function drawMarks(context, plot) {
  const theme = themeOf(plot.element);
  Object.assign(context, { strokeStyle: theme.ink, lineWidth: 1.5, fillStyle: "transparent" });
  if (plot.hovered >= 0) disc(context, plot.placeOf(plot.hovered), 7);
  if (plot.lasso.length > 1) {
    context.setLineDash([4, 3]);
    line(context, [...plot.lasso, plot.lasso[0]]);
    context.setLineDash([]);
    context.globalAlpha = 0.08;
    context.fillStyle = theme.ink;
    context.fill();
    context.globalAlpha = 1;
  }
}

/** Draw the modes, with their labels if there are few.
 * @param {CanvasRenderingContext2D} context @param {Plot} plot
 * @param {import("./recut.js").Forest} forest */
export function drawModes(context, plot, forest) {
  const { roots, colors } = forest;
  const theme = themeOf(plot.element);
  const drawn = roots.subarray(0, 400);
  const named = roots.length <= MOST_NUMBERED;
  const font = "600 11px system-ui, sans-serif";
  Object.assign(context, { font, textAlign: "center", textBaseline: "middle" });
  for (let label = drawn.length - 1; label >= 0; label--) {
    const [x, y] = plot.placeOf(drawn[label]);
    if (x < MARGIN.left - 4 || y > (plot.height ?? 0) - MARGIN.bottom + 4) continue;
    context.fillStyle = theme.paper;
    context.strokeStyle = plot.palette[colors[drawn[label]]] ?? theme.ink;
    context.lineWidth = named ? 2.5 : 2;
    disc(context, [x, y], named ? 9 : 3.5);
    context.fillStyle = theme.ink;
    if (named) context.fillText(String(forest.nameOf(label)), x, y + 0.5);
  }
}
