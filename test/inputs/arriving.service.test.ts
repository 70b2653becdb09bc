import { readFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Job } from "../../src/runs/job.ts";
import type { Task } from "../../src/runs/task.ts";
import { MIB } from "../../src/util/bytes.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import type { Answer } from "../fixtures/origin.ts";
import { type VirtualFile, virtualFile } from "../fixtures/virtual-file.ts";
import { readFacts } from "../judge/facts.ts";
import { expectFailure } from "./check.ts";
import { type HeavyRig, startHeavyRig, until } from "./heavy-rig.ts";

// So much work by its size that it is cut into two chunks, yet its gray pictures are encoded quickly.
const LARGE = { look: "color=gray:", size: "1920x1080", rate: 5, seconds: 40, bitrate: "2M" } as const;
// Encoded whole, while it is read from start to end. ffmpeg reports nothing in its first second, nor while it waits for bytes: what it
// does before it has to wait takes longer.
const SMALL = { look: "testsrc2=", size: "1280x720", rate: 25, seconds: 12, bitrate: "4M" } as const;
const HEAVY = { kind: "video", options: { codec: "h265" } } as const;
// The readers of a job take turns. A lone task's may ask again for what is held back for longer than they wait.
const ONCE = 1.1;
const PATIENCE = { timeout: 300_000 } as const;
const WAIT_MS = 150_000;

let rig: HeavyRig;
let large: VirtualFile;
let small: VirtualFile;
beforeAll(async () => {
  [rig, large, small] = await Promise.all([startHeavyRig(2), makeFilm(LARGE), makeFilm(SMALL)]);
}, PATIENCE.timeout);
// A test that failed leaves nothing to the next.
afterEach(async () => {
  const { body: tasks } = await rig.door.request<Task[]>("GET", "/tasks?limit=100");
  const open = tasks.filter(({ finished_at }) => finished_at === null);
  await Promise.all(open.map(({ id }) => rig.door.request("POST", `/tasks/${id}/cancel`)));
  await until(() => rig.ffmpegs().length === 0);
});
afterAll(() => rig?.close());

// Filled up to its bitrate, so that a share of its bytes holds the same share of its pictures; its index is at the front.
async function makeFilm({
  look,
  size,
  rate,
  seconds,
  bitrate,
}: typeof LARGE | typeof SMALL): Promise<VirtualFile> {
  const pictures = `${look}size=${size}:rate=${rate}:duration=${seconds}`;
  const path = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", pictures],
    ...`-c:v libx264 -preset ultrafast -g ${rate} -pix_fmt yuv420p`.split(" "),
    ...`-b:v ${bitrate} -minrate ${bitrate} -maxrate ${bitrate} -bufsize ${bitrate}`.split(" "),
    ..."-x264-params nal-hrd=cbr -movflags +faststart".split(" "),
  ]);
  return virtualFile([await readFile(path)]);
}

/** Serves about three quarters of a film; the rest is held back. */
function serveHeld(path: string, film: VirtualFile) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {});
  const from = MIB * Math.floor((film.size * 0.75) / MIB);
  let answer: Answer = { file: film, etag: '"one"', pause: { from, until: promise } };
  const requests = () => rig.origin.log.filter((request) => request.path === path);
  return {
    input: rig.origin.serve(path, () => answer),
    open: resolve,
    /** Breaks off what is held back, and serves another version from now on. */
    change() {
      answer = { file: film, etag: '"two"' };
      reject(new Error("The file was replaced."));
    },
    /** Returns how often the film was sent. */
    sent: () => requests().reduce((sum, { bytes }) => sum + bytes, 0) / film.size,
  };
}

// An encode that failed would be waited for in vain.
async function encodeOf(id: string) {
  const { error, steps } = await rig.get(id);
  if (error) throw new Error(JSON.stringify(error));
  return steps[2];
}

const advances = (id: string) => until(async () => ((await encodeOf(id))?.progress ?? 0) > 0, WAIT_MS);

async function expectWhole(task: Task, pictures: number): Promise<void> {
  expect([task.error, task.status]).toEqual([null, "succeeded"]);
  expect(task.steps[2]?.output).toMatchObject({ encoder: "native" });
  const { picture } = await readFacts((await rig.door.fetchFile(task.output ?? "")).path);
  expect(picture?.codec).toBe("hevc");
  expect(picture?.times).toHaveLength(pictures);
}

test("a chunk is encoded and stored while the rest of the source arrives", PATIENCE, async () => {
  const source = serveHeld("/chunks.mp4", large);
  const { id } = await rig.create({ input: source.input, ...HEAVY });
  const chunks = () => rig.stored(id).filter((key) => !key.includes("/extents/") && !key.endsWith("~"));
  await until(async () => (await encodeOf(id)) && chunks().length > 0, WAIT_MS);
  expect(chunks()).toEqual([expect.stringMatching(`^work/${id}/`)]);
  expect((await encodeOf(id))?.status).toBe("processing");
  expect(source.sent()).toBeLessThan(1);
  source.open();
  await expectWhole(await rig.finish(id, WAIT_MS / 1000), LARGE.rate * LARGE.seconds);
});

test("the outputs of a job are encoded while the rest of their input arrives", PATIENCE, async () => {
  const source = serveHeld("/job.mp4", small);
  const outputs = [960, 640].map((width) => ({ kind: "video", options: { codec: "h265", width } }));
  const { status, body } = await rig.door.request<Job>("POST", "/jobs", { input: source.input, outputs });
  expect(status).toBe(201);
  const ids = body.tasks.map(({ id }) => id);
  await Promise.all(ids.map(advances));
  for (const id of ids) expect((await encodeOf(id))?.status).toBe("processing");
  expect(source.sent()).toBeLessThan(1);
  source.open();
  for (const id of ids) await expectWhole(await rig.finish(id, WAIT_MS / 1000), SMALL.rate * SMALL.seconds);
  expect(source.sent()).toBeLessThan(ONCE);
});

test(
  "a source that changes in the middle of its encode fails it, and nothing of it stays",
  PATIENCE,
  async () => {
    const source = serveHeld("/changes.mp4", small);
    const { id } = await rig.create({ input: source.input, ...HEAVY });
    await advances(id);
    expect(rig.ffmpegs()).toHaveLength(1);
    source.change();
    const task = await rig.finish(id, WAIT_MS / 1000);
    expectFailure(task, "input_changed", expect);
    expect(task.error).toMatchObject({ step_id: task.steps[2]?.id, retryable: false });
    await until(async () => [...rig.ffmpegs(), ...(await rig.left()), ...rig.stored(id)].length === 0);
  },
);
