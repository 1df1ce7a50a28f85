// The cluster tree of the modes that the present cut keeps.

import { el, svg, tenTo } from "./dom.js";

/** @typedef {import("./clusters.js").ClusterView} ClusterView */

const HEIGHT = 190;
const LEFT = 46; // room for numbers
const MOST = 80;

export class TreePanel {
  /** @param {ClusterView} view */
  constructor(view) {
    this.view = view;
    this.drawing = svg("svg", { height: HEIGHT, role: "img", "aria-label": "Cluster tree" });
    this.note = el("p", { class: "note" });
    this.element = el("section", { class: "tree" }, el("h2", {}, "Cluster tree"), this.drawing, this.note);
    new ResizeObserver(() => this.draw()).observe(this.drawing);
  }

  draw() {
    const { forest, palette } = this.view;
    const width = this.drawing.clientWidth;
    const kept = this.kept();
    if (!width || !kept.length) return this.drawing.replaceChildren();
    const { birth } = this.view.arrays;
    const tree = prune(forest.towards, this.view.arrays, kept);
    const all = [...kept.map((leaf) => birth[leaf]), ...tree.merges.map((merge) => merge.level)];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const room = Math.max(high - low, 0.1);
    const y = (/** @type {number} */ log10) => 10 + ((high - log10) / room) * (HEIGHT - 34);
    const x = (/** @type {number} */ place) =>
      LEFT + 6 + ((place + 0.5) / tree.order.length) * (width - LEFT - 14);
    const parts = [];
    /** @type {Map<number, {top: number, x: number}>} branches that go on, by their highest leaf */
    const now = new Map(tree.order.map((leaf, i) => [leaf, { top: birth[leaf], x: i }]));
    const stem = (/** @type {number} */ leaf, /** @type {number} */ end) => {
      const branch = now.get(leaf) ?? { top: 0, x: 0 };
      const stroke = palette[forest.colors[forest.leaf[leaf]]];
      const [right, top] = [x(branch.x), y(branch.top)];
      parts.push(svg("line", { class: "stem", stroke, x1: right, x2: right, y1: top, y2: end }));
      now.delete(leaf);
      return branch.x;
    };
    for (const { survivor, absorbed, level } of tree.merges) {
      const [a, b] = [stem(survivor, y(level)), stem(absorbed, y(level))];
      parts.push(svg("line", { class: "join", x1: x(a), x2: x(b), y1: y(level), y2: y(level) }));
      now.set(survivor, { top: level, x: (a + b) / 2 });
    }
    for (const leaf of [...now.keys()]) stem(leaf, HEIGHT - 8);
    parts.push(...this.targets(tree.order, x, y));
    for (const log10 of high - low < 0.05 ? [high] : [high, low]) {
      const place = { x: LEFT, y: y(log10) + 4, "text-anchor": "end" };
      parts.push(svg("text", place, tenTo(log10, 2)));
    }
    this.drawing.replaceChildren(...parts);
    this.note.textContent = this.says(kept.length);
  }

  /** Return the leaves that are drawn: the modes of the cut, at most the first ones. */
  kept() {
    const { leaf, roots, score } = this.view.forest;
    const present = new Set(roots);
    /** @type {number[]} */
    const found = [];
    leaf.forEach((position, i) => present.has(position) && found.push(i));
    this.hidden = Math.max(found.length - MOST, 0);
    if (!this.hidden) return found;
    return found.sort((a, b) => score[b] - score[a]).slice(0, MOST).sort((a, b) => a - b);
  }

  /** @param {number} drawn */
  says(drawn) {
    const missing = this.view.forest.roots.length - drawn - (this.hidden ?? 0);
    const parts = ["Density falls from top to bottom; clusters meet where the lines do."];
    if (this.hidden) parts.push(`The ${MOST} most significant are drawn.`);
    if (missing > 0) parts.push(`${missing} modes are not in the tree, which is that of the fit.`);
    return parts.join(" ");
  }

  /** Return circles at the leaves that highlight their clusters.
   * @param {number[]} order @param {(place: number) => number} x
   * @param {(log10: number) => number} y */
  targets(order, x, y) {
    const { forest, palette, arrays } = this.view;
    return order.map((leaf, i) => {
      const position = forest.leaf[leaf];
      const cluster = forest.labels[position];
      return svg("circle", {
        cx: x(i), cy: y(arrays.birth[leaf]), r: order.length > 40 ? 3 : 5,
        fill: palette[forest.colors[position]],
        mouseenter: () => this.view.highlight(cluster), mouseleave: () => this.view.highlight(-1),
        click: () => this.view.selectCluster(cluster),
      }, svg("title", {}, `cluster ${forest.nameOf(cluster)}`));
    });
  }
}

/** Return the tree of some leaves: what joins them, and an order in which joined ones are together.
 * @param {Int32Array} towards @param {import("./unpack.js").Arrays} arrays
 * @param {number[]} kept ascending */
export function prune(towards, arrays, kept) {
  const stays = new Uint8Array(towards.length);
  for (const leaf of kept) stays[leaf] = 1;
  const up = new Int32Array(towards.length);
  for (let i = 0; i < up.length; i++) up[i] = stays[i] || towards[i] < 0 ? i : up[towards[i]];
  const find = (/** @type {number} */ leaf) => {
    while (up[leaf] !== leaf) leaf = up[leaf] = up[up[leaf]];
    return leaf;
  };
  /** @type {Map<number, number[]>} */
  const groups = new Map(kept.map((leaf) => [leaf, [leaf]]));
  const merges = [];
  for (let k = 0; k < arrays.level.length; k++) {
    const [a, b] = [find(arrays.merged[2 * k]), find(arrays.merged[2 * k + 1])];
    if (a === b) continue;
    const [survivor, absorbed] = [Math.min(a, b), Math.max(a, b)];
    up[absorbed] = survivor;
    const [left, right] = [groups.get(survivor), groups.get(absorbed)];
    if (!left || !right) {
      groups.set(survivor, left ?? right ?? []);
      continue;
    }
    left.push(...right);
    groups.delete(absorbed);
    merges.push({ survivor, absorbed, level: arrays.level[k] });
  }
  return { merges, order: [...groups.values()].flat() };
}
