import { join } from "node:path";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { chooseFormat, longClip } from "./queue-clips.ts";
import { named } from "./result-flow.ts";
import { addFiles, backToList, cardOf, detailsOf, expect, openEditor, test } from "./workbench.ts";

test("converts a video, and its card shows source, target, place, encoder and progress", {
  tag: "@smoke",
}, async ({ workbench, folder }) => {
  const clip = await longClip("a trip.mp4", 3, folder);
  await addFiles(workbench, clip);
  const card = cardOf(workbench, "a trip.mp4");
  await expect(card).toContainText("MP4 · 320 × 180 · 0:03");
  const details = await detailsOf(card);
  await expect(details).toContainText(/MP4 video, H\.264, 320 × 180, 25 fps, 0:03, [\d.]+ kB/);
  await expect(details).toContainText("Will run on this device; nothing is sent anywhere.");
  await expect(card.locator(".thumbnail img")).toBeVisible();
  await openEditor(card);
  await card.getByLabel("Format", { exact: true }).selectOption("webm");
  await card.getByLabel("Width", { exact: true }).fill("160");
  await backToList(workbench);
  await expect(details).toContainText("WebM, VP9, 160 wide, medium quality");
  // Observed in the page, as a fast machine finishes before the test can look.
  const place = card.evaluate(
    (element) =>
      new Promise<string>((resolve) => {
        const look = () => {
          const line = element.querySelector(".place")?.textContent ?? "";
          if (/^Runs on this device with .+\. .+\.$/.test(line)) resolve(line);
        };
        new MutationObserver(look).observe(element, { childList: true, characterData: true, subtree: true });
      }),
  );
  // Many users double-click; the second click must not hit "Cancel".
  await card.getByRole("button", { name: "Convert", exact: true }).dblclick();
  await expect(card.getByRole("progressbar")).toBeVisible();
  await expect(workbench).toHaveTitle(/^\d+ % · /);
  await expect(card).toContainText("Done");
  // The encoder and its reason are the same as during the encode.
  await expect(card.locator(".place")).toHaveText((await place).replace("Runs", "Made"));
  await expect(workbench).toHaveTitle("Files · Framewright");
  await expect(workbench.getByRole("status", { name: "News of the queue" })).toContainText(
    "a trip.mp4: done.",
  );

  const [download] = await Promise.all([
    workbench.waitForEvent("download"),
    card.getByRole("link", { name: "Download" }).click(),
  ]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  const { picture, format } = await readFacts(path);
  expect([format, picture?.codec, picture?.width, picture?.height]).toEqual([
    "matroska,webm",
    "vp9",
    160,
    90,
  ]);
  expect(picture?.times.length).toBe(75);
  const { mean, frames } = await measureLikeness(path, clip, { filter: "scale=160:90:flags=bicubic" });
  expect(frames).toBe(75);
  expect(mean).toBeGreaterThan(LIKE);
});

test("a single large picture shows the time elapsed, but no percent or time left", async ({
  workbench,
  folder,
}) => {
  const large = await makeClip("png", [
    // Noise takes an AVIF encoder long, however fast the machine.
    ..."-f lavfi -i testsrc2=size=4000x3000:rate=1:duration=1 -vf noise=alls=40 -frames:v 1".split(" "),
  ]);
  const photo = await named(large, folder, "in/panorama.png");
  await addFiles(workbench, photo);
  const card = cardOf(workbench, photo);
  await chooseFormat(card, "avif");
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  const line = card.locator(".going p");
  const working = /^Working for 0:\d\d$/;
  await expect(line).toHaveText(working);
  await expect(card.getByRole("progressbar", { name: "Progress" })).not.toHaveAttribute("value");
  const first = (await line.textContent()) ?? "";
  await expect(line).not.toHaveText(first);
  await expect(line).toHaveText(working);
  await card.getByRole("button", { name: "Cancel" }).click();
  await expect(card).toContainText("Cancelled");
});
