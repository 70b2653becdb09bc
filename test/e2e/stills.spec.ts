import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { unpackZip } from "./read-zip.ts";
import { connect, convertTo, downloadBy, named, openDownloading, openOptions } from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

const FILM = "-f lavfi -i testsrc2=size=320x180:rate=10:duration=6".split(" ");
const TONE = "-f lavfi -i sine=f=440:duration=6".split(" ");
const CODECS = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac".split(" ");
const makeFilm = (...sound: string[]) => makeClip("mp4", [...FILM, ...sound, ...CODECS]);

test("makes a storyboard and several stills of a video, shows them, and saves them as a zip", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await openDownloading(page, served);
  const source = await makeFilm();
  const card = await openOptions(page, await named(source, folder, "film.mp4"));
  await card.getByRole("radio", { name: "Storyboard" }).check();
  await card.getByLabel("Pictures across a sheet").fill("30");
  await expect(card.getByLabel("Pictures across a sheet")).toHaveAccessibleDescription(/from 1 to 20/);
  await card.getByLabel("Pictures across a sheet").fill("2");
  await expect(card.locator(".outcome")).toContainText("JPEG · 6 pictures · 160 × 90");
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  const pictures = card.getByRole("list", { name: "Pictures of film.mp4" }).getByRole("img");
  await expect(pictures).toHaveCount(1);
  await expect(pictures).toHaveJSProperty("naturalWidth", 320);
  await expect(pictures).toHaveJSProperty("naturalHeight", 270);
  const save = card.getByRole("button", { name: "Download as zip" });
  const names = await unpackZip(await downloadBy(page, save, folder), folder);
  expect(names).toEqual(["film/sheet_0001.jpg", "film/storyboard.json", "film/storyboard.vtt"]);
  expect((await readFile(join(folder, "film/storyboard.vtt"), "utf8")).match(/#xywh=/g)).toHaveLength(6);
  const sheet = join(folder, "film/sheet_0001.jpg");
  const filter = "fps=1:round=up,scale=160:90,tile=2x3";
  expect((await measureLikeness(sheet, source, { filter })).mean).toBeGreaterThan(0.9);

  const other = await openOptions(page, await named(source, folder, "stills.mp4"));
  await other.getByRole("radio", { name: "Picture", exact: true }).check();
  await other.getByRole("radio", { name: "Several, evenly spaced" }).check();
  await other.getByLabel("Number of pictures").fill("");
  await expect(other.getByLabel("Number of pictures")).toHaveAccessibleDescription(/must be a whole number/);
  await other.getByLabel("Number of pictures").fill("3");
  await other.getByRole("button", { name: "Convert", exact: true }).click();
  const thumbnails = other.getByRole("list", { name: "Pictures of stills.mp4" }).getByRole("img");
  await expect(thumbnails).toHaveCount(3);
  await expect(thumbnails.nth(1)).toHaveAccessibleName("At 0:02.00");
  const zip = await downloadBy(page, other.getByRole("button", { name: "Download as zip" }), folder);
  const stills = await unpackZip(zip, folder);
  expect(stills).toEqual([1, 2, 3].map((number) => `stills/still_000${number}.jpg`));
  const second = join(folder, "stills/still_0002.jpg");
  expect((await readFacts(second)).picture).toMatchObject({ width: 320, height: 180 });
  expect(
    (await measureLikeness(second, source, { filter: "trim=start_frame=20:end_frame=21" })).mean,
  ).toBeGreaterThan(0.9);
});

test("makes an animation and a waveform of a video, with options of their own", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await openDownloading(page, served);
  const source = await makeFilm(...TONE);
  const moving = await openOptions(page, await named(source, folder, "moving.mp4"));
  await moving.getByRole("radio", { name: "Animation" }).check();
  await moving.getByLabel("Width").fill("160");
  const animation = await convertTo(page, moving, folder);
  expect((await readFacts(animation)).picture).toMatchObject({ codec: "gif", width: 160, height: 90 });
  const sounding = await openOptions(page, await named(source, folder, "sounding.mp4"));
  await sounding.getByRole("radio", { name: "Waveform" }).check();
  const peaks = JSON.parse(await readFile(await convertTo(page, sounding, folder), "utf8"));
  expect(peaks).toMatchObject({ version: 2, channels: 1, sample_rate: 44_100, bits: 16 });
  expect(peaks.data).toHaveLength(2 * peaks.length);
  // A sine of an eighth of full scale.
  expect(Math.max(...peaks.data)).toBeGreaterThan(3500);
  expect(Math.max(...peaks.data)).toBeLessThan(4700);
});

test("previews a small SVG as sharply as a large one", async ({ workbench, folder }) => {
  const icon = join(folder, "icon.svg");
  const circle = '<circle cx="12" cy="8" r="6" fill="teal"/>';
  await writeFile(icon, `<svg xmlns="http://www.w3.org/2000/svg" width="24" height="16">${circle}</svg>`);
  const card = await openOptions(workbench, icon);
  const picture = card.locator(".preview img");
  await expect(picture).toHaveJSProperty("naturalWidth", 512);
  await expect(picture).toHaveJSProperty("naturalHeight", 341);
});

test("shows and saves a storyboard made at the edge", async ({ page, served, folder, complaints: _ }) => {
  await openDownloading(page, served);
  await connect(page, served);
  const source = await makeFilm();
  const card = await openOptions(page, await named(source, folder, "film.mp4"));
  await card.getByRole("radio", { name: "Storyboard" }).check();
  await card.getByRole("radio", { name: "Edge" }).check();
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  const pictures = card.getByRole("list", { name: "Pictures of film.mp4" }).getByRole("img");
  await expect(pictures).toHaveJSProperty("naturalWidth", 800);
  const zip = await downloadBy(page, card.getByRole("button", { name: "Download as zip" }), folder);
  expect(await unpackZip(zip, folder)).toEqual([
    "film/sheet_0001.jpg",
    "film/storyboard.json",
    "film/storyboard.vtt",
  ]);
});
