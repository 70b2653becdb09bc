import { expect, test } from "vitest";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { createJobQueue, createJobs, createMemory, type WaitingJob } from "../../worker/container/jobs.ts";
import { clip } from "../fixtures/clips.ts";
import { videoSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { startRig } from "./rig.ts";

// A machine with some places; `end` frees that of a job.
function createMachine(places: number) {
  const running: WaitingJob[] = [];
  const order: string[] = [];
  const queue = createJobQueue<WaitingJob, string>({
    running: (lane) => running.filter((job) => job.lane === lane).length,
    take(job) {
      if (running.length >= places) return null;
      running.push(job);
      order.push(job.id);
      return job.id;
    },
  });
  const wait = (id: string, ms = 10_000, short = false) =>
    queue.wait({ id, lane: id.replace(/\d+$/, ""), short }, ms);
  const end = (id: string) => {
    running.splice(
      running.findIndex((job) => job.id === id),
      1,
    );
    queue.fill();
  };
  return { queue, wait, end, order };
}

test("lanes take turns, and within a lane the oldest job comes first", async () => {
  const { wait, end, order } = createMachine(1);
  const all = ["many1", "many2", "many3", "many4", "few1", "few2"].map((id) => wait(id));
  for (let index = 0; index < all.length; index++) end(order[index] as string);
  expect(await Promise.all(all)).toEqual(["many1", "many2", "many3", "many4", "few1", "few2"]);
  expect(order).toEqual(["many1", "few1", "many2", "few2", "many3", "many4"]);
});

test("a free place goes to the lane with the fewest running jobs", async () => {
  const { wait, end, order } = createMachine(3);
  await Promise.all(["many1", "many2", "few1"].map((id) => wait(id)));
  const waiting = ["many3", "few2"].map((id) => wait(id));
  end("few1");
  expect(order.at(-1)).toBe("few2");
  end("many1");
  expect(await Promise.all(waiting)).toEqual(["many3", "few2"]);
});

test("a job whose wait ends keeps its arrival when it returns soon, and holds no place", async () => {
  const { queue, wait, end, order } = createMachine(1);
  await wait("a1");
  expect(await wait("a2", 5)).toBeNull();
  const third = wait("a3");
  const second = wait("a2");
  end("a1");
  expect(await second).toBe("a2");
  queue.end("a3");
  expect(await third).toBeNull();
  end("a2");
  expect(order).toEqual(["a1", "a2"]);
  const away = new AbortController();
  await wait("b1");
  const left = queue.wait({ id: "b2", lane: "b", short: false }, 10_000, away.signal);
  away.abort();
  expect(await left).toBeNull();
});

test("a job that asks without waiting does not pass those that wait", async () => {
  const { wait, end } = createMachine(1);
  await wait("a1");
  const waiting = wait("a2");
  expect(await wait("b1", 0)).toBeNull();
  end("a1");
  expect(await waiting).toBe("a2");
});

test("an encoder starts a waiting job as soon as another ends, and ends the wait of one that is cancelled", async () => {
  const rig = await startRig({ PLACES: "1" });
  try {
    const silent = await rig.job(await clip("mp4"), "video", { width: 80 }, (answer) => ({
      ...answer,
      silent: true,
    }));
    expect((await rig.call("POST", "/jobs", silent)).status).toBe(202);
    const film = await rig.job(await clip("mp4", { seconds: 1 }), "video", { width: 80 });
    const post = (id: string, wait: number) => rig.call("POST", `/jobs?wait=${wait}`, { ...film, id });
    expect((await post("impatient", 0.05)).status).toBe(503);
    const [cancelled, next] = [post("cancelled", 60), post("next", 60)];
    // A cancellation that arrives before the request ends nothing, and cancels the job when it arrives.
    await rig.call("DELETE", "/jobs/cancelled");
    expect([200, 503]).toContain((await cancelled).status);
    await rig.call("DELETE", `/jobs/${silent.id}`);
    expect((await next).status).toBe(202);
    expect(await rig.finish("next")).toMatchObject({ state: "done" });
    expect((await rig.call("POST", "/jobs?wait=x", film)).status).toBe(400);
  } finally {
    await rig.close();
  }
});

test("jobs of one batch keep its slot until the last has ended", async () => {
  const source = videoSource();
  const plan = createPlan(source, "video", { codec: "h265" }, {});
  const jobOf = (id: string) =>
    ({ id, plan, source, chunk: plan.chunks[0], name: "output.mp4" }) as unknown as NativeJob;
  let gathers = false;
  const jobs = createJobs({
    slots: 1,
    lease_seconds: 60,
    memory: createMemory(2 ** 40),
    batches: { awaits: () => gathers, enter: () => null },
    run: (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const starts = async (id: string) => (await jobs.start(jobOf(id))) !== null;
  expect([await starts("first"), await starts("other")]).toEqual([true, false]);
  gathers = true;
  expect(await starts("second")).toBe(true);
  gathers = false;
  await jobs.remove("first");
  expect(await starts("other")).toBe(false);
  await jobs.remove("second");
  expect(await starts("other")).toBe(true);
  await jobs.end();
});
