import { Agent, request } from "node:http";
import type { Update } from "../../src/client/update.ts";
import type { Task } from "../../src/runs/task.ts";
import { startOrigin } from "../../test/fixtures/origin.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { inParallel } from "../in-parallel.ts";
import { KEY, type Lab, openLab } from "../lab.ts";
import { medianOf, percentile } from "../measure.ts";
import { short } from "../report.ts";

const LISTENERS = 1000;
const TASKS = 1000;
// In each round, this many of the tasks with one listener end, enough for the maximum number of rounds.
const ENDING = 10;
const AT_ONCE = 16;

/** Time from a change of a task to its arrival at a thousand listeners, while a thousand other tasks have one each. */
export const sseBenchmarks: readonly Benchmark[] = [{ name: "sse-fanout", unit: "ms", open: openFanout }];

async function openFanout(ends: AsyncDisposableStack): Promise<Contest> {
  const origin = await startOrigin();
  ends.defer(() => origin.close());
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  ends.defer(() => agent.destroy());
  // One runs; the others wait for their turn and leave the processors to the measured ones.
  const lab = await openLab(ends, 0, { MAX_RUNNING: "1" });
  const body = { input: origin.serve("/silent.mp3", { silent: true }), kind: "audio" };
  const create = async () => (await lab.call<Task>("POST", "/tasks", body)).id;
  const cancel = (id: string) => lab.call("POST", `/tasks/${id}/cancel`);
  const follow = (id: string) => listen(lab, agent, id);
  const ids = await inParallel(Array.from({ length: TASKS }), AT_ONCE, create);
  const followed = await inParallel(ids, AT_ONCE, async (id) => ({ id, ends: await follow(id) }));
  return {
    peer: null,
    async ours() {
      const id = await create();
      const listeners = await inParallel(Array.from({ length: LISTENERS }), AT_ONCE, () => follow(id));
      await cancel(id);
      const lags = await Promise.all(listeners.map(({ lag }) => lag));
      const others = followed.splice(-ENDING);
      await inParallel(others, AT_ONCE, (each) => cancel(each.id));
      const own = await Promise.all(others.map((each) => each.ends.lag));
      return { value: percentile(lags, 99), p50: percentile(lags, 50), own: percentile(own, 50) };
    },
    notes: (ours) =>
      `p99 of ${LISTENERS} listeners of one task, p50 ${short(medianOf(ours, "p50"))} ms; meanwhile ${TASKS} other tasks have a listener each, which receives the end after ${short(medianOf(ours, "own"))} ms (p50); service and listeners share the processors`,
  };
}

/** Resolves on the first event; `lag` is the milliseconds from the end of the task to its arrival, on the same clock. */
function listen(lab: Lab, agent: Agent, id: string): Promise<{ lag: Promise<number> }> {
  const { promise: lag, resolve: arrive, reject: lost } = Promise.withResolvers<number>();
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      reject(error);
      lost(error);
    };
    lag.catch(() => {});
    const headers = { Authorization: `Bearer ${KEY}` };
    const asking = request(`${lab.service.url}/tasks/${id}/events`, { agent, headers }, (answer) => {
      if (answer.statusCode !== 200) return fail(new Error(`Events answered ${answer.statusCode}.`));
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => {
        const arrived = Date.now();
        text += piece;
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const [, data] = /^data: (.*)$/m.exec(text.slice(0, end)) ?? [];
          text = text.slice(end + 2);
          if (data === undefined) continue;
          const { record }: Update<Task> = JSON.parse(data);
          resolve({ lag });
          if (record.finished_at !== null) arrive(arrived - record.finished_at);
        }
      });
      answer.on("error", fail).on("end", () => lost(new Error("The events ended before the task did.")));
    });
    asking.on("error", fail).end();
  });
}
