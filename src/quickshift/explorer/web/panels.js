// The panels beside the plot: decision graph, cluster tree and table of clusters.

import { button, count, el, short } from "./dom.js";
import { DecisionGraph } from "./decision.js";
import { TreePanel } from "./tree.js";

/** @typedef {import("./clusters.js").ClusterView} ClusterView */

const MOST_ROWS = 100;

export class Panels {
  /** @param {ClusterView} view */
  constructor(view) {
    this.view = view;
    this.decision = view.forest.code ? new DecisionGraph(view) : null;
    this.tree = view.forest.leaf ? new TreePanel(view) : null;
    this.body = el("tbody");
    this.rest = el("p", { class: "note" });
    const score = view.ladders.find(({ key }) => key === "score")?.symbol ?? "significance";
    const heads = ["cluster", "rows", score, "mode"].map((name) => el("th", { scope: "col" }, name));
    const table = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), this.body);
    const said = { tabindex: "0", role: "region", "aria-label": "Table of clusters" };
    const region = el("div", { class: "scroll", ...said }, table, this.rest);
    this.element = el("aside", { "aria-label": "Panels" });
    if (this.decision) this.element.append(this.decision.element);
    if (this.tree) this.element.append(this.tree.element);
    this.element.append(el("section", { class: "table" }, el("h2", {}, "Clusters"), region));
  }

  /** Draw everything. */
  settle() {
    this.decision?.draw();
    this.tree?.draw();
    this.fillTable();
  }

  fillTable() {
    const { forest } = this.view;
    const sizes = forest.sizes();
    const shown = Math.min(sizes.length, MOST_ROWS);
    const leafAt = new Map();
    forest.leaf?.forEach((position, leaf) => leafAt.set(position, leaf));
    const rows = [];
    for (let label = 0; label < shown; label++) {
      rows.push(this.row(label, sizes[label], leafAt.get(forest.roots[label])));
    }
    this.body.replaceChildren(...rows);
    const more = sizes.length - shown;
    this.rest.textContent = more ? `and ${count(more)} more` : "";
  }

  /** @param {number} label @param {number} size @param {number | undefined} leaf */
  row(label, size, leaf) {
    const { view } = this;
    const root = view.forest.roots[label];
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = view.palette[view.forest.colors[root]];
    const [enter, leave] = [() => view.highlight(label), () => view.highlight(-1)];
    const says = { class: "pick", title: "Select the points of this cluster" };
    const select = () => view.selectCluster(label);
    const pick = button(view.forest.nameOf(label), select, { ...says, focus: enter, blur: leave });
    pick.prepend(swatch);
    const name = `row ${view.rowName(root)}`;
    const score = leaf === undefined ? NaN : view.forest.score[leaf];
    return el("tr", { mouseenter: enter, mouseleave: leave },
      el("td", {}, pick),
      el("td", { title: `${short((100 * size) / view.n, 3)} %` }, count(size)),
      el("td", {}, short(score, 3)),
      el("td", { title: name }, name),
    );
  }

  /** Mark the row of a cluster. @param {number} label or -1 */
  mark(label) {
    [...this.body.children].forEach((row, i) => row.classList.toggle("marked", i === label));
  }
}
