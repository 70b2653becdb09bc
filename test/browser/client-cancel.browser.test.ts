import { afterAll, beforeAll, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";
import { processorSeconds } from "./processor-time.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  const film = "-f lavfi -i testsrc2=size=640x360:rate=25:duration=30 -c:v libx264 -preset ultrafast -g 50";
  await rig.serve(await makeClip("mp4", film.split(" ")), "film.mp4");
  const photograph = "-f lavfi -i testsrc2=size=4000x3000 -frames:v 1 -vf noise=alls=30 -q:v 2";
  await rig.serve(await makeClip("jpg", photograph.split(" ")), "photograph.jpg");
  await openKit(rig.lab.page, { name: "cancel", encoderWorkers: 2 });
});
afterAll(() => rig?.close());

const LONG = [
  ["h264", 2, "film.mp4", { kind: "video", options: { width: 480 } }],
  ["avif", 1, "photograph.jpg", { kind: "image", options: { format: "avif" } }],
] as const;

// By default, Chromium lets a busy worker run for two more seconds after terminate().
test.for(LONG)("cancelling %s on %i workers stops its use of the processor", async ([, busy, name, wish]) => {
  const id = await rig.lab.page.evaluate(
    async ([name, wish]) => {
      const input = await kit.file(`/files/${name}`);
      const { id } = await kit.client.tasks.create({ input, ...wish });
      const begun = Promise.withResolvers<void>();
      kit.client.on(id, "update", ({ progress }) => progress !== null && progress > 15 && begun.resolve());
      await begun.promise;
      return id;
    },
    [name, wish] as const,
  );
  const workers = rig.lab.page.workers().length;
  await rig.lab.page.evaluate((id) => kit.client.tasks.cancel(id), id);
  // Until then the workers may work, for as long as a busy machine takes to hand the call over.
  const before = await processorSeconds(rig.lab);
  await expect.poll(() => rig.lab.page.workers().length, { timeout: 20_000 }).toBe(workers - busy);
  expect((await processorSeconds(rig.lab)) - before).toBeLessThan(1);
  expect(await rig.lab.page.evaluate(() => kit.stored())).toEqual([]);
  expect(rig.lab.complaints).toEqual([]);
});
