import { symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { longClip } from "../encoders/browser-pool-rig.ts";
import { clip } from "../fixtures/clips.ts";
import { watchPace } from "./pace.ts";

// Limits in milliseconds for a page to answer a cancel, and to clean up everything it had started.
const ANSWERED_MS = 200;
const CLEARED_MS = 500;

// The page brings the threaded core itself.
const mt = findThreaded();
let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab({ isolated: true });
  await rig.serve(await longClip(), "long.mp4");
  await rig.serve(await clip("mp4", { size: "320x180", seconds: 2 }), "film.mp4");
  if (mt) await symlink(mt, join(rig.folder, "mt"));
});
afterAll(() => rig?.close());
// Workers of an earlier test end with its page.
beforeEach(() => rig.lab.page.goto(rig.lab.url));

test("a client answers a cancel mid-encode within 200 ms and cleans up within 500", async () => {
  const { page } = rig.lab;
  const steady = watchPace();
  await openKit(page, { name: "prompt", encoderWorkers: 2 });
  const id = await page.evaluate(async () => {
    const input = await kit.file("/files/long.mp4");
    const wish = { kind: "video", options: { width: 240, bitrate: 400_000 } } as const;
    const { id } = await kit.client.tasks.create({ input, ...wish });
    const started = Promise.withResolvers<void>();
    kit.client.on(id, "update", ({ progress }) => (progress ?? 0) > 10 && started.resolve());
    await started.promise;
    return id;
  });
  const { status, answered, cleared, left } = await page.evaluate(async (task) => {
    const started = performance.now();
    const { status } = await kit.client.tasks.cancel(task);
    const answered = performance.now() - started;
    // The run's lock is released when everything has ended.
    for (;;) {
      const { held = [] } = await navigator.locks.query();
      if (held.every(({ name }) => name !== `prompt run ${task}`)) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return { status, answered, cleared: performance.now() - started, left: await kit.stored() };
  }, id);
  expect([status, left]).toEqual(["cancelled", []]);
  expect(steady(answered)).toBeLessThan(ANSWERED_MS);
  expect(steady(cleared)).toBeLessThan(CLEARED_MS);
});

test.for([{ ms: 0 }, { ms: 50 }, { ms: 700 }])(
  "a pool stops within 200 ms, $ms ms after it started",
  async ({ ms }) => {
    const steady = watchPace();
    const { page } = rig.lab;
    await page.evaluate(async () => {
      const { cancellable } = await import("../browser/pool-cancel.page.ts");
      await cancellable("/files/long.mp4");
    });
    await page.evaluate(() => cancelling.started);
    await page.waitForTimeout(ms);
    const took = await page.evaluate(async () => {
      const started = performance.now();
      cancelling.stop();
      await cancelling.ends;
      return performance.now() - started;
    });
    expect(steady(took)).toBeLessThan(ANSWERED_MS);
    await expect.poll(() => page.workers().length).toBe(0);
  },
);

test.skipIf(!mt)("the threaded core rejects a cancelled encode within 200 ms", async () => {
  const steady = watchPace();
  const took = await rig.lab.page.evaluate(async () => {
    const { encodeMt } = await import("../browser/pool-mt.page.ts");
    return (await encodeMt("/files/film.mp4", true)).took;
  });
  expect(steady(took)).toBeLessThan(ANSWERED_MS);
});

function findThreaded(): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve("@ffmpeg/core-mt")), "..", "esm");
  } catch {
    return null;
  }
}
