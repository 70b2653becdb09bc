import { afterAll, beforeAll, expect, test } from "vitest";
import type { Update } from "../../src/client/client.ts";
import type { Task } from "../../src/runs/task.ts";
import { PAGE_ENCODER } from "../fixtures/fast-encoder.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

const SECONDS = 12;
// Percent of a task that its encode takes.
const ENCODE = { from: 10, to: 95 } as const;
// Percent of the task at which all chunks are encoded; stitching takes no time.
const CHUNKS_DONE = 10 + 0.95 * 85;
let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  const film = await makeClip("mp4", [
    ...`-f lavfi -i testsrc2=size=320x180:rate=25:duration=${SECONDS}`.split(" "),
    ...`-f lavfi -i sine=frequency=440:duration=${SECONDS}`.split(" "),
    ..."-c:v libx264 -preset ultrafast -crf 30 -g 50 -c:a aac -b:a 64k".split(" "),
  ]);
  await rig.serve(film, "film.mp4");
});
afterAll(() => rig?.close());

test.for(["quality", "speed"] as const)(
  "with prefer: %s, updates report the encoder, rising percents, the speed and the ETA",
  async (prefer) => {
    await openKit(rig.lab.page, { name: prefer, encoderWorkers: 2, prefer });
    const { updates, choice } = await rig.lab.page.evaluate(async () => {
      const { client } = kit;
      const input = await kit.file("/files/film.mp4");
      const task = await client.tasks.create({ input, kind: "video", options: { width: 480 } });
      const updates: Pick<Update<Task>, "progress" | "speed" | "eta" | "choice">[] = [];
      client.on(task, "update", ({ progress, speed, eta, choice }) => {
        updates.push({ progress, speed, eta, choice });
      });
      const done = await client.tasks.wait(task);
      if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
      await client.close();
      const { encoder, reason, refusals } = done.steps[2]?.output ?? {};
      return { updates, choice: { encoder, reason, refusals } };
    });
    expect(choice.encoder).toBe(prefer === "quality" ? PAGE_ENCODER : "webcodecs");
    // Updates name the encoder before any progress of the encode.
    const choices = updates
      .filter(({ progress }) => (progress ?? 0) > ENCODE.from)
      .map(({ choice }) => choice);
    expect(choices).toEqual(choices.map(() => choice));
    expect(updates.find(({ choice }) => choice)?.progress).toBe(ENCODE.from);
    const percents = updates.map(({ progress }) => progress).filter((each) => each !== null);
    expect(percents.every((each) => Number.isInteger(each))).toBe(true);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(percents.at(-1)).toBe(100);
    // A fast machine may finish before there is anything to check.
    for (const { progress, speed, eta } of updates) {
      if (progress === null || progress <= ENCODE.from + 5 || progress >= CHUNKS_DONE - 1) continue;
      expect(speed).toBeGreaterThan(0);
      // Speed × ETA is the rest of the film.
      const left = SECONDS * Math.max(0, 1 - (progress - ENCODE.from) / (CHUNKS_DONE - ENCODE.from));
      expect(Math.abs((speed ?? 0) * (eta ?? 0) - left)).toBeLessThan(SECONDS / 20);
    }
    expect(rig.lab.complaints).toEqual([]);
  },
);

test("a task that waits for a free encoder says so until it encodes", async () => {
  await openKit(rig.lab.page, { name: "waits", encoderWorkers: 1 });
  const updates = await rig.lab.page.evaluate(async () => {
    const { client } = kit;
    const input = await kit.file("/files/film.mp4");
    const make = () => client.tasks.create({ input, kind: "video", options: { width: 480 } });
    const tasks = [await make(), await make()];
    const updates: { task: number; waits: string | undefined; percent: number }[] = [];
    for (const [index, task] of tasks.entries()) {
      client.on(task, "update", ({ record, waiting }) =>
        updates.push({ task: index, waits: waiting?.for, percent: record.steps[2]?.progress ?? 0 }),
      );
    }
    await Promise.all(tasks.map((task) => client.tasks.wait(task)));
    await client.close();
    return updates;
  });
  // Either task may be second.
  const waited = updates.filter(({ waits }) => waits === "encoder");
  expect(waited.length).toBeGreaterThan(0);
  expect(waited.every(({ percent }) => percent === 0)).toBe(true);
  expect(updates.filter(({ percent }) => percent > 0).every(({ waits }) => waits === undefined)).toBe(true);
  expect(rig.lab.complaints).toEqual([]);
});
