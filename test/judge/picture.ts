import { runNative } from "./native.ts";

/** Red, green, blue and alpha, 0 to 255. */
export type Rgba = readonly [red: number, green: number, blue: number, alpha: number];

/** One decoded frame. */
export interface Picture {
  width: number;
  height: number;
  /** The mean color of the 3×3 pixels around a point. */
  at(x: number, y: number): Rgba;
}

/** Decodes one frame of a file with native ffmpeg as RGBA, rotated as a player shows it, after filters. */
export async function readPicture(
  path: string,
  options: { frame?: number; decoder?: readonly string[]; filter?: string } = {},
): Promise<Picture> {
  const { frame = 0, decoder = [], filter = "null" } = options;
  const { output } = await runNative([
    ...[
      ...decoder,
      "-i",
      path,
      "-an",
      "-vf",
      `${filter},select=eq(n\\,${frame}),format=rgba`,
      "-frames:v",
      "1",
    ],
    ...["-f", "image2pipe", "-c:v", "pam", "-"],
  ]);
  return parsePam(output);
}

/** Reads a picture in RGBA from PAM, which carries its size in its header. */
export function parsePam(output: Buffer): Picture {
  const header = output.subarray(0, 200).toString("latin1");
  const width = Number(/WIDTH (\d+)/.exec(header)?.[1]);
  const height = Number(/HEIGHT (\d+)/.exec(header)?.[1]);
  const pixels = output.subarray(output.indexOf("ENDHDR\n") + 7);
  if (pixels.length !== width * height * 4) throw new Error("There is no such frame.");
  return {
    width,
    height,
    at(x, y) {
      const sum = [0, 0, 0, 0];
      let points = 0;
      for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++) {
        for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) {
          points++;
          for (let part = 0; part < 4; part++)
            sum[part] = (sum[part] ?? 0) + (pixels[(row * width + column) * 4 + part] ?? 0);
        }
      }
      const [red = 0, green = 0, blue = 0, alpha = 0] = sum.map((value) => value / points);
      return [red, green, blue, alpha];
    },
  };
}

/** Returns the greatest difference between two colors in red, green and blue. */
export function colorDistance(one: Rgba, other: Rgba): number {
  return Math.max(...[0, 1, 2].map((part) => Math.abs((one[part] ?? 0) - (other[part] ?? 0))));
}
