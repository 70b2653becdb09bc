import { join } from "node:path";
import { makeClip } from "../fixtures/make-clip.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import { convertTo, movingClip, named, openOptions } from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

test("lays a logo over a video and over a picture", async ({ workbench, folder, served }) => {
  await test.step("lays a logo over a video", async () => {
    const original = await movingClip();
    const card = await openOptions(workbench, await named(original, folder, "marked.mp4"));
    const logo = card.getByLabel("Logo or watermark");
    await logo.fill("logo.png");
    await expect(card.getByText("Logo or watermark must be a URL").first()).toBeVisible();
    await logo.fill(new URL("icons/192.png", served.url).href);
    await card.getByLabel("Logo position").selectOption("Top left");
    await card.getByLabel("Logo width").selectOption("50 % of the width");

    const output = await convertTo(workbench, card, folder);
    const icon = join(import.meta.dirname, "../../web/public/icons/192.png");
    const filter = `null[under];movie=${icon},scale=160:160[over];[under][over]overlay=0:0`;
    expect((await measureLikeness(output, original, { filter })).worst).toBeGreaterThan(0.85);
    expect((await measureLikeness(output, original)).worst).toBeLessThan(0.8);
  });
  await test.step("lays a logo over a picture", async () => {
    const original = await makeClip("png", [
      ..."-f lavfi -i testsrc2=size=320x180:rate=1:duration=1,format=rgb24 -frames:v 1".split(" "),
    ]);
    const card = await openOptions(workbench, await named(original, folder, "marked.png"));
    // The logo is a file of this device, which the page keeps across a reload.
    const icon = join(import.meta.dirname, "../../web/public/icons/192.png");
    const dialog = workbench.waitForEvent("filechooser");
    await card.getByRole("button", { name: /^Choose a file ?: Logo or watermark$/ }).click();
    await (await dialog).setFiles(icon);
    await expect(card.getByLabel("Logo or watermark")).toHaveValue("192.png");
    await card.getByLabel("Logo width").selectOption("50 % of the width");
    await workbench.reload();
    await expect(card.getByLabel("Logo or watermark")).toHaveValue("192.png");

    const output = await convertTo(workbench, card, folder);
    const filter = `null[under];movie=${icon},scale=160:160[over];[under][over]overlay=W-w:H-h:format=rgb`;
    expect((await measureLikeness(output, original, { filter })).worst).toBeGreaterThan(0.95);
    expect((await measureLikeness(output, original)).worst).toBeLessThan(0.8);
  });
});

test("adds a file of subtitles to a video, and another video after it", async ({
  workbench,
  folder,
  served,
}) => {
  const original = await movingClip();
  const body = "1\n00:00:00,500 --> 00:00:01,500\nHello\n";
  await workbench
    .context()
    .route("**/hello.srt", (route) => route.fulfill({ body, contentType: "text/plain" }));
  const card = await openOptions(workbench, await named(original, folder, "read.mp4"));
  const [video, subtitles] = [
    card.getByLabel("Video to play after it"),
    card.getByLabel("Subtitles", { exact: true }),
  ];
  await video.fill("https://example.com/next.mp4");
  await card.getByLabel("Video to play after it 2").fill("last.mp4");
  await expect(card.getByText("Video to play after it must be a URL").first()).toBeVisible();
  await card.getByLabel("Video to play after it 2").fill("");
  await expect(card.getByRole("button", { name: "Convert", exact: true })).toBeEnabled();
  await video.first().fill("");
  await subtitles.fill(new URL("hello.srt", served.url).href);
  await card.getByLabel("Language of the subtitles").fill("e");
  await expect(card.getByText("Language of the subtitles must be a language").first()).toBeVisible();
  await card.getByLabel("Language of the subtitles").fill("en");
  await card.getByLabel("Name in the menu").fill("English");

  const output = await convertTo(workbench, card, folder);
  const read = await runNative(["-i", output, "-map", "0:s:0", "-f", "srt", "-"]);
  expect(read.output.toString()).toContain("00:00:00,500 --> 00:00:01,500\nHello");
  expect(read.log).toMatch(/\(eng\).*: Subtitle: mov_text/);
});

test("burns subtitles into the pictures of a video, in their time alone", async ({
  workbench,
  folder,
  served,
}) => {
  const original = await movingClip();
  const body = "1\n00:00:00,520 --> 00:00:01,000\nÖl für Åsa,\nПривет!\n";
  await workbench
    .context()
    .route("**/hello.srt", (route) => route.fulfill({ body, contentType: "text/plain" }));
  const make = async (name: string, isBurnt: boolean) => {
    const card = await openOptions(workbench, await named(original, folder, name));
    await card.getByRole("radio", { name: "Highest" }).check();
    if (isBurnt) {
      await card.getByLabel("Subtitles", { exact: true }).fill(new URL("hello.srt", served.url).href);
      await card.getByLabel("Name in the menu").fill("English");
      await card.getByLabel("Shown as").selectOption("Part of the picture");
      await expect(card.getByLabel("Name in the menu")).toHaveCount(0);
    }
    return convertTo(workbench, card, folder);
  };
  const [burnt, plain] = [await make("burnt.mp4", true), await make("plain.mp4", false)];
  expect((await runNative(["-i", burnt, "-f", "null", "-"])).log).not.toContain("Subtitle");
  const likeness = (part: string, shown: string) => {
    const filter = `select=${shown},${part}`;
    return measureLikeness(burnt, plain, { filter, output_filter: filter });
  };
  const [letters, above] = ["crop=iw*3/5:ih/4:iw/5:ih*3/4", "crop=iw:ih*2/3:0:0"];
  const [during, before, after] = ["between(n\\,13\\,24)", "lt(n\\,13)", "gt(n\\,24)"];
  const text = await likeness(letters, during);
  expect(text.frames).toBe(12);
  expect(text.mean).toBeLessThan(0.9);
  for (const [part, shown] of [
    [above, during],
    [letters, before],
    [letters, after],
  ] as const) {
    expect((await likeness(part, shown)).mean).toBeGreaterThan(0.97);
  }
});
