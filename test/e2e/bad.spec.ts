import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clipNamed, longClip, MIXED } from "./queue-clips.ts";
import { addFiles, cardOf, detailsOf, expect, test } from "./workbench.ts";

test("bad files of every type get a helpful error, and a good one among them converts", async ({
  workbench,
  folder,
}) => {
  const at = (name: string) => join(folder, name);
  const film = await readFile(await longClip("film.mp4", 2, folder));
  const picture = await readFile(await clipNamed("picture.jpg", MIXED[7][1], folder));
  const avi = await readFile(
    await clipNamed("film.avi", [...MIXED[0][1].slice(0, 4), "-c:v", "mpeg4"], folder),
  );
  await writeFile(at("text.mp4"), "Dear reader,\nthis is a letter.\n");
  await writeFile(at("cut.mp4"), film.subarray(0, film.length / 2));
  await writeFile(at("empty.webm"), "");
  await writeFile(at("broken.jpg"), Buffer.concat([picture.subarray(0, 4), Buffer.alloc(4000, 0x5a)]));
  // An unknown codec.
  await writeFile(
    at("unknown.avi"),
    Buffer.from(avi.toString("latin1").replaceAll("FMP4", "ZZZ9"), "latin1"),
  );
  await copyFile(join(folder, "in", "film.mp4"), at("good.mp4"));
  const indexed = await clipNamed("indexed.mp4", [...MIXED[0][1], "-movflags", "+faststart"], folder);
  const whole = await readFile(indexed);
  await writeFile(at("half.mp4"), whole.subarray(0, whole.length * 0.7));
  const names = ["text.mp4", "cut.mp4", "empty.webm", "broken.jpg", "unknown.avi", "good.mp4", "half.mp4"];
  await addFiles(workbench, ...names.map(at));
  const errors = {
    "text.mp4": "This file can't be read as media. It may be damaged, an unsupported type, or not media.",
    "cut.mp4": "its index (moov) is missing or cut off",
    "empty.webm": "The file is empty.",
    "broken.jpg": "This file can't be read as media.",
  };
  for (const [name, message] of Object.entries(errors)) {
    const card = cardOf(workbench, name);
    await expect(card).toContainText("Can't be used");
    await expect(card).toContainText(message);
    await expect(card.getByRole("button", { name: "Try again" })).toBeVisible();
  }
  const unknown = cardOf(workbench, "unknown.avi");
  await expect(await detailsOf(unknown)).toContainText("AVI video, unknown codec, 160 × 90");
  await unknown.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(unknown).toContainText("Failed");
  await expect(unknown.locator(".notice")).toContainText("This file has no readable video.");
  const half = cardOf(workbench, "half.mp4");
  await expect(half).toContainText("Leaves out: the end, as the file is cut off.");
  await half.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(half).toContainText("Done");
  const good = cardOf(workbench, "good.mp4");
  await good.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(good).toContainText("Done");
});

test("unreachable, forbidden and HTML addresses get different errors", async ({
  workbench,
  served,
  complaints,
}) => {
  const field = workbench.getByLabel("Address of a file on the web");
  const add = workbench.getByRole("button", { name: "Add", exact: true });
  await field.fill("my film");
  await add.click();
  await expect(workbench.getByText("An address starts with https:// or http://")).toBeVisible();
  const errors = [
    ["https://unreachable.invalid/gone.mp4", "gone.mp4", "This could not be reached."],
    [
      `${served.url}/secret.mp4`,
      "secret.mp4",
      "This page is not allowed to read the file. Its server does not give this page access",
    ],
    [`${served.url}/`, "127.0.0.1", "This is a web page, not a media file."],
  ] as const;
  for (const [url] of errors) {
    // The page without files shows the field itself, the list behind a button.
    if (!(await field.isVisible())) await workbench.getByRole("button", { name: "From a link" }).click();
    await field.fill(url);
    await add.click();
  }
  for (const [, name, message] of errors) await expect(cardOf(workbench, name)).toContainText(message);
  // Chromium logs failed requests itself.
  const own = complaints.filter((text) => !text.startsWith("Failed to load resource"));
  complaints.splice(0, complaints.length, ...own);
});
