import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { clip } from "../fixtures/clips.ts";
import { playAll } from "./play.ts";
import { SCRIPTS } from "./player-page.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  await rig.serve(await clip("mp4", { size: "480x270", seconds: 14 }), "film.mp4");
});
afterAll(() => rig?.close());

test("Shaka Player plays a DASH stream in the page that made it, from object URLs", async () => {
  const { page, complaints } = rig.lab;
  await openKit(page, { name: "player" });
  const { url, widths } = await page.evaluate(async () => {
    const { client } = kit;
    const options = { format: "dash" } as const;
    const task = await client.tasks.create({
      ...{ input: await kit.file("/files/film.mp4"), kind: "adaptive_video", options },
    });
    const output = await client.output(await client.tasks.wait(task));
    document.body.appendChild(document.createElement("video")).muted = true;
    return { url: await output.url(), widths: output.source.renditions?.map(({ width }) => width) };
  });
  expect(url).toMatch(/^blob:/);
  expect(widths).toEqual([480, 426]);
  await page.addScriptTag({ path: SCRIPTS["/shaka.js"] ?? "" });
  const seen = await playAll(page, "shaka", url);
  await page.evaluate(() => kit.client.close());
  expect(seen).toMatchObject({ errors: [], error: null, widths: [426, 480, 426] });
  expect(Math.abs(seen.duration - 14)).toBeLessThan(0.1);
  expect(Math.abs(seen.at - 14)).toBeLessThan(0.1);
  expect(complaints).toEqual([]);
});
