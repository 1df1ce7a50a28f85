// Starts the view of a payload in an element, and keeps its theme.

import { el } from "./dom.js";
import { ClusterView } from "./clusters.js";
import { PictureView } from "./picture.js";
import { RegressionView } from "./regression.js";
import { decodeBase64, inflate, unpack } from "./unpack.js";

/** Show a payload in an element.
 * @param {HTMLElement} root @param {Uint8Array} packed */
export async function show(root, packed) {
  const payload = unpack(await inflate(packed));
  root.classList.add("quickshift");
  const kinds = { clusters: ClusterView, picture: PictureView, regression: RegressionView };
  const view = new kinds[/** @type {keyof kinds} */ (payload.header.kind)](payload);
  const toggle = el("button", { type: "button", class: "theme" }, "Dark");
  const title = el("h1", {}, payload.header.title);
  root.replaceChildren(el("header", {}, title, el("span", { class: "gap" }), toggle), view.element);
  const setTheme = (/** @type {"light" | "dark"} */ theme) => {
    root.dataset.theme = theme;
    toggle.textContent = theme === "dark" ? "Light colors" : "Dark colors";
    view.setTheme(theme);
  };
  const other = () => (root.dataset.theme === "dark" ? "light" : "dark");
  toggle.addEventListener("click", () => setTheme(other()));
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  const inherited = () => {
    const notebook = document.body.dataset.jpThemeLight; // notebooks say so themselves
    return (notebook ? notebook === "false" : wanted.matches) ? "dark" : "light";
  };
  wanted.addEventListener("change", () => setTheme(inherited()));
  setTheme(inherited());
  return view;
}

/** Show the payload that a page contains as text. */
export async function start() {
  const root = /** @type {HTMLElement} */ (document.querySelector("main"));
  const data = /** @type {HTMLElement} */ (document.querySelector("#data"));
  try {
    const view = await show(root, decodeBase64(data.textContent ?? ""));
    data.remove();
    Object.assign(globalThis, { explorer: view });
  } catch (error) {
    const message = `The page cannot be shown: ${error}`;
    root.replaceChildren(el("p", { class: "message", role: "alert" }, message));
    throw error;
  }
}
