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
const MEDIA_WORKER = "/workers/media-worker.js";

test("a first visit loads the media worker on the first real call, or when another tab starts a run; a later visit loads it at once", async () => {
  const { page } = rig.lab;
  const other = await rig.lab.newPage();
  await openKit(page, OPTIONS);
  await openKit(other, OPTIONS);
  expect(await page.evaluate(() => indexedDB.databases())).toEqual([]);
  expect([...workersOf(page), ...workersOf(other)]).toEqual([]);

  // A page that has no database has no records, so listing needs no worker.
  const none = { records: [], more: false };
  expect(await other.evaluate(() => kit.client.tasks.list())).toEqual(none);
  expect(await other.evaluate(() => kit.client.steps.list({}))).toEqual(none);
  const aborted = () => kit.client.tasks.list({ signal: AbortSignal.abort("gone") }).catch(String);
  expect(await other.evaluate(aborted)).toBe("gone");
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

test("a client closed before its first call starts no worker", async () => {
  const { page } = rig.lab;
  await page.evaluate(() => kit.client.close());
  await openKit(page, { ...OPTIONS, name: "late-closed" });
  const kind = await page.evaluate(async () => {
    await kit.client.close();
    return kit.client.tasks.list().catch((error: { kind: string }) => error.kind);
  });
  expect(kind).toBe("service_unavailable");
  await expect.poll(() => workersOf(page), { timeout: 60_000 }).toEqual([]);
});
