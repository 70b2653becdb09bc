/** Below this spread of brightness a picture shows nothing: black, white, or any single color. */
export const PLAIN = 6;

/** Returns the spread of brightness of RGBA pixels: their standard deviation, 0 to 127.5. */
export function brightnessSpread(pixels: Uint8ClampedArray): number {
  const count = pixels.length / 4;
  let [sum, squares] = [0, 0];
  for (let place = 0; place < pixels.length; place += 4) {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(place, place + 3);
    const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    sum += light;
    squares += light * light;
  }
  return count === 0 ? 0 : Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
}

/** Returns the times, in seconds, at which to look for a picture that shows something, most promising first. */
export function thumbnailTimes(duration: number): number[] {
  return [Math.min(1, duration / 4), duration / 4, duration / 2, (3 * duration) / 4];
}
