// The view of a picture: its segments at the present tau, as boundaries or in their mean colors.

import { count, el, short } from "./dom.js";
import { Plot } from "./plot.js";
import { CutView } from "./view.js";

const LARGEST = 4096; // pixels along a side of the canvas on which boundaries are drawn

export class PictureView extends CutView {
  /** @param {import("./unpack.js").Payload} payload */
  constructor(payload) {
    super(payload, { noun: "segment", reset: payload.header.reset });
    const [high, wide] = payload.header.shape;
    this.high = high;
    this.wide = wide;
    this.fine = Math.max(1, Math.min(4, Math.floor(LARGEST / Math.max(high, wide))));
    this.sizes = new Int32Array(0); // of the segments
    this.canvas = el("canvas", { width: wide * this.fine, height: high * this.fine });
    const x = Float32Array.from({ length: this.n }, (_, i) => ((i % wide) + 0.5) / wide);
    const y = Float32Array.from({ length: this.n }, (_, i) => 1 - (Math.floor(i / wide) + 0.5) / high);
    const across = { name: "column", low: -0.5, high: wide - 0.5 };
    const down = { name: "row", low: high - 0.5, high: -0.5 };
    this.plot = new Plot([across, down], [x, y], {
      tip: (position) => this.describe(position),
      select: () => {},
      pointless: true, equal: true,
      background: (context, plot) => this.drawPicture(context, plot),
    });
    const offered = ["boundaries", "mean colors", "picture"].map((name) => el("option", {}, name));
    this.shows = el("select", { change: () => this.repaint() }, ...offered);
    const all = el("button", { type: "button", click: () => this.plot.showAll() }, "Show all");
    const bar = el("div", { class: "row bar" }, all, el("label", {}, "Show ", this.shows));
    this.element = el("div", { class: "main" }, bar, this.plot.element, this.cutPanel.element);
    this.plot.setAxes([0, 1]);
    this.update();
    this.recut();
  }

  /** Draw the picture at the resolution of the boundaries. @override */
  repaint() {
    const { fine, canvas, wide, high } = this;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    const { labels } = this.forest;
    this.sizes = this.forest.sizes();
    const inks = this.shows.value === "mean colors" ? this.meanColors() : this.ownColors();
    const lines = this.shows.value === "boundaries";
    for (let row = 0, i = 0; row < high; row++) {
      for (let column = 0; column < wide; column++, i++) {
        const right = lines && column + 1 < wide && labels[i + 1] !== labels[i];
        const below = lines && row + 1 < high && labels[i + wide] !== labels[i];
        const corner = row * fine * canvas.width + column * fine;
        for (let k = 0; k < fine * fine; k++) {
          const [r, c] = [Math.floor(k / fine), k % fine];
          const line = (right && c === fine - 1) || (below && r === fine - 1);
          pixels[corner + r * canvas.width + c] = line ? 0xff00e6ff : inks[i]; // yellow
        }
      }
    }
    context.putImageData(image, 0, 0);
    this.plot.redraw();
    this.changed();
  }

  /** Return the colors of the pixels as numbers with the bytes alpha, blue, green and red. */
  ownColors() {
    const { c0, c1, c2 } = this.arrays;
    const inks = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) inks[i] = 0xff000000 | (c2[i] << 16) | (c1[i] << 8) | c0[i];
    return inks;
  }

  /** Return the mean color of each pixel's segment. */
  meanColors() {
    const { labels } = this.forest;
    const { sizes } = this;
    const inks = this.ownColors();
    [this.arrays.c0, this.arrays.c1, this.arrays.c2].forEach((channel, k) => {
      const sums = new Float64Array(sizes.length);
      for (let i = 0; i < this.n; i++) if (labels[i] >= 0) sums[labels[i]] += channel[i];
      for (let i = 0; i < this.n; i++) {
        if (labels[i] < 0) continue;
        const mean = Math.round(sums[labels[i]] / sizes[labels[i]]);
        inks[i] = (inks[i] & ~(255 << (8 * k))) | (mean << (8 * k));
      }
    });
    return inks;
  }

  /** @param {CanvasRenderingContext2D} context @param {Plot} plot */
  drawPicture(context, plot) {
    const [[left, top], [right, bottom]] = [plot.place(0, 1), plot.place(1, 0)];
    context.imageSmoothingEnabled = right - left < this.canvas.width;
    context.drawImage(this.canvas, left, top, right - left, bottom - top);
  }

  /** Return the lines of the tip at a pixel. @param {number} position */
  describe(position) {
    const { forest, wide, arrays, sizes } = this;
    const place = `row ${Math.floor(position / wide)}, column ${position % wide}`;
    const label = forest.labels[position];
    const move = arrays.starts[/** @type {Uint16Array} */ (forest.code)[position]];
    const moves = move === undefined ? "no parent" : `moves by ${short(move)}`;
    return [place, label < 0 ? "outside" : `segment ${label} of ${count(sizes[label])} pixels`, moves];
  }

  /** @override */
  rowKeys() {
    const of = (/** @type {number} */ i) => `${Math.floor(i / this.wide)},${i % this.wide}`;
    return { names: "row,column", of };
  }

  setTheme() {
    this.plot.redraw();
    this.cutPanel.draw();
  }
}
