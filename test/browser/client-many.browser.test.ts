import { afterAll, beforeAll, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { type ClientLab, closeKit, openClientLab, openKit } from "./client-rig.ts";

let rig: ClientLab;
beforeAll(async () => {
  // Only an isolated page can be measured; without the flag each measurement takes about 15 seconds.
  rig = await openClientLab({
    isolated: true,
    own: { args: ["--enable-blink-features=ForceEagerMeasureMemory"] },
  });
  await rig.serve(await clip("mp4"), "clip.mp4");
  await openKit(rig.lab.page, { name: "many", encoderWorkers: 2 });
});
afterAll(() => rig?.close());

/** Runs tasks of all kinds in sequence, reading and deleting each; returns their distinct errors or statuses. */
const runTasks = (count: number) =>
  rig.lab.page.evaluate(async (count) => {
    const { client } = kit;
    const wishes = [
      { kind: "image", options: { format: "webp", width: 64 } },
      { kind: "audio", options: { format: "mp3" } },
      { kind: "video", options: { format: "mp4", width: 80 } },
      { kind: "image", options: { format: "avif", width: 64 } },
      { kind: "adaptive_video", options: {} },
    ] as const;
    const ends = new Set<unknown>();
    for (let index = 0; index < count; index++) {
      const wish = wishes[index % wishes.length];
      if (!wish) continue;
      const input = await kit.file("/files/clip.mp4");
      const done = await client.tasks.wait(await client.tasks.create({ input, ...wish }));
      ends.add(done.error ?? done.status);
      await (await client.output(done)).url();
      await client.tasks.delete(done.id);
    }
    return [...ends];
  }, count);

/** Megabytes that the page and its workers use, and the number of workers. */
const measure = async () => {
  const bytes = await rig.lab.page.evaluate(async () => {
    const measured: () => Promise<{ bytes: number }> = Reflect.get(
      performance,
      "measureUserAgentSpecificMemory",
    );
    return (await measured.call(performance)).bytes;
  });
  return { megabytes: bytes / 2 ** 20, workers: rig.lab.page.workers().length };
};

test("twenty tasks in a row leak no memory, no worker and no file", async () => {
  expect(await runTasks(5)).toEqual(["succeeded"]);
  const before = await measure();
  expect(await runTasks(20)).toEqual(["succeeded"]);
  const after = await measure();
  expect(after.workers).toBe(before.workers);
  // Optimized code of hot functions takes about half a megabyte.
  expect(after.megabytes - before.megabytes).toBeLessThan(8);
  expect(await rig.lab.page.evaluate(() => kit.stored())).toEqual([]);
  await closeKit(rig.lab.page);
  expect(rig.lab.complaints).toEqual([]);
});
