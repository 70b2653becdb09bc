import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { NativeJob, NativeState } from "../../src/encoders/native/native-wire.ts";
import { startRig } from "../container/rig.ts";
import { clip } from "../fixtures/clips.ts";
import { runFfmpeg } from "../fixtures/make-clip.ts";
import { type Malformed, makeMalformed, optionsFor } from "../fixtures/malformed.ts";

const rig = await startRig({ PLACES: "3", NATIVE_ENCODER_TOKEN: "malformed" });
afterAll(() => rig.close());
const files = await makeMalformed();

/** Seconds within which every job must have ended, even on a busy machine. */
const SECONDS = 20;

// A job as the service creates it from the probe of the intact file.
async function jobOf(file: Malformed, n: number): Promise<NativeJob> {
  const { kind, bytes } = file;
  const job = await rig.job(await clip(file.clip, { seconds: 1 }), kind, optionsFor(file, n));
  const url = rig.origin.serve(`/malformed-${n}`, { file: bytes });
  return {
    ...job,
    source: { ...job.source, filesize: bytes.length },
    input: { url, size: bytes.length, etag: "v1" },
  };
}

// Retries while the server reports that all places are taken.
async function run(job: NativeJob): Promise<NativeState> {
  for (;;) {
    const { status } = await rig.call("POST", "/jobs", job);
    if (status === 202) return rig.finish(job.id);
    expect(status).toBe(503);
    await sleep(20);
  }
}

const isGood = ({ state }: NativeState) => state === "done";
const ends = new Map<string, NativeState>();

test.concurrent.for(files.map((file, n) => ({ ...file, n })))("$name", async ({ n }, { expect }) => {
  const file = files[n];
  if (!file) throw new Error("There is no such file.");
  const job = await jobOf(file, n);
  const started = performance.now();
  const state = await run(job);
  expect(performance.now() - started).toBeLessThan(SECONDS * 1000);
  ends.set(file.name, state);
  const names = await rig.sink.files();
  const own = names.filter((path) => path.startsWith(job.id));
  if (state.state === "done") {
    expect(own).toEqual([`${job.id}/${job.name}`]);
    // Encoded tracks must decode without errors; copied sound is only as good as its source.
    const track = file.kind === "audio" ? "0:a" : "0:v";
    await runFfmpeg(["-xerror", "-i", join(rig.sink.folder, own[0] ?? ""), "-map", track, "-f", "null", "-"]);
    return;
  }
  expect(state).toMatchObject({
    state: "failed",
    error: { kind: expect.stringMatching(/^(input_unsupported|encode_failed)$/), retryable: false },
  });
  // A sentence that reveals nothing about the machine.
  expect(state).toMatchObject({ error: { message: expect.stringMatching(/^\S+ \S+ .*\.$/) } });
  expect(JSON.stringify(state)).not.toMatch(/127\.0\.0\.1|\/tmp|http|Something failed/);
  expect(own).toEqual([]);
});

// Runs last, when all the others have ended.
test("leaves nothing behind, and still encodes a good file", async () => {
  expect(ends.size).toBe(100);
  const good = [...ends.values()].filter(isGood).length;
  expect(good).toBeGreaterThan(20);
  expect(good).toBeLessThan(70);
  expect(await rig.ffmpegs()).toEqual([]);
  expect(await rig.left()).toEqual([]);
  expect(rig.sink.open()).toBe(0);
  const job = await rig.job(await clip("mp4", { seconds: 1 }), "video", { codec: "h265", width: 80 });
  expect((await run(job)).state).toBe("done");
  const health = await (await rig.call("GET", "/health")).json();
  expect(health).toMatchObject({ running: 0, ending: false });
});
