// A grid over two columns: finds points near a place, and stands for them in a coarse picture.

const SIDE = 512;

export class Cells {
  /** @param {Float32Array | Uint16Array} x offsets, from 0 to 1 or to 65535
   * @param {Float32Array | Uint16Array} y */
  constructor(x, y) {
    this.scale = x instanceof Uint16Array ? 1 / 65535 : 1;
    this.x = x;
    this.y = y;
    const n = x.length;
    const start = new Int32Array(SIDE * SIDE + 1);
    const cell = new Int32Array(n);
    for (let i = 0; i < n; i++) {
      cell[i] = this.side(y[i] * this.scale) * SIDE + this.side(x[i] * this.scale);
      start[cell[i] + 1]++;
    }
    for (let c = 0; c < SIDE * SIDE; c++) start[c + 1] += start[c];
    const next = start.slice(0, -1);
    const items = new Int32Array(n);
    for (let i = 0; i < n; i++) items[next[cell[i]]++] = i;
    this.start = start;
    this.items = items;
  }

  /** @param {number} share */
  side(share) {
    return Math.min(SIDE - 1, Math.max(0, Math.floor(share * SIDE)));
  }

  /** Find the nearest point.
   * @param {number} x @param {number} y @param {number} sx weight of differences of x
   * @param {number} sy @param {number} reach largest weighted distance
   * @returns {number} its position, or -1 */
  nearest(x, y, sx, sy, reach) {
    let best = -1;
    let least = reach * reach;
    this.each(x - reach / sx, y - reach / sy, x + reach / sx, y + reach / sy, (i) => {
      const dx = (this.x[i] * this.scale - x) * sx;
      const dy = (this.y[i] * this.scale - y) * sy;
      const squared = dx * dx + dy * dy;
      if (squared <= least) [least, best] = [squared, i];
    });
    return best;
  }

  /** Call a function with every position in the cells that a rectangle touches.
   * @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1
   * @param {(position: number) => void} visit */
  each(x0, y0, x1, y1, visit) {
    for (let row = this.side(y0); row <= this.side(y1); row++) {
      const from = this.start[row * SIDE + this.side(x0)];
      const to = this.start[row * SIDE + this.side(x1) + 1];
      for (let k = from; k < to; k++) visit(this.items[k]);
    }
  }

  /** Return one position of each cell that has any, and the share of its points in the fullest.
   * @returns {{positions: Int32Array, weight: Uint8Array, side: number}} */
  picture() {
    const positions = [];
    const counts = [];
    let most = 1;
    for (let c = 0; c < SIDE * SIDE; c++) {
      const inside = this.start[c + 1] - this.start[c];
      if (!inside) continue;
      positions.push(this.items[this.start[c] + (inside >> 1)]);
      counts.push(inside);
      most = Math.max(most, inside);
    }
    const weight = Uint8Array.from(counts, (k) => 60 + (195 * Math.log1p(k)) / Math.log1p(most));
    return { positions: Int32Array.from(positions), weight, side: 1 / SIDE };
  }
}
