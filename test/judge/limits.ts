/**
 * SSIM that an output of quality medium or better must reach: above what a picture one frame late or one pixel aside
 * scores (0.91 and 0.84, see likeness.test.ts), below what a right encode of the test pattern scores (0.97).
 */
export const LIKE = 0.93;

/** Correlation that lossy sound must reach; other sound and swapped channels stay below 0.5, see sound.test.ts. */
export const ALIKE_SOUND = 0.9;
