// Unpacks what packing.py has written: a header and named arrays.

/**
 * @typedef {Uint8Array | Uint16Array | Int32Array | Float32Array | Float64Array} Numbers
 * @typedef {{kind: string, length: number, delta: boolean, planes: number}} Told
 * @typedef {{header: any, arrays: Record<string, any>}} Payload
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
  /** @type {Record<string, any>} */
  const arrays = {};
  let position = 4 + length;
  for (const [name, told] of /** @type {[string, Told][]} */ (Object.entries(header.sections))) {
    const size = told.planes * told.length;
    arrays[name] = readSection(data.subarray(position, position + size), told);
    position += size;
  }
  return { header, arrays };
}

/** @param {Uint8Array} body planes of bytes, the lowest first @param {Told} told @returns {Numbers}
 */
function readSection(body, told) {
  return told.kind[0] === "f" ? readFloats(body, told) : readIntegers(body, told);
}

/** @param {Uint8Array} body @param {Told} told @returns {Numbers} */
function readFloats(body, told) {
  const size = told.planes;
  const bytes = new Uint8Array(told.length * size);
  for (let plane = 0; plane < size; plane++) {
    const from = plane * told.length;
    for (let i = 0; i < told.length; i++) bytes[i * size + plane] = body[from + i];
  }
  return told.kind === "f32" ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
}

/** @param {Uint8Array} body @param {Told} told @returns {Numbers} */
function readIntegers(body, told) {
  const values = new INTEGERS[told.kind](told.length);
  const bits = new Uint32Array(told.length);
  for (let plane = 0; plane < Math.min(told.planes, 4); plane++) {
    const from = plane * told.length;
    for (let i = 0; i < told.length; i++) bits[i] |= body[from + i] << (8 * plane);
  }
  let last = 0;
  for (let i = 0; i < told.length; i++) {
    const value = (bits[i] >>> 1) ^ -(bits[i] & 1); // the lowest bit is the sign
    last = told.delta ? (last + value) | 0 : value;
    values[i] = last;
  }
  return values;
}
