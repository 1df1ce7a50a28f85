// Ladders: the values that a slider offers, ascending, and the number of clusters at each.

/**
 * @typedef {{at: number, text: string}} Mark
 * @typedef {{key: string, title: string, symbol: string, starts: ArrayLike<number>,
 *   values: ArrayLike<number>, counts: ArrayLike<number>, chosen: number, marks: Mark[],
 *   low: number, high: number}} Ladder
 */

const FEW = 2000; // sliders begin where there are about this many clusters

/** Return the last step that begins at or below a value.
 * @param {ArrayLike<number>} starts @param {number} value */
export function stepAt(starts, value) {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Return the step of a value that was typed: that of the fit for the rounded value shown there.
 * @param {Pick<Ladder, "key" | "starts" | "values" | "chosen">} ladder @param {number} value */
export function stepOf({ key, starts, values, chosen }, value) {
  if (chosen >= 0 && value === rounded(values[chosen])) return chosen;
  const step = stepAt(starts, value);
  return key === "score" && step > 0 && starts[step] === value ? step - 1 : step; // it is kept
}

/** Return a number as it is shown at the fit. @param {number} value */
export function rounded(value) {
  return Number(value.toPrecision(6));
}

/** Return the ends of a slider for steps of some values.
 * @param {{starts: ArrayLike<number>, values: ArrayLike<number>, counts: ArrayLike<number>}} steps
 * @param {number[]} shown values that must be inside @returns {[number, number]} */
export function sliderRange(steps, shown) {
  let first = 0;
  while (first < steps.counts.length - 1 && steps.counts[first] > FEW) first++;
  const inside = shown.filter((value) => value > 0 && Number.isFinite(value));
  const begins = Array.from(steps.starts).slice(first).find((start) => start > 0) ?? 0;
  const ends = steps.starts[steps.starts.length - 1];
  const positive = [begins, ends, ...inside].filter((value) => value > 0);
  if (!positive.length) return [0.1, 10];
  const low = Math.min(...positive) / 1.4;
  return [low, Math.max(low * 4, Math.max(...positive) * 1.25)];
}

/** Return a number with few digits above one number and at most another.
 * @param {number} low @param {number} high */
export function between(low, high) {
  const middle = low > 0 ? Math.sqrt(low) * Math.sqrt(high) : high / 2;
  for (let digits = 2; digits < 17; digits++) {
    const value = Number(middle.toPrecision(digits));
    if (low < value && value <= high) return value;
  }
  return high;
}

/** Return the ladder of cuts at tau.
 * @param {any} header @param {Float64Array} values @param {Float64Array} starts
 * @param {Int32Array} counts @returns {Ladder} */
export function tauLadder(header, values, starts, counts) {
  const { chosen, relative } = header;
  /** @type {Mark[]} */
  const marks = [];
  if (relative) marks.push({ at: 1, text: "1" });
  else if (chosen >= 0) {
    marks.push({ at: values[chosen], text: header.kind === "picture" ? "default" : "fit" });
  }
  const steps = { values, starts, counts };
  const [low, high] = sliderRange(steps, chosen >= 0 ? [values[chosen]] : []);
  const title = relative ? "Longest move, in multiples of each point’s τ" : "Longest move τ";
  return { key: "tau", title, symbol: relative ? "move/τ" : "τ", ...steps, chosen, marks, low, high };
}

/** Return the ladder of cuts by the score of modes.
 * @param {any} header @param {Float64Array} score @param {Int32Array} towards @returns {Ladder} */
export function scoreLadder(header, score, towards) {
  const ratio = header.score !== "significance";
  const removable = score.filter((value, i) => Number.isFinite(value) && towards[i] >= 0).sort();
  const always = score.length - removable.length;
  const starts = [0];
  const values = [0];
  const counts = [score.length];
  removable.forEach((value, i) => {
    if (value === removable[i + 1]) return; // leaves of equal scores go together
    const next = removable[i + 1] ?? Math.max(value * 1.5, 1e-9);
    starts.push(value);
    values.push(between(value, next));
    counts.push(always + removable.length - 1 - i);
  });
  const least = header.least ?? 0;
  const chosen = stepOf({ key: "score", starts, values, chosen: -1 }, least);
  if (least > 0) values[chosen] = least;
  const marks = [];
  if (header.chance) marks.push({ at: header.chance, text: "chance" });
  if (least > 0) marks.push({ at: least, text: "fit" });
  const steps = { starts, values, counts };
  let [low, high] = sliderRange(steps, marks.map((mark) => mark.at));
  low = Math.max(low, header.chance ? header.chance / 20 : high / 1000);
  if (ratio) low = Math.max(low, 1);
  const title = ratio ? "Least prominence ratio of a mode" : "Least significance of a mode";
  const symbol = ratio ? "prominence ratio" : "significance";
  return { key: "score", title, symbol, ...steps, chosen, marks, low, high };
}
