import { stat } from "node:fs/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Job } from "../../../src/runs/job.ts";
import { isFinished } from "../../../src/runs/transitions.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { readFacts } from "../../judge/facts.ts";
import { type Lab, startLab } from "../../reliability/lab.ts";

let lab: Lab;
let origin: Origin;
beforeAll(async () => {
  // One task at a time, so that the second reads the bytes of the first.
  const more = { MAX_RUNNING: "1", MAX_RUNNING_TOTAL: "1" };
  [lab, origin] = await Promise.all([startLab({ more }), startOrigin()]);
});
afterAll(() => Promise.all([lab?.close(), origin?.close()]));

test("a second encoder of another kind reads what the first has read, and no byte is fetched twice", async () => {
  // Too large to be copied whole by a job.
  const file = await clip("mp4", { size: "640x360", seconds: 60 });
  const input = origin.serve("/shared.mp4", { file });
  const outputs = ["h264", "h265"].map((codec) => ({
    kind: "video",
    options: { codec, start: 40, end: 41, width: 160 },
  }));
  const { status, body } = await lab.door.request<Job>("POST", "/jobs", { input, outputs });
  expect(status).toBe(201);
  const job = await vi.waitUntil(
    async () => {
      const { body: current } = await lab.door.request<Job>("GET", `/jobs/${body.id}`);
      return isFinished(current) && current;
    },
    { timeout: 120_000, interval: 100 },
  );
  expect(job.tasks.map(({ error, steps }) => [error, steps[2]?.output?.encoder])).toEqual([
    [null, "light"],
    [null, "native"],
  ]);
  for (const [index, codec] of ["h264", "hevc"].entries()) {
    const { path } = await lab.door.fetchFile(job.tasks[index]?.output ?? "");
    const { picture } = await readFacts(path);
    expect([picture?.codec, picture?.width, picture?.times.length]).toEqual([codec, 160, 25]);
  }
  // The first request is that of the probe, which finds the version to read.
  const ranges = origin.log.slice(1).map(({ range }) =>
    /(\d+)-(\d+)/
      .exec(range ?? "")
      ?.slice(1)
      .map(Number),
  );
  const sorted = ranges
    .map(([start = 0, end = 0] = []) => ({ start, end }))
    .toSorted((a, b) => a.start - b.start);
  expect(sorted.length).toBeGreaterThan(2);
  for (const [index, { start }] of sorted.entries())
    expect(start).toBeGreaterThan(sorted[index - 1]?.end ?? -1);
  const bytes = origin.log.reduce((sum, request) => sum + request.bytes, 0);
  expect(bytes).toBeLessThan((await stat(file)).size / 2);
});
