// Ladders: the values that a slider offers, ascending, and the number of clusters at each. Python has
// computed them; here, the step of a value is found.

/**
 * @typedef {{at: number, text: string}} Mark
 * @typedef {{key: string, title: string, symbol: string, starts: ArrayLike<number>,
 *   values: ArrayLike<number>, counts: ArrayLike<number>, chosen: number, marks: Mark[],
 *   low: number, high: number}} Ladder
 */

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
