// The slider, with the number of clusters at each of its values behind it.

import { button, count, drag, el, logTicks, short, svg } from "./dom.js";
import { rounded, stepAt, stepOf } from "./ladder.js";

/** @typedef {import("./ladder.js").Ladder} Ladder */

const STEPS = 1000;
const THUMB = 9; // half the width of the slider's thumb, in CSS pixels
const LEFT = 40; // room for numbers of clusters
const HEIGHT = 104;

export class CutPanel {
  /** @param {Ladder[]} ladders
   * @param {{choose: (ladder: Ladder, step: number) => void, reset: () => void}} calls
   * @param {string} noun what is counted @param {string} reset what resetting is called */
  constructor(ladders, calls, noun, reset) {
    this.ladders = ladders;
    this.calls = calls;
    this.noun = noun;
    this.ladder = ladders[0];
    this.step = 0;
    this.radios = new Map();
    this.curve = svg("svg", {
      class: "curve", "aria-hidden": "true", height: HEIGHT, pointerdown: (event) => this.grab(event),
    });
    this.slider = el("input", { type: "range", min: 0, max: STEPS, input: () => this.slide() });
    const entry = { type: "number", step: "any", min: 0, class: "value" };
    this.number = el("input", { ...entry, change: () => this.type() });
    this.symbol = el("span", {});
    this.said = el("output", { class: "said", "aria-live": "polite" });
    this.fewer = button("Fewer", () => this.by(-1));
    this.more = button("More", () => this.by(1));
    this.reset = button(reset, () => calls.reset());
    const track = el("div", { class: "track" }, this.curve, this.slider);
    const typed = el("label", {}, this.symbol, " = ", this.number);
    const row = el("div", { class: "row" },
      typed, this.said, el("span", { class: "gap" }), this.fewer, this.more, this.reset);
    this.element = el("section", { class: "cut", "aria-label": "Cut" }, this.modes(), track, row);
    new ResizeObserver(() => this.draw()).observe(this.curve);
  }

  /** Return the choice of sliders. */
  modes() {
    const name = `mode-${Math.random().toString(36).slice(2)}`;
    const choices = this.ladders.map((ladder) => {
      const change = () => this.calls.choose(ladder, Math.max(ladder.chosen, 0));
      const radio = el("input", { type: "radio", name, value: ladder.key, change });
      this.radios.set(ladder.key, radio);
      return el("label", {}, radio, el("span", {}, ladder.title));
    });
    return el("fieldset", { class: "modes" }, el("legend", {}, "Cut by"), ...choices);
  }

  /** Show a cut.
   * @param {Ladder} ladder @param {number} step @param {number} clusters
   * @param {boolean} fitted whether it is the cut of the fit */
  show(ladder, step, clusters, fitted) {
    this.ladder = ladder;
    this.step = step;
    this.radios.get(ladder.key).checked = true;
    const value = ladder.values[step];
    const text = `${count(clusters)} ${this.noun}${clusters === 1 ? "" : "s"}`;
    this.symbol.textContent = ladder.symbol;
    this.said.textContent = fitted ? `${text}, ${this.reset.textContent.toLowerCase()}` : text;
    this.number.value = String(fitted ? rounded(value) : value);
    this.slider.setAttribute("aria-label", ladder.title);
    this.slider.setAttribute("aria-valuetext", `${ladder.symbol} ${short(value)}, ${text}`);
    if (!this.sliding) this.slider.value = String(Math.round(STEPS * this.share(value)));
    this.fewer.disabled = this.next(-1) < 0;
    this.more.disabled = this.next(1) < 0;
    this.reset.disabled = fitted;
    this.draw();
  }

  /** Return where a value is on the slider, from 0 to 1. @param {number} value */
  share(value) {
    const { low, high } = this.ladder;
    const share = Math.log(Math.max(value, 1e-320) / low) / Math.log(high / low);
    return Math.min(1, Math.max(0, share));
  }

  /** @param {number} position of the slider */
  valueOf(position) {
    const { low, high } = this.ladder;
    return low * Math.exp((position / STEPS) * Math.log(high / low));
  }

  slide() {
    this.sliding = true; // the slider stays where it is, although the value has fewer digits
    const value = this.valueOf(Number(this.slider.value));
    this.calls.choose(this.ladder, stepAt(this.ladder.starts, value));
    this.sliding = false;
  }

  type() {
    const value = Number(this.number.value);
    if (this.number.value !== "" && value >= 0) {
      this.calls.choose(this.ladder, stepOf(this.ladder, value));
    } else this.number.value = String(this.ladder.values[this.step]);
  }

  /** Return the next step with more or fewer clusters, or -1. @param {number} sign 1 for more */
  next(sign) {
    const { counts } = this.ladder;
    let step = this.step;
    while (counts[step] === counts[this.step]) step -= sign;
    return counts[step] === undefined ? -1 : step;
  }

  /** @param {number} sign */
  by(sign) {
    const step = this.next(sign);
    if (step >= 0) this.calls.choose(this.ladder, step);
  }

  /** @param {PointerEvent} event */
  grab(event) {
    const to = (/** @type {PointerEvent} */ e) => {
      const { left, width } = this.curve.getBoundingClientRect();
      const share = (e.clientX - left - LEFT - THUMB) / (width - LEFT - 2 * THUMB);
      this.slider.value = String(Math.round(STEPS * Math.min(1, Math.max(0, share))));
      this.slide();
    };
    drag(this.curve, event, to);
    to(event);
  }

  draw() {
    const { ladder } = this;
    const width = this.curve.clientWidth;
    const wide = width - LEFT - 2 * THUMB;
    if (!(wide > 0)) return;
    const [top, bottom] = [16, HEIGHT - 20];
    const x = (/** @type {number} */ share) => LEFT + THUMB + share * wide;
    const countAt = (/** @type {number} */ share) =>
      ladder.counts[stepAt(ladder.starts, this.valueOf(share * STEPS))];
    const most = Math.max(2, countAt(0), ladder.counts[this.step]);
    const y = (/** @type {number} */ k) =>
      bottom - (Math.log(Math.max(k, 1)) / Math.log(most)) * (bottom - top);
    let [path, last] = [`M${x(0)},${y(countAt(0))}`, countAt(0)];
    for (let px = 1; px <= wide; px++) {
      const clusters = countAt(px / wide);
      if (clusters !== last) path += `H${LEFT + THUMB + px}V${y(clusters)}`;
      last = clusters;
    }
    path += `H${x(1)}`;
    const marks = ladder.marks
      .filter(({ at }) => at >= ladder.low && at <= ladder.high)
      .map(({ at, text }) => ({ at: x(this.share(at)), text }));
    const now = x(this.share(ladder.values[this.step]));
    const text = (/** @type {number} */ right, /** @type {number} */ down, /** @type {string} */ says) =>
      svg("text", { x: right, y: down, "text-anchor": "middle" }, says);
    this.curve.replaceChildren(
      ...logTicks(0.9, most, 5).flatMap((k) => [
        svg("line", { class: "grid", x1: LEFT, x2: width, y1: y(k), y2: y(k) }),
        svg("text", { x: LEFT - 6, y: y(k) + 4, "text-anchor": "end" },
          k < 1e5 ? String(k) : k.toExponential().replace("+", "")),
      ]),
      svg("path", { class: "area", d: `${path}V${bottom}H${x(0)}Z` }),
      svg("path", { class: "steps", d: path }),
      ...marks.map(({ at }) => svg("line", { class: "mark", x1: at, x2: at, y1: top - 4, y2: bottom })),
      ...marks.map((mark) => text(mark.at, 10, mark.text)),
      ...logTicks(ladder.low, ladder.high, width / 70).map((value) =>
        text(x(this.share(value)), HEIGHT - 5, short(value))),
      svg("line", { class: "now", x1: now, x2: now, y1: top, y2: bottom }),
      svg("circle", { class: "now", cx: now, cy: y(ladder.counts[this.step]), r: 4 }),
    );
  }
}
