import { join } from "node:path";
import { measureLikeness } from "../judge/likeness.ts";
import { convertTo, movingClip, named, openOptions } from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

test("lays a logo over a video", async ({ workbench, folder, served }) => {
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
