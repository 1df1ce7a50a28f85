// Cuts the forest: at a level of tau, at a score of its modes, or as it was fitted.

/** @typedef {{tau: number} | {score: number} | {fitted: true}} Cut */

export const NEVER = 65535; // the code of a move that no level keeps

/**
 * The forest of a fit, at positions 0 to n - 1, and its present cut.
 *
 * Colors belong to positions: those of the fitted modes are the colors of their labels, and all
 * others follow in falling order of their moves. So a mode that stays keeps its color, whatever
 * the cut.
 */
export class Forest {
  /** @param {import("./unpack.js").Payload} payload */
  constructor({ header, arrays }) {
    const none = new Int32Array(0);
    this.n = header.n;
    this.chosen = header.chosen; // level of the fit, -1 if it has none
    this.parent = arrays.step && parents(arrays.step);
    this.code = arrays.code; // the first level that keeps the move of each position
    this.absent = arrays.absent ?? none; // rows of weight zero, or pixels outside the mask
    this.nearest = arrays.nearest ?? none;
    this.order = inverse(arrays.rank); // positions, the highest first; absent ones last
    this.leaf = arrays.leaf; // position of the mode of each leaf
    this.towards = arrays.towards;
    this.score = arrays.score;
    this.final = arrays.final;
    this.labels = new Int32Array(this.n); // of the present cut, -1 outside the forest
    this.colors = new Uint8Array(this.n); // of the present cut
    this.roots = none; // position of the mode of each label
    /** @type {number[] | null} numbers of labels from elsewhere, which may have gaps */
    this.names = null;
    this.leaves = arrays.leaves ?? (this.leaf && this.findLeaves()); // leaf of each position
    this.ownColors = new Uint8Array(this.n); // of positions that are modes
    this.chooseColors();
  }

  /** Return the leaf of each position. */
  findLeaves() {
    const { order, parent, code, absent, nearest, chosen } = this;
    const leaves = new Int32Array(this.n).fill(-1);
    this.leaf.forEach((position, leaf) => (leaves[position] = leaf));
    for (let k = 0; k < this.n - absent.length; k++) {
      const i = order[k];
      if (leaves[i] < 0) leaves[i] = leaves[parent[i]];
    }
    for (let k = 0; k < absent.length; k++) {
      const i = absent[k];
      leaves[i] = leaves[code[i] <= chosen ? parent[i] : nearest[k]];
    }
    return leaves;
  }

  /** Choose the color that each position has if it is a mode. */
  chooseColors() {
    const taken = new Uint8Array(this.n);
    let next = 0;
    this.cut({ fitted: true });
    for (const some of [this.roots, this.byMove()]) {
      for (const i of some) {
        if (taken[i]) continue;
        this.ownColors[i] = next++ & 255;
        taken[i] = 1;
      }
    }
  }

  /** Return positions in falling order of their moves, those of equal moves by height; of a tree,
   * which has no moves, first its leaves. */
  byMove() {
    const { code, order, n } = this;
    if (!code) return Int32Array.from([...this.leaf, ...order]);
    const place = new Int32Array(NEVER + 2);
    for (let i = 0; i < n; i++) place[NEVER - code[i] + 1]++;
    for (let c = 1; c < place.length; c++) place[c] += place[c - 1];
    const sorted = new Int32Array(n);
    for (let k = 0; k < n; k++) sorted[place[NEVER - code[order[k]]]++] = order[k];
    return sorted;
  }

  /** Cut the forest; labels, colors and roots then belong to the cut. @param {Cut} cut */
  cut(cut) {
    this.names = null;
    if ("tau" in cut) this.cutAt(cut.tau);
    else if (!this.leaf) this.cutAt(this.chosen);
    else this.keepLeaves("score" in cut ? this.kept(cut.score) : this.final);
  }

  /** Keep the moves up to a level: one pass in falling order of height. @param {number} level */
  cutAt(level) {
    const { order, parent, code, labels, colors, ownColors, absent, nearest } = this;
    const roots = [];
    for (let k = 0; k < this.n - absent.length; k++) {
      const i = order[k];
      if (code[i] <= level) {
        labels[i] = labels[parent[i]];
        colors[i] = colors[parent[i]];
      } else {
        labels[i] = roots.length;
        colors[i] = ownColors[i];
        roots.push(i);
      }
    }
    for (let k = 0; k < absent.length; k++) {
      const i = absent[k];
      const like = code[i] <= level ? parent[i] : nearest[k];
      labels[i] = like < 0 ? -1 : labels[like];
      colors[i] = like < 0 ? 0 : colors[like];
    }
    this.roots = Int32Array.from(roots);
  }

  /** Return the label of each leaf if leaves of a lower score are removed. @param {number} score */
  kept(score) {
    const to = new Int32Array(this.score.length);
    let count = 0;
    for (let i = 0; i < to.length; i++) {
      // A leaf comes after the one that takes its samples, which is higher.
      const stays = !(this.score[i] < score) || this.towards[i] < 0;
      to[i] = stays ? count++ : to[this.towards[i]];
    }
    return to;
  }

  /** Label the positions by their leaves. @param {Int32Array} labelOf label of each leaf */
  keepLeaves(labelOf) {
    const { labels, colors, ownColors, leaf, leaves } = this;
    const roots = [];
    const colorOf = new Uint8Array(leaf.length);
    for (let i = 0; i < leaf.length; i++) {
      // The first leaf of a label is its highest, whose mode is that of the cluster.
      if (labelOf[i] === roots.length) {
        roots.push(leaf[i]);
        colorOf[labelOf[i]] = ownColors[leaf[i]];
      }
    }
    for (let i = 0; i < this.n; i++) {
      labels[i] = leaves[i] < 0 ? -1 : labelOf[leaves[i]];
      colors[i] = leaves[i] < 0 ? 0 : colorOf[labels[i]];
    }
    this.roots = Int32Array.from(roots);
  }

  /** Take labels from elsewhere. @param {(position: number) => number} labelAt */
  setLabels(labelAt) {
    const first = new Map(); // the highest position of each label
    for (const i of this.order) {
      if (!first.has(labelAt(i))) first.set(labelAt(i), i);
    }
    const names = [...first.keys()].filter((label) => label >= 0).sort((a, b) => a - b);
    const number = new Map(names.map((label, k) => [label, k]));
    for (let i = 0; i < this.n; i++) {
      this.labels[i] = number.get(labelAt(i)) ?? -1;
      this.colors[i] = this.ownColors[first.get(labelAt(i)) ?? 0];
    }
    this.roots = Int32Array.from(names, (label) => first.get(label));
    this.names = names;
  }

  /** Return the number that is shown for a label. @param {number} label */
  nameOf(label) {
    if (label < 0) return "none";
    return String(this.names ? this.names[label] : label);
  }

  /** Return the number of positions of each label. */
  sizes() {
    const sizes = new Int32Array(this.roots.length);
    for (let i = 0; i < this.n; i++) if (this.labels[i] >= 0) sizes[this.labels[i]]++;
    return sizes;
  }
}

/** @param {Int32Array} step parent minus own position; becomes the parents */
function parents(step) {
  for (let i = 0; i < step.length; i++) step[i] += i;
  return step;
}

/** @param {Int32Array} rank */
function inverse(rank) {
  const order = new Int32Array(rank.length);
  for (let i = 0; i < rank.length; i++) order[rank[i]] = i;
  return order;
}
