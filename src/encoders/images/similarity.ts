import type { Planes } from "./png.ts";

const TILE = 64;
// Side of a block in pixels; a window adds the sums of 2 × 2 blocks.
const BLOCK = 4;
const WORST_SHARE = 0.25;
const LUMA_WEIGHT = 4;

/**
 * Returns the SSIM of the worst quarter of two pictures of the same size, which is 1 when they are equal; null when they are smaller than
 * a window. Like ffmpeg's `ssim`, it uses windows of 8 × 8 pixels that overlap by half, and weighs luma four times as much as each plane
 * of chroma.
 */
export function similarityOf(one: Planes, other: Planes): number | null {
  const { width, height } = one;
  const luma = tilesOf(one.luma, other.luma, { width, height }, TILE);
  if (!luma) return null;
  const half = { width: width >> 1, height: height >> 1 };
  const chroma = [0, 1].flatMap((plane) => {
    const at = plane as 0 | 1;
    return tilesOf(one.chroma[at], other.chroma[at], half, TILE / 2) ?? [];
  });
  const scores = [...luma].map(([tile, score]) => {
    const colors = chroma.map((plane) => plane.get(tile) ?? score);
    const sum = colors.reduce((total, color) => total + color, LUMA_WEIGHT * score);
    return sum / (LUMA_WEIGHT + colors.length);
  });
  const worst = scores
    .toSorted((a, b) => a - b)
    .slice(0, Math.max(1, Math.round(scores.length * WORST_SHARE)));
  return worst.reduce((sum, score) => sum + score, 0) / worst.length;
}

interface Area {
  width: number;
  height: number;
}

/** Returns the mean SSIM of the windows that start in each tile, by the tile's number; null when no window fits. */
function tilesOf(
  one: Uint8Array,
  other: Uint8Array,
  { width, height }: Area,
  side: number,
): Map<number, number> | null {
  const [columns, rows] = [Math.floor(width / BLOCK), Math.floor(height / BLOCK)];
  if (columns < 2 || rows < 2) return null;
  const perTile = side / BLOCK;
  const across = Math.ceil(columns / perTile);
  const sums = new Float64Array(across * Math.ceil(rows / perTile));
  const counts = new Uint32Array(sums.length);
  let [above, below] = [new Int32Array(columns * SUMS), new Int32Array(columns * SUMS)];
  addBlocks(one, other, width, 0, above);
  for (let row = 1; row < rows; row++) {
    addBlocks(one, other, width, row * BLOCK, below);
    for (let column = 0; column + 1 < columns; column++) {
      const tile = Math.floor((row - 1) / perTile) * across + Math.floor(column / perTile);
      sums[tile] = (sums[tile] as number) + windowScore(above, below, column * SUMS);
      counts[tile] = (counts[tile] as number) + 1;
    }
    [above, below] = [below, above];
  }
  const tiles = new Map<number, number>();
  for (const [tile, count] of counts.entries()) {
    const [x, y] = [tile % across, Math.floor(tile / across)];
    if (count > 0) tiles.set(y * MAX_ACROSS + x, (sums[tile] as number) / count);
  }
  return tiles;
}

// A fixed row length gives the tiles of luma and chroma in the same place the same number.
const MAX_ACROSS = 65_536;

// A block has four sums: of each picture's pixels, of the squares of both, and of their products.
const SUMS = 4;

function addBlocks(one: Uint8Array, other: Uint8Array, width: number, top: number, blocks: Int32Array): void {
  blocks.fill(0);
  const columns = blocks.length / SUMS;
  for (let y = top; y < top + BLOCK; y++) {
    for (let column = 0; column < columns; column++) {
      const from = y * width + column * BLOCK;
      let [first, second, squares, products] = [0, 0, 0, 0];
      for (let at = from; at < from + BLOCK; at++) {
        const a = one[at] as number;
        const b = other[at] as number;
        first += a;
        second += b;
        squares += a * a + b * b;
        products += a * b;
      }
      const place = column * SUMS;
      blocks[place] = (blocks[place] as number) + first;
      blocks[place + 1] = (blocks[place + 1] as number) + second;
      blocks[place + 2] = (blocks[place + 2] as number) + squares;
      blocks[place + 3] = (blocks[place + 3] as number) + products;
    }
  }
}

const PIXELS = (2 * BLOCK) ** 2;
// Wang et al. 2004: constants for 8 bits with K1 = 0.01 and K2 = 0.03, scaled to sums over a window.
const C1 = (0.01 * 255) ** 2 * PIXELS;
const C2 = (0.03 * 255) ** 2 * PIXELS * (PIXELS - 1);

function windowScore(above: Int32Array, below: Int32Array, at: number): number {
  const sum = (part: number) =>
    (above[at + part] as number) +
    (above[at + SUMS + part] as number) +
    (below[at + part] as number) +
    (below[at + SUMS + part] as number);
  const [first, second] = [sum(0), sum(1)];
  const variances = sum(2) * PIXELS - first * first - second * second;
  const covariance = sum(3) * PIXELS - first * second;
  return (
    ((2 * first * second + C1) * (2 * covariance + C2)) /
    ((first * first + second * second + C1) * (variances + C2))
  );
}
