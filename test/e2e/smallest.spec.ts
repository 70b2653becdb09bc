import { readFile, stat } from "node:fs/promises";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { convertTo, named, openOptions } from "./result-flow.ts";
import { addFiles, cardOf, expect, test } from "./workbench.ts";

const lavfi = (picture: string, ...more: string[]) => ["-f", "lavfi", "-i", picture, ...more];
const CALM = "testsrc2=size=320x180:rate=25:duration=4";
const SMALLEST = "Not smaller: you keep the original";
const KEPT = "The result was larger, so the original is kept.";

const CASES = [
  {
    name: "small.webm",
    clip: () =>
      makeClip(
        "webm",
        lavfi(CALM, ..."-c:v libvpx-vp9 -b:v 40k -deadline good -cpu-used 4 -g 250".split(" ")),
      ),
  },
  {
    name: "copied.mkv",
    clip: () => makeClip("mkv", lavfi(CALM, ..."-c:v libx264 -bf 3 -crf 40 -pix_fmt yuv420p".split(" "))),
  },
  {
    name: "moving.gif",
    clip: () => makeClip("gif", lavfi("testsrc2=size=160x90:rate=10:duration=1")),
  },
  {
    name: "poor.jpg",
    clip: () => makeClip("jpg", lavfi("testsrc2=size=640x360,noise=alls=30", "-frames:v", "1", "-q:v", "31")),
  },
] as const;

test("says which files are as small as they get, and keeps the original", async ({ workbench, folder }) => {
  for (const { name, clip } of CASES) {
    await test.step(name, async () => {
      const file = await named(await clip(), folder, name);
      const card = await openOptions(workbench, file);
      await expect(card.getByText(SMALLEST).first()).toBeVisible();
      const output = await convertTo(workbench, card, `${folder}/saved`);
      await expect(card.getByText(KEPT)).toBeVisible();
      expect(await readFile(output)).toEqual(await readFile(file));
      expect(output.endsWith(name)).toBe(true);
    });
  }
});

test("a preset copies an MP3 whose bitrate is no higher than its own", async ({ workbench, folder }) => {
  const tone = await makeClip("mp3", lavfi("sine=duration=4", ..."-c:a libmp3lame -b:a 64k".split(" ")));
  const file = await named(tone, folder, "spoken.mp3");
  const card = await openOptions(workbench, file);
  await card.getByRole("button", { name: "Podcast audio" }).click();
  const output = await convertTo(workbench, card, `${folder}/saved`);
  expect((await stat(output)).size).toBeLessThanOrEqual((await stat(file)).size);
});

test("follows the visitor's own options, and shows no notice for a file that shrinks", async ({
  workbench,
  folder,
}) => {
  const noise = "testsrc2=size=320x180:rate=25:duration=2,noise=alls=40:allf=t";
  const raw = await makeClip("mp4", lavfi(noise, ..."-c:v libx264 -crf 5 -pix_fmt yuv420p".split(" ")));
  const large = await named(raw, folder, "large.mp4");
  await addFiles(workbench, large);
  await expect(cardOf(workbench, large).getByRole("button", { name: "Convert", exact: true })).toBeVisible();
  await expect(cardOf(workbench, large).getByText(SMALLEST)).toHaveCount(0);

  const file = await named(await CASES[0].clip(), folder, "own.webm");
  const card = await openOptions(workbench, file);
  await card.getByRole("radio", { name: "Highest" }).check();
  await expect(card.getByText(SMALLEST)).toHaveCount(0);
  const output = await convertTo(workbench, card, `${folder}/saved`);
  expect((await readFacts(output)).picture?.codec).toBe("h264");
  expect((await stat(output)).size).toBeGreaterThan((await stat(file)).size);
});
