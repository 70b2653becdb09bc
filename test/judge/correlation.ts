/** The cross-correlation of two signals, up to `reach` samples of delay either way. */
export interface Products {
  /** The sum of `got[at + lag] * wanted[at]` over all samples that both have. */
  at(lag: number): number;
}

/**
 * Correlates two signals at every delay at once through their spectra (the cross-correlation theorem); for seconds of sound
 * that is more than twenty times faster than delay by delay.
 */
export function productsOf(got: Float32Array, expected: Float32Array, reach: number): Products {
  const size = 2 ** Math.ceil(Math.log2(Math.max(got.length, expected.length) + reach + 1));
  // Transforms two real signals as one complex one: the first is its even part, the second its odd part.
  const real = new Float64Array(size);
  const imaginary = new Float64Array(size);
  real.set(got);
  imaginary.set(expected);
  transform(real, imaginary);
  const above = new Float64Array(size);
  const below = new Float64Array(size);
  for (let at = 0; at < size; at++) {
    const mirrored = (size - at) % size;
    const [a = 0, b = 0, c = 0, d = 0] = [real[at], imaginary[at], real[mirrored], imaginary[mirrored]];
    const [gotReal, gotImaginary] = [(a + c) / 2, (b - d) / 2];
    const [wantedReal, wantedImaginary] = [(b + d) / 2, (c - a) / 2];
    // The first times the conjugate of the second, conjugated again so that the forward transform inverts it.
    above[at] = gotReal * wantedReal + gotImaginary * wantedImaginary;
    below[at] = -(gotImaginary * wantedReal - gotReal * wantedImaginary);
  }
  transform(above, below);
  return { at: (lag) => (above[(lag + size) % size] ?? 0) / size };
}

// Transforms in place by Cooley–Tukey; the size is a power of two.
function transform(real: Float64Array, imaginary: Float64Array): void {
  const size = real.length;
  for (let at = 1, other = 0; at < size; at++) {
    let bit = size >> 1;
    for (; other & bit; bit >>= 1) other ^= bit;
    other ^= bit;
    if (at < other) {
      swap(real, at, other);
      swap(imaginary, at, other);
    }
  }
  const cosines = Float64Array.from({ length: size / 2 }, (_, at) => Math.cos((2 * Math.PI * at) / size));
  const sines = Float64Array.from({ length: size / 2 }, (_, at) => -Math.sin((2 * Math.PI * at) / size));
  for (let half = 1; half < size; half *= 2) {
    const step = size / (2 * half);
    for (let start = 0; start < size; start += 2 * half) {
      for (let at = 0; at < half; at++) {
        const low = start + at;
        const high = low + half;
        const cosine = cosines[at * step] as number;
        const sine = sines[at * step] as number;
        const a = real[high] as number;
        const b = imaginary[high] as number;
        const turned = a * cosine - b * sine;
        const crossed = a * sine + b * cosine;
        real[high] = (real[low] as number) - turned;
        imaginary[high] = (imaginary[low] as number) - crossed;
        real[low] = (real[low] as number) + turned;
        imaginary[low] = (imaginary[low] as number) + crossed;
      }
    }
  }
}

function swap(values: Float64Array, one: number, other: number): void {
  const value = values[one] as number;
  values[one] = values[other] as number;
  values[other] = value;
}
