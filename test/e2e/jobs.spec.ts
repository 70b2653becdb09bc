import { AxeBuilder } from "@axe-core/playwright";
import { JOBS } from "../../web/home/jobs.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { downloadBy, named } from "./result-flow.ts";
import { openSite } from "./site.ts";
import { addFiles, cardOf, expect, test } from "./workbench.ts";

const H264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p".split(" ");

test("each job has an address, whose page states it before any script runs", async ({
  browser,
  request,
  served,
}) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const titles = new Set<string>();
  for (const { path, title, heading, description } of JOBS) {
    await page.goto(served.url + path);
    await expect(page).toHaveTitle(`${title} · Framewright`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    const content = (name: string) => page.locator(`meta[${name}]`).getAttribute("content");
    expect(await content('name="description"')).toBe(description);
    expect(await content('property="og:title"')).toBe(`${title} · Framewright`);
    expect(await page.locator('link[rel="canonical"]').getAttribute("href")).toBe(path);
    const card = await request.get(served.url + (await content('property="og:image"')));
    expect([path, card.status(), card.headers()["content-type"]]).toEqual([path, 200, "image/png"]);
    await expect(page.locator('.jobs [aria-current="page"]')).toHaveAttribute("href", path);
    expect(description.length).toBeLessThan(161);
    titles.add(title);
  }
  expect(titles.size).toBe(JOBS.length);
  await context.close();

  const slash = await request.get(`${served.url}/gif/`, { maxRedirects: 0 });
  expect([slash.status(), slash.headers().location]).toEqual([307, "/gif"]);
  // Other addresses are the API's, which asks for a key.
  expect((await request.get(`${served.url}/gifs`)).status()).toBe(401);
});

test("a job prepares the files added at its address, and the list survives back and forward", async ({
  workbench: page,
  served,
  folder,
}) => {
  const film = await named(
    await makeClip("mp4", [..."-f lavfi -i testsrc2=size=640x360:rate=25:duration=4".split(" "), ...H264]),
    folder,
    "in/sea.mp4",
  );
  const heavy = await named(
    await makeClip("mkv", [
      ..."-f lavfi -i testsrc2=size=320x180:rate=10:duration=12 -vf noise=alls=60:allf=t".split(" "),
      ..."-c:v libx264 -preset ultrafast -qp 1 -pix_fmt yuv420p".split(" "),
    ]),
    folder,
    "in/noise.mkv",
  );
  const photo = await named(
    await makeClip("png", "-f lavfi -i testsrc2=size=320x200 -frames:v 1".split(" ")),
    folder,
    "in/photo.png",
  );
  const saved = (path: string) =>
    downloadBy(page, cardOf(page, path).getByRole("link", { name: "Download" }), folder);
  const convert = (path: string) =>
    cardOf(page, path).getByRole("button", { name: "Convert", exact: true }).click();

  await page.getByRole("link", { name: "Make a GIF" }).click();
  await expect(page).toHaveURL(`${served.url}/gif`);
  await expect(page).toHaveTitle("Make a GIF from a video · Framewright");
  await addFiles(page, film);
  // The options of a single file are open.
  await expect(cardOf(page, film).getByRole("region", { name: "Options" })).toContainText("GIF");
  await convert(film);
  const gif = await readFacts(await saved(film));
  expect(gif.picture).toMatchObject({ codec: "gif", width: 480, height: 270 });
  expect(gif.duration).toBeCloseTo(3, 1);

  await page.getByRole("link", { name: "Discord" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Make a video fit Discord's 10 MB.");
  await addFiles(page, heavy);
  await convert(heavy);
  const limited = await readFacts(await saved(heavy));
  expect(limited.picture).toMatchObject({ codec: "h264", width: 320, height: 180 });
  expect(limited.bytes).toBeLessThanOrEqual(10_000_000);

  await page.getByRole("link", { name: "Convert photos" }).click();
  await addFiles(page, photo);
  await convert(photo);
  const picture = await readFacts(await saved(photo));
  expect(picture.picture).toMatchObject({ codec: "webp", width: 320, height: 200 });

  await page.goBack();
  await expect(page).toHaveURL(`${served.url}/discord`);
  await page.goBack();
  await page.goBack();
  await expect(page).toHaveURL(`${served.url}/`);
  await expect(page.getByRole("article")).toHaveCount(3);
  await page.goForward();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Make a GIF from a video.");
  await page.reload();
  await expect(page.getByRole("article")).toHaveCount(3);
});

test("the page of a job fits 320 pixels, and axe finds nothing in light and dark", async ({
  page,
  served,
}) => {
  await page.goto(`${served.url}/discord`);
  await expect(page.getByRole("button", { name: "Choose files" })).toBeVisible();
  for (const width of [320, 390, 1024, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    const hidden = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect([width, Math.max(0, hidden)]).toEqual([width, 0]);
  }
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    // Colors in the middle of a transition may lack contrast.
    await page.evaluate(async () => {
      const transitions = document.getAnimations().filter((each) => each instanceof CSSTransition);
      await Promise.allSettled(transitions.map(({ finished }) => finished));
    });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations).toEqual([]);
  }
});

test.describe("without a network", () => {
  test.use({ serviceWorkers: "allow" });

  test("the page of a job opens, with and without a slash", async ({ page, context, served }) => {
    const site = await openSite(served.assets);
    await page.goto(site.url);
    await page.evaluate(() => navigator.serviceWorker.ready);
    site.close();
    await context.setOffline(true);
    for (const path of ["sound", "sound/"]) {
      await page.goto(site.url + path);
      await expect(page).toHaveTitle("Get the sound of a video as MP3 · Framewright");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Get the sound of a video as MP3.");
    }
  });
});
