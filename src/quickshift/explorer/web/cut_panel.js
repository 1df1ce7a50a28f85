// The slider, with the number of clusters at each of its values behind it.

import { count, drag, el, logTicks, short, svg } from "./dom.js";
import { rounded, stepAt, stepOf } from "./ladder.js";

/** @typedef {import("./ladder.js").Ladder} Ladder */

const STEPS = 1000;
const THUMB = 9; // half the width of the slider's thumb, in CSS pixels
const LEFT = 40; // room for numbers of clusters
const HEIGHT = 104;
const NEAR = 40; // marks that are closer, in CSS pixels, have one text

export class CutPanel {
  /** @param {Ladder[]} ladders
   * @param {{choose: (ladder: Ladder, step: number) => void, reset: () => void}} calls
   * @param {{noun: string, reset: string}} words what is counted, and what resetting is called */
  constructor(ladders, calls, words) {
    this.ladders = ladders;
    this.calls = calls;
    this.noun = words.noun;
    this.ladder = ladders[0];
    this.step = Math.max(this.ladder.chosen, 0);
    this.radios = new Map();
    this.curve = svg("svg", { class: "curve", "aria-hidden": "true", height: HEIGHT });
    this.slider = el("input", { type: "range", min: 0, max: STEPS, input: () => this.slide() });
    const entry = { type: "number", step: "any", min: 0, class: "value" };
    this.number = el("input", { ...entry, change: () => this.type() });
    this.symbol = el("span", {});
    this.said = el("output", { class: "said", "aria-live": "polite" });
    this.fewer = el("button", { type: "button", click: () => this.by(-1) }, "Fewer");
    this.more = el("button", { type: "button", click: () => this.by(1) }, "More");
    this.reset = el("button", { type: "button", click: () => calls.reset() }, words.reset);
    const track = el("div", { class: "track" }, this.curve, this.slider);
    const typed = el("label", {}, this.symbol, " = ", this.number);
    const shown = [typed, this.said, el("span", { class: "gap" })];
    const row = el("div", { class: "row" }, ...shown, this.fewer, this.more, this.reset);
    this.element = el("section", { class: "cut", "aria-label": "Cut" }, this.modes(), track, row);
    this.curve.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => this.grab(e));
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
    if (this.number.value === "" || !(value >= 0)) return;
    this.calls.choose(this.ladder, stepOf(this.ladder, value));
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
    if (!width) return;
    const [top, bottom] = [16, HEIGHT - 20];
    const x = (/** @type {number} */ share) => LEFT + THUMB + share * (width - LEFT - 2 * THUMB);
    const countAt = (/** @type {number} */ share) =>
      ladder.counts[stepAt(ladder.starts, this.valueOf(share * STEPS))];
    const most = Math.max(2, countAt(0), ladder.counts[this.step]);
    const y = (/** @type {number} */ k) =>
      bottom - (Math.log(Math.max(k, 1)) / Math.log(most)) * (bottom - top);
    const parts = [];
    let last = NaN;
    for (let px = 0; px <= width - LEFT - 2 * THUMB; px++) {
      const level = y(countAt(px / (width - LEFT - 2 * THUMB)));
      if (level === last) continue;
      const at = LEFT + THUMB + px;
      parts.push(Number.isNaN(last) ? `M${at},${level}` : `L${at},${last}L${at},${level}`);
      last = level;
    }
    const path = `${parts.join("")}L${x(1)},${last}`;
    const marks = ladder.marks
      .filter(({ at }) => at >= ladder.low && at <= ladder.high)
      .map(({ at, text }) => ({ at: x(this.share(at)), text }));
    const now = x(this.share(ladder.values[this.step]));
    this.curve.replaceChildren(
      ...logTicks(0.9, most, 5).flatMap((k) => [
        svg("line", { class: "grid", x1: LEFT, x2: width, y1: y(k), y2: y(k) }),
        svg("text", { x: LEFT - 6, y: y(k) + 4, "text-anchor": "end" }, short(k)),
      ]),
      svg("path", { class: "area", d: `${path}L${x(1)},${bottom}L${x(0)},${bottom}Z` }),
      svg("path", { class: "steps", d: path }),
      ...marks.map(({ at }) => svg("line", { class: "mark", x1: at, x2: at, y1: top - 4, y2: bottom })),
      ...joined(marks).map(({ at, text }) => svg("text", { x: at, y: 10, "text-anchor": "middle" }, text)),
      ...logTicks(ladder.low, ladder.high, width / 70).map((value) => {
        const at = { x: x(this.share(value)), y: HEIGHT - 5, "text-anchor": "middle" };
        return svg("text", at, short(value));
      }),
      svg("line", { class: "now", x1: now, x2: now, y1: top, y2: bottom }),
      svg("circle", { class: "now", cx: now, cy: y(ladder.counts[this.step]), r: 4 }),
    );
  }
}

/** Join the texts of marks that are close. @param {import("./ladder.js").Mark[]} marks at pixels */
export function joined(marks) {
  /** @type {import("./ladder.js").Mark[]} */
  const texts = [];
  for (const { at, text } of [...marks].sort((a, b) => a.at - b.at)) {
    const last = texts.at(-1);
    if (!last || at - last.at >= NEAR) texts.push({ at, text });
    else texts.splice(-1, 1, { at: (last.at + at) / 2, text: `${last.text}, ${text}` });
  }
  return texts;
}
