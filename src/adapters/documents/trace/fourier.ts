import FFT from 'fft.js';

/** Complex numbers: real and imaginary parts alternate. */
export type Complex = Float64Array;

/** Two-dimensional Fourier transforms of squares. */
export class Fourier {
  readonly size: number;
  readonly #transform: FFT;

  /** @param size of a side; a power of 2 */
  constructor(size: number) {
    this.size = size;
    this.#transform = new FFT(size);
  }

  /** Returns a square of zeros. */
  square(): Complex {
    return new Float64Array(2 * this.size * this.size);
  }

  forward(square: Complex): void {
    this.#each(square, (out, line) => this.#transform.transform(out, line));
  }

  inverse(square: Complex): void {
    this.#each(square, (out, line) => this.#transform.inverseTransform(out, line));
  }

  /** Transforms all rows, and then all columns. */
  #each(square: Complex, transform: (out: Complex, line: Complex) => void): void {
    const { size } = this;
    const [line, out] = [new Float64Array(2 * size), new Float64Array(2 * size)];
    for (let row = 0; row < size; row += 1) {
      const values = square.subarray(2 * row * size, 2 * (row + 1) * size);
      transform(out, values);
      values.set(out);
    }
    for (let column = 0; column < size; column += 1) {
      for (let row = 0; row < size; row += 1) {
        const from = 2 * (row * size + column);
        line[2 * row] = square[from] ?? 0;
        line[2 * row + 1] = square[from + 1] ?? 0;
      }
      transform(out, line);
      for (let row = 0; row < size; row += 1) {
        const to = 2 * (row * size + column);
        square[to] = out[2 * row] ?? 0;
        square[to + 1] = out[2 * row + 1] ?? 0;
      }
    }
  }
}
