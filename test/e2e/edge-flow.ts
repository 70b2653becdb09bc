import { expect, type Page } from "@playwright/test";
import type { Served } from "./service.ts";

/** Opens a part of the console, connected as a visitor connects it. */
export async function openConsole(
  page: Page,
  served: Served,
  tab: "tasks" | "connections" | "webhooks" | "keys",
): Promise<void> {
  await page.goto(`${served.url}/#/edge/${tab}`);
  await enterService(page, served.url, served.console_key);
  await expect(page.getByRole("heading", { name: new URL(served.url).host })).toBeVisible();
}

/** Fills in the form that connects with a service, which is shown, and sends it until it is gone. */
export async function enterService(page: Page, url: string, key: string): Promise<void> {
  await page.getByLabel("Key", { exact: true }).fill(key);
  // A service that is very busy may not answer in time; as a visitor would, it is asked again.
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

/** Asks the service as the owner of the console's project does; gives the status and what was answered. */
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

/** Deletes what an earlier try of a flow left in a list of the console's project. */
export async function clear(served: Served, path: "/connections" | "/keys"): Promise<void> {
  const { value: left } = await ask<{ id: string }[]>(served, "GET", path);
  for (const { id } of left) await ask(served, "DELETE", `${path}/${id}`);
}

/** Expects the page to hold a secret nowhere: not in its text, its markup, its fields or its address. */
export async function expectNowhere(page: Page, secret: string): Promise<void> {
  expect(await page.content()).not.toContain(secret);
  const fields = await page
    .locator("input")
    .evaluateAll((all: HTMLInputElement[]) => all.map(({ value }) => value));
  expect(fields.join()).not.toContain(secret);
  expect(page.url()).not.toContain(secret);
}
