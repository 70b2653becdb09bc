import { afterAll, beforeAll, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { quadrantPng } from "../judge/clips.ts";
import { note } from "../judge/figures.ts";
import { colorDistance, readPicture } from "../judge/picture.ts";
import { wrongPoints } from "../judge/quadrants.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const X264 = "-c:v libx264 -preset veryfast -qp 6";
const tags = (matrix: string, range: "tv" | "pc") =>
  `-colorspace ${matrix} -color_primaries ${matrix} -color_trc ${matrix} -color_range ${range}`;
const yuv = (matrix: string, range: "tv" | "pc", format: string) =>
  `scale=out_color_matrix=${matrix}:out_range=${range},format=${format}`;

// Four colors in all common encodings.
const STORED: Record<string, readonly [extension: string, filter: string, args: string]> = {
  "BT.709": ["mp4", yuv("bt709", "tv", "yuv420p"), `${X264} ${tags("bt709", "tv")}`],
  "BT.601": ["mp4", yuv("bt601", "tv", "yuv420p"), `${X264} ${tags("smpte170m", "tv")}`],
  "no tags": ["mp4", yuv("bt601", "tv", "yuv420p"), X264],
  "full range": ["mp4", yuv("bt709", "pc", "yuvj420p"), `${X264} ${tags("bt709", "pc")}`],
  "4:2:2": ["mp4", yuv("bt709", "tv", "yuv422p"), `${X264} ${tags("bt709", "tv")}`],
  "4:4:4": ["mp4", yuv("bt709", "tv", "yuv444p"), `${X264} ${tags("bt709", "tv")}`],
  "10-bit 4:4:4": ["mp4", yuv("bt709", "tv", "yuv444p10le"), `${X264} ${tags("bt709", "tv")}`],
  "RGB in H.264": ["mp4", "format=rgb24", "-c:v libx264rgb -preset veryfast -qp 6"],
  ProRes: ["mov", yuv("bt601", "tv", "yuv422p10le"), "-c:v prores_ks -profile:v 2"],
  VP9: [
    "webm",
    yuv("bt709", "tv", "yuv420p"),
    `-c:v libvpx-vp9 -crf 10 -b:v 0 -deadline realtime -cpu-used 8 ${tags("bt709", "tv")}`,
  ],
  "MPEG-2": ["ts", yuv("bt709", "tv", "yuv420p"), `-c:v mpeg2video -q:v 2 ${tags("bt709", "tv")}`],
  GIF: ["gif", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", ""],
  JPEG: ["jpg", yuv("bt601", "pc", "yuvj444p"), "-q:v 2 -frames:v 1"],
  WebP: ["webp", yuv("bt601", "tv", "yuv420p"), "-c:v libwebp -quality 95 -frames:v 1"],
  PNG: ["png", "format=rgb24", "-frames:v 1"],
  "16-bit PNG": ["png", "format=rgb48be", "-frames:v 1"],
  "PNG with alpha": ["png", "format=rgba", "-frames:v 1"],
  "PNG with a palette": ["png", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", "-frames:v 1"],
  BMP: ["bmp", "format=bgr24", "-frames:v 1"],
};
const STILLS = new Set(["JPEG", "WebP", "PNG", "16-bit PNG", "PNG with alpha", "PNG with a palette", "BMP"]);

async function store(name: string): Promise<string> {
  const [extension, filter, args] = STORED[name] ?? ["", "", ""];
  const loop = STILLS.has(name) ? [] : ["-loop", "1", "-t", "0.2"];
  const more = args.split(" ").filter((arg) => arg !== "");
  return makeClip(extension, [...loop, "-i", await quadrantPng(), "-filter_complex", filter, ...more]);
}

const VIDEOS = [
  ["video", "mp4"],
  ["video", "webm"],
] as const;
const OTHERS = ["jpeg", "webp", "gif"] as const;

// Every image is made from the same decoded colors, so each source goes to the most exact format and to one other in turn.
const CASES = Object.keys(STORED).flatMap((name, index) => {
  const images = ["png", OTHERS[index % OTHERS.length] ?? "jpeg"].map((format) => ["image", format] as const);
  return [...(STILLS.has(name) ? [] : VIDEOS), ...images].map(([kind, format]) => ({ name, kind, format }));
});

const BOX = { width: 120, height: 100 };
const PLACING = {
  ...{ source: { width: 160, height: 96 }, ...BOX },
  ...({ fit: "contain", position: "bottom", background: "#1e90ff" } as const),
};
/** Steps of 255 by which a color may be off after conversion to YUV and back and lossy coding. */
const TOLERANCE = 14;

test.concurrent.for(CASES)(
  "$name to $format keeps its colors",
  LIMIT,
  async ({ name, kind, format }, { expect, task }) => {
    const original = await store(name);
    const { source: _, ...placed } = PLACING;
    const options = { format, quality: "very_high", ...placed };
    const output = await rig.door.encode({ input: rig.serve(original), kind, options });
    const picture = await readPicture(output.path);
    const off = wrongPoints(picture, PLACING, 3).map(({ expected, actual }) =>
      colorDistance(expected, actual),
    );
    note(task, { off: Math.max(0, ...off) });
    expect(wrongPoints(picture, PLACING, TOLERANCE)).toEqual([]);
  },
);
