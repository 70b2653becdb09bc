import type { Browser, BrowserContext, Page } from "@playwright/test";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openBrowser } from "../../browser/chromium.ts";
import { startService } from "./service.ts";

let service: Awaited<ReturnType<typeof startService>>;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let requests: string[];
let complaints: string[];

beforeAll(async () => {
  service = await startService("key-of-the-page");
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
  requests = [];
  complaints = [];
  context.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
});
afterEach(() => context.close());

test("the page lists every operation, loads nothing from elsewhere and reports no problems", async () => {
  await page.goto(`${service.base}/docs`);
  await page.locator(".opblock").first().waitFor();
  const shown = await page.locator(".opblock").evaluateAll((blocks) =>
    blocks.map((block) => {
      const text = (part: string) => block.querySelector(part)?.textContent?.replaceAll("\u200b", "").trim();
      return `${text(".opblock-summary-method")} ${text(".opblock-summary-path")}`;
    }),
  );
  const document = (await (await fetch(`${service.base}/openapi.json`)).json()) as {
    paths: Record<string, object>;
  };
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.length).toBeGreaterThan(20);
  expect(shown.toSorted()).toEqual(described.toSorted());
  await page.locator("#operations-Tasks-createTask .opblock-summary-control").click();
  await page.locator("#operations-Tasks-createTask .responses-table").first().waitFor();
  await page.waitForLoadState("networkidle");
  const paths = requests
    .filter((url) => !url.startsWith("data:"))
    .map((url) => url.replace(service.base, ""));
  expect(paths.toSorted()).toEqual([
    "/docs",
    "/docs/favicon-32x32.png",
    "/docs/start.js",
    "/docs/swagger-ui-bundle.js",
    "/docs/swagger-ui.css",
    "/openapi.json",
  ]);
  expect(complaints).toEqual([]);
});

test("the page runs an operation with the key that a reader enters", async () => {
  await page.goto(`${service.base}/docs`);
  await page.locator(".auth-wrapper .authorize").first().click();
  await page.locator(".auth-container input").fill("key-of-the-page");
  await page.locator(".auth-btn-wrapper .authorize").click();
  await page.locator(".auth-btn-wrapper .btn-done").click();
  await page.locator("#operations-Tasks-listTasks .opblock-summary-control").click();
  await page.locator("#operations-Tasks-listTasks .try-out__btn").click();
  const answered = page.waitForResponse((response) => response.url().includes("/tasks"));
  await page.locator("#operations-Tasks-listTasks .execute").click();
  expect((await answered).status()).toBe(200);
  await page
    .locator("#operations-Tasks-listTasks .live-responses-table .response-col_status")
    .last()
    .waitFor();
  for (const url of requests) expect(url).toMatch(new RegExp(`^(data:|${service.base}/)`));
  expect(complaints).toEqual([]);
});

test("the page blocks injected scripts, foreign requests and framing", async () => {
  const response = await page.goto(`${service.base}/docs`);
  const policy = response?.headers()["content-security-policy"] ?? "";
  expect(policy.split("; ")).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]),
  );
  await page.locator(".opblock").first().waitFor();
  const ran = await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.intruder = true";
    document.head.append(script);
    const reached = await fetch("http://127.0.0.1:9/").then(
      () => true,
      () => false,
    );
    return { intruder: "intruder" in window, reached };
  });
  expect(ran).toEqual({ intruder: false, reached: false });
  expect(complaints.filter((text) => text.includes("Content Security Policy"))).not.toEqual([]);
});
