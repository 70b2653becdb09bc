import type { Page } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  await rig.serve(await clip("jpeg"), "picture.jpg");
});
afterAll(() => rig?.close());

const OPTIONS = { name: "late", encoderWorkers: 1 } as const;
const workersOf = (page: Page) => page.workers().map((worker) => new URL(worker.url()).pathname);
const MEDIA_WORKER = "/src/browser/media-worker/media-worker.ts";

test("a first visit loads the media worker when it asks for something, or another tab has a run; a later one at once", async () => {
  const { page } = rig.lab;
  const other = await rig.lab.newPage();
  await openKit(page, OPTIONS);
  await openKit(other, OPTIONS);
  expect(await page.evaluate(() => indexedDB.databases())).toEqual([]);
  expect([...workersOf(page), ...workersOf(other)]).toEqual([]);

  // There can be none where none was ever created.
  const none = { records: [], more: false };
  expect(await other.evaluate(() => kit.client.tasks.list())).toEqual(none);
  expect(await other.evaluate(() => kit.client.steps.list({}))).toEqual(none);
  expect(workersOf(other)).toEqual([]);
  expect(await other.evaluate(() => kit.client.tasks.list({ limit: 5 }))).toEqual(none);
  expect(workersOf(other)).toContain(MEDIA_WORKER);
  expect(workersOf(page)).toEqual([]);

  const status = await other.evaluate(async () => {
    const input = await kit.file("/files/picture.jpg");
    const { client } = kit;
    return (
      await client.tasks.wait(await client.tasks.create({ input, kind: "image", options: { width: 40 } }))
    ).status;
  });
  expect(status).toBe("succeeded");
  await expect.poll(() => workersOf(page), { timeout: 60_000 }).toContain(MEDIA_WORKER);

  await page.reload();
  await openKit(page, OPTIONS);
  await expect.poll(() => workersOf(page), { timeout: 60_000 }).toContain(MEDIA_WORKER);
  expect(rig.lab.complaints).toEqual([]);
});

test("a client that was closed before it was asked for anything starts nothing", async () => {
  const { page } = rig.lab;
  await page.evaluate(() => kit.client.close());
  await openKit(page, { ...OPTIONS, name: "late-closed" });
  const told = await page.evaluate(async () => {
    await kit.client.close();
    return kit.client.tasks.list().catch((error: { kind: string }) => error.kind);
  });
  expect(told).toBe("service_unavailable");
  await expect.poll(() => workersOf(page), { timeout: 60_000 }).toEqual([]);
});
