import { setTimeout as sleep } from "node:timers/promises";
import type { Task } from "../../src/runs/task.ts";
import { startOrigin } from "../../test/fixtures/origin.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { startBare } from "../host.ts";
import { KEY, type Lab, openLab } from "../lab.ts";
import { type LoadRequest, runLoad } from "../load.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";

const CONNECTIONS = 8;
const CREATES = 200;
const GETS = 1000;

/** `POST /tasks` and `GET /tasks/{id}` of the local service against a Hono route that does nothing else, or writes or reads one row, on the same workerd. */
export const apiBenchmarks: readonly Benchmark[] = [
  { name: "api-create-vs-bare", unit: "requests/s", open: (ends) => openCreate(ends, "constant") },
  { name: "api-create-vs-object-write", unit: "requests/s", open: (ends) => openCreate(ends, "object") },
  { name: "api-get-vs-bare", unit: "requests/s", open: (ends) => openGet(ends, "constant") },
  { name: "api-get-vs-object-read", unit: "requests/s", open: (ends) => openGet(ends, "object") },
];

// The bare route answers with a constant, or writes a record to a new object first, the minimum for durability.
async function openCreate(ends: AsyncDisposableStack, answer: "constant" | "object"): Promise<Contest> {
  const { lab, bare, body } = await openBoth(ends);
  const post = (url: string) => load({ method: "POST", url, key: KEY, body, status: 201 }, CREATES);
  return {
    peer: () => post(`${bare}/${answer === "object" ? "rows" : "tasks"}`),
    async ours() {
      const started = performance.now();
      const sample = await post(`${lab.service.url}/tasks`);
      await quiet(lab);
      return { ...sample, ended: (performance.now() - started) / 1000 };
    },
    // The runs start at once, so the same thread works on both.
    notes: (ours, peer) =>
      `${times(ours, peer, CREATES)}; each response is on disk before it is sent; every run is real and fails at a 404 of its input, the last ${short(medianOf(ours, "ended"))} s after the first request`,
  };
}

// The bare route answers with a constant, or with the same record out of an object of its own.
async function openGet(ends: AsyncDisposableStack, answer: "constant" | "object"): Promise<Contest> {
  const { lab, bare, body } = await openBoth(ends);
  const { id } = await lab.call<Task>("POST", "/tasks", body);
  await quiet(lab);
  const record = await lab.call<Task>("GET", `/tasks/${id}`);
  const peer = `${bare}/${answer === "object" ? "rows" : "tasks"}/${id}`;
  if (answer === "object") await fetch(peer, { method: "PUT", body: JSON.stringify(record) });
  const get = (url: string) => load({ method: "GET", url, key: KEY, status: 200 }, GETS);
  return {
    peer: () => get(peer),
    ours: () => get(`${lab.service.url}/tasks/${id}`),
    notes: (ours, peer) => times(ours, peer, GETS),
  };
}

async function openBoth(ends: AsyncDisposableStack) {
  const origin = await startOrigin();
  ends.defer(() => origin.close());
  const lab = await openLab(ends);
  const bare = await startBare(lab.dir, ends);
  return { lab, bare, body: { input: `${origin.url}/none.mp3`, kind: "audio" } };
}

async function load(request: LoadRequest, total: number): Promise<Measurement> {
  const { rate, p50, p99 } = await runLoad(request, total, CONNECTIONS);
  return { value: rate, p50, p99 };
}

function times(ours: readonly Measurement[], peer: readonly Measurement[], total: number): string {
  const side = (samples: readonly Measurement[]) =>
    ["p50", "p99"].map((fact) => `${fact} ${short(medianOf(samples, fact))} ms`).join(", ");
  return `ours ${side(ours)}; bare ${side(peer)}; ${total} requests over ${CONNECTIONS} connections`;
}

// Runs still in progress would disturb the side measured next.
async function quiet(lab: Lab): Promise<void> {
  for (const status of ["processing", "queued"]) {
    while ((await lab.call<Task[]>("GET", `/tasks?status=${status}&limit=1`)).length > 0) await sleep(50);
  }
}
