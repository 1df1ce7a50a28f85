// Draws points in WebGL2: positions and colors on the graphics card, one call per frame.

import { Cells } from "./cells.js";

const VERTEX = `#version 300 es
in float x; in float y; in uint color; in float state; in float weight;
uniform vec4 view; uniform float size; uniform float alpha; uniform sampler2D palette;
flat out vec4 ink;
void main() {
  gl_Position = vec4(vec2(x, y) * view.xy + view.zw, 0.0, 1.0);
  gl_PointSize = size;
  float seen = alpha * weight * (state > 0.0 ? 0.12 : 1.0);
  vec3 own = texelFetch(palette, ivec2(int(color), 0), 0).rgb;
  ink = vec4(own * seen, seen);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 ink; uniform float size; uniform bool square; out vec4 pixel;
void main() {
  if (square) { pixel = ink; return; }
  float r = length(gl_PointCoord - 0.5) * size;
  pixel = ink * clamp(0.5 * size - r + 0.5, 0.0, 1.0);
}`;

/**
 * @typedef {Float32Array | Uint16Array} Offsets
 * @typedef {{view: number[], size: number, alpha: number, coarse: boolean}} Frame
 */

/** Points with colors from a palette. */
export class Scatter {
  /** @param {HTMLCanvasElement} canvas @param {number} n */
  constructor(canvas, n) {
    this.canvas = canvas;
    const options = { antialias: false, alpha: true, premultipliedAlpha: true };
    const gl = /** @type {WebGL2RenderingContext | null} */ (canvas.getContext("webgl2", options));
    if (!gl) throw new Error("WebGL2 is not available");
    this.gl = gl;
    this.program = compile(gl);
    gl.useProgram(this.program);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.fine = { vertices: gl.createVertexArray(), buffers: {}, length: n };
    this.coarse = { vertices: gl.createVertexArray(), buffers: {}, length: 0 };
    this.texture = gl.createTexture();
    /** @type {Int32Array} */
    this.positions = new Int32Array(0); // one in each cell of the coarse picture
    this.side = 0; // of a cell
  }

  /** Set a value of all points.
   * @param {any} layer @param {string} name @param {Offsets | Uint8Array} values */
  set(layer, name, values) {
    const { gl } = this;
    const place = gl.getAttribLocation(this.program, name);
    gl.bindVertexArray(layer.vertices);
    layer.buffers[name] ??= gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, layer.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, name === "color" ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    if (name === "color") gl.vertexAttribIPointer(place, 1, gl.UNSIGNED_BYTE, 0, 0);
    else if (values instanceof Float32Array) gl.vertexAttribPointer(place, 1, gl.FLOAT, false, 0, 0);
    else {
      const type = values instanceof Uint16Array ? gl.UNSIGNED_SHORT : gl.UNSIGNED_BYTE;
      gl.vertexAttribPointer(place, 1, type, true, 0, 0);
    }
  }

  /** Choose the columns that are drawn.
   * @param {Offsets} x @param {Offsets} y @param {Cells} cells */
  setPoints(x, y, cells) {
    const { gl, fine, coarse } = this;
    this.set(fine, "x", x);
    this.set(fine, "y", y);
    gl.disableVertexAttribArray(gl.getAttribLocation(this.program, "weight"));
    gl.vertexAttrib1f(gl.getAttribLocation(this.program, "weight"), 1);
    const picture = cells.picture();
    this.positions = picture.positions;
    this.side = picture.side;
    const middle = (/** @type {Offsets} */ of) =>
      Float32Array.from(picture.positions, (i) => (cells.side(of[i] * cells.scale) + 0.5) * picture.side);
    this.set(coarse, "x", middle(x));
    this.set(coarse, "y", middle(y));
    this.set(coarse, "weight", picture.weight);
    coarse.length = picture.positions.length;
  }

  /** Set the colors of points, and which of them are pale.
   * @param {Uint8Array} colors @param {Uint8Array} state */
  setColors(colors, state) {
    this.set(this.fine, "color", colors);
    this.set(this.fine, "state", state);
    this.set(this.coarse, "color", Uint8Array.from(this.positions, (i) => colors[i]));
    this.set(this.coarse, "state", Uint8Array.from(this.positions, (i) => state[i]));
  }

  /** Set the palette. @param {string[]} palette 256 colors such as #198bff */
  setPalette(palette) {
    const { gl } = this;
    const bytes = paletteBytes(palette);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }

  /** Draw a frame. @param {Frame} frame */
  draw(frame) {
    const { gl, program, canvas } = this;
    const layer = frame.coarse ? this.coarse : this.fine;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl[frame.coarse ? "disable" : "enable"](gl.BLEND); // cells that overlap must not add up
    const uniform = (/** @type {string} */ name) => gl.getUniformLocation(program, name);
    gl.uniform4fv(uniform("view"), frame.view);
    gl.uniform1f(uniform("size"), frame.size);
    gl.uniform1f(uniform("alpha"), frame.alpha);
    gl.uniform1i(uniform("square"), frame.coarse ? 1 : 0);
    gl.bindVertexArray(layer.vertices);
    gl.drawArrays(gl.POINTS, 0, layer.length);
  }
}

/** @param {string[]} palette */
function paletteBytes(palette) {
  const bytes = new Uint8Array(1024).fill(255);
  palette.forEach((color, i) => {
    for (let k = 0; k < 3; k++) bytes[4 * i + k] = parseInt(color.slice(1 + 2 * k, 3 + 2 * k), 16);
  });
  return bytes;
}

/** @param {WebGL2RenderingContext} gl */
function compile(gl) {
  const program = gl.createProgram();
  /** @type {[number, string][]} */
  const shaders = [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]];
  for (const [type, source] of shaders) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(type));
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error(gl.getProgramInfoLog(program) ?? "WebGL2 cannot link a program");
  }
  return program;
}
