import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Job } from "../../../src/runs/job.ts";
import type { Task } from "../../../src/runs/task.ts";
import { clip } from "../../fixtures/clips.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import { MOVING_TIMES, movingWebp } from "../../fixtures/moving-webp.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { clearAvif, p3Photo, tiledPhoto } from "../../fixtures/photos.ts";
import { readFacts } from "../../judge/facts.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { movingErrors } from "../../judge/moving.ts";
import { clearErrors, p3Errors } from "../../judge/photos.ts";
import { parseMaster, parseMedia } from "../../judge/playlists.ts";
import { family, running } from "../../local/run-script.ts";
import { type Lab, startLab } from "../../reliability/lab.ts";

let lab: Lab;
let origin: Origin;
beforeAll(async () => {
  [lab, origin] = await Promise.all([startLab(), startOrigin()]);
});
afterAll(() => Promise.all([lab?.close(), origin?.close()]));

const small = async () => serve(await clip("mp4", { seconds: 1 }));
const LONG = { size: "320x180", seconds: 10 } as const;
const long = async () => serve(await clip("mp4", LONG));
const serve = (file: string) => origin.serve(`/${file.split("/").at(-1)}`, { file });

const H265 = { kind: "video", options: { codec: "h265" } } as const;
const encodeOf = (task: Task) => task.steps[2];
const get = async (id: string) => (await lab.door.request<Task>("GET", `/tasks/${id}`)).body;
const keysOf = (id: string) =>
  lab
    .stored()
    .map(({ key }) => key)
    .filter((key) => key.includes(id));
const ffmpegs = () =>
  lab
    .pids("native")
    .flatMap(family)
    .filter((pid) => !lab.pids("native").includes(pid));
const finished = (id: string) =>
  vi.waitUntil(
    async () => {
      const task = await get(id);
      return task.finished_at !== null && task;
    },
    { timeout: 120_000, interval: 100 },
  );

// Creates a task and waits until ffmpeg works on it.
async function startEncode(): Promise<{ id: string; pids: number[] }> {
  const { status, body } = await lab.door.request<Task>("POST", "/tasks", { input: await long(), ...H265 });
  expect(status).toBe(201);
  const pids = await vi.waitUntil(() => ffmpegs().length > 0 && ffmpegs(), {
    timeout: 60_000,
    interval: 20,
  });
  expect(encodeOf(await get(body.id))?.status).toBe("processing");
  return { id: body.id, pids };
}

test.each([
  { codec: "h265", request: H265, name: "hevc", tag: "hvc1" },
  { codec: "av1", request: { kind: "video", options: { codec: "av1" } } as const, name: "av1", tag: "av01" },
])("encodes video as $codec", async ({ codec, request, name, tag }) => {
  const source = await clip("mp4", { seconds: 1 });
  const { task, path, mime } = await lab.door.encode({ input: await small(), ...request });
  expect(mime).toBe("video/mp4");
  expect(encodeOf(task)?.output).toMatchObject({
    encoder: "native",
    format: "mp4",
    width: 160,
    height: 90,
    codecs: { video: codec, audio: "aac" },
    reason: expect.stringMatching(/\w/),
  });
  const { picture, sound } = await readFacts(path);
  expect([picture?.codec, picture?.tag, sound?.codec]).toEqual([name, tag, "aac"]);
  expect(picture?.times).toHaveLength(25);
  expect((await measureLikeness(path, source)).mean).toBeGreaterThan(0.9);
  await expect
    .poll(() => keysOf(task.id))
    .toEqual([`out/${task.id}/${path.split("/").at(-1)?.replace(/^\d+-/, "")}`]);
});

test("outputs of a job that the light encoder would do one after another are encoded here", async () => {
  const tone = await makeClip("m4a", "-f lavfi -i sine=d=50 -c:a aac".split(" "));
  const output = { kind: "audio", options: { format: "mp3", normalize: true } };
  const body = { input: serve(tone), outputs: [output, output] };
  const { status, body: job } = await lab.door.request<Job>("POST", "/jobs", body);
  expect(status).toBe(201);
  for (const { id } of job.tasks) {
    const { error, steps } = await finished(id);
    const encoded = { encoder: "native", reason: expect.stringMatching(/^Faster here: 5 s, not \d+ s\.$/) };
    expect([error, steps[2]?.output]).toEqual([null, expect.objectContaining(encoded)]);
  }
});

test("encodes an image as avif", async () => {
  const { task, path, mime } = await lab.door.encode({
    input: await small(),
    kind: "image",
    options: { format: "avif", width: 80 },
  });
  expect(mime).toBe("image/avif");
  expect(encodeOf(task)?.output).toMatchObject({ encoder: "native", format: "avif", width: 80 });
  expect((await readFacts(path)).picture).toMatchObject({ codec: "av1", width: 80 });
});

test("a HEIC of tiles, turned and mirrored, comes out as it is shown", async () => {
  const { path: heic, png, shown } = await tiledPhoto({ quarters: 3, mirror: "x", loose: true });
  const input = await serve(heic);
  const { task, path } = await lab.door.encode({ input, kind: "image", options: { format: "webp" } });
  expect(encodeOf(task)?.output).toMatchObject({
    encoder: "native",
    format: "webp",
    width: 96,
    height: 160,
    refusals: [{ encoder: "light", code: "input_format", format: "heic" }],
  });
  expect((await measureLikeness(path, png, { filter: shown })).mean).toBeGreaterThan(0.95);
});

test("the colors of a HEIC in Display P3 become those of sRGB", async () => {
  const input = await serve(await p3Photo());
  const { path } = await lab.door.encode({ input, kind: "image", options: { format: "png" } });
  expect(await p3Errors(path)).toBeLessThan(8);
});

test("an AVIF keeps its transparency", async () => {
  const input = await serve(await clearAvif());
  const { path } = await lab.door.encode({ input, kind: "image", options: { format: "png" } });
  expect(await clearErrors(path)).toBeLessThan(12);
});

test("an animated WebP becomes a video with all frames in their times", async () => {
  const input = await serve(await movingWebp());
  const { task, path } = await lab.door.encode({ input, kind: "video", options: { quality: "very_high" } });
  expect(encodeOf(task)?.output).toMatchObject({
    encoder: "native",
    counts: { pictures: { source: 4, output: 4 } },
    refusals: [{ encoder: "light", code: "input_format", format: "animated webp" }],
  });
  expect((await readFacts(path)).picture?.times).toEqual(MOVING_TIMES);
  expect(await movingErrors(path, "#000000")).toBeLessThan(12);
});

test("encodes adaptive video as a ladder, with its files where the playlists say", async () => {
  const source = await clip("mp4", { size: "1280x720", seconds: 2, rate: 10 });
  const task = await lab.door.runTask({ input: serve(source), kind: "adaptive_video" });
  expect([task.error, encodeOf(task)?.output?.encoder]).toEqual([null, "native"]);
  const master = parseMaster(await (await fetch(task.output ?? "")).text(), task.output ?? "");
  expect(master.variants.map(({ resolution }) => resolution)).toEqual([
    "1280x720",
    "854x480",
    "640x360",
    "426x240",
  ]);
  for (const { url } of master.variants) {
    const media = parseMedia(await (await fetch(url)).text(), url);
    expect(media).toMatchObject({ ended: true, kind: "VOD" });
    for (const at of [media.init, ...media.segments.map((segment) => segment.url)]) {
      expect([at, (await fetch(at)).status]).toEqual([at, 200]);
    }
  }
  expect(encodeOf(task)?.output?.renditions).toHaveLength(4);
});

test("a cancel ends ffmpeg at once and leaves no files", async () => {
  const { id, pids } = await startEncode();
  expect((await lab.door.request<Task>("POST", `/tasks/${id}/cancel`)).body.status).toBe("cancelled");
  await expect.poll(() => running(pids), { interval: 20 }).toEqual([]);
  const jobs = async () => {
    const scratch = join(lab.folder, "scratch", "native-1");
    return (await readdir(scratch, { recursive: true })).filter((name) => name.includes("job-"));
  };
  await expect.poll(jobs, { interval: 20 }).toEqual([]);
  await expect.poll(() => keysOf(id)).toEqual([]);
  expect((await get(id)).status).toBe("cancelled");
});

test("another encoder takes over an encode when its encoder is killed", async () => {
  const { id, pids } = await startEncode();
  for (const pid of lab.pids("native")) process.kill(pid, "SIGKILL");
  await expect.poll(() => running(pids), { interval: 20 }).toEqual([]);
  const task = await finished(id);
  expect([task.error, task.status]).toEqual([null, "succeeded"]);
  const { path } = await lab.door.fetchFile(task.output ?? "");
  expect((await readFacts(path)).picture?.times).toHaveLength(250);
});
