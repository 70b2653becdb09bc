import type { Page } from "@playwright/test";
import { expectNowhere } from "./edge-flow.ts";
import { expect, test } from "./workbench.ts";

const headOf = (page: Page, url: string) => page.getByRole("heading", { name: new URL(url).host });
const stored = (page: Page) => page.evaluate(() => localStorage.getItem("framewright-edge"));

test("the link of npm run dev signs the page in, and its key leaves the address and the history", async ({
  page,
  served,
  complaints: _,
}) => {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url(), request.headers().referer ?? ""));
  await page.goto("about:blank");
  await page.goto(`${served.url}/#key=${served.console_key}`);
  await expect(headOf(page, served.url)).toBeVisible();
  expect(page.url()).toBe(`${served.url}/console`);
  await expectNowhere(page, served.console_key);
  expect(urls.filter((text) => text.includes(served.console_key))).toEqual([]);
  expect(await stored(page)).toContain(served.console_key);

  // Nothing of it is in the history of the tab: a step back leaves the page.
  await page.goBack();
  expect(page.url()).toBe("about:blank");
  await page.goForward();
  await expect(headOf(page, served.url)).toBeVisible();
  expect(page.url()).toBe(`${served.url}/console`);
});

test("the link works in a tab that shows the page already, and says so when its key is not known", async ({
  workbench,
  served,
  complaints,
}) => {
  const follow = (key: string) =>
    workbench.evaluate((key) => {
      location.hash = `key=${key}`;
    }, key);
  await follow("no-such-key");
  await expect(workbench.getByRole("alert")).toContainText("does not know this key");
  expect(workbench.url()).toBe(`${served.url}/console`);
  expect(await stored(workbench)).toBeNull();
  expect(complaints.join()).toContain("401");
  complaints.length = 0;
  await follow(served.console_key);
  await expect(headOf(workbench, served.url)).toBeVisible();
  await expectNowhere(workbench, served.console_key);
});

test("a page of another machine takes no key from its address", async ({ page, served, complaints: _ }) => {
  await page.route("https://shop.example/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: served.url + pathname }) });
  });
  await page.goto(`https://shop.example/#key=${served.console_key}`);
  await expect(page.getByRole("button", { name: "Connect" })).toBeVisible();
  expect(page.url()).toBe("https://shop.example/console");
  expect(await stored(page)).toBeNull();
  // The end of the test must not cut off later loads of the page in the handler.
  await page.unrouteAll({ behavior: "wait" });
});
