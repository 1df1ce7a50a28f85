// Unpacks what packing.py has written: a header and named arrays.

/**
 * Arrays by the names that the Python modules beside this folder give them. Payloads of other kinds
 * have other arrays; the types are those of arrays that are there.
 *
 * @typedef {Record<"step" | "rank" | "absent" | "nearest" | "rows" | "leaf" | "leaves" | "towards"
 *   | "final" | "merged" | "first_branches" | "branch_starts" | "branch_ends"
 *   | "first_intervals" | "interval_at", Int32Array>
 *   & Record<"tau_values" | "tau_starts" | "score" | "grid" | "branch_y" | "interval_low"
 *   | "interval_high", Float64Array>
 *   & Record<"density" | "birth" | "level", Float32Array>
 *   & {code: Uint16Array, ids: Uint8Array, c0: any, c1: any, c2: any}} Arrays
 * @typedef {{header: any, arrays: Arrays}} Payload
 * @typedef {{kind: string, length: number, delta: boolean, planes: number}} Told
 */

/** @type {Record<string, any>} */
const INTEGERS = { u8: Uint8Array, u16: Uint16Array, i32: Int32Array };

/** Decode base64. @param {string} text @returns {Uint8Array} */
export function decodeBase64(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Decompress bytes that zlib has compressed.
 * @param {Uint8Array} packed @returns {Promise<Uint8Array>} */
export async function inflate(packed) {
  const stream = new Blob([/** @type {any} */ (packed)]).stream();
  const inflated = stream.pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}

/** Read the header and the arrays. @param {Uint8Array} data decompressed @returns {Payload} */
export function unpack(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const arrays = /** @type {any} */ ({});
  let position = 4 + length;
  for (const [name, told] of /** @type {[string, Told][]} */ (Object.entries(header.sections))) {
    const size = told.planes * told.length;
    if (!(size >= 0 && position + size <= data.length)) {
      throw new RangeError(`The array ${name} of this page is incomplete. Write the page again.`);
    }
    arrays[name] = readSection(data.subarray(position, position + size), told);
    position += size;
  }
  return { header, arrays };
}

/** @param {Uint8Array} body planes of bytes, the lowest first @param {Told} told */
function readSection(body, { kind, length, delta, planes }) {
  const size = kind[0] === "f" ? planes : 4;
  const bytes = new Uint8Array(length * size);
  for (let plane = 0; plane < planes; plane++) {
    const from = plane * length;
    for (let i = 0; i < length; i++) bytes[i * size + plane] = body[from + i];
  }
  if (kind === "f32") return new Float32Array(bytes.buffer);
  if (kind === "f64") return new Float64Array(bytes.buffer);
  const bits = new Uint32Array(bytes.buffer);
  const values = new INTEGERS[kind](length);
  let last = 0;
  for (let i = 0; i < length; i++) {
    const value = (bits[i] >>> 1) ^ -(bits[i] & 1); // the lowest bit is the sign
    last = delta ? (last + value) | 0 : value;
    values[i] = last;
  }
  return values;
}
