// Small helpers: elements, numbers as text, canvases, files. Text is set as text, never as markup.

/** @typedef {Record<string, string | number | boolean | null | ((event: any) => void)>} Properties
 *   attributes; functions are listeners */

/** Create an element. @param {string} tag @param {Properties} [properties]
 * @param {...(Node | string)} children @returns {any} */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Create an element of a drawing. @param {string} tag @param {Properties} [properties]
 * @param {...(Node | string)} children @returns {any} */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

/** Create a button. @param {string} text @param {() => void} click @param {Properties} [more]
 * @returns {any} */
export function button(text, click, more = {}) {
  return el("button", { type: "button", click, ...more }, text);
}

/** @param {Element} element @param {Properties} properties @param {(Node | string)[]} children */
function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** Write a number with few digits. @param {number} value @param {number} [digits] */
export function short(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  const magnitude = Math.abs(value);
  if (value !== 0 && (magnitude >= 1e6 || magnitude < 1e-3)) {
    return value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
  }
  return String(Number(value.toPrecision(digits)));
}

/** Write the number of a decimal logarithm. @param {number} log10 @param {number} [digits] */
export function tenTo(log10, digits = 4) {
  const extreme = Number.isFinite(log10) && Math.abs(log10) > 300;
  return extreme ? `1e${Math.round(log10)}` : short(10 ** log10, digits);
}

/** Write a whole number with separators. @param {number} value */
export function count(value) {
  return value.toLocaleString("en-US");
}

/** Return round numbers between two others.
 * @param {number} low @param {number} high @param {number} most */
export function ticks(low, high, most) {
  if (low > high) [low, high] = [high, low];
  const width = high - low;
  const largest = Math.max(Math.abs(low), Math.abs(high));
  if (!(width > 1e-12 * largest) || !Number.isFinite(width)) return [];
  const power = 10 ** Math.floor(Math.log10(width / most));
  const step = power * ([1, 2, 5, 10].find((factor) => power * factor * most >= width) ?? 10);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

/** Return round numbers on a log scale.
 * @param {number} low @param {number} high @param {number} most */
export function logTicks(low, high, most) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const factors = Math.log10(high / low) * 3 <= most ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil((last - first) / most));
  const found = [];
  for (let power = first; power <= last; power += stride) {
    for (const factor of factors) found.push(Number(`${factor}e${power}`));
  }
  return found.filter((value) => value >= low && value <= high);
}

/** Call a function with the events of a pointer until it is released, and then another.
 * @param {Element} element @param {PointerEvent} event
 * @param {(event: any) => void} move @param {() => void} [stop] */
export function drag(element, event, move, stop = () => {}) {
  const listening = new AbortController();
  const { signal } = listening;
  const released = () => {
    listening.abort();
    stop();
  };
  element.setPointerCapture(event.pointerId);
  element.addEventListener("pointermove", move, { signal });
  for (const name of ["pointerup", "pointercancel"]) {
    element.addEventListener(name, released, { signal });
  }
}

/** Draw a line through places. @param {CanvasRenderingContext2D} context
 * @param {number[][]} places */
export function line(context, places) {
  context.beginPath();
  for (const [x, y] of places) context.lineTo(x, y);
  context.stroke();
}

/** Draw a disc with a rim. @param {CanvasRenderingContext2D} context
 * @param {number[]} place @param {number} radius */
export function disc(context, [x, y], radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
  context.stroke();
}

/** Offer a text as a file. @param {string[]} parts @param {string} name */
export function download(parts, name) {
  const link = el("a", { download: name });
  link.href = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Copy a text. @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Files opened from disk may have no clipboard; then a selection is copied.
    const area = el("textarea", { "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** Let a canvas have the pixels of the screen.
 * @param {HTMLCanvasElement} canvas @param {number} width in CSS pixels @param {number} height
 * @returns {number} pixels of the screen per CSS pixel */
export function fitCanvas(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [w, h] = [width, height].map((side) => Math.max(1, Math.round(side * ratio)));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  return ratio;
}

/** Return the context of an empty canvas, in CSS pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function emptyCanvas(canvas, width, height) {
  const ratio = fitCanvas(canvas, width, height);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "11px system-ui, sans-serif";
  return context;
}

/** Read colors from the style sheet. @param {Element} element @returns {Record<string, string>} */
export function themeOf(element) {
  const style = getComputedStyle(element);
  const names = ["ink", "muted", "line", "paper", "panel", "faint"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`)]));
}
