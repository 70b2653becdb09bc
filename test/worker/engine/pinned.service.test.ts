import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { MAX_RESUMES } from "../../../src/storage/http/reader.ts";
import { runFfmpeg } from "../../fixtures/make-clip.ts";
import type { Answer, Origin } from "../../fixtures/origin.ts";
import { readFacts } from "../../judge/facts.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { closeFilm, type FilmRig, startFilm } from "./film-rig.ts";
import { type Bindings, createRig } from "./rig.ts";

const rig = createRig();
let rigged: FilmRig | undefined;
let origin: Origin;
let env: Bindings;
let folder: string;
let film: string;
let bytes: number;
let smaller: string;
let sound: string;

beforeAll(async () => {
  rigged = await startFilm(rig, FILM);
  ({ origin, env, folder, film, bytes } = rigged);
  [smaller, sound] = [join(folder, "smaller.mp4"), join(folder, "sound.m4a")];
  const half = ["-filter_complex", "[0:v]scale=iw/2:-2[small]", "-map", "[small]", "-t", "2", smaller];
  await runFfmpeg(["-i", film, ...half, "-map", "0:a", "-c", "copy", sound]);
});
afterAll(() => closeFilm(rig, rigged));
beforeEach(() => origin.forget());

// A minute at 5 Mbit/s with its index at the end; an encoder of one second does not read all of it.
const FILM = {
  size: "640x360",
  seconds: 60,
  coded: "-b:v 5M -minrate 5M -maxrate 5M -bufsize 5M -x264-params nal-hrd=cbr -g 50",
};

async function create<T extends Task | Step = Task>(path: "/tasks" | "/steps", body: unknown): Promise<T> {
  const answer = await rig.call(path, { method: "POST", body });
  expect(answer.status).toBe(201);
  return answer.json;
}

const run = async (body: unknown) => rig.finished((await create("/tasks", body)).id);
const sent = () => origin.log.reduce((sum, request) => sum + request.bytes, 0);
const keysIn = async (id: string) => {
  const pages = await Promise.all(["work", "out"].map((top) => env.MEDIA.list({ prefix: `${top}/${id}/` })));
  return pages.flatMap(({ objects }) => objects.map(({ key }) => key));
};

async function save(task: Task): Promise<string> {
  expect([task.error, task.status]).toEqual([null, "succeeded"]);
  const response = await rig.server.fetch(new URL(task.output ?? "").pathname);
  const path = join(folder, new URL(task.output ?? "").pathname.split("/").at(-1) ?? "");
  await writeFile(path, new Uint8Array(await response.arrayBuffer()));
  return path;
}

// A read and its resumptions.
const FAILURES = MAX_RESUMES + 1;
const still = (input: string) => ({ input, kind: "image", options: { format: "png", start: 30.52 } });
const second = (input: string) => ({ input, kind: "video", options: { width: 160, start: 40, end: 41 } });

test("a still reads a fraction of its source, every byte once, and demands the version that was probed", async () => {
  const task = await run(still(origin.serve("/still.mp4", { file: film, etag: '"one"' })));
  const path = await save(task);
  const { mean } = await measureLikeness(path, film, { input: ["-ss", "30.52"], filter: "trim=end_frame=1" });
  expect(mean).toBeGreaterThan(0.99);
  expect(sent()).toBeLessThan(bytes / 8);
  const [, ...reads] = origin.log;
  expect(reads.map(({ status, headers }) => [status, headers["if-match"], headers["if-range"]])).toEqual(
    reads.map(() => [206, '"one"', '"one"']),
  );
  const ranges = reads.map(
    ({ range }) =>
      /(\d+)-(\d+)/
        .exec(range ?? "")
        ?.slice(1)
        .map(Number) ?? [],
  );
  const sorted = ranges.toSorted(([one = 0], [other = 0]) => one - other);
  for (const [index, [start = 0]] of sorted.entries()) {
    expect(start).toBeGreaterThan(sorted[index - 1]?.[1] ?? -1);
  }
  expect(task.steps[1]?.output).toMatchObject({ filesize: bytes, etag: "one" });
  await rig.until(
    () => keysIn(task.id),
    (keys) => keys.every((key) => key.startsWith("out/")),
  );
});

test("the outputs of a job that read parts of a source probe it once and read it at one version", async () => {
  const input = origin.serve("/job.mp4", { file: film });
  const outputs = [10.2, 30.52, 30.52].map((start) => ({ kind: "image", options: { format: "png", start } }));
  const { status, json } = await rig.call("/jobs", { method: "POST", body: { input, outputs } });
  expect(status).toBe(201);
  const [first, second, third] = await Promise.all(json.tasks.map(({ id }: Task) => rig.finished(id)));
  for (const [task, start] of [
    [first, "10.2"],
    [second, "30.52"],
    [third, "30.52"],
  ]) {
    const still = { input: ["-ss", start], filter: "trim=end_frame=1" };
    expect((await measureLikeness(await save(task), film, still)).mean).toBeGreaterThan(0.99);
  }
  expect(sent()).toBeLessThan(bytes / 3);
  expect(origin.log.flatMap(({ headers }) => (headers["if-match"] ? [] : [headers.range]))).toHaveLength(1);
  await rig.until(
    () => keysIn(json.id),
    (keys) => keys.length === 0,
  );
});

test.each([
  {
    name: "whose sound a copy cannot join",
    part: () => film,
    options: { mode: "copy" },
    kind: "invalid_options",
    message: "frames of sound do not end",
  },
  {
    name: "encoded differently",
    part: () => smaller,
    options: { mode: "copy", mute: true },
    kind: "invalid_options",
    message: "was encoded differently",
  },
  {
    name: "without pictures",
    part: () => sound,
    options: {},
    kind: "input_unsupported",
    message: "options.concat.0.url: The file must be a video",
  },
])("joined videos $name are refused before they are copied", async ({ part, options, kind, message }) => {
  const input = origin.serve("/first.mp4", { file: film });
  const concat = [{ url: origin.serve("/part.mp4", { file: part() }) }];
  const { error, steps } = await run({ input, kind: "video", options: { ...options, concat } });
  expect(error).toMatchObject({ kind, message: expect.stringContaining(message) });
  expect(steps[1]?.status).toBe("failed");
  expect(sent()).toBeLessThan(bytes / 8);
});

test("a trim reads its span alone", async () => {
  const task = await run(second(origin.serve("/trim.mp4", { file: film })));
  expect((await readFacts(await save(task))).picture?.times).toHaveLength(25);
  expect(sent()).toBeLessThan(bytes / 5);
});

const other = { file: Buffer.from("another file"), etag: '"two"' };
const changes: { name: string; answer: Answer }[] = [
  { name: "that answers If-Match", answer: { ...other } },
  { name: "that ignores If-Match and answers If-Range", answer: { ...other, if_match: false } },
  {
    name: "that sends the file whole and no ETag",
    answer: { ...other, etag: null, ranges: false, if_match: false },
  },
  {
    name: "that ignores conditions",
    answer: { ...other, file: Buffer.alloc(80_000_000), if_match: false, headers: { ETag: '"two"' } },
  },
];
test.each(changes)("a source that changes fails as input_changed: a server $name", async ({ answer }) => {
  // The probe asks for the beginning and the end.
  const input = origin.serve("/changes.mp4", (_, range) =>
    range?.startsWith("bytes=0-") || Number(/\d+/.exec(range ?? "")?.[0]) > bytes - 5_000_000
      ? { file: film, etag: '"one"' }
      : answer,
  );
  const task = await run(still(input));
  expect(task.error).toMatchObject({ kind: "input_changed", step_id: task.steps[2]?.id, retryable: false });
  // No further attempt: it would meet the same file.
  const ranges = origin.log.slice(1).map(({ range }) => range);
  expect(new Set(ranges).size).toBe(ranges.length);
});

test("an attempt after a failed one fetches only the missing bytes", async () => {
  let requests = 0;
  const input = origin.serve("/fails.mp4", (_, range) => {
    const start = Number(/\d+/.exec(range ?? "")?.[0]);
    const middle = start > 1_000_000 && start < bytes - 5_000_000;
    // Fails for as long as one attempt asks again.
    const fails = middle && requests > 0 && requests <= FAILURES;
    if (middle) requests++;
    return fails ? { status: 503 } : { file: film };
  });
  const task = await run(second(input));
  expect((await readFacts(await save(task))).picture?.times).toHaveLength(25);
  expect(requests).toBeGreaterThan(FAILURES + 1);
  const answered = origin.log.filter(({ status }) => status === 206).slice(1);
  const ranges = answered.map(
    ({ range }) =>
      /(\d+)-(\d+)/
        .exec(range ?? "")
        ?.slice(1)
        .map(Number) ?? [],
  );
  const sorted = ranges.toSorted(([one = 0], [after = 0]) => one - after);
  for (const [index, [start = 0]] of sorted.entries()) {
    expect(start).toBeGreaterThan(sorted[index - 1]?.[1] ?? -1);
  }
});

test.each<{ name: string; answer: Answer }>([
  { name: "without a validator", answer: { etag: null } },
  { name: "with a weak validator", answer: { etag: 'W/"one"' } },
  { name: "without ranges", answer: { ranges: false } },
])("a source $name is copied whole", async ({ answer }) => {
  const task = await run(still(origin.serve("/copied.mp4", { ...answer, file: film })));
  expect(task.error).toBeNull();
  expect(sent()).toBeGreaterThanOrEqual(bytes);
  expect(origin.log.flatMap(({ headers }) => headers["if-match"] ?? headers["if-range"] ?? [])).toEqual([]);
});

test("a standalone ingest copies its source whole", async () => {
  const url = origin.serve("/ingested.mp4", { file: film });
  const step = await rig.finishedStep((await create<Step>("/steps", { kind: "ingest", input: { url } })).id);
  expect([step.error, step.output?.filesize]).toEqual([null, bytes]);
  const copy = await rig.server.fetch(new URL(step.output?.url ?? "").pathname);
  expect((await copy.arrayBuffer()).byteLength).toBe(bytes);
  origin.forget();
  // Read to its end: the harness does not close while a body is open.
  const answer = await rig.server.fetch(new URL(step.output?.url ?? "").pathname);
  expect((await answer.arrayBuffer()).byteLength).toBe(bytes);
  expect(origin.log).toEqual([]);
});
