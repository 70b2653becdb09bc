import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deflateRawSync } from "node:zlib";
import { encodeTime } from "ulid";
import { NO_LIMITS } from "../../test/fixtures/no-limits.ts";
import { SUCCEEDED_TASK } from "../../worker/api/tasks.ts";
import { startService } from "../../worker/local/service.ts";
import { RECORD_SAMPLE } from "../../worker/run/run-index.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { startBare } from "../host.ts";
import { KEY } from "../lab.ts";
import { runLoad } from "../load.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { makeScratch } from "../scratch.ts";

const REQUESTS = 100;

/** Pages of 20 out of count tasks, against a KV value of the same size, read by a Worker that does nothing else. */
export const listBenchmarks: readonly Benchmark[] = [
  { name: "list-100k", unit: "ms", open: (ends) => openLists(ends, 100_000) },
  { name: "list-5m", unit: "ms", open: (ends) => openLists(ends, 5_000_000) },
];

async function openLists(ends: AsyncDisposableStack, count: number): Promise<Contest> {
  const dir = await makeScratch(ends);
  const url = await startSeeded(join(dir, "state"), count, ends);
  const bare = await startBare(dir, ends);
  const middle = idOf(count / 2);
  const paths = {
    first: "/tasks",
    deep: `/tasks?after=${middle}`,
    oldest: `/tasks?order=asc&after=${middle}`,
    failed: `/tasks?status=failed&kind=video&after=${middle}`,
  };
  const page = await fetch(url + paths.deep, { headers: { Authorization: `Bearer ${KEY}` } });
  const body = await page.text();
  if (JSON.parse(body).length !== 20)
    throw new Error(`The list of the seeded project is ${body.slice(0, 200)}.`);
  await fetch(`${bare}/kv`, { method: "PUT", body });
  return {
    async ours() {
      const times: Record<string, number> = {};
      for (const [name, path] of Object.entries(paths)) times[name] = await p50(url + path);
      return { ...times, value: Math.max(...Object.values(times)) };
    },
    async peer(): Promise<Measurement> {
      return { value: await p50(`${bare}/kv`) };
    },
    notes: (ours) =>
      `p50 of the slowest kind of page, one at a time: ${Object.keys(paths)
        .map((name) => `${name} ${short(medianOf(ours, name))} ms`)
        .join(
          ", ",
        )}; pages of 20, ${Math.round(body.length / 1000)} kB; the KV is the local one, in the Worker's own process`,
  };
}

async function p50(url: string): Promise<number> {
  return (await runLoad({ method: "GET", url, key: KEY, status: 200 }, REQUESTS, 1)).p50;
}

/** Starts the service on a project that already has its tasks, inserted into its database between two starts. */
async function startSeeded(state_dir: string, count: number, ends: AsyncDisposableStack): Promise<string> {
  const vars = { ALLOW_PRIVATE_NETWORK: "true", ...NO_LIMITS };
  const settings = { port: 0, api_keys: `many:${KEY}`, state_dir, vars, native: 0 };
  const empty = await startService(settings);
  try {
    await fetch(`${empty.url}/tasks`, { headers: { Authorization: `Bearer ${KEY}` } });
  } finally {
    await empty.stop();
  }
  const [path] = globSync("**/*-ProjectObject/*.sqlite", { cwd: state_dir }).filter((name) =>
    holdsRuns(join(state_dir, name)),
  );
  if (path === undefined) throw new Error("The project has no database.");
  seed(join(state_dir, path), count);
  const service = await startService(settings);
  ends.defer(() => service.stop());
  return service.url;
}

// Ids of now, as lists hold only recent tasks.
const ID_PREFIX = `task_${encodeTime(Date.now(), 10).toLowerCase()}`;
const idOf = (number: number) => ID_PREFIX + String(number).padStart(16, "0");

/** Inserts finished tasks as the service stores them, of which one in a hundred failed. */
function seed(path: string, count: number): void {
  const dictionary = new TextEncoder().encode(RECORD_SAMPLE);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA synchronous = OFF; BEGIN");
  const row = database.prepare("INSERT INTO run VALUES (?, 'task', 'video', ?, 9, ?)");
  for (let number = 1; number <= count; number++) {
    const [id, status] = [idOf(number), number % 100 === 0 ? "failed" : "succeeded"];
    const record = JSON.stringify({ ...SUCCEEDED_TASK, id, status });
    // Writes what worker/sql.ts does, in a fraction of the time.
    row.run(id, status, deflateRawSync(record, { level: 6, dictionary }));
  }
  database.exec("COMMIT");
  database.close();
}

// The simulator keeps its own database beside those of the objects.
function holdsRuns(path: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare("SELECT name FROM sqlite_master WHERE name = 'run'").all().length > 0;
  } finally {
    database.close();
  }
}
