import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { PAGE_ENCODER } from "../fixtures/fast-encoder.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { numberedClip } from "../integrity/numbered.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let page: ClientLab;
let service: Rig;
beforeAll(async () => {
  [page, service] = await Promise.all([openClientLab(), openRig()]);
});
afterAll(() => Promise.all([page?.close(), service?.close()]));

const CODECS = {
  mp4: "-c:v libx264 -preset veryfast -bf 2 -g 8",
  mkv: "-c:v libx264 -preset veryfast -bf 2 -x264-params keyint=8:open-gop=1",
  ts: "-c:v libx264 -preset veryfast -bf 2 -g 8",
  webm: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 8",
} as const;
type Container = keyof typeof CODECS;

/** Makes twenty numbered pictures of 1.5 seconds each. */
async function slides(container: Container): Promise<string> {
  const plain = await numberedClip({ container: "mp4", frames: 20, codec: "-c:v libx264 -preset veryfast" });
  return makeClip(container, [
    ...["-i", plain, "-an", "-vf", "settb=1/1000,setpts=1500*N", "-fps_mode", "vfr"],
    ...["-enc_time_base:v", "1:1000", ...CODECS[container].split(" ")],
  ]);
}

// 0.7 s into picture 3, and 1.1 s into picture 6.
const CUT = { start: 5.2, end: 10.1 };
const WANTED = [
  [3, 0],
  [4, 0.8],
  [5, 2.3],
  [6, 3.8],
];
// Inside picture 3.
const INSIDE = { start: 5.2, end: 5.7 };

/** Reads the number and the time of each picture, rounded to milliseconds. */
async function shown(path: string): Promise<(number | null)[][]> {
  return (await readFrames(path)).map(({ number, time }) => [number, Math.round(time * 1000) / 1000]);
}

const counted = (task: Task) => task.steps[2]?.output?.counts?.pictures;

test.concurrent.for([
  { from: "mp4", codec: "h264" },
  { from: "mkv", codec: "h264" },
  { from: "webm", codec: "h264" },
  { from: "mp4", codec: "h265" },
  { from: "ts", codec: "h265" },
  { from: "webm", codec: "h265" },
] as const)(
  "a span that starts inside a picture of $from begins with that picture: $codec in the service",
  async ({ from, codec }) => {
    const input = service.serve(await slides(from));
    const { task, path } = await service.door.encode({
      ...{ input, kind: "video" },
      options: { codec, quality: "low", ...CUT },
    });
    expect(task.steps[2]?.output?.encoder).toBe(codec === "h264" ? "light" : "native");
    expect(await shown(path)).toEqual(WANTED);
    expect(counted(task)).toEqual({ source: 4, output: 4 });
    // A transport stream does not store the last picture's duration, which is then that of the others.
    expect(task.steps[2]?.output?.duration).toBeCloseTo(from === "ts" ? 5.3 : 4.9, 2);
  },
);

test.concurrent.for(["mp4", "webm"] as const)(
  "an image of %s shows the picture on screen at its start, in the service",
  async (from) => {
    const input = service.serve(await slides(from));
    // Inside pictures, and exactly on one.
    for (const [start, number] of [
      [5.2, 3],
      [7.4, 4],
      [7.5, 5],
      [28.53, 19],
    ] as const) {
      const { path } = await service.door.encode({ input, kind: "image", options: { format: "png", start } });
      expect((await readFrames(path)).map((frame) => frame.number)).toEqual([number]);
    }
  },
);

test.concurrent("a span inside one picture yields that picture, which a constant rate repeats", async () => {
  const input = service.serve(await slides("mp4"));
  const within = await service.door.encode({ input, kind: "video", options: { quality: "low", ...INSIDE } });
  expect(await shown(within.path)).toEqual([[3, 0]]);
  const constant = await service.door.encode({
    ...{ input, kind: "video" },
    options: { quality: "low", fps: 10, ...INSIDE },
  });
  expect(await shown(constant.path)).toEqual([0, 0.1, 0.2, 0.3, 0.4].map((time) => [3, time]));
});

test.for([
  [PAGE_ENCODER, "quality", "mp4", "video"],
  [PAGE_ENCODER, "quality", "webm", "video"],
  ["webcodecs", "speed", "mp4", "video"],
  ["webcodecs", "speed", "mkv", "video"],
  ["webcodecs", "speed", "ts", "video"],
  ["webcodecs", "speed", "webm", "video"],
  [PAGE_ENCODER, "quality", "mp4", "adaptive_video"],
  ["webcodecs", "speed", "webm", "adaptive_video"],
] as const)("%s for %s begins a span of %s with the picture on screen: %s", async (row) => {
  const [encoder, prefer, from, kind] = row;
  const { task, path } = await inPage(await slides(from), kind, { quality: "low", ...CUT }, prefer);
  expect(task.steps[2]?.output?.encoder).toBe(encoder);
  expect(await shown(path)).toEqual(WANTED);
  expect(counted(task)).toEqual({ source: 4, output: 4 });
});

let folders = 0;

/** Runs a task in a page and resolves with its record and the path of its output. */
async function inPage(
  source: string,
  kind: "video" | "adaptive_video",
  options: object,
  prefer: "quality" | "speed",
): Promise<{ task: Task; path: string }> {
  await openKit(page.lab.page, { name: "first", prefer, encoderWorkers: 1 });
  const { task, files } = await page.lab.page.evaluate(
    async ([from, wish]) => {
      const { client, base64 } = kit;
      const task = await client.tasks.wait(
        await client.tasks.create({ ...wish, input: await kit.file(from) }),
      );
      if (task.status !== "succeeded") throw new Error(JSON.stringify(task.error));
      const output = await client.output(task);
      const main = output.source.url.split("/").at(-1);
      const files = await Promise.all(
        output.files.map(async ({ name, file }) => ({
          name,
          main: name === main,
          base64: await base64(file),
        })),
      );
      await client.close();
      return { task, files };
    },
    [await page.serve(source), { kind, options }] as const,
  );
  const folder = join(page.folder, "made", String(folders++));
  for (const { name, base64 } of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), Buffer.from(base64, "base64"));
  }
  expect(page.lab.complaints.splice(0)).toEqual([]);
  return { task, path: join(folder, files.find(({ main }) => main)?.name ?? "") };
}
