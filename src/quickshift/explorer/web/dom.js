// Small helpers: elements, numbers as text, files. Text is always set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Create an element.
 * @param {string} tag @param {Record<string, any>} [properties] attributes; functions are listeners
 * @param {...(Node | string)} children @returns {any} */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Create an element of a drawing.
 * @param {string} tag @param {Record<string, any>} [properties]
 * @param {...(Node | string)} children @returns {any} */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** @param {Element} element @param {Record<string, any>} properties
 * @param {(Node | string)[]} children */
function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** Write a number with few digits.
 * @param {number} value @param {number} [digits] @returns {string} */
export function short(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  const magnitude = Math.abs(value);
  if (value !== 0 && (magnitude >= 1e6 || magnitude < 1e-3)) {
    return value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
  }
  return String(Number(value.toPrecision(digits)));
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
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const decades = Math.log10(high / low);
  const factors = decades * 3 <= most ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil((last - first) / most));
  const found = [];
  for (let power = first; power <= last; power += stride) {
    for (const factor of factors) found.push(Number(`${factor}e${power}`));
  }
  return found.filter((value) => value >= low && value <= high);
}

/** Call a function with the events of a pointer until it is released, and then another.
 * @param {HTMLElement | SVGElement} element @param {PointerEvent} event
 * @param {(event: PointerEvent) => void} move @param {() => void} [stop] */
export function drag(element, event, move, stop = () => {}) {
  const moved = (/** @type {any} */ later) => move(later);
  element.setPointerCapture(event.pointerId);
  element.addEventListener("pointermove", moved);
  const released = () => {
    element.removeEventListener("pointermove", moved);
    stop();
  };
  element.addEventListener("pointerup", released, { once: true });
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
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  return ratio;
}

/** Read colors from the style sheet. @param {Element} element @returns {Record<string, string>} */
export function themeOf(element) {
  const style = getComputedStyle(element);
  const names = ["ink", "muted", "line", "paper", "panel", "accent", "faint"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`)]));
}
