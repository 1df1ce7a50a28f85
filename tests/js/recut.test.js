// The page's cuts equal those of the estimator.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { rounded, stepAt, stepOf } from "../../src/quickshift/explorer/web/ladder.js";
import { Forest } from "../../src/quickshift/explorer/web/recut.js";
import { inflate, unpack } from "../../src/quickshift/explorer/web/unpack.js";

const folder = new URL("../../build/js/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder));

for (const name of JSON.parse(read("names.json"))) {
  test(`labels of every cut: ${name}`, async () => {
    const { header, arrays } = unpack(await inflate(new Uint8Array(read(`${name}.bin`))));
    const forest = new Forest({ header, arrays });
    const colors = new Map();
    for (const { cut, labels } of JSON.parse(read(`${name}.json`))) {
      forest.cut(cut);
      const found = new Array(header.n);
      for (let i = 0; i < header.n; i++) found[arrays.rows[i]] = forest.labels[i];
      assert.deepEqual(found, labels, JSON.stringify(cut));
      for (const [label, root] of forest.roots.entries()) {
        assert.equal(forest.labels[root], label);
        const color = colors.get(root) ?? forest.colors[root];
        assert.equal(forest.colors[root], color, "a mode keeps its color");
        colors.set(root, color);
        if (cut.fitted) assert.equal(color, label & 255);
      }
      if ("tau" in cut) assert.equal(arrays.tau_counts[cut.tau], forest.roots.length);
    }
  });
}

for (const name of ["local", "weights", "200_clusters"]) {
  test(`a typed value is cut as in Python: ${name}`, async () => {
    const { header, arrays } = unpack(await inflate(new Uint8Array(read(`${name}.bin`))));
    const [starts, values, counts] = ["starts", "values", "counts"].map((of) => arrays[`score_${of}`]);
    const ladder = { ...header.ladders.at(-1), starts, values, counts };
    const stays = (value) => (score, i) => score >= value || arrays.towards[i] < 0;
    const finite = arrays.score.filter(Number.isFinite);
    for (const value of [0, ...finite, ...finite.map((score) => 1.001 * score), 1e9]) {
      const kept = arrays.score.filter(stays(value)).length;
      assert.equal(counts[stepOf(ladder, value)], kept, `at ${value}`);
    }
    assert.equal(stepOf(ladder, rounded(values[ladder.chosen])), ladder.chosen, "shown at the fit");
  });
}

test("a tau that is the length of a move is the cut of the fit", async () => {
  const { header, arrays } = unpack(await inflate(new Uint8Array(read("grid.bin"))));
  assert.equal(stepAt(arrays.tau_starts, 0.1), header.chosen);
});
