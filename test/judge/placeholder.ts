import { rgbaToThumbHash, thumbHashToRGBA } from "thumbhash";
import { makeClip } from "../fixtures/make-clip.ts";
import { runNative } from "./native.ts";

/** The color that most of each of these pictures has. */
export const PLACEHOLDER_COLOR = "#2888e8";

const RED_CORNER = "drawbox=x=0:y=0:w=iw/3:h=ih/2:c=0xe82828:t=fill";
const ground = (size: string, rest = "") =>
  `color=0x${PLACEHOLDER_COLOR.slice(1)}:size=${size}:rate=25${rest}`;

/** A picture that is clear from a share of its width on. */
export function clearFrom(share: "0" | "2/3"): Promise<string> {
  const filter = `${RED_CORNER},format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='255*lt(X,W*${share})'`;
  return makeClip("png", ["-f", "lavfi", "-i", `${ground("240x160")},${filter}`, "-frames:v", "1"]);
}

/** An upright picture of a sky over many colors. */
export function skyPhoto(): Promise<string> {
  const sky = `drawbox=x=0:y=0:w=iw:h=ih*0.6:c=0x${PLACEHOLDER_COLOR.slice(1)}:t=fill`;
  const source = `mandelbrot=size=240x360,${sky}`;
  return makeClip("jpg", ["-f", "lavfi", "-i", source, "-frames:v", "1", "-q:v", "2"]);
}

/** A video of two seconds that begins in black. */
export function blackFirst(): Promise<string> {
  const black = "drawbox=c=black:t=fill:enable='lt(t,0.1)'";
  const source = `${ground("320x180", ":duration=2")},${RED_CORNER},${black}`;
  return makeClip("mp4", ["-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-c:v", "libx264"]);
}

/** Returns the mean difference of what a ThumbHash shows from what it would show of a frame of a file, 0 to 255. */
export async function thumbhashError(
  thumbhash: string,
  path: string,
  time = 0,
  filter = "null",
): Promise<number> {
  const sized = `${filter},scale=100:100:force_original_aspect_ratio=decrease:flags=area,format=rgba`;
  const pam = ["-frames:v", "1", "-f", "image2pipe", "-c:v", "pam", "-"];
  const { output } = await runNative([
    ...(time > 0 ? ["-ss", String(time)] : []),
    "-i",
    path,
    "-vf",
    sized,
    ...pam,
  ]);
  const header = output.subarray(0, 200).toString("latin1");
  const [width, height] = ["WIDTH", "HEIGHT"].map((name) =>
    Number(new RegExp(`${name} (\\d+)`).exec(header)?.[1]),
  );
  const pixels = output.subarray(output.indexOf("ENDHDR\n") + 7);
  const [expected, seen] = [
    thumbHashToRGBA(rgbaToThumbHash(width ?? 0, height ?? 0, pixels)),
    thumbHashToRGBA(Buffer.from(thumbhash, "base64")),
  ];
  if (expected.w !== seen.w || expected.h !== seen.h) return 255;
  const differences = expected.rgba.map((value, at) => Math.abs(value - (seen.rgba[at] ?? 0)));
  return differences.reduce((sum, value) => sum + value, 0) / differences.length;
}

/** Returns the greatest difference of a color from that of the pictures, in red, green or blue. */
export function colorError(color: string): number {
  const parts = (text: string) => [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
  const expectedParts = parts(PLACEHOLDER_COLOR);
  return Math.max(...parts(color).map((value, at) => Math.abs(value - (expectedParts[at] ?? 0))));
}
