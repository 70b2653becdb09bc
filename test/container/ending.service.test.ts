import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { MAIN, type Rig, startRig, until } from "./rig.ts";

async function rigWith(env: Record<string, string> = {}): Promise<Rig> {
  const rig = await startRig({ PLACES: "1", ...env });
  onTestFinished(() => rig.close());
  return rig;
}

// About twenty seconds of work.
async function startLong(rig: Rig, ask = async (_id: string) => {}) {
  const input = await clip("mp4", { size: "1280x720", seconds: 8 });
  const job = await rig.job(input, "video", { codec: "h265", quality: "very_high" });
  expect((await rig.call("POST", "/jobs", job)).status).toBe(202);
  const waiting = ask(job.id);
  const pid = await until(async () => (await rig.ffmpegs())[0]);
  return { ...job, pid, waiting };
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("deleting a job ends its ffmpeg and removes its files", async () => {
  const rig = await rigWith();
  const { id, pid } = await startLong(rig);
  // The encode is under way.
  expect(await (await rig.call("GET", `/jobs/${id}?wait=20`)).json()).toMatchObject({ state: "running" });
  const waiting = rig.call("GET", `/jobs/${id}?wait=30`);
  expect((await rig.call("DELETE", `/jobs/${id}`)).status).toBe(204);
  expect([isAlive(pid), await rig.left(), await rig.sink.files()]).toEqual([false, [], []]);
  expect((await waiting).status).toBe(404);
  expect(await (await rig.call("GET", "/health")).json()).toMatchObject({ running: 0 });
});

test("deleting a job while it uploads leaves no partial output", async () => {
  const rig = await rigWith();
  const job = await rig.job(await clip("mp4"), "audio", { format: "wav" });
  rig.sink.fail(() => "silent");
  await rig.call("POST", "/jobs", job);
  await until(() => rig.sink.log.length > 0);
  expect((await rig.call("DELETE", `/jobs/${job.id}`)).status).toBe(204);
  expect([await rig.left(), await rig.sink.files()]).toEqual([[], []]);
});

test("ends and forgets a job that nobody polls", async () => {
  const rig = await rigWith({ LEASE_SECONDS: "1" });
  // It continues while a client waits for it.
  let waits = true;
  const waiter = async (id: string) => {
    while (waits) expect((await rig.call("GET", `/jobs/${id}?wait=2`)).status).toBe(200);
  };
  const { id, pid, waiting } = await startLong(rig, waiter);
  await sleep(1500);
  expect(isAlive(pid)).toBe(true);
  waits = false;
  await waiting;
  await until(() => !isAlive(pid));
  expect((await rig.call("GET", `/jobs/${id}`)).status).toBe(404);
  await until(async () => (await rig.left()).length === 0);
});

test("SIGTERM: rejects new jobs, finishes the running one, reports its end and exits", async () => {
  const rig = await rigWith();
  const input = await clip("mp4", { size: "640x360", seconds: 4 });
  const job = await rig.job(input, "video", { codec: "h265" });
  await rig.call("POST", "/jobs", job);
  rig.child.kill("SIGTERM");
  await until(async () => (await (await rig.call("GET", "/health")).json()).ending);
  expect((await rig.call("POST", "/jobs", { ...job, id: "late" })).status).toBe(503);
  expect(await rig.finish(job.id)).toMatchObject({ state: "done" });
  expect(await rig.ended).toBe(0);
  expect(await rig.sink.files()).toEqual([`${job.id}/output.mp4`]);
  expect(await readdir(rig.home)).toEqual([]);
});

test("SIGTERM: hands back a job that does not finish within the grace period", async () => {
  const rig = await rigWith({ GRACE_SECONDS: "1" });
  const { id, pid } = await startLong(rig);
  rig.child.kill("SIGTERM");
  expect(await rig.finish(id)).toEqual({
    state: "failed",
    error: { kind: "worker_lost", message: expect.any(String), retryable: true },
  });
  expect(await rig.ended).toBe(0);
  expect([isAlive(pid), await readdir(rig.home)]).toEqual([false, []]);
});

test("SIGTERM without work exits at once", async () => {
  const rig = await rigWith();
  rig.child.kill("SIGTERM");
  expect(await rig.ended).toBe(0);
});

test.for(["SIGINT", "disconnect"] as const)("%s ends everything at once", async (way) => {
  const rig = await rigWith();
  const { pid } = await startLong(rig);
  if (way === "disconnect") rig.child.disconnect();
  else rig.child.kill(way);
  expect(await rig.ended).toBe(0);
  expect([isAlive(pid), await readdir(rig.home)]).toEqual([false, []]);
});

test("a killed server takes its ffmpeg along, and the next one removes its folder but not a living server's", async () => {
  const rig = await rigWith();
  const { pid } = await startLong(rig);
  const living = await startRig({ TMPDIR: rig.home });
  onTestFinished(() => living.close());
  expect(await readdir(rig.home)).toHaveLength(2);
  rig.child.kill("SIGKILL");
  expect(await rig.ended).toBe("SIGKILL");
  await until(() => !isAlive(pid));
  expect(await readdir(rig.home)).toHaveLength(2);
  const next = await startRig({ TMPDIR: rig.home });
  onTestFinished(() => next.close());
  const names = await readdir(rig.home);
  expect(names.some((name) => name.includes(`-${rig.child.pid}-`))).toBe(false);
  expect(names).toHaveLength(2);
  const job = await living.job(await clip("mp4", { seconds: 1 }), "audio", { format: "wav" });
  expect(await living.run(job)).toMatchObject({ state: "done" });
});

test.for([
  {
    env: { PORT: "x", PLACES: "0" },
    message: [
      'PORT must be a whole number from 0 to 65535, not "x".',
      'PLACES must be a whole number from 1 to 256, not "0".',
    ].join(" "),
  },
  { env: { PATH: "/nowhere" }, message: "ffmpeg is not installed, or does not start." },
] as const)(
  "with $env it reports in one line, also to its parent, why it does not start, and exits with code 1",
  async ({ env, message }) => {
    const failed = await promisify(execFile)(process.execPath, [MAIN], {
      env: { PATH: process.env.PATH, ...env },
    }).catch((thrown: { code: number; stdout: string; stderr: string }) => thrown);
    await expect(startRig(env as Record<string, string>)).rejects.toThrow(message);
    expect(failed).toMatchObject({ code: 1, stdout: "", stderr: `error: ${message}\n` });
  },
);

test("a job that arrives after its own deletion does not start", async () => {
  const rig = await rigWith();
  const job = await rig.job(await clip("mp4", { seconds: 1 }), "video", { codec: "h265" });
  expect((await rig.call("DELETE", `/jobs/${job.id}`)).status).toBe(204);
  const late = await rig.call("POST", "/jobs", job);
  expect([late.status, await late.json()]).toMatchObject([
    200,
    { state: "failed", error: { kind: "worker_lost", retryable: true } },
  ]);
  expect(await rig.ffmpegs()).toEqual([]);
  // Other jobs are unaffected.
  expect(await rig.run({ ...job, id: `${job.id}-again` })).toMatchObject({ state: "done" });
});
