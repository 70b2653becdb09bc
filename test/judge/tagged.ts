import { makeClip } from "../fixtures/make-clip.ts";
import type { Rgb } from "./exact-color.ts";

/** SDR video of one color in other colors than an image format's own, with the color in sRGB. */
export const TAGGED: readonly { name: string; tags: readonly [string, string, string]; color: Rgb }[] = [
  { name: "BT.709", tags: ["bt709", "bt709", "bt709"], color: [200, 50, 50] },
  { name: "BT.601", tags: ["smpte170m", "smpte170m", "smpte170m"], color: [200, 50, 50] },
  { name: "Display P3", tags: ["smpte432", "bt709", "bt709"], color: [218, 25, 41] },
  { name: "Display P3 of sRGB's curve", tags: ["smpte432", "iec61966-2-1", "bt709"], color: [218, 25, 41] },
  { name: "BT.2020", tags: ["bt2020", "bt2020-10", "bt2020nc"], color: [248, 0, 41] },
];

const MATRICES: Readonly<Record<string, string>> = { smpte170m: "bt601", bt2020nc: "bt2020" };

/** Returns a video whose stored color is 200, 50, 50 under its tags. */
export function taggedClip({
  tags: [primaries, transfer, matrix],
}: (typeof TAGGED)[number]): Promise<string> {
  const yuv = `scale=flags=accurate_rnd+full_chroma_int:out_color_matrix=${MATRICES[matrix] ?? matrix}:out_range=tv`;
  return makeClip("mp4", [
    ...[
      "-f",
      "lavfi",
      "-i",
      "color=0xC83232:s=160x120:r=10:d=1,format=rgb24",
      "-vf",
      `${yuv},format=yuv420p`,
    ],
    ...["-c:v", "libx264", "-qp", "6", "-color_primaries", primaries, "-color_trc", transfer],
    ...["-colorspace", matrix],
  ]);
}
