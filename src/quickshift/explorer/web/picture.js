// The view of a picture: its segments at the present tau, as boundaries or in their mean colors.

import { count, el, short } from "./dom.js";
import { Plot } from "./plot.js";
import { CutView } from "./view.js";

const LARGEST = 4096; // pixels along a side of the canvas on which boundaries are drawn
const YELLOW = 0xff00e6ff; // colors are numbers with the bytes alpha, blue, green and red

export class PictureView extends CutView {
  /** @param {import("./unpack.js").Payload} payload */
  constructor(payload) {
    super(payload, "segment");
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
      select: (positions) => this.select(positions),
      pointless: true, equal: true,
      background: (context, plot) => this.drawPicture(context, plot),
    });
    const offered = ["boundaries", "mean colors", "picture"].map((name) => el("option", {}, name));
    this.shows = el("select", { change: () => this.paint() }, ...offered);
    const bar = this.toolBar(this.plot, el("label", {}, "Show ", this.shows));
    this.element = el("div", { class: "main" }, bar, this.plot.element, this.cutPanel.element);
    this.update();
    this.recut();
  }

  /** @override */
  repaint() {
    this.sizes = this.forest.sizes();
    this.paint();
    this.changed();
  }

  /** Draw the picture at the resolution of the boundaries; pixels that are not selected are dark.
   * @override */
  paint() {
    const { fine, canvas, wide, n } = this;
    const { labels } = this.forest;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    const inks = this.shows.value === "mean colors" ? this.meanColors() : this.ownColors();
    if (this.selection.length) this.darken(inks);
    for (let i = 0; i < n; i++) {
      const column = i % wide;
      const corner = (i - column) * fine * fine + column * fine;
      for (let k = 0; k < fine; k++) {
        pixels.fill(inks[i], corner + k * canvas.width, corner + k * canvas.width + fine);
      }
    }
    if (this.shows.value === "boundaries") {
      const [right, down] = [1, canvas.width];
      for (let i = 0; i < n; i++) {
        const column = i % wide;
        const end = (i - column) * fine * fine + (column + 1) * fine - 1; // of the first line
        if (column + 1 < wide && labels[i + 1] !== labels[i]) drawLine(pixels, end, down, right, fine);
        const foot = end - fine + 1 + (fine - 1) * down;
        if (i + wide < n && labels[i + wide] !== labels[i]) drawLine(pixels, foot, right, down, fine);
      }
    }
    context.putImageData(image, 0, 0);
    this.plot.redraw();
  }

  /** Make pixels dark that are not selected. @param {Uint32Array} inks */
  darken(inks) {
    const kept = this.selection.map((i) => inks[i]);
    inks.forEach((ink, i) => (inks[i] = 0xff000000 | ((ink >>> 2) & 0x3f3f3f)));
    this.selection.forEach((i, k) => (inks[i] = kept[k]));
  }

  /** Return the colors of the pixels. */
  ownColors() {
    const { c0, c1, c2 } = this.arrays;
    const inks = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) inks[i] = 0xff000000 | (c2[i] << 16) | (c1[i] << 8) | c0[i];
    return inks;
  }

  /** Return the mean color of each pixel's segment. */
  meanColors() {
    const { arrays, sizes } = this;
    const { labels } = this.forest;
    const inks = this.ownColors();
    [arrays.c0, arrays.c1, arrays.c2].forEach((channel, k) => {
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
    const move = arrays.tau_starts[forest.code[position]];
    const segment = `segment ${forest.nameOf(label)} of ${count(sizes[label] ?? 0)} pixels`;
    const moves = move === undefined ? "no parent" : `moves by ${short(move)}`;
    return [place, label < 0 ? "outside" : segment, moves];
  }

  /** @override */
  rowKeys() {
    const of = (/** @type {number} */ i) => `${Math.floor(i / this.wide)},${i % this.wide}`;
    return { names: "row,column", of };
  }

  /** @param {string} _theme */
  setTheme(_theme) {
    this.plot.redraw();
    this.cutPanel.draw();
  }
}

/** Draw a yellow line on both sides of a boundary. @param {Uint32Array} pixels @param {number} from
 * @param {number} along distance to the next pixel of the line @param {number} across to the other
 * side @param {number} length */
function drawLine(pixels, from, along, across, length) {
  for (let k = 0; k < length; k++) {
    pixels[from + k * along] = YELLOW;
    pixels[from + k * along + across] = YELLOW;
  }
}
