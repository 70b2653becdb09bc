import { expect, test } from "vitest";
import { processorSeconds } from "../browser/processor-time.ts";
import { clip } from "../fixtures/clips.ts";
import { longClip, usePool } from "./browser-pool-rig.ts";

const rig = usePool({ own: {} });

/** Starts more chunks than workers and cancels them `ms` after the first progress, or at once for null. */
async function cancelAfter(url: string, ms: number | null) {
  await rig.lab.page.evaluate(async (url) => {
    const { cancellable } = await import("../browser/pool-cancel.page.ts");
    await cancellable(url);
  }, url);
  if (ms !== null) {
    await rig.lab.page.evaluate(() => cancelling.started);
    await rig.lab.page.waitForTimeout(ms);
  }
  const before = await processorSeconds(rig.lab);
  const ends = await rig.lab.page.evaluate(async () => {
    cancelling.stop();
    return cancelling.ends;
  });
  await expect.poll(() => rig.lab.page.workers().length, { timeout: 30_000, interval: 20 }).toBe(0);
  return { ends, busy: (await processorSeconds(rig.lab)) - before };
}

test("a cancel ends the work at once, and the pool accepts the next job", async () => {
  const url = await rig.serve(await longClip());
  for (const ms of [null, 0, 50, 700]) {
    const { ends, busy } = await cancelAfter(url, ms);
    expect(ends.length).toBeGreaterThan(2);
    expect(new Set(ends)).toEqual(new Set(["cancelled"]));
    // Chromium would let each busy worker run for another two seconds.
    expect(busy).toBeLessThan(1);
  }
  const next = await rig.encode(await clip("png"), { kind: "image", options: { format: "jpeg" } });
  expect(next.files).toHaveLength(1);
  expect(rig.lab.page.workers()).toHaveLength(1);
});

test("a closed pool ends its jobs and rejects new ones", async () => {
  const url = await rig.serve(await longClip());
  const seen = await rig.lab.page.evaluate(async (url) => {
    const { encodeInPool } = await import("../browser/pool.page.ts");
    const { cancellable } = await import("../browser/pool-cancel.page.ts");
    const { pool } = await cancellable(url);
    await cancelling.started;
    pool.close();
    const task = { clip: url, kind: "audio", options: { format: "mp3" } } as const;
    const late = encodeInPool(task).catch((thrown) => thrown.kind);
    return [...new Set(await cancelling.ends), await late];
  }, url);
  expect(seen).toEqual(["worker_lost", "worker_lost"]);
});
