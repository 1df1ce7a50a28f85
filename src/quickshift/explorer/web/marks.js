// What is drawn around and over the points: axes, the lasso, and modes with their labels.

import { short, themeOf, ticks } from "./dom.js";

/** @typedef {import("./plot.js").Plot} Plot */

export const MARGIN = { left: 52, right: 14, top: 14, bottom: 42 };
const MOST_NUMBERED = 60;

/** @param {CanvasRenderingContext2D} context @param {Plot} plot */
export function drawAxes(context, plot) {
  const theme = themeOf(plot.element);
  const [w, h] = [plot.width ?? 0, plot.height ?? 0];
  const [low, high] = [plot.offsetsAt(MARGIN.left, h - MARGIN.bottom), plot.offsetsAt(w, 0)];
  context.fillStyle = theme.paper;
  context.globalAlpha = 0.8;
  context.fillRect(0, 0, MARGIN.left - 4, h);
  context.fillRect(0, h - MARGIN.bottom + 4, w, MARGIN.bottom);
  context.globalAlpha = 1;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = theme.muted;
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  plot.axes.forEach((axis, side) => {
    const { name, low: least, high: most } = plot.columns[axis];
    const valueAt = (/** @type {number} */ o) => least * (1 - o) + most * o;
    const width = most - least || 1;
    const room = side ? h / 60 : w / 90;
    for (const tick of ticks(valueAt(low[side]), valueAt(high[side]), room)) {
      const [x, y] = plot.place((tick - least) / width, (tick - least) / width);
      const text = short(tick);
      context.beginPath();
      context.textAlign = side ? "right" : "center";
      context.textBaseline = side ? "middle" : "top";
      if (side) {
        if (y > h - MARGIN.bottom || y < MARGIN.top + 12) continue;
        context.moveTo(MARGIN.left - 8, y);
        context.lineTo(MARGIN.left - 4, y);
        context.fillText(text, MARGIN.left - 11, y);
      } else {
        if (x < MARGIN.left || x > w - 20) continue;
        context.moveTo(x, h - MARGIN.bottom + 4);
        context.lineTo(x, h - MARGIN.bottom + 8);
        context.fillText(text, x, h - MARGIN.bottom + 10);
      }
      context.stroke();
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
  context.strokeStyle = theme.ink;
  context.lineWidth = 1.5;
  if (plot.hovered >= 0) {
    const [x, y] = plot.placeOf(plot.hovered);
    context.beginPath();
    context.arc(x, y, 7, 0, 7);
    context.stroke();
  }
  if (plot.lasso.length > 1) {
    context.beginPath();
    plot.lasso.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.setLineDash([4, 3]);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 0.08;
    context.fillStyle = theme.ink;
    context.fill();
    context.globalAlpha = 1;
  }
}

/** Draw the modes, with their labels if there are few.
 * @param {CanvasRenderingContext2D} context @param {Plot} plot @param {Int32Array} roots
 * @param {Uint8Array} colors */
export function drawModes(context, plot, roots, colors) {
  const theme = themeOf(plot.element);
  const drawn = roots.subarray(0, 400);
  const named = roots.length <= MOST_NUMBERED;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = "600 11px system-ui, sans-serif";
  for (let label = drawn.length - 1; label >= 0; label--) {
    const [x, y] = plot.placeOf(drawn[label]);
    if (!plot.sees(x, y)) continue;
    context.beginPath();
    context.arc(x, y, named ? 9 : 3.5, 0, 7);
    context.fillStyle = theme.paper;
    context.fill();
    context.strokeStyle = plot.palette[colors[drawn[label]]] ?? theme.ink;
    context.lineWidth = named ? 2.5 : 2;
    context.stroke();
    context.fillStyle = theme.ink;
    if (named) context.fillText(String(label), x, y + 0.5);
  }
}
