import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Task } from "../../src/runs/task.ts";
import type { WebhookEvent } from "../../src/runs/webhook-events.ts";
import { startOrigin } from "../../test/fixtures/origin.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { inParallel } from "../in-parallel.ts";
import { openLab } from "../lab.ts";
import { medianOf, percentile } from "../measure.ts";
import { short } from "../report.ts";

const TASKS = 500;
// The others wait for their turn: they end too, and leave the processors to the measured ones.
const RUNNING = 25;
const AT_ONCE = 16;
const LIMIT_MS = 300_000;

/** Time from the end of a task to the arrival of its webhook, when many end at once. */
export const webhookBenchmarks: readonly Benchmark[] = [{ name: "webhook-lag", unit: "ms", open: openLag }];

async function openLag(ends: AsyncDisposableStack): Promise<Contest> {
  const origin = await startOrigin();
  ends.defer(() => origin.close());
  const receiver = await startReceiver(ends);
  const lab = await openLab(ends, 0, { MAX_RUNNING: String(RUNNING) });
  await lab.call("POST", "/webhooks/endpoints", { url: receiver.url, topics: ["task.cancelled"] });
  // Too slow to finish during the benchmark.
  const input = origin.serve("/slow.mp3", { file: new Uint8Array(100_000), bytes_per_second: 20 });
  return {
    peer: null,
    async ours() {
      receiver.lags.clear();
      const create = () => lab.call<Task>("POST", "/tasks", { input, kind: "audio" });
      const tasks = await inParallel(Array.from({ length: TASKS }), AT_ONCE, create);
      const started = performance.now();
      // The waiting ones first, so that none starts in the meantime.
      const ids = tasks.map(({ id }) => id).toSorted((a, b) => (a < b ? 1 : -1));
      await inParallel(ids, AT_ONCE, (id) => lab.call("POST", `/tasks/${id}/cancel`));
      const ended = performance.now() - started;
      for (; receiver.lags.size < TASKS; await sleep(20)) {
        if (performance.now() - started > LIMIT_MS)
          throw new Error(`${receiver.lags.size} of ${TASKS} webhooks arrived.`);
      }
      const lags = [...receiver.lags.values()];
      return { value: percentile(lags, 99), p50: percentile(lags, 50), ended: ended / 1000 };
    },
    notes: (ours) =>
      `p99 of ${TASKS} tasks cancelled within ${short(medianOf(ours, "ended"))} s, p50 ${short(medianOf(ours, "p50"))} ms; service, receiver and caller share the processors`,
  };
}

// Milliseconds from the state to its arrival, by the event's id, on the same clock.
async function startReceiver(ends: AsyncDisposableStack) {
  const lags = new Map<string, number>();
  const server = createServer((request, response) => {
    const arrived = Date.now();
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { id, created_at } = JSON.parse(Buffer.concat(parts).toString()) as WebhookEvent;
      if (!lags.has(id)) lags.set(id, arrived - created_at);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, lags };
}
