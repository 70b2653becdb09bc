import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { makeClip } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { compareSound, readSound } from "../judge/sound.ts";
import { addFiles, backToList, cardOf, expect, openEditor, test } from "./workbench.ts";

// Each frame has one grey that encodes its number: 16 for the first, three more for each further one.
const GREYS = "-f lavfi -i nullsrc=size=320x180:rate=25:duration=3,geq=lum=16+3*N:cb=128:cr=128".split(" ");
// Soft in its first half, loud in its second, and rising in pitch.
const RISING = [
  ..."-f lavfi -i".split(" "),
  "aevalsrc=exprs='if(lt(t,2),0.05,0.8)*sin(2*PI*(200+150*t)*t)':duration=4:sample_rate=44100",
];

test("a sound is trimmed on its waveform by mouse and keyboard", async ({ workbench, folder }) => {
  const clip = await makeClip("wav", RISING);
  const addresses = await watchAddresses(workbench);
  const card = await openTrim(workbench, clip);
  const trim = card.getByRole("region", { name: "Trim" });
  const [begin, end] = [
    trim.getByRole("slider", { name: "Start" }),
    trim.getByRole("slider", { name: "End" }),
  ];

  await expect.poll(async () => (await paintedOf(trim.locator(".waveform")))[1]).toBeGreaterThan(0);
  const [soft, loud] = await paintedOf(trim.locator(".waveform"));
  expect(soft).toBeGreaterThan(0);
  expect(loud).toBeGreaterThan(5 * soft);

  // The handle is drawn beside its time, and keeps its distance from the pointer.
  await begin.hover();
  await workbench.mouse.down();
  const grip = await gripOf(trim, begin);
  for (const share of [0.4, 0.25]) {
    const [x, y] = await pointAt(trim, share);
    await workbench.mouse.move(x + grip, y, { steps: 3 });
  }
  await workbench.mouse.up();
  const dragged = Number(await begin.getAttribute("aria-valuenow"));
  expect(dragged).toBeCloseTo(1, 1);

  await end.focus();
  for (const key of ["PageDown", "End", "Shift+ArrowLeft", ...Array(5).fill("ArrowLeft")]) {
    await workbench.keyboard.press(key);
  }
  await expect(end).toHaveAttribute("aria-valuetext", "0:02.50");
  await expect(end).toHaveAttribute("aria-valuemin", String(Number((dragged + 0.01).toFixed(6))));
  await expect(end).toHaveAttribute("aria-valuemax", "4");
  expect((await new AxeBuilder({ page: workbench }).include(".trim").analyze()).violations).toEqual([]);

  // Closing the timeline releases the file.
  expect(await addresses()).toBeGreaterThan(0);
  await backToList(workbench);
  await expect(card).toContainText("to 0:02.50");
  await expect.poll(addresses).toBe(0);

  const output = await convert(card, folder);
  const [got, expected] = await Promise.all([
    readSound(output, { channels: 1 }),
    readSound(clip, { channels: 1, before: ["-ss", String(dragged), "-to", "2.5"] }),
  ]);
  expect(got.duration).toBeCloseTo(2.5 - dragged, 1);
  const [echo] = compareSound(got, expected);
  expect(Math.abs(echo?.lag ?? 1)).toBeLessThan(0.003);
  expect(echo?.correlation).toBeGreaterThan(0.98);
});

test("a video is trimmed to the frame by typed times and steps of a frame", async ({ workbench, folder }) => {
  const clip = await makeClip("mp4", [...GREYS, ..."-c:v libx264 -preset ultrafast -g 25".split(" ")]);
  const card = await openTrim(workbench, clip);
  const trim = card.getByRole("region", { name: "Trim" });
  const type = async (label: string, text: string) => {
    await trim.getByRole("textbox", { name: label }).fill(text);
    await workbench.keyboard.press("Enter");
  };
  const currentTime = () => trim.locator("video").evaluate((video: HTMLVideoElement) => video.currentTime);

  // The frames on the strip are in order.
  await expect.poll(async () => (await greysOf(trim)).at(-1)).toBeGreaterThan(0);
  const greys = await greysOf(trim);
  expect(greys.length).toBeGreaterThan(5);
  expect(greys).toEqual([...new Set(greys)].sort((one, other) => one - other));

  await type("Start", "0:00.99");
  await type("Start", "1:75");
  await expect(trim).toContainText("Seconds go up to 59.");
  await workbench.keyboard.press("Escape");
  await trim.getByRole("button", { name: "One frame forward" }).click();
  await trim.getByRole("button", { name: "One frame forward" }).click();
  await expect(trim).toContainText("First frame: 27");
  // Players round the edges of frames either way, so the page seeks to the middle of the frame.
  await expect.poll(currentTime).toBeCloseTo(27.5 / 25, 2);

  await type("End", "1");
  await expect(trim).toContainText("The end must be after the start, which is at 0:01.08.");
  await type("End", "3.5");
  await expect(trim).toContainText("The file ends at 0:03.00.");
  await type("End", "2,04 s");
  await trim.getByRole("button", { name: "One frame back" }).click();
  await expect(trim).toContainText("Last frame: 49");
  await expect.poll(currentTime).toBeCloseTo(49.5 / 25, 2);

  // The frame that the player shows becomes the last one.
  await workbench.mouse.click(...(await pointAt(trim, 40.5 / 75)));
  await expect.poll(currentTime).toBeCloseTo(40.5 / 25, 1);
  await trim.getByRole("button", { name: "Use current position: end" }).click();
  const last = Math.floor((await currentTime()) * 25);
  await expect(trim).toContainText(`Last frame: ${last}`);
  const playing = await trim.locator("video").evaluateHandle((video: HTMLVideoElement) => ({
    ended: new Promise((resolve) => video.addEventListener("pause", resolve, { once: true })),
  }));
  await trim.getByRole("button", { name: "Play this part" }).click();
  await playing.evaluate(({ ended }) => ended.then(() => undefined));
  expect(await currentTime()).toBeCloseTo((last + 1) / 25, 1);
  await expect(trim.getByRole("button", { name: "Play this part" })).toBeVisible();

  const output = await convert(card, folder);
  const frames = Array.from({ length: last - 27 + 1 }, (_, index) => 27 + index);
  expect(await numbersOf(output)).toEqual(frames);
});

test("makes a picture of the video frame chosen on the timeline", { tag: "@smoke" }, async ({
  workbench,
  folder,
}) => {
  const clip = await makeClip("mp4", [...GREYS, ..."-c:v libx264 -preset ultrafast -g 25".split(" ")]);
  await addFiles(workbench, clip);
  const card = cardOf(workbench, clip);
  await openEditor(card);
  await card.getByRole("radio", { name: "Picture" }).press("Space");
  const moment = card.getByRole("region", { name: "Moment" });
  await moment.getByRole("slider").press("Shift+ArrowRight");
  await moment.getByRole("button", { name: "One frame forward" }).click();
  await expect(moment).toContainText("Frame: 26");
  await moment.getByRole("textbox").fill("9");
  await workbench.keyboard.press("Enter");
  await expect(moment).toContainText("The file ends at 0:03.00.");
  await workbench.keyboard.press("Escape");
  expect((await new AxeBuilder({ page: workbench }).include(".trim").analyze()).violations).toEqual([]);
  expect(await numbersOf(await convert(card, folder))).toEqual([26]);
});

test("the last frame is the last picture of a video with uneven frame times", async ({
  workbench,
  folder,
}) => {
  // In a JPEG, greys lighter than that of frame 70 look alike.
  const late = "-fps_mode vfr -frames:v 71 -vf setpts='if(gte(N,66),PTS+0.28*(N-65)/TB,PTS)'".split(" ");
  const card = await openTrim(workbench, await makeClip("mp4", [...GREYS, ...late, "-c:v", "libx264"]));
  await expect(card.getByRole("region", { name: "Trim" })).toContainText("Last frame: 70");
  await card.getByRole("radio", { name: "Picture" }).press("Space");
  const moment = card.getByRole("region", { name: "Moment" }).getByRole("slider");
  await expect(moment).toHaveAttribute("aria-valuemax", "4.2");
  await moment.press("End");
  expect(await numbersOf(await convert(card, folder))).toEqual([70]);
});

test("a sound of half an hour has a timeline without a waveform, and says why", async ({ workbench }) => {
  const clip = await makeClip("flac", "-f lavfi -i anullsrc=r=8000:cl=mono -t 1801".split(" "));
  const card = await openTrim(workbench, clip);
  await expect(card).toContainText("This file is too long to draw its waveform.");
  await expect(card.locator(".waveform")).toHaveCount(0);
  await card.getByRole("textbox", { name: "Start" }).fill("29:30,5");
  await workbench.keyboard.press("Enter");
  await expect(card.getByRole("slider", { name: "Start" })).toHaveAttribute("aria-valuenow", "1770.5");
  await expect(card).toContainText("Keeps 0:30.50");
});

test.describe("on a phone", () => {
  test.use({ hasTouch: true, viewport: { width: 390, height: 844 }, colorScheme: "dark" });

  test("a video that the browser cannot play is trimmed by touch", async ({ workbench, folder }) => {
    // Noise in the colors keeps it larger than its output, so no notice moves the page when it disappears.
    const clip = await makeClip("mkv", [...GREYS, "-vf", "noise=c1s=60:c2s=60:allf=t", "-c:v", "ffv1"]);
    const card = await openTrim(workbench, clip);
    const trim = card.getByRole("region", { name: "Trim" });
    await expect(trim).toContainText(
      "This browser can't play this format. This page decodes single pictures instead.",
    );
    await expect(trim.locator("video")).toHaveCount(0);
    await expect(trim.locator(".still img")).toBeVisible();
    await expect(card.locator(".preview")).toContainText("this page decodes the picture");

    const begin = trim.getByRole("slider", { name: "Start" });
    await begin.scrollIntoViewIfNeeded();
    const [x, y] = await pointAt(trim, 1 / 3);
    const devtools = await workbench.context().newCDPSession(workbench);
    const touch = (
      type: "touchStart" | "touchMove" | "touchEnd",
      ...touchPoints: { x: number; y: number }[]
    ) => devtools.send("Input.dispatchTouchEvent", { type, touchPoints });
    // The finger moves off the track.
    const grip = await gripOf(trim, begin);
    const from = (await pointAt(trim, 0))[0] + grip;
    await touch("touchStart", { x: from, y });
    await touch("touchMove", { x: from + 20, y: y + 30 });
    await touch("touchMove", { x: x + grip, y: y + 60 });
    await touch("touchEnd");
    await expect(trim).toContainText("First frame: 25");
    // The page did not scroll with the finger.
    expect(Math.abs((await pointAt(trim, 0))[1] - y)).toBeLessThan(10);
    expect(await workbench.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect((await new AxeBuilder({ page: workbench }).include(".trim").analyze()).violations).toEqual([]);

    const output = await convert(card, folder);
    expect(await numbersOf(output)).toEqual(Array.from({ length: 50 }, (_, index) => 25 + index));
  });
});

/** Counts the object URLs that the page creates from now on and has not revoked. */
async function watchAddresses(page: Page): Promise<() => Promise<number>> {
  const urls = await page.evaluateHandle(() => {
    const addresses = new Set<string>();
    const { createObjectURL, revokeObjectURL } = URL;
    URL.createObjectURL = (file) => {
      const address = createObjectURL.call(URL, file);
      addresses.add(address);
      return address;
    };
    URL.revokeObjectURL = (address) => {
      addresses.delete(address);
      revokeObjectURL.call(URL, address);
    };
    return addresses;
  });
  return () => urls.evaluate((addresses) => addresses.size);
}

async function openTrim(page: Page, clip: string): Promise<Locator> {
  await addFiles(page, clip);
  const card = cardOf(page, clip);
  await openEditor(card);
  await expect(card.getByRole("slider", { name: "End" })).toBeVisible();
  return card;
}

async function convert(card: Locator, folder: string): Promise<string> {
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  const coming = card.page().waitForEvent("download");
  await card.getByRole("link", { name: "Download" }).click();
  const path = join(folder, "output");
  await (await coming).saveAs(path);
  return path;
}

async function pointAt(trim: Locator, share: number): Promise<[number, number]> {
  const box = await trim.locator(".track").boundingBox();
  if (!box) throw new Error("There is no track.");
  return [box.x + share * box.width, box.y + box.height / 2];
}

/** Returns how far the middle of a handle is to the right of the timeline's start. */
async function gripOf(trim: Locator, handle: Locator): Promise<number> {
  const box = await handle.boundingBox();
  if (!box) throw new Error("There is no handle.");
  return box.x + box.width / 2 - (await pointAt(trim, 0))[0];
}

/** Counts the painted pixels in the left and the right half of a waveform. */
function paintedOf(waveform: Locator): Promise<[number, number]> {
  return waveform.evaluate((place) => {
    const counts: [number, number] = [0, 0];
    const { left, width } = place.getBoundingClientRect();
    for (const canvas of place.firstElementChild?.firstElementChild?.shadowRoot?.querySelectorAll("canvas") ??
      []) {
      const at = canvas.getBoundingClientRect().left - left;
      // A copy, since Chromium warns about a canvas on the graphics card that is read repeatedly.
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      copy?.drawImage(canvas, 0, 0);
      const image = copy?.getImageData(0, 0, canvas.width, canvas.height);
      image?.data.forEach((value, index) => {
        const x = at + (((index >> 2) % canvas.width) * canvas.clientWidth) / canvas.width;
        if (index % 4 === 3 && value > 0) counts[x < width / 2 ? 0 : 1] += 1;
      });
    }
    return counts;
  });
}

/** Reads the grey in the middle of each frame on the strip; 0 if not drawn yet. */
function greysOf(trim: Locator): Promise<number[]> {
  return trim.locator(".filmstrip canvas").evaluateAll((canvases) =>
    canvases.map((canvas) => {
      const copy = new OffscreenCanvas(1, 1).getContext("2d");
      copy?.drawImage(canvas as HTMLCanvasElement, -(canvas.clientWidth >> 1), -(canvas.clientHeight >> 1));
      return copy?.getImageData(0, 0, 1, 1).data[0] ?? 0;
    }),
  );
}

/** Reads the number of each frame of an output from its grey. */
async function numbersOf(path: string): Promise<number[]> {
  const greys = [
    "-vf",
    "scale=out_range=tv,format=yuv420p,extractplanes=y,crop=1:1:160:90",
    "-f",
    "rawvideo",
    "-",
  ];
  const { output } = await runNative(["-i", path, "-fps_mode", "passthrough", ...greys]);
  return [...output].map((grey) => Math.round((grey - 16) / 3));
}
