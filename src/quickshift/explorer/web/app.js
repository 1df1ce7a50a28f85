// Starts the view of a payload in an element, and keeps its theme.

import { button, el } from "./dom.js";
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
  const setDark = (/** @type {boolean} */ dark) => {
    root.dataset.theme = dark ? "dark" : "light";
    toggle.textContent = dark ? "Light colors" : "Dark colors";
    view.setTheme(dark ? "dark" : "light");
  };
  const toggle = button("", () => setDark(root.dataset.theme === "light"));
  const title = el("h1", {}, payload.header.title);
  root.replaceChildren(el("header", {}, title, el("span", { class: "gap" }), toggle), view.element);
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  const inherit = () => {
    const notebook = document.body.dataset.jpThemeLight; // notebooks say so themselves
    setDark(notebook ? notebook === "false" : wanted.matches);
  };
  wanted.addEventListener("change", inherit);
  new MutationObserver(inherit).observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  inherit();
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
