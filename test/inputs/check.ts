import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExpectStatic } from "vitest";
import type { RunErrorKind } from "../../src/media/errors.ts";
import type { Task } from "../../src/runs/task.ts";
import { CLEANUPS_MS } from "../../worker/run/schedule.ts";
import { storedBytes } from "../fixtures/stored-media.ts";
import type { Rig } from "../judge/rig.ts";

/** A secret in the URL of every bad input; no error and no log may repeat it. */
export const SECRET = "hush-4711";

/** Asserts that a task failed with one of the kinds: all steps ended, no output, no secret leaked. */
export function expectFailure(
  task: Task,
  kinds: RunErrorKind | readonly RunErrorKind[],
  expect: ExpectStatic,
) {
  expect([kinds].flat(), JSON.stringify(task.error)).toContain(task.error?.kind);
  expect(task).toMatchObject({ status: "failed", output: null });
  const failed = task.steps.filter((step) => step.status === "failed");
  expect(failed.map((step) => step.id)).toEqual([task.error?.step_id]);
  const order = task.steps.map((step) => step.status).join(" ");
  expect(order).toMatch(/^(succeeded )*failed( cancelled)*$/);
  // A sentence, not a code.
  expect(task.error?.message).toMatch(/\S+ \S+ \S+/);
  expect(JSON.stringify([task.error, ...failed.map((step) => step.error)])).not.toContain(SECRET);
}

/**
 * Waits until no task runs, deletes those that succeeded, and waits until storage is empty; throws if
 * anything is left.
 */
export async function waitUntilEmpty(rig: Rig): Promise<void> {
  const list = async (status: string) =>
    (await rig.door.request<{ id: string }[]>("GET", `/tasks?status=${status}&limit=100`)).body;
  await until(async () => [...(await list("processing")), ...(await list("queued"))]);
  const good = await list("succeeded");
  if (good.length === 0 || storedBytes(rig.folder).length === 0)
    throw new Error("No output is seen in storage.");
  for (const { id } of good) await rig.door.request("DELETE", `/tasks/${id}`);
  await until(async () => storedBytes(rig.folder));
}

// The last cleanup of a failed run comes after all these delays, and takes a moment.
const CLEAR_MS = CLEANUPS_MS.reduce((sum, ms) => sum + ms, 0) + 20_000;

async function until(left: () => Promise<unknown[]>): Promise<void> {
  for (const end = Date.now() + CLEAR_MS; ; await sleep(200)) {
    const rest = await left();
    if (rest.length === 0) return;
    if (Date.now() > end) throw new Error(`Left: ${JSON.stringify(rest)}`);
  }
}

/** Returns the log files of a service that contain a text. */
export async function logsWith(rig: Rig, text: string): Promise<string[]> {
  const logs = join(rig.folder, "logs");
  const names = (await readdir(logs, { recursive: true })).filter((name) => name.endsWith(".log"));
  const results = await Promise.all(
    names.map(async (name) => ((await readFile(join(logs, name), "utf8")).includes(text) ? name : null)),
  );
  return results.filter((name) => name !== null);
}
