import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { Connection, NewApiKey, WebhookDelivery } from "../../src/client/index.ts";
import type { Task } from "../../src/index.ts";
import { verifyWebhook } from "../../src/webhooks/verify.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { startOrigin } from "../fixtures/origin.ts";
import { startReceiver } from "../worker/webhooks/receiver.ts";
import { ask, clear, expectNowhere, openConsole } from "./edge-flow.ts";
import { expect, test } from "./workbench.ts";

test("creates, tests, edits and deletes a connection without ever showing its secret", async ({
  page,
  served,
  complaints,
}) => {
  // Rejects every request, as S3 does for a key without write access.
  const s3 = await startOrigin();
  const secret = "not-for-anyone-to-see";
  await clear(served, "/connections");
  await openConsole(page, served, "connections");
  await expect(page.getByText("There are no connections yet.")).toBeVisible();
  await page.getByRole("button", { name: "New connection" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Archive");
  await dialog.getByLabel("Endpoint").fill("not an address");
  await dialog.getByLabel("Region").fill("us-east-1");
  await dialog.getByLabel("Key id").fill("AKIAEXAMPLE");
  await dialog.getByLabel("Secret").fill(secret);
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(dialog.getByLabel("Endpoint")).toHaveAttribute("aria-invalid", "true");
  await expect(dialog.getByLabel("Endpoint")).toHaveAccessibleDescription(/It must .*http/);
  await expect.poll(() => complaints.join()).toContain("400");
  complaints.length = 0;
  await dialog.getByLabel("Endpoint").fill(s3.url);
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("row").filter({ hasText: "Archive" });
  await expect(row).toContainText("Default");
  await expectNowhere(page, secret);

  await row.getByRole("button", { name: "Test Archive" }).click();
  await dialog.getByLabel("Bucket").fill("my-bucket");
  await dialog.getByRole("button", { name: "Test", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText(/\w+/);
  expect(s3.log.map(({ method, path }) => `${method} ${path}`).join()).toContain("PUT /my-bucket/");
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await row.getByRole("button", { name: "Edit Archive" }).click();
  await expect(dialog.getByLabel("Secret")).toHaveValue("");
  await dialog.getByLabel("Region").fill("eu-central-1");
  const rules = dialog.getByLabel("Signed requests");
  await rules.fill("POST my-bucket/films/");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(rules).toHaveAccessibleDescription(/Write each line as GET,PUT/);
  await rules.fill("GET,PUT my-bucket/films/");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("eu-central-1");

  await row.getByRole("button", { name: "Edit Archive" }).click();
  await expect(rules).toHaveValue("GET,PUT my-bucket/films/");
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await row.getByRole("button", { name: "Delete Archive" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(row).toHaveCount(0);
  expect((await ask<Connection[]>(served, "GET", "/connections")).value).toEqual([]);
  await s3.close();
});

test("an endpoint gets a task's event, signed with the secret shown once; replays it, and pauses, rotates and deletes the endpoint", async ({
  page,
  served,
}) => {
  const [receiver, origin] = await Promise.all([startReceiver(), startOrigin()]);
  const hook = receiver.serve("/hook");
  const sound = await makeClip("wav", "-f lavfi -i sine=frequency=440:duration=1".split(" "));
  await openConsole(page, served, "webhooks");
  await page.getByRole("button", { name: "New endpoint" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("URL").fill(hook);
  await dialog.getByLabel("Everything").uncheck();
  await expect(dialog.getByLabel("task.succeeded")).toBeChecked();
  await dialog.getByLabel("task.failed").uncheck();
  await dialog.getByRole("button", { name: "Create" }).click();
  const secret = (await dialog.getByTestId("secret").textContent()) ?? "";
  expect(secret).toMatch(/^whsec_/);
  await saveSecret(page, `FRAMEWRIGHT_WEBHOOK_SECRET=${secret}\n`);
  await expectNowhere(page, secret);

  const input = origin.serve("/tone.wav", { file: sound, mime: "audio/wav" });
  const { value: task } = await ask<Task>(served, "POST", "/tasks", { input, kind: "audio" });
  const webhookCalls = () => receiver.requests("/hook").filter(({ event }) => event.data.id === task.id);
  await expect.poll(() => webhookCalls().length).toBe(1);
  const [first] = webhookCalls();
  const event = verifyWebhook(first?.body ?? "", first?.headers ?? {}, secret);
  expect(event).toMatchObject({ kind: "task.succeeded", data: { id: task.id, status: "succeeded" } });
  const deliveries = page.getByRole("region", { name: "Deliveries" });
  // Other flows may finish tasks of this project meanwhile.
  const { value: sent } = await ask<WebhookDelivery[]>(served, "GET", "/webhooks/deliveries?limit=100");
  const row = deliveries.locator(`[data-id="${sent.find(({ event_id }) => event_id === event.id)?.id}"]`);
  await expect(row).toContainText("Delivered");
  await expect(row).toContainText("1 · 200");
  await row.getByRole("button", { name: /Details/ }).click();
  await expect(deliveries).toContainText(event.id);
  await expect(page.getByRole("region", { name: "Events" })).toContainText(task.id);

  const before = webhookCalls().length;
  await row.getByRole("button", { name: /Replay/ }).click();
  await expect.poll(() => webhookCalls().length).toBeGreaterThan(before);
  expect(webhookCalls().at(-1)?.headers["webhook-id"]).toBe(event.id);
  await expect(row).toContainText("2 · 200");

  const endpoint = page.getByRole("region", { name: "Endpoints" }).getByRole("row").filter({ hasText: hook });
  await endpoint.getByRole("button", { name: /^Pause/ }).click();
  await expect(endpoint).toContainText("Paused");
  await endpoint.getByRole("button", { name: /^Resume/ }).click();
  await expect(endpoint).toContainText("Active");
  await endpoint.getByRole("button", { name: /^New secret/ }).click();
  await dialog.getByRole("button", { name: "Create a new secret" }).click();
  await expect(dialog.getByTestId("secret")).toContainText("whsec_");
  await expect(dialog.getByTestId("secret")).not.toHaveText(secret);
  // A secret closes only once it is copied or saved.
  for (const key of ["Escape", "Escape", "Escape"]) await page.keyboard.press(key);
  await expect(dialog.getByRole("alert")).toHaveText("Copy or save it first: it can't be shown again.");
  await expect(dialog.getByTestId("secret")).toContainText("whsec_");
  await expect(dialog.getByRole("button", { name: "Done" })).toBeDisabled();
  // The focus is on the button that saves it.
  await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  await expect(dialog.getByRole("alert")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await endpoint.getByRole("button", { name: /^Delete/ }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(endpoint).toHaveCount(0);
  await Promise.all([receiver.close(), origin.close()]);
});

test("creates a key limited to its scopes, rolls it and revokes it", async ({
  page,
  served,
  browser,
  context,
  complaints,
}) => {
  await clear(served, "/keys");
  await openConsole(page, served, "keys");
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(dialog.getByLabel("Name")).toHaveAccessibleDescription(/1 to 100/);
  complaints.length = 0;
  await dialog.getByLabel("Name").fill("Reader");
  await dialog.getByLabel("write").uncheck();
  await dialog.getByRole("button", { name: "Create" }).click();
  const secret = (await dialog.getByTestId("secret").textContent()) ?? "";
  await expect(dialog.getByRole("button", { name: "Done" })).toBeDisabled();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await dialog.getByRole("button", { name: "Copy" }).click();
  await expect(dialog.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await dialog.getByRole("button", { name: "Done" }).click();
  await expectNowhere(page, secret);
  const row = page.getByRole("row").filter({ hasText: "Reader" });
  await expect(row).toContainText("read");

  const elsewhere = await browser.newContext();
  const reader = await elsewhere.newPage();
  await openConsole(reader, { ...served, console_key: secret }, "keys");
  await expect(reader.getByText("may not manage keys")).toBeVisible();
  await elsewhere.close();

  await row.getByRole("button", { name: "Roll Reader" }).click();
  await dialog.getByRole("button", { name: "Roll" }).click();
  const rolled = (await dialog.getByTestId("secret").textContent()) ?? "";
  expect(rolled).not.toBe(secret);
  await saveSecret(page, `FRAMEWRIGHT_API_KEY=${rolled}\n`);
  await row.getByRole("button", { name: "Revoke Reader" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(row).toHaveCount(0);
  const { value: left } = await ask<NewApiKey[]>(served, "GET", "/keys");
  expect(left.filter(({ name }) => name === "Reader")).toEqual([]);
  // Never used before, so no cache accepts it.
  expect((await ask({ ...served, console_key: rolled }, "GET", "/tasks")).status).toBe(401);
});

/** Saves the secret that a dialog shows, expects these contents in the file, and closes the dialog. */
async function saveSecret(page: Page, contents: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Done" })).toBeDisabled();
  const save = dialog.getByRole("button", { name: "Save as .env" });
  const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
  expect(download.suggestedFilename()).toBe("framewright.env");
  expect(await readFile(await download.path(), "utf8")).toBe(contents);
  await dialog.getByRole("button", { name: "Done" }).click();
}
