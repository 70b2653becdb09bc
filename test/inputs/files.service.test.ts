import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunErrorKind } from "../../src/media/errors.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { reaching } from "../fixtures/svg.ts";
import { readFacts } from "../judge/facts.ts";
import { type Rig, startRig } from "../judge/rig.ts";
import { expectFailure, SECRET, waitUntilEmpty } from "./check.ts";
import * as made from "./made.ts";
import { flatPng } from "./png.ts";

let rig: Rig;
let bait: Origin;
beforeAll(async () => {
  bait = await startOrigin();
  rig = await startRig(() => ({}));
}, 180_000);
afterAll(async () => {
  await rig?.close();
  await bait.close();
});

/** Seconds within which every bad file must have ended, even on a busy machine. */
const SECONDS = 90;
const LIMIT = { timeout: 180_000 };

let number = 0;
async function run(kind: EncodeKind, file: Uint8Array | string, name = "clip.mp4", mime = "video/mp4") {
  const url = rig.origin.serve(`/${number++}/${name}`, { file, mime });
  return rig.door.runTask({ input: `${url}?token=${SECRET}`, kind }, SECONDS);
}

const UNREADABLE = ["input_unsupported"] as const;
type Bad = [what: string, kind: EncodeKind, make: () => Promise<Uint8Array>, errors: readonly RunErrorKind[]];

const BAD: Bad[] = [
  ["an empty file", "video", async () => Buffer.alloc(0), UNREADABLE],
  ["an empty file", "audio", async () => Buffer.alloc(0), UNREADABLE],
  ["an empty file", "image", async () => Buffer.alloc(0), UNREADABLE],
  ["one byte", "video", async () => Buffer.alloc(1), UNREADABLE],
  ["random bytes", "video", async () => made.randomBytes(100_000), UNREADABLE],
  ["random bytes", "image", async () => made.randomBytes(100_000), UNREADABLE],
  ["random bytes", "audio", async () => made.randomBytes(100_000), UNREADABLE],
  ["zeros", "video", async () => Buffer.alloc(100_000), UNREADABLE],
  ["HTML named .mp4", "video", async () => Buffer.from(`<!doctype html><p>${"no ".repeat(999)}`), UNREADABLE],
  ["JSON named .mp4", "audio", async () => Buffer.from(JSON.stringify({ error: "gone" })), UNREADABLE],
  ["an mp4 without its index", "video", () => made.truncated("mp4", 0.5), UNREADABLE],
  [
    "an mp4 truncated after its index",
    "video",
    () => made.truncated("mp4_faststart", 0.5),
    ["input_unsupported", "encode_failed"],
  ],
  ["a webm truncated in its first bytes", "video", () => made.truncated("webm", 0.005), UNREADABLE],
  ["a truncated png", "image", () => made.truncated("png", 0.3), ["input_unsupported", "encode_failed"]],
  ["a truncated jpeg", "image", () => made.truncated("jpeg", 0.6), ["input_unsupported", "encode_failed"]],
  [
    "a jpeg without its last bytes",
    "image",
    () => made.truncated("jpeg", 0.98),
    ["input_unsupported", "encode_failed"],
  ],
  ["a jpeg truncated in its header", "image", () => made.truncated("jpeg", 0.02), UNREADABLE],
  ["a truncated webp", "image", () => made.truncated("webp", 0.3), ["input_unsupported", "encode_failed"]],
  ["a flac truncated in its header", "audio", () => made.truncated("flac", 0.0005), UNREADABLE],
  ["an mp4 without samples", "video", made.mp4WithoutSamples, ["input_unsupported", "input_no_video"]],
  ["an mp4 without samples", "audio", made.mp4WithoutSamples, ["input_unsupported", "input_no_audio"]],
  ["a wav without data", "audio", made.wavWithoutData, ["input_unsupported", "input_no_audio"]],
  ["a webm without clusters", "video", made.webmWithoutClusters, ["input_unsupported", "input_no_video"]],
  [
    "a png of 50000x50000",
    "image",
    async () => flatPng(50_000, 50_000),
    ["encoder_unavailable", "input_unsupported"],
  ],
  [
    "a png that claims 2147483647x2147483647",
    "image",
    async () => flatPng(2_147_483_647, 2_147_483_647, 0),
    ["encoder_unavailable", "input_unsupported"],
  ],
  ["a png of size 0", "image", async () => flatPng(0, 0, 0), UNREADABLE],
  [
    "a gif that claims 65535x65535",
    "image",
    () => made.gifOfSize(65_535, 65_535),
    ["encoder_unavailable", "input_unsupported"],
  ],
  [
    "a jpeg that claims 65535x65535",
    "image",
    () => made.jpegOfSize(65_535, 65_535),
    ["encoder_unavailable", "input_unsupported"],
  ],
  [
    "raw video that claims 60000x60000",
    "video",
    async () => made.y4mOfSize(60_000, 60_000),
    ["encoder_unavailable", "input_unsupported"],
  ],
];

test.concurrent.for(BAD)("rejects %s as %s", LIMIT, async ([, kind, make, errors], { expect }) => {
  const task = await run(kind, await make());
  expectFailure(task, errors, expect);
  expect(task.error?.retryable).toBe(false);
});

const LACKING: { name: ClipName; kind: EncodeKind; error: RunErrorKind }[] = [
  { name: "mp3", kind: "video", error: "input_no_video" },
  { name: "mp3", kind: "image", error: "input_no_video" },
  { name: "m4a", kind: "video", error: "input_no_video" },
  { name: "wav", kind: "image", error: "input_no_video" },
  { name: "opus", kind: "video", error: "input_no_video" },
  { name: "flac", kind: "video", error: "input_no_video" },
  { name: "mp4_silent", kind: "audio", error: "input_no_audio" },
  { name: "png", kind: "audio", error: "input_no_audio" },
  { name: "gif_animated", kind: "audio", error: "input_no_audio" },
  { name: "png", kind: "video", error: "input_no_video" },
  { name: "jpeg", kind: "adaptive_video", error: "input_no_video" },
];

test.concurrent.for(LACKING)("$name as $kind is $error", LIMIT, async ({ name, kind, error }, { expect }) => {
  expectFailure(await run(kind, await clip(name, { seconds: 1 }), `clip.${name}`), error, expect);
});

const LIES: { name: string; make: () => Promise<Uint8Array> }[] = [
  { name: "a size of 65535x65535", make: () => made.mp4OfSize(65_535, 65_535) },
  { name: "a size of 0x0", make: () => made.mp4OfSize(0, 0) },
  { name: "a length of centuries", make: made.mp4WithoutEnd },
];

test.concurrent.for(LIES)("does not trust headers that claim $name", LIMIT, async ({ make }, { expect }) => {
  // The stream inside is 160x90 and lasts a second: either that comes out, or an error.
  for (const options of [{}, { quality: "low" }]) {
    const input = rig.origin.serve(`/${number++}/clip.mp4`, { file: await make() });
    const task = await rig.door.runTask({ input, kind: "video", options }, SECONDS);
    if (task.status === "failed") {
      expectFailure(task, ["input_unsupported", "encoder_unavailable", "input_too_large"], expect);
      continue;
    }
    const { picture } = await readFacts((await rig.door.fetchFile(task.output ?? "")).path);
    expect(picture).toMatchObject({ width: 160, height: 90 });
    expect(picture?.duration).toBeCloseTo(1, 1);
  }
});

test.concurrent("encodes sound whose end is missing as far as it goes", LIMIT, async ({ expect }) => {
  const task = await run("audio", await made.truncated("mp3", 0.5), "clip.mp3", "audio/mpeg");
  expect(task.status).toBe("succeeded");
});

test.concurrent("encodes a recording that starts and ends anywhere", LIMIT, async ({ expect }) => {
  const input = rig.origin.serve(`/${number++}/clip.ts`, { file: await made.recording() });
  for (const kind of ["video", "image", "audio"] as const) {
    const task = await rig.door.runTask({ input, kind }, SECONDS);
    expect(task.error).toBeNull();
  }
});

test.concurrent("ignores a wrong name and a wrong Content-Type", LIMIT, async ({ expect }) => {
  const task = await run("video", await clip("webm", { seconds: 1 }), "photo.jpg", "text/html");
  expect(task.status).toBe("succeeded");
});

// Formats that make a player fetch other files, which must never be requested.
const LURES: { name: string; text: (url: string) => string }[] = [
  { name: "a.m3u8", text: (url) => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST\n` },
  { name: "a.mp4", text: (url) => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST\n` },
  { name: "a.ffconcat", text: (url) => `ffconcat version 1.0\nfile '${url}'\n` },
  { name: "a.ffconcat", text: () => "ffconcat version 1.0\nfile 'file:///etc/passwd'\n" },
  {
    name: "a.mpd",
    text: (url) => `<?xml version="1.0"?><MPD><Period><BaseURL>${url}</BaseURL></Period></MPD>`,
  },
  {
    name: "a.sdp",
    text: () => "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\n",
  },
];

test.concurrent.for(LURES)("$name leads to no other file (%#)", LIMIT, async ({ name, text }, { expect }) => {
  const url = bait.serve("/bait.ts", { file: await clip("mpegts", { seconds: 1 }) });
  for (const kind of ["video", "image"] as const) {
    expectFailure(await run(kind, Buffer.from(text(url)), name), UNREADABLE, expect);
  }
  expect(bait.log).toEqual([]);
});

test.concurrent(
  "an SVG is refused by every encoder, and leads to no other file",
  LIMIT,
  async ({ expect }) => {
    const text = reaching(bait.serve("/bait.svg", { file: await clip("png") }));
    const image = await run("image", Buffer.from(text), "a.svg");
    expectFailure(image, ["encoder_unavailable"], expect);
    const refusals = ["light", "native"].map((encoder) => ({ encoder, code: "input_format", format: "svg" }));
    expect(image.error).toMatchObject({ refusals });
    expectFailure(await run("video", Buffer.from(text), "a.svg"), ["input_no_video"], expect);
    expect(bait.log).toEqual([]);
  },
);

// Runs last, when all the others have ended.
test("the service still works, and nothing is left of the failed tasks", LIMIT, async () => {
  expect((await rig.door.request("GET", "/health")).status).toBe(200);
  const { task } = await rig.door.encode({
    input: rig.serve(await clip("mp4", { seconds: 1 })),
    kind: "image",
  });
  expect(task.status).toBe("succeeded");
  await waitUntilEmpty(rig);
});
