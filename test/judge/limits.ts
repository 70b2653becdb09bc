/**
 * SSIM that an output of quality medium or better must reach: above the score of a picture that is one frame late or one pixel
 * off (0.91 and 0.84, see likeness.ffmpeg.test.ts), below that of a correct encode of the test pattern (0.97).
 */
export const LIKE = 0.93;

/** Correlation that lossy audio must reach; different sound and swapped channels stay below 0.5, see sound.ffmpeg.test.ts. */
export const ALIKE_SOUND = 0.9;
