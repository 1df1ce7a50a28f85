// Damaged payloads are errors or arrays of the length that they declare.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { inflate, unpack } from "../../src/quickshift/explorer/web/unpack.js";

const folder = new URL("../../build/js/", import.meta.url);
const CASES = Number(process.env.QUICKSHIFT_EXAMPLES ?? 400);
const BYTES = [0, 1, 0x30, 0x39, 0x2d, 0x7f, 0xff];

/** Random integers below a limit, the same ones for the same seed. */
function generator(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
  };
}

function damaged(bytes, random) {
  const changed = Uint8Array.from(bytes);
  const header = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  for (let left = 1 + random(4); left > 0; left--) {
    const place = random(2) ? random(header) : random(changed.length);
    changed[place] = random(2) ? BYTES[random(BYTES.length)] : changed[place] ^ (1 << random(8));
  }
  return random(3) ? changed : changed.subarray(0, random(changed.length));
}

test("damaged arrays are errors, or as long as the header says", async () => {
  const names = JSON.parse(readFileSync(new URL("names.json", folder)));
  const read = (name) => inflate(new Uint8Array(readFileSync(new URL(`${name}.bin`, folder))));
  const payloads = await Promise.all(names.map(read));
  let errors = 0;
  for (let seed = 1; seed <= CASES; seed++) {
    const random = generator(seed);
    const data = damaged(payloads[random(payloads.length)], random);
    try {
      const { header, arrays } = unpack(data);
      for (const [name, { length }] of Object.entries(header.sections)) {
        assert.ok(arrays[name].length === length, `seed ${seed}`);
      }
    } catch (error) {
      assert.ok(["SyntaxError", "RangeError", "TypeError"].includes(error.name), `seed ${seed}: ${error}`);
      errors++;
    }
  }
  assert.ok(errors > CASES / 10);
});

test("damaged compression is an error", async () => {
  const names = JSON.parse(readFileSync(new URL("names.json", folder)));
  const packed = new Uint8Array(readFileSync(new URL(`${names[0]}.bin`, folder)));
  for (let seed = 1; seed <= CASES / 10; seed++) {
    const random = generator(seed);
    const place = 2 + random(packed.length - 2);
    const changed = packed.map((byte, i) => (i === place ? byte ^ (1 << random(8)) : byte));
    await assert.rejects(inflate(changed), `seed ${seed}`);
  }
});

test("an array that is cut off is named", () => {
  const text = new TextEncoder().encode('{"sections": {"x": {"kind": "f64", "length": 3e9, "planes": 8}}}');
  const data = new Uint8Array(4 + text.length);
  data[0] = text.length;
  data.set(text, 4);
  assert.throws(() => unpack(data), /The array x of this page is incomplete/);
});
