import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { RICH, SLOW } from "../fixtures/svg.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
});
afterAll(() => rig?.close());
beforeEach(() => openKit(rig.lab.page, { name: "svg" }));
afterEach(async () => {
  await rig.lab.page.evaluate(() => kit.client.close());
  expect(rig.lab.complaints.splice(0)).toEqual([]);
});

let count = 0;

/** Makes a PNG of an SVG in the page, and measures the longest time in milliseconds in which the page did nothing else. */
async function drawSvg(text: string) {
  const url = await rig.put(`drawn-${count++}.svg`, new TextEncoder().encode(text));
  return rig.lab.page.evaluate(async (at) => {
    const { client, base64 } = kit;
    let [last, longest] = [performance.now(), 0];
    const beat = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 10);
    try {
      const input = await kit.file(at);
      const task = await client.tasks.create({ input, kind: "image", options: { format: "png" } });
      const done = await client.tasks.wait(task);
      const png = done.error ? null : await base64(await (await client.output(done)).blob());
      return { longest, png, error: done.error?.kind ?? null };
    } finally {
      clearInterval(beat);
    }
  }, url);
}

// Drawn at once, they hold the page for 20 seconds to minutes.
test.for(Object.entries(SLOW))(
  "an SVG of %s never holds the page for long",
  { timeout: 90_000 },
  async ([, text]) => {
    const { longest, error } = await drawSvg(text);
    expect(longest).toBeLessThan(8000);
    expect([null, "timeout", "input_unsupported"]).toContain(error);
  },
);

test.for(Object.entries(RICH))("%s is drawn as it is at once", { timeout: 60_000 }, async ([name, text]) => {
  const { png, error } = await drawSvg(text);
  expect(error).toBe(null);
  const [drawn, whole] = [join(rig.folder, `${name}.png`), join(rig.folder, `${name}-whole.png`)];
  await writeFile(drawn, Buffer.from(png ?? "", "base64"));
  const atOnce = await rig.lab.page.evaluate(async (svg) => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    canvas.getContext("2d", { willReadFrequently: true })?.drawImage(image, 0, 0);
    return kit.base64(await canvas.convertToBlob());
  }, text);
  await writeFile(whole, Buffer.from(atOnce, "base64"));
  expect((await measureLikeness(drawn, whole, { pixels: "gbrp" })).worst).toBeGreaterThan(0.9999);
});
