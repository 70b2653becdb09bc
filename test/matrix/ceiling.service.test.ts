import { stat } from "node:fs/promises";
import { afterAll, beforeAll, test } from "vitest";
import type { Source } from "../../src/media/source.ts";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 300_000 };
const bytesOf = async (path: string) => (await stat(path)).size;
const described = ({ kind, steps }: Task) => steps.find((step) => step.kind === kind)?.output as Source;

test.concurrent("a source below target_size is copied, and stays below it", LIMIT, async ({ expect }) => {
  const original = await clip("mp4", { seconds: 1 });
  const target_size = (await bytesOf(original)) + 1000;
  const input = rig.serve(original);
  const { path, task } = await rig.door.encode({ input, kind: "video", options: { target_size } });
  expect(described(task).reason).toBe("Copied without re-encoding.");
  expect((await measureLikeness(path, original)).worst).toBe(1);
  expect(await bytesOf(path)).toBeLessThanOrEqual(target_size);
});

test.concurrent.for([{ format: "mp4" }, { format: "mp4", height: 180 }])(
  "a VP9 WebM far below target_size does not grow as %o",
  LIMIT,
  async (options, { expect }) => {
    const picture = "testsrc2=size=640x360:rate=25:duration=4";
    const codec = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 300k".split(" ");
    const original = await makeClip("webm", ["-f", "lavfi", "-i", picture, ...codec]);
    const input = rig.serve(original);
    const { path, task } = await rig.door.encode({
      input,
      kind: "video",
      options: { ...options, target_size: 20_000_000 },
    });
    expect(await bytesOf(path)).toBeLessThanOrEqual(await bytesOf(original));
    expect(described(task).larger_than_source).toBeUndefined();
  },
);

test.concurrent.for([
  { rotate: 0, width: 160, height: 90, fit: "contain", fps: 25, crop: "16:9", speed: 1, start: 0, end: 60 },
  { width: 640, height: 640, enlarge: false },
])("a video with %o is a copy where it has that already", LIMIT, async (options, { expect }) => {
  const original = await clip("mp4", { seconds: 1 });
  const { path, task } = await rig.door.encode({ input: rig.serve(original), kind: "video", options });
  expect(described(task).reason).toBe("Copied without re-encoding.");
  expect((await measureLikeness(path, original)).worst).toBe(1);
});

test.concurrent("a picture is not enlarged without enlarge", LIMIT, async ({ expect }) => {
  const options = { width: 640, enlarge: false };
  const { path } = await rig.door.encode({ input: rig.serve(await clip("png")), kind: "image", options });
  expect((await readFacts(path)).picture).toMatchObject({ width: 160, height: 90 });
});

const MOVING = "testsrc2=size=160x90:rate=10:duration=1";

test.concurrent.for([
  { name: "PNG", kind: "image", extension: "png", args: ["-frames:v", "1"] },
  {
    name: "PNG of few colors",
    kind: "image",
    extension: "png",
    args: ["-frames:v", "1", "-pix_fmt", "pal8"],
  },
  { name: "WebP without loss", kind: "image", extension: "webp", args: ["-frames:v", "1", "-lossless", "1"] },
  { name: "poor JPEG", kind: "image", extension: "jpg", args: ["-frames:v", "1", "-q:v", "31"] },
  { name: "GIF", kind: "image", extension: "gif", args: [] },
  { name: "moving WebP", kind: "image", extension: "webp", args: ["-q:v", "20"] },
] as const)("a $name in its own format is no larger, or says so", LIMIT, async (row, { expect }) => {
  const { kind, extension, args } = row;
  const original = await makeClip(extension, ["-f", "lavfi", "-i", MOVING, ...args]);
  const { path, task } = await rig.door.encode({ input: rig.serve(original), kind, options: {} });
  const isLarger = (await bytesOf(path)) > (await bytesOf(original));
  expect(described(task).larger_than_source === true).toBe(isLarger);
});

test.concurrent.for([
  { format: "mp3", extension: "mp3", codec: "-c:a libmp3lame -b:a 48k" },
  { format: "aac", extension: "mp3", codec: "-c:a libmp3lame -b:a 64k" },
  { format: "opus", extension: "ogg", codec: "-c:a libvorbis -b:a 64k" },
  { format: "mp3", extension: "mp3", codec: "-c:a libmp3lame -b:a 24k -ar 22050 -ac 1" },
  { format: "mp3", extension: "mp3", codec: "-c:a libmp3lame -b:a 8k -ar 16000 -ac 1" },
  { format: "aac", extension: "mp3", codec: "-c:a libmp3lame -b:a 24k -ar 22050 -ac 1" },
  { format: "opus", extension: "mp3", codec: "-c:a libmp3lame -b:a 16k -ar 16000 -ac 1" },
] as const)("cut sound as $format has no more bits than its source", LIMIT, async (row, { expect }) => {
  const sound = [
    "-f",
    "lavfi",
    "-i",
    "anoisesrc=duration=8:amplitude=0.3",
    "-ac",
    "2",
    ...row.codec.split(" "),
  ];
  const original = await makeClip(row.extension, sound);
  const { format } = row;
  const options = { format, start: 0.1 };
  const { path } = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
  // ADTS has a few bytes more in each packet than MP3, and Ogg has longer headers.
  const headers = 1000 + 0.03 * (await bytesOf(original));
  expect(await bytesOf(path)).toBeLessThanOrEqual((await bytesOf(original)) + headers);
});

test.concurrent.for([
  { kind: "image", quality: "very_high", larger: true },
  { kind: "image", quality: "very_low", larger: undefined },
] as const)("a JPEG of $quality is larger than a poor one: $larger", LIMIT, async (row, { expect }) => {
  const picture = "testsrc2=size=640x360,noise=alls=40";
  const original = await makeClip("jpg", ["-f", "lavfi", "-i", picture, "-frames:v", "1", "-q:v", "9"]);
  const { kind, quality, larger } = row;
  const { path, task } = await rig.door.encode({ input: rig.serve(original), kind, options: { quality } });
  expect(described(task).larger_than_source).toBe(larger);
  expect((await bytesOf(path)) > (await bytesOf(original))).toBe(larger === true);
});
