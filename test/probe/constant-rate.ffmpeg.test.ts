import { expect, test } from "vitest";
import { forecast } from "../../src/media/index.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probeFile } from "./probe-file.ts";

const VP9 = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8";
const X264 = "-c:v libx264 -preset ultrafast";
const CONTAINERS = [
  { name: "MP4", extension: "mp4", codec: X264 },
  { name: "QuickTime", extension: "mov", codec: X264 },
  { name: "Matroska", extension: "mkv", codec: X264 },
  { name: "Matroska of B-frames", extension: "mkv", codec: "-c:v libx264 -preset fast -bf 3" },
  { name: "Matroska with TrueHD", extension: "mkv", codec: `${X264} -c:a truehd -strict -2`, sound: true },
  { name: "WebM", extension: "webm", codec: VP9 },
  { name: "live WebM", extension: "webm", codec: `${VP9} -live 1` },
  { name: "MPEG-TS", extension: "ts", codec: X264 },
  { name: "AVI", extension: "avi", codec: X264 },
] as const;
const RATES = [
  { rate: "24000/1001", fps: 23.976 },
  { rate: "25", fps: 25 },
  { rate: "30000/1001", fps: 29.97 },
  { rate: "30", fps: 30 },
  { rate: "60000/1001", fps: 59.94 },
] as const;

const clipOf = (extension: string, codec: string, rate: string, filter: string, sound = false) =>
  makeClip(extension, [
    ...["-f", "lavfi", "-i", `testsrc2=size=160x90:rate=${rate}:duration=4`],
    ...(sound ? ["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=4"] : []),
    ...["-vf", filter, "-pix_fmt", "yuv420p", ...codec.split(" ")],
  ]);
// Later fragments may have another rate, and the probe reads only the first.
const FRAGMENTED = `${X264} -movflags +frag_keyframe+empty_moov`;
const optionsFor = (extension: string) =>
  extension === "webm" ? ({ format: "webm" } as const) : ({ format: "mp4" } as const);

test.for(CONTAINERS.flatMap((container) => RATES.map((rate) => ({ sound: false, ...container, ...rate }))))(
  "fps $fps of a $name of $rate changes nothing",
  async ({ extension, codec, rate, fps, sound }) => {
    const { source } = await probeFile(await clipOf(extension, codec, rate, "null", sound));
    expect(source).toMatchObject({ fps: expect.closeTo(fps, 1), constant_fps: true });
    const options = optionsFor(extension);
    for (const own of [fps, source.fps ?? 0]) {
      expect(createPlan(source, "video", { ...options, fps: own })).toEqual(
        createPlan(source, "video", options),
      );
    }
    expect(createPlan(source, "video", { ...options, fps: 24 }).video).toMatchObject({ fps: 24 });
    expect(createPlan(source, "video", { ...options, fps: 20 }).video).toMatchObject({ fps: 20 });
  },
);

// Every fifth picture is missing, or every other one of the later ones, which a Matroska that declares a rate may hide.
const UNEVEN = ["select=not(eq(mod(n\\,5)\\,4))", "select=lt(n\\,9)+not(mod(n\\,2))"];

const UNEVEN_CONTAINERS = [
  ...CONTAINERS.filter(({ name }) => !/AVI|TS|TrueHD/.test(name)),
  { name: "fragmented MP4", extension: "mp4", codec: FRAGMENTED },
  { name: "Flash Video", extension: "flv", codec: X264 },
] as const;

const UNEVEN_CASES = UNEVEN_CONTAINERS.flatMap((container) =>
  UNEVEN.slice(0, /Matroska|WebM/.test(container.name) ? 1 : 2).map((filter) => ({ ...container, filter })),
);

test.for(UNEVEN_CASES)(
  "fps of a $name of uneven pictures encodes: $filter",
  async ({ extension, codec, filter }) => {
    const path = await clipOf(extension, `-fps_mode vfr ${codec}`, "25", filter);
    const { source } = await probeFile(path);
    expect(source.constant_fps).toBeUndefined();
    const fps = Math.min(60, source.fps ?? 25);
    const plan = createPlan(source, "video", { ...optionsFor(extension), fps });
    expect(plan.video).toMatchObject({ mode: "encode", fps });
    expect(forecast("video", { ...optionsFor(extension), fps }, source).copied).toBe(false);
  },
);
