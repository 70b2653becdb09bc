import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type AudioFormat, FORMATS, type ImageFormat, type VideoFormat } from "../../src/media/formats.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import type { Answer } from "../fixtures/origin.ts";
import { readBoxes, readContainer } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { startRig, until } from "./rig.ts";

const rig = await startRig();
afterAll(() => rig.close());

const VIDEO = [
  { format: "mp4", codec: "h264", name: "h264", tag: "avc1" },
  { format: "mp4", codec: "h265", name: "hevc", tag: "hvc1" },
  { format: "mp4", codec: "av1", name: "av1", tag: "av01" },
  { format: "mov", codec: "h264", name: "h264", tag: "avc1" },
  { format: "mov", codec: "h265", name: "hevc", tag: "hvc1" },
  { format: "webm", codec: "vp9", name: "vp9", tag: null },
  { format: "webm", codec: "av1", name: "av1", tag: null },
] as const satisfies { format: VideoFormat; codec: string; name: string; tag: string | null }[];

test.for(VIDEO)("encodes video to $format as $codec", async ({ format, codec, name, tag }) => {
  const input = await clip("mp4_b_frames", { seconds: 1 });
  const job = await rig.job(input, "video", { format, codec, quality: "high" });
  const state = await rig.run(job);
  const { mime } = FORMATS.video[format];
  expect(state).toEqual({
    state: "done",
    written: [{ name: `output.${format}`, mime, size: expect.any(Number) }],
    playlists: [],
    tally: {
      pictures: { decoded: 25, missing: 0, missing_at: null, late_start: false, unreadable: 0 },
      sound: 1,
      heard: { from: 0, until: 1 },
    },
  });
  const key = `${job.id}/output.${format}`;
  expect(rig.sink.types.get(key)).toBe(mime);
  const path = join(rig.sink.folder, key);
  expect(await readContainer(path)).toBe(format);
  const { picture, sound, bytes } = await readFacts(path);
  expect(state).toMatchObject({ written: [{ size: bytes }] });
  expect(picture).toMatchObject({ codec: name, width: 160, height: 90, pixel_format: "yuv420p" });
  expect(picture?.times).toHaveLength(25);
  if (tag) {
    expect(picture?.tag).toBe(tag);
    const boxes = await readBoxes(path);
    expect(boxes.indexOf("moov")).toBeLessThan(boxes.indexOf("mdat"));
  }
  expect(sound).toMatchObject({ codec: format === "webm" ? "opus" : "aac", channels: 2 });
  expect((await measureLikeness(path, input)).mean).toBeGreaterThan(LIKE);
});

test.for([
  { extension: "h264", codec: "libx264" },
  { extension: "hevc", codec: "libx265" },
])("encodes a bare stream, $extension", async ({ extension, codec }) => {
  const film = ["-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=1", "-pix_fmt", "yuv420p"];
  const job = await rig.job(await makeClip(extension, [...film, "-c:v", codec]), "video", { format: "mp4" });
  expect(await rig.run(job)).toMatchObject({ state: "done", tally: { pictures: { decoded: 25 } } });
});

const AUDIO = [
  { format: "mp3", codec: "mp3" },
  { format: "aac", codec: "aac" },
  { format: "ogg", codec: "vorbis" },
  { format: "opus", codec: "opus" },
  { format: "wav", codec: "pcm_s16le" },
  { format: "flac", codec: "flac" },
] as const satisfies { format: AudioFormat; codec: string }[];

test.for(AUDIO)("encodes sound to $format", async ({ format, codec }) => {
  const job = await rig.job(await clip("mp4", { seconds: 1 }), "audio", { format });
  expect(await rig.run(job)).toMatchObject({ state: "done" });
  const { sound, picture } = await readFacts(join(rig.sink.folder, job.id, `output.${format}`));
  expect({ sound, picture }).toMatchObject({ sound: { codec, channels: 2 }, picture: null });
});

const IMAGES = ["jpeg", "png", "webp", "gif", "avif"] as const satisfies ImageFormat[];

test.for(IMAGES)("encodes an image to %s", async (format) => {
  const input = await clip("png_odd");
  const job = await rig.job(input, "image", { format, quality: "high" });
  expect(await rig.run(job)).toMatchObject({ state: "done" });
  const path = join(rig.sink.folder, job.id, `output.${format}`);
  expect(await readContainer(path)).toBe(format);
  expect((await readFacts(path)).picture?.times).toHaveLength(1);
  expect((await measureLikeness(path, input)).mean).toBeGreaterThan(format === "gif" ? 0.95 : 0.97);
});

test("uploads the files of adaptive video and returns its playlists as text", async () => {
  const job = await rig.job(await clip("mp4_b_frames", { seconds: 7 }), "adaptive_video");
  const state = await rig.run(job);
  if (state.state !== "done") throw new Error(JSON.stringify(state));
  const names = state.written.map(({ name }) => name);
  const stored = (await rig.sink.files()).filter((path) => path.startsWith(job.id));
  expect(stored).toEqual(names.map((name) => `${job.id}/${name}`).sort());
  expect(names.every((name) => /^\w+\/\w+\.(m4s|mp4)$/.test(name))).toBe(true);
  const media = state.playlists.filter(({ name }) => name.endsWith("/playlist.m3u8"));
  expect(media.length).toBeGreaterThanOrEqual(2);
  for (const { name, text } of media) {
    const folder = name.slice(0, name.lastIndexOf("/") + 1);
    const listed = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(names).toEqual(expect.arrayContaining(listed.map((file) => folder + file)));
  }
});

test("uploads segments of adaptive video while ffmpeg runs", async () => {
  // The input is throttled, so that the job runs for some seconds even on a fast machine.
  const input = await clip("mp4", { size: "640x360", seconds: 60 });
  const slow = (answer: Answer) => ({ ...answer, bytes_per_second: 1_000_000 });
  const job = await rig.job(input, "adaptive_video", { width: 160 }, slow);
  const put: { name: string; early: boolean }[] = [];
  let ffmpegs: number[] = [];
  rig.sink.fail(({ path }) => {
    const early = ffmpegs.some((pid) => existsSync(`/proc/${pid}`));
    put.push({ name: path.slice(path.indexOf(job.id) + job.id.length + 1), early });
    return null;
  });
  expect((await rig.call("POST", "/jobs", job)).status).toBe(202);
  ffmpegs = await until(async () => {
    const pids = await rig.ffmpegs();
    return pids.length > 0 ? pids : null;
  });
  const state = await rig.finish(job.id);
  rig.sink.fail(null);
  if (state.state !== "done") throw new Error(JSON.stringify(state));
  expect(put.map(({ name }) => name).sort()).toEqual(state.written.map(({ name }) => name).sort());
  expect(put[0]).toEqual({ name: expect.stringMatching(/\/seg_00000\.m4s$/), early: true });
});

test("leaves nothing behind", async () => {
  expect([await rig.left(), await rig.ffmpegs()]).toEqual([[], []]);
});

test.for([
  ["bmp", "bgra"],
  ["png", "rgba"],
] as const)("reads an icon of %s", async ([codec, pixels]) => {
  const input = await makeClip("ico", [
    ..."-f lavfi -i testsrc2=s=48x48 -frames:v 1 -pix_fmt".split(" "),
    ...[pixels, "-c:v", codec],
  ]);
  const job = await rig.job(input, "image", { format: "png" });
  expect(await rig.run(job)).toMatchObject({ state: "done" });
  const path = join(rig.sink.folder, job.id, "output.png");
  expect((await measureLikeness(path, input, { pixels: "gbrp" })).mean).toBeGreaterThan(0.99);
});
