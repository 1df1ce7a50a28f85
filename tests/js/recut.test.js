// The page's cuts equal those of the estimator.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { rounded, scoreLadder, stepAt, stepOf } from "../../src/quickshift/explorer/web/ladder.js";
import { Forest } from "../../src/quickshift/explorer/web/recut.js";
import { inflate, unpack } from "../../src/quickshift/explorer/web/unpack.js";

const folder = new URL("../../build/js/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder));

for (const name of JSON.parse(read("names.json"))) {
  test(`labels of every cut: ${name}`, async () => {
    const { header, arrays } = unpack(await inflate(new Uint8Array(read(`${name}.bin`))));
    const forest = new Forest(arrays, header.n);
    forest.prepare(header.chosen);
    const colors = new Map();
    for (const { cut, labels } of JSON.parse(read(`${name}.json`))) {
      forest.cut(cut, header.chosen);
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
      if ("tau" in cut) assert.equal(forest.counts[cut.tau], forest.roots.length);
    }
  });
}

test("a typed value is cut as in Python", async () => {
  const { header, arrays } = unpack(await inflate(new Uint8Array(read("grid.bin"))));
  assert.equal(stepAt(arrays.starts, 0.1), header.chosen, "a tau that is the length of a move");
  const score = Float64Array.from([Infinity, 11.886172698200249, 11.886102698200249, 3]);
  const towards = Int32Array.from([-1, 0, 0, 0]);
  for (const least of [3, 5, 11.886102698200249, 11.886172698200249]) {
    const ladder = scoreLadder({ score: "significance", least }, score, towards);
    const kept = (value) => score.filter((some) => some >= value).length;
    for (const value of [0, ...score.slice(1), 4, 11.88615, 20]) {
      assert.equal(ladder.counts[stepOf(ladder, value)], kept(value), `${value} with ${least}`);
    }
    assert.equal(stepOf(ladder, rounded(least)), ladder.chosen, "what is shown at the fit");
    assert.equal(ladder.counts[ladder.chosen], kept(least));
  }
});
