import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator } from "@playwright/test";
import { makeClip } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { named, openOptions, silentFilm } from "./result-flow.ts";
import { addFiles, cardOf, expect, removeFile, test } from "./workbench.ts";

// Noise, so that the encoder loses something, and wider than the page.
const NOISE = "-f lavfi -i nullsrc=size=1600x400,geq=lum=random(1)*255:cb=128:cr=128 -frames:v 1 -q:v 2";

test("a picture is compared with its original by keyboard", async ({ workbench, folder }) => {
  const clip = await makeClip("jpg", NOISE.split(" "));
  await addFiles(workbench, clip);
  const card = cardOf(workbench, clip);
  await card.getByRole("button", { name: "Convert", exact: true }).click();
  await card.getByRole("button", { name: "Compare with the original" }).press("Enter");
  const [view, slider] = [card.locator(".compare .view"), card.locator(".compare").getByRole("slider")];
  for (const name of ["Before", "After"]) {
    const legend = card.locator(".compare .legend").getByText(name).locator("..");
    await expect(legend).toHaveText(new RegExp(`^${name} ?1600 × 400 ?\\d+ kB$`));
  }
  for (const picture of await view.getByRole("img").all()) {
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth))
      .toBe(1600);
  }

  // Hide the divider and its handle from the screenshots.
  await view.locator(".divider").evaluate((divider: HTMLElement) => {
    divider.style.visibility = "hidden";
  });
  const look = async (key: string) => {
    await slider.press(key);
    return readGreys(await view.screenshot(), join(folder, `${key}.png`));
  };
  const after = await look("Home");
  const before = await look("End");
  for (let step = 0; step < 4; step++) await slider.press("PageDown");
  await expect(slider).toHaveAttribute("aria-valuetext", "60 % before, 40 % after");
  const both = await look("ArrowRight");
  await expect(slider).toHaveValue("61");
  expect(unlike(before, after, 0, 1)).toBeGreaterThan(0.2);
  expect(unlike(both, before, 0, 0.6)).toBe(0);
  expect(unlike(both, after, 0.62, 1)).toBe(0);
  expect((await new AxeBuilder({ page: workbench }).include(".compare").analyze()).violations).toEqual([]);

  // At actual size, the picture scrolls below the divider, which stays.
  await card.getByRole("button", { name: "Actual size" }).press("Enter");
  const scroll = view.getByRole("region", { name: /before and after/ });
  const width = await view.evaluate((element) => element.clientWidth);
  await scroll.focus();
  for (let step = 0; step < 3; step++) await workbench.keyboard.press("ArrowRight");
  await expect.poll(() => scroll.evaluate((element) => element.scrollLeft)).toBeGreaterThan(60);
  await expect
    .poll(async () => {
      const scrolled = await scroll.evaluate((element) => element.scrollLeft);
      return Math.abs((await cutOf(view)) - scrolled - 0.61 * width);
    })
    .toBeLessThan(1);
  expect((await new AxeBuilder({ page: workbench }).include(".compare").analyze()).violations).toEqual([]);
});

test("a video that is faster, or has others after it, is compared with the same moments of its original", async ({
  workbench,
  folder,
  served,
}) => {
  const film = await silentFilm(4);
  await workbench
    .context()
    .route("**/next.mp4", (route) => route.fulfill({ path: film, contentType: "video/mp4" }));
  const compared = async (card: Locator) => {
    await card.getByRole("button", { name: "Convert", exact: true }).click();
    await card.getByRole("button", { name: "Compare with the original" }).click();
    return card.getByLabel("Moment");
  };
  const times = (card: Locator) =>
    card
      .locator(".compare video")
      .evaluateAll((videos: HTMLVideoElement[]) =>
        videos.map(({ currentTime }) => Number(currentTime.toFixed(2))),
      );

  const fast = await openOptions(workbench, await named(film, folder, "fast.mp4"));
  await fast.getByLabel("Speed").selectOption("2 times");
  await fast.getByRole("textbox", { name: "Start", exact: true }).fill("1");
  const moment = await compared(fast);
  await expect(moment).toHaveAttribute("max", "1.48");
  await moment.fill("1.2");
  await expect.poll(() => times(fast)).toEqual([3.42, 1.22]);
  await removeFile(workbench, fast);

  const joined = await openOptions(workbench, await named(film, folder, "joined.mp4"));
  await joined.getByLabel("Video to play after it").fill(new URL("next.mp4", served.url).href);
  await expect(await compared(joined)).toHaveAttribute("max", "3.96");
  await joined.getByLabel("Moment").press("End");
  await expect.poll(() => times(joined)).toEqual([3.98, 3.98]);
});

/** Returns where the "after" picture begins, in pixels from its left edge. */
async function cutOf(view: Locator): Promise<number> {
  const path = await view.locator(".layer.after").evaluate((image) => getComputedStyle(image).clipPath);
  return Number(/([\d.]+)px\)$/.exec(path)?.[1]);
}

interface Greys {
  width: number;
  data: Buffer;
}

async function readGreys(image: Buffer, path: string): Promise<Greys> {
  await writeFile(path, image);
  const { output } = await runNative(["-i", path, "-pix_fmt", "gray", "-f", "rawvideo", "-"]);
  return { width: image.readUInt32BE(16), data: output };
}

/** Share of differing pixels between two positions of the width. */
function unlike(one: Greys, other: Greys, from: number, to: number): number {
  let [count, differing] = [0, 0];
  for (const [index, grey] of one.data.entries()) {
    const x = ((index % one.width) + 0.5) / one.width;
    if (x < from || x > to) continue;
    count += 1;
    if (grey !== other.data[index]) differing += 1;
  }
  return differing / count;
}
