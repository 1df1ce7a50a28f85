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
  /** @param {Record<string, any>} arrays from unpack @param {number} n */
  constructor(arrays, n) {
    this.n = n;
    /** @type {Int32Array | null} */
    this.parent = arrays.step ? parents(arrays.step) : null;
    /** @type {Uint16Array | null} */
    this.code = arrays.code ?? null;
    /** @type {Float64Array} */
    this.levels = arrays.levels ?? new Float64Array(0);
    /** @type {Int32Array} */
    this.absent = arrays.absent ?? new Int32Array(0);
    /** @type {Int32Array} */
    this.nearest = arrays.nearest ?? new Int32Array(0);
    /** @type {Int32Array} positions, the highest first; rows of weight zero last */
    this.order = inverse(arrays.rank ?? new Int32Array(0));
    /** @type {Int32Array | null} */
    this.leaf = arrays.leaf ?? null;
    /** @type {Int32Array} */
    this.towards = arrays.towards;
    /** @type {Float64Array} */
    this.score = arrays.score;
    /** @type {Int32Array} */
    this.final = arrays.final;
    /** @type {Int32Array} labels of the present cut, -1 outside the forest */
    this.labels = new Int32Array(n);
    /** @type {Uint8Array} colors of the present cut */
    this.colors = new Uint8Array(n);
    /** @type {Int32Array} position of the mode of each label */
    this.roots = new Int32Array(0);
    /** @type {number[] | null} numbers of labels from elsewhere, which may have gaps */
    this.names = null;
    /** @type {Int32Array | null} leaf of each position */
    this.leaves = arrays.leaves ?? null;
  }

  /** Compute what all cuts share. @param {number} chosen level of the fit, -1 if it has none */
  prepare(chosen) {
    if (this.leaf && !this.leaves) this.leaves = this.findLeaves(chosen);
    this.counts = this.code ? countAbove(this.code, this.levels.length, this.absent) : null;
    this.ownColors = this.chooseColors(chosen);
  }

  /** Return the leaf of each position. @param {number} chosen */
  findLeaves(chosen) {
    const { order, parent, code, absent, nearest } = this;
    const leaf = /** @type {Int32Array} */ (this.leaf);
    const leaves = new Int32Array(this.n).fill(-1);
    for (let i = 0; i < leaf.length; i++) leaves[leaf[i]] = i;
    if (!parent || !code) return leaves;
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

  /** Return the color that each position has if it is a mode. @param {number} chosen */
  chooseColors(chosen) {
    const colors = new Uint8Array(this.n);
    const taken = new Uint8Array(this.n);
    let next = 0;
    this.cut({ fitted: true }, chosen, colors);
    for (const root of this.roots) {
      colors[root] = next++ & 255;
      taken[root] = 1;
    }
    for (const i of this.byMove()) if (!taken[i]) colors[i] = next++ & 255;
    return colors;
  }

  /** Return positions in falling order of their moves, those of equal moves by height. */
  byMove() {
    const { code, order, n } = this;
    if (!code) return this.leaf ?? new Int32Array(0);
    const place = new Int32Array(NEVER + 2);
    for (let i = 0; i < n; i++) place[NEVER - code[i] + 1]++;
    for (let c = 1; c < place.length; c++) place[c] += place[c - 1];
    const sorted = new Int32Array(n);
    for (let k = 0; k < n; k++) sorted[place[NEVER - code[order[k]]]++] = order[k];
    return sorted;
  }

  /** Cut the forest; labels, colors and roots then belong to the cut.
   * @param {Cut} cut @param {number} chosen level of the fit
   * @param {Uint8Array} [own] color of each position */
  cut(cut, chosen, own = /** @type {any} */ (this.ownColors)) {
    this.names = null;
    if ("tau" in cut) this.cutAt(cut.tau, own);
    else if (!this.leaf) this.cutAt(chosen, own);
    else this.keepLeaves("score" in cut ? this.kept(cut.score) : this.final, own);
  }

  /** Keep the moves up to a level: one pass in falling order of height.
   * @param {number} level @param {Uint8Array} own */
  cutAt(level, own) {
    const { order, labels, colors, absent, nearest } = this;
    const parent = /** @type {Int32Array} */ (this.parent);
    const code = /** @type {Uint16Array} */ (this.code);
    const roots = [];
    for (let k = 0; k < this.n - absent.length; k++) {
      const i = order[k];
      if (code[i] <= level) {
        labels[i] = labels[parent[i]];
        colors[i] = colors[parent[i]];
      } else {
        labels[i] = roots.length;
        colors[i] = own[i];
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

  /** Label the positions by their leaves.
   * @param {Int32Array} labelOf label of each leaf @param {Uint8Array} own */
  keepLeaves(labelOf, own) {
    const { labels, colors } = this;
    const leaf = /** @type {Int32Array} */ (this.leaf);
    const leaves = /** @type {Int32Array} */ (this.leaves);
    const roots = [];
    const colorOf = new Uint8Array(leaf.length);
    for (let i = 0; i < leaf.length; i++) {
      // The first leaf of a label is its highest, whose mode is that of the cluster.
      if (labelOf[i] === roots.length) {
        roots.push(leaf[i]);
        colorOf[labelOf[i]] = own[leaf[i]];
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
    const first = new Map(); // the highest position of each label; of a tree, its highest leaf
    for (const i of this.order.length ? this.order : [...(this.leaf ?? []), ...this.labels.keys()]) {
      if (!first.has(labelAt(i))) first.set(labelAt(i), i);
    }
    const names = [...first.keys()].filter((label) => label >= 0).sort((a, b) => a - b);
    const number = new Map(names.map((label, k) => [label, k]));
    for (let i = 0; i < this.n; i++) {
      this.labels[i] = number.get(labelAt(i)) ?? -1;
      this.colors[i] = (this.ownColors ?? this.colors)[first.get(labelAt(i)) ?? 0];
    }
    this.roots = Int32Array.from(names, (label) => first.get(label));
    this.names = names;
  }

  /** Return the number that is shown for a label. @param {number} label */
  nameOf(label) {
    return this.names ? this.names[label] : label;
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

/** Return the number of clusters at each level.
 * @param {Uint16Array} code @param {number} nLevels @param {Int32Array} absent */
function countAbove(code, nLevels, absent) {
  const having = new Int32Array(NEVER + 1);
  for (let i = 0; i < code.length; i++) having[code[i]]++;
  for (const i of absent) having[code[i]]--;
  const counts = new Int32Array(nLevels);
  let above = having[NEVER];
  for (let level = nLevels - 1; level >= 0; level--) {
    counts[level] = above;
    above += having[level];
  }
  return counts;
}
