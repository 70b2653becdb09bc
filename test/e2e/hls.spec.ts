import { basename, join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { noiseSound } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { unpackZip } from "./read-zip.ts";
import {
  connect,
  convert,
  downloadBy,
  expectStream,
  movingClip,
  named,
  openDownloading,
  openOptions,
  playToEnd,
} from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

for (const place of [undefined, "Edge"] as const) {
  const where = place ? "at the edge" : "on this device";
  test(`a stream made ${where} plays to its end with hls.js, and ffmpeg plays its zip`, async ({
    page,
    served,
    folder,
    complaints: _,
  }) => {
    await openDownloading(page, served);
    if (place) await connect(page, served);
    const clip = await named(await movingClip(), folder, "in/stream.mp4");
    const card = place ? await convert(page, clip, "HLS for my site", place) : await convertBoth(page, clip);
    const playback = await playToEnd(card);
    expect(playback).toMatchObject({ at: expect.closeTo(2, 0), duration: expect.closeTo(2, 0), error: null });
    // Played by hls.js, not natively.
    expect(await card.locator("video").evaluate((video: HTMLVideoElement) => video.src)).toMatch(/^blob:/);

    const zip = await downloadBy(page, card.getByRole("button", { name: "Download as zip" }), folder);
    expect(basename(zip)).toBe("stream.zip");
    const names = await unpackZip(zip, folder);
    expect(names.every((name) => name.startsWith("stream/"))).toBe(true);
    await expectStream(join(folder, "stream", "master.m3u8"));
    const more = names
      .filter((name) => /manifest\.mpd|iframes\.m3u8/.test(name))
      .map((name) => basename(name));
    expect([...new Set(more)]).toEqual(place ? [] : ["iframes.m3u8", "manifest.mpd"]);
  });
}

test("a stream of sound alone asks for nothing of pictures, and plays to its end", async ({
  page,
  served,
  folder,
  complaints: _,
}) => {
  await openDownloading(page, served);
  const card = await openOptions(page, await named(await noiseSound("mp3", 3), folder, "talk.mp3"));
  await card.getByRole("radio", { name: "Stream for a website" }).check();
  for (const name of ["Width", "Crop", "Pictures while seeking"])
    await expect(card.getByLabel(name, { exact: true })).toHaveCount(0);
  await expect(card.getByText("x264")).toHaveCount(0);
  await expect(card.getByLabel("Loudness").getByRole("option", { name: "No sound" })).toHaveCount(0);
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  const playback = await playToEnd(card);
  expect(playback).toEqual({ at: expect.closeTo(3, 1), duration: expect.closeTo(3, 1), error: null });
  await expect(card.locator("media-fullscreen-button")).toHaveCount(0);
  const zip = await downloadBy(page, card.getByRole("button", { name: "Download as zip" }), folder);
  await unpackZip(zip, folder);
  const { picture, sound, duration } = await readFacts(join(folder, "talk", "master.m3u8"));
  expect([picture, sound?.codec, duration]).toEqual([null, "aac", expect.closeTo(3, 1)]);
});

/** Converts a file into a stream for players of HLS and of DASH, with pictures while seeking. */
async function convertBoth(page: Page, clip: string): Promise<Locator> {
  const card = await openOptions(page, clip);
  await card.getByRole("button", { name: "HLS for my site" }).click();
  await card.getByLabel("Pictures while seeking").selectOption("Every six seconds");
  await card.getByLabel("Format").selectOption("dash");
  await expect(card.getByLabel("Pictures while seeking")).toHaveCount(0);
  await card.getByLabel("Format").selectOption("hls_dash");
  await card.getByLabel("Pictures while seeking").selectOption("Every six seconds");
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await expect(card.getByRole("button", { name: "Send to S3" })).toBeVisible();
  return card;
}
