import { setTimeout as sleep } from "node:timers/promises";
import type { Task } from "../../../src/runs/task.ts";
import { clip } from "../../../test/fixtures/clips.ts";
import { startOrigin } from "../../../test/fixtures/origin.ts";
import type { Benchmark, Contest } from "../../benchmark.ts";
import { openLab } from "../../lab.ts";
import { medianOf, percentile } from "../../measure.ts";
import { short } from "../../report.ts";

const FLOOD = 5000;
const IMAGES = 40;
const AT_ONCE = 16;
const KEYS = { flood: "key-of-the-flood", other: "key-of-the-other" } as const;

/** How long a project waits for its small tasks to start while another has flooded the service, under the default limits but for how many may wait. */
export const floodBenchmarks: readonly Benchmark[] = [{ name: "flood-start", unit: "s", open: openFlood }];

async function openFlood(ends: AsyncDisposableStack): Promise<Contest> {
  const origin = await startOrigin();
  ends.defer(() => origin.close());
  const limits = { MAX_RUNNING: "25", MAX_RUNNING_TOTAL: "1000", MAX_WAITING: String(2 * FLOOD) };
  const keys = Object.entries(KEYS).map(([project, key]) => `${project}:${key}`);
  const lab = await openLab(ends, 1, limits, keys.join(","));
  const heavy = {
    input: origin.serve("/film.mp4", { file: await clip("mp4", { seconds: 10, size: "640x360" }) }),
    kind: "video",
    options: { codec: "h265" },
  };
  const image = {
    input: origin.serve("/still.png", { file: await clip("png") }),
    kind: "image",
    options: { format: "webp", width: 64 },
  };
  const call = async <T>(key: string, path: string, body?: object): Promise<T> => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const init = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(lab.service.url + path, { headers, ...init });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json() as Promise<T>;
  };
  const runImage = async (): Promise<Task> => {
    let task = await call<Task>(KEYS.other, "/tasks", image);
    while (!task.finished_at) {
      await sleep(20);
      task = await call<Task>(KEYS.other, `/tasks/${task.id}`);
    }
    if (task.status !== "succeeded") throw new Error(`An image ended as ${task.status}.`);
    return task;
  };
  let remaining = FLOOD;
  const flood = async () => {
    while (remaining-- > 0) await call<Task>(KEYS.flood, "/tasks", heavy);
  };
  return {
    peer: null,
    async ours() {
      await Promise.all(Array.from({ length: AT_ONCE }, flood));
      const tasks: Task[] = [];
      for (let index = 0; index < IMAGES; index++) tasks.push(await runImage());
      const waits = tasks.map((task) => ((task.started_at ?? Number.NaN) - task.created_at) / 1000);
      const whole = tasks.map((task) => ((task.finished_at ?? Number.NaN) - task.created_at) / 1000);
      return { value: percentile(waits, 95), p50: percentile(waits, 50), whole: percentile(whole, 95) };
    },
    notes: (ours) =>
      `from creation to start, p95 of ${IMAGES} images, p50 ${short(medianOf(ours, "p50"))} s, ended after ${short(medianOf(ours, "whole"))} s (p95); meanwhile another project has ${FLOOD} videos for the one native encoder, which has the same processors`,
  };
}
