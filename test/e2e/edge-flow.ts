import { expect, type Page } from "@playwright/test";
import type { Served } from "./service.ts";

/** Opens a tab of the console and connects through its form. */
export async function openConsole(
  page: Page,
  served: Served,
  tab: "tasks" | "connections" | "webhooks" | "keys",
): Promise<void> {
  await page.goto(`${served.url}/console/${tab}`);
  await enterService(page, served.url, served.console_key);
  await expect(page.getByRole("heading", { name: new URL(served.url).host })).toBeVisible();
}

/** Fills in the visible connection form, and submits it until it disappears. */
export async function enterService(page: Page, url: string, key: string): Promise<void> {
  await page.getByLabel("Key", { exact: true }).fill(key);
  // A very busy service may not answer in time; retry as a visitor would.
  await expect(async () => {
    const timeout = 10_000;
    await page
      .getByLabel("Address")
      .fill(url, { timeout })
      .catch(() => {});
    await page
      .getByRole("button", { name: "Connect" })
      .click({ timeout })
      .catch(() => {});
    await expect(page.getByLabel("Address")).toBeHidden({ timeout: 2 * timeout });
  }).toPass();
}

/** Sends a request with the key of the console's project; returns the status and the parsed answer. */
export async function ask<T>(
  { url, console_key }: Served,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
): Promise<{ status: number; value: T }> {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${console_key}`, "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, value: (text ? JSON.parse(text) : null) as T };
}

/** Deletes what an earlier attempt left in a list of the console's project. */
export async function clear(served: Served, path: "/connections" | "/keys"): Promise<void> {
  const { value: left } = await ask<{ id: string }[]>(served, "GET", path);
  for (const { id } of left) await ask(served, "DELETE", `${path}/${id}`);
}

/** Expects a secret to appear nowhere in the page: not in its text, markup, fields or URL. */
export async function expectNowhere(page: Page, secret: string): Promise<void> {
  expect(await page.content()).not.toContain(secret);
  const fields = await page
    .locator("input")
    .evaluateAll((all: HTMLInputElement[]) => all.map(({ value }) => value));
  expect(fields.join()).not.toContain(secret);
  expect(page.url()).not.toContain(secret);
}
