import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestHarness } from "wrangler";
import type { Task } from "../../src/runs/task.ts";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import { NO_LIMITS } from "../../test/fixtures/no-limits.ts";
import { startOrigin } from "../../test/fixtures/origin.ts";
import { ROOT } from "../../worker/local/settings.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { inParallel } from "../in-parallel.ts";
import { medianOf } from "../measure.ts";
import { descendants, processorSeconds } from "../processor-time.ts";
import { short } from "../report.ts";
import { makeScratch } from "../scratch.ts";
import { startStubEncoder } from "../stub-encoder.ts";

const PROJECTS = 100;
const TASKS = 100;
const RUNNING = 25;
const AT_ONCE = 16;
const POLL_MS = 250;
const DRIVEN = { queue: 500, project: 2000 } as const;
const PICTURES = "-f lavfi -i testsrc2=size=64x64:rate=25:duration=1 -pix_fmt yuv420p".split(" ");

/** Tasks a minute for which one processor suffices, over 100 projects and with a stub for the encoders, and the limit of each part. */
export const serviceScaleBenchmarks: readonly Benchmark[] = [
  { name: "scale-service", unit: "tasks/min", open: openScale },
];

async function openScale(ends: AsyncDisposableStack): Promise<Contest> {
  const origin = await startOrigin();
  ends.defer(() => origin.close());
  const encoded = await makeClip("mp4", [...PICTURES, "-c:v", "libx265", "-tag:v", "hvc1"]);
  const stub = await startStubEncoder(encoded, "video/mp4", ends);
  const keys = Array.from({ length: PROJECTS }, (_, index) => `key-of-project-${index}`);
  const base = await startParts(stub, keys, ends);
  const film = await makeClip("mp4", [...PICTURES, "-c:v", "libx264"]);
  const input = origin.serve("/film.mp4", { file: film });
  const slow = origin.serve("/slow.mp3", { file: new Uint8Array(100_000), bytes_per_second: 20 });

  async function call<T>(path: string, project = 0, body?: object): Promise<T> {
    const headers = { Authorization: `Bearer ${keys[project]}`, "Content-Type": "application/json" };
    const init = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(base + path, { headers, ...init });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json() as Promise<T>;
  }
  const ended = async (id: string, index: number) => {
    for (;;) {
      const task = await call<Task>(`/tasks/${id}`, index % PROJECTS);
      if (task.finished_at !== null) return task;
      await sleep(POLL_MS);
    }
  };
  const workerds = descendants("workerd");
  // On a busy machine only processor time can be compared.
  const processor = async (work: () => Promise<unknown>) => {
    const before = processorSeconds(workerds);
    await work();
    return processorSeconds(workerds) - before;
  };
  const drive = async (part: keyof typeof DRIVEN, record: Task) => {
    const total = DRIVEN[part];
    return total / (await processor(() => fetch(`${base}/drive/${part}?total=${total}`, post(record))));
  };

  let calls: Record<string, number> = {};
  return {
    peer: null,
    async ours(): Promise<Measurement> {
      // These take every slot, so that the created tasks wait.
      const holders = await Promise.all(
        Array.from({ length: RUNNING }, () => call<Task>("/tasks", 0, { input: slow, kind: "audio" })),
      );
      await call("/calls");
      let ids: string[] = [];
      const body = { input, kind: "video", options: { codec: "h265" } };
      const creating = await processor(async () => {
        ids = await inParallel(
          Array.from({ length: TASKS }),
          AT_ONCE,
          async (_, index) => (await call<Task>("/tasks", index % PROJECTS, body)).id,
        );
      });
      const started = performance.now();
      const tasks: Task[] = [];
      const running = await processor(async () => {
        await Promise.all(holders.map(({ id }) => call(`/tasks/${id}/cancel`, 0, {})));
        // One after the other, so that asking costs little.
        for (const [index, id] of ids.entries()) tasks.push(await ended(id, index));
      });
      const seconds = (performance.now() - started) / 1000;
      calls = await call("/calls");
      const failed = tasks.find(({ status }) => status !== "succeeded");
      if (failed) throw new Error(`A task ended as ${failed.status}: ${failed.error?.message}`);
      const [record] = tasks;
      if (!record) throw new Error("There were tasks.");
      return {
        value: (TASKS / (creating + running)) * 60,
        create: (creating * 1000) / TASKS,
        run: (running * 1000) / TASKS,
        wall: (TASKS / seconds) * 60,
        queue: await drive("queue", record),
        project: await drive("project", record),
      };
    },
    notes(ours) {
      const of = (fact: string) => short(medianOf(ours, fact));
      const each = Object.entries(calls).map(([name, count]) => `${name} ${short(count / TASKS)}`);
      return [
        `${TASKS} videos of ${PROJECTS} projects to H.265 by an encoder that answers at once, ${RUNNING} at a time;`,
        `processor time of workerd for a task: ${of("create")} ms until it is created, ${of("run")} ms for its run;`,
        `calls for a task: ${each.toSorted().join(", ")};`,
        `in a second of processor time, one queue passes ${of("queue")} runs and one project takes ${of("project")} changes;`,
        `with everything else on the machine, ${of("wall")} tasks ended a minute`,
      ].join(" ");
    },
  };
}

/** Starts the service as deployed, except for an entry file that counts the calls between its parts. */
async function startParts(
  stub: string,
  keys: readonly string[],
  ends: AsyncDisposableStack,
): Promise<string> {
  const configPath = join(await makeScratch(ends), "wrangler.toml");
  const entry = join(import.meta.dirname, "..", "parts", "worker.js");
  const config = (await readFile(join(ROOT, "wrangler.toml"), "utf8"))
    .replace('"worker/index.ts"', JSON.stringify(entry))
    .replaceAll('"./', `"${ROOT}/`);
  await writeFile(configPath, config);
  const vars = {
    ALLOW_PRIVATE_NETWORK: "true",
    NATIVE_INSTANCES: "0",
    NATIVE_ENCODER_URL: stub,
    ...NO_LIMITS,
    MAX_RUNNING_TOTAL: String(RUNNING),
    MAX_HEAVY_TOTAL: "1000",
    LOG_LEVEL: "error",
  };
  const secrets = {
    API_KEYS: keys.map((key, index) => `p${index}:${key}`).join(","),
    MEDIA_SIGNING_KEY: "a signing key for the benchmark alone",
  };
  const encoder = { configPath: join(ROOT, "worker/encoder/wrangler.toml") };
  const server = createTestHarness({ workers: [{ configPath, vars, secrets }, encoder] });
  ends.defer(() => server.close());
  return (await server.listen()).url.origin;
}

const post = (body: object) => ({ method: "POST", body: JSON.stringify(body) });
