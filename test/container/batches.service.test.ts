import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { createBatches } from "../../worker/container/batches.ts";
import { clip } from "../fixtures/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { startRig, until } from "./rig.ts";

const rig = await startRig({ PLACES: "1" });
afterAll(() => rig.close());

const short = await clip("mp4", { seconds: 2 });
const long = await clip("mp4", { size: "640x360", seconds: 10 });

// Jobs of one group, each with a URL of its own, so that the log shows which of them read the input.
async function jobsOf(file: string, id: string, widths: readonly number[], size = widths.length) {
  const jobs: NativeJob[] = [];
  for (const width of widths)
    jobs.push({ ...(await rig.job(file, "video", { width })), together: { id, size } });
  return jobs;
}

const start = async (job: NativeJob) =>
  expect((await rig.call("POST", "/jobs?wait=60", job)).status, job.id).toBe(202);
const readers = (jobs: readonly NativeJob[]) => {
  const paths = new Set(rig.origin.log.map(({ path }) => path));
  return jobs.map(({ input }) => paths.has(new URL(input.url).pathname));
};
const fileOf = ({ id, name }: NativeJob) => join(rig.sink.folder, id, String(name));
const shapeOf = async (job: NativeJob) => {
  const { picture, sound } = await readFacts(fileOf(job));
  return [picture?.width, picture?.times.length, sound?.codec];
};

test("jobs of a group are encoded from one decoding, each with its own file and count", async () => {
  const jobs = await jobsOf(short, "pair", [120, 80]);
  await Promise.all(jobs.map(start));
  const states = await Promise.all(jobs.map(({ id }) => rig.finish(id)));
  expect(readers(jobs).filter(Boolean)).toHaveLength(1);
  const single = await rig.run(await rig.job(short, "video", { width: 80 }));
  expect(single).toMatchObject({ state: "done", tally: { pictures: { decoded: 50, missing: 0 } } });
  const tally = single.state === "done" && single.tally;
  expect(states).toMatchObject(jobs.map(({ name }) => ({ state: "done", tally, written: [{ name }] })));
  expect(await Promise.all(jobs.map(shapeOf))).toEqual([
    [120, 50, "aac"],
    [80, 50, "aac"],
  ]);
  for (const job of jobs) {
    const { picture } = await readFacts(fileOf(job));
    const filter = `scale=${picture?.width}:${picture?.height}`;
    expect((await measureLikeness(fileOf(job), short, { filter })).mean).toBeGreaterThan(0.9);
  }
  expect(await rig.left()).toEqual([]);
});

test("the others of a group continue when one of its jobs is ended", async () => {
  const jobs = await jobsOf(long, "ended", [320, 160]);
  await Promise.all(jobs.map(start));
  await until(() => readers(jobs).some(Boolean));
  const [first, other] = readers(jobs)[0] ? jobs : jobs.toReversed();
  if (!first || !other) throw new Error("There are two jobs.");
  expect((await rig.call("DELETE", `/jobs/${first.id}`)).status).toBe(204);
  expect(await rig.finish(other.id)).toMatchObject({ state: "done" });
  expect(readers([first, other])).toEqual([true, false]);
  expect((await shapeOf(other))[1]).toBe(250);
  expect((await rig.call("GET", `/jobs/${first.id}`)).status).toBe(404);
  expect(await rig.left()).toEqual([]);
});

test("a group whose jobs are all ended leaves nothing", async () => {
  const jobs = await jobsOf(long, "gone", [320, 160]);
  await Promise.all(jobs.map(start));
  await until(() => readers(jobs).some(Boolean));
  await Promise.all(jobs.map(({ id }) => rig.call("DELETE", `/jobs/${id}`)));
  expect([await rig.ffmpegs(), await rig.left()]).toEqual([[], []]);
});

test("a job that fails does not fail the others, and one that never arrives delays none", async () => {
  const [bad, good] = await jobsOf(short, "mixed", [120, 80], 3);
  if (!bad || !good) throw new Error("There are two jobs.");
  // The source has one track.
  const broken = { ...bad, plan: { ...bad.plan, sound_track: 7 } };
  await Promise.all([broken, good].map(start));
  const [first, second] = await Promise.all([rig.finish(bad.id), rig.finish(good.id)]);
  expect(first).toMatchObject({ state: "failed", error: { kind: "input_unsupported" } });
  expect(second).toMatchObject({ state: "done", tally: { pictures: { decoded: 50 } } });
  expect(await rig.left()).toEqual([]);
});

test("a job that is ended while it waits to be encoded alone ends at once", async () => {
  const [one, two] = await jobsOf(short, "line", [120, 80]);
  if (!one || !two) throw new Error("There are two jobs.");
  const home = await mkdtemp(join(tmpdir(), "framewright-line-"));
  const batches = createBatches({ create: async () => home }, 1);
  const estimates: number[] = [];
  const [started, release, abort] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    new AbortController(),
  ];
  const encode = async (job: NativeJob, signal: AbortSignal, encodeAlone: () => Promise<void>) => {
    const member = {
      job,
      folder: home,
      signal,
      onProgress() {},
      fits: (bytes: number) => estimates.push(bytes) > 0,
    };
    await batches.enter(job)?.encode(member, () => Promise.reject(new Error("It fails.")), encodeAlone);
  };
  const first = encode(one, new AbortController().signal, () => {
    started.resolve();
    return release.promise;
  });
  const second = encode(two, abort.signal, () => Promise.reject(new Error("It is encoded.")));
  await started.promise;
  expect(estimates).toEqual([0, 0]);
  await setImmediate();
  abort.abort(new Error("It is ended."));
  await expect(second).rejects.toThrow("It is ended.");
  release.resolve();
  await first;
});

test("where no folder can be made for a group, each of its jobs is encoded alone", async () => {
  const jobs = await jobsOf(short, "full", [120, 80]);
  const full = () => Promise.reject(new Error("ENOSPC: no space left on device"));
  const batches = createBatches({ create: full }, 1);
  const single: string[] = [];
  const { signal } = new AbortController();
  const encoded = jobs.map(async (job) => {
    const member = { job, folder: "", signal, onProgress() {}, fits: () => true };
    const run = () => Promise.reject(new Error("It is run together."));
    await batches.enter(job)?.encode(member, run, async () => void single.push(job.id));
  });
  await Promise.all(encoded);
  expect(single).toEqual(jobs.map(({ id }) => id));
});

test("jobs are encoded together where they read the same streams of the decoded input", async () => {
  const [one, two] = await jobsOf(short, "streams", [120, 80]);
  if (!one || !two) throw new Error("There are two jobs.");
  const awaitsIn = (source: object, plan: object) => {
    const batches = createBatches({ create: async () => "" }, 1);
    batches.enter({ ...one, source: { ...one.source, ...source } });
    return batches.awaits({ ...two, source: { ...two.source, ...source }, plan: { ...two.plan, ...plan } });
  };
  const webp = { kind: "image", format: "webp", animated: true };
  expect([awaitsIn({}, { audio: null }), awaitsIn({ format: "mpegts" }, {})]).toEqual([true, true]);
  expect([awaitsIn({ format: "mpegts" }, { audio: null }), awaitsIn(webp, {})]).toEqual([false, false]);
});
