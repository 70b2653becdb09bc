import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  begun,
  ceph,
  MB,
  object,
  open,
  parts,
  partsThere,
  pattern,
  proxy,
  reopen,
  rig,
  upload,
  wait,
  wave,
} from "./client-s3-lab.ts";

test("an upload resumes after a reload, without sending any stored part again", async () => {
  const size = 16 * MB + 5;
  proxy.fail(({ part }) => (part !== null && part > 2 ? "hold" : null));
  const id = await upload("resumed", size);
  await expect.poll(() => partsThere("resumed"), { timeout: 60_000, interval: 100 }).toEqual([1, 2]);
  await rig.lab.page.goto(rig.lab.url);
  proxy.fail(null);
  await open();
  expect((await wait(id)).error).toBe(null);
  expect(begun()).toBe(0);
  expect(parts().sort()).toEqual([3, 4]);
  const { bytes, mime } = await object("resumed");
  expect([bytes.equals(pattern(size)), mime]).toEqual([true, "video/mp4"]);
});

test("a lost network during an upload is a clear error, and a retry resumes the upload without encoding again", async () => {
  proxy.fail(({ part }) => (part !== null && part > 1 ? "cut" : null));
  const failed = await wave("tone.wav");
  expect([failed.status, failed.error]).toEqual([
    "failed",
    {
      kind: "upload_failed",
      message: `The storage at ${new URL(proxy.url).host} could not be reached.`,
      retryable: true,
      reason: { code: "no_answer", from: "storage", host: new URL(proxy.url).host },
      step_id: failed.steps[3]?.id,
    },
  ]);
  expect(await ceph.unfinished("pages")).toEqual(["tone.wav"]);
  proxy.fail(null);
  const retry = await rig.lab.page.evaluate(async (id) => {
    const done = await kit.client.tasks.wait(await kit.client.tasks.retry(id));
    const bytes = await (await (await kit.client.output(done)).blob()).arrayBuffer();
    return { done, hash: [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))] };
  }, failed.id);
  expect([retry.done.status, retry.done.error]).toEqual(["succeeded", null]);
  expect([begun(), parts().sort()]).toEqual([0, [2]]);
  const { bytes } = await object("tone.wav");
  expect(bytes.length).toBeGreaterThan(5 * MB);
  expect([...createHash("sha256").update(bytes).digest()]).toEqual(retry.hash);
  const output = retry.done.steps[2]?.output;
  expect(output?.url).toBe(`opfs:/s3/out/${retry.done.id}/tone.wav`);

  // The first retry took over the stored parts, so a second one starts from scratch.
  const second = await rig.lab.page.evaluate(
    async (id) => kit.client.tasks.wait(await kit.client.tasks.retry(id)),
    failed.id,
  );
  expect([second.status, second.error]).toEqual(["succeeded", null]);
  expect(parts().sort()).toEqual([1, 2, 2]);
});

test("an upload waits while the page is offline", async () => {
  // Load the worker while there is a network.
  await rig.lab.page.evaluate(() => kit.client.tasks.list());
  await rig.lab.context.setOffline(true);
  const id = await upload("offline", 6 * MB);
  const status = () => rig.lab.page.evaluate(async (run) => (await kit.client.steps.get(run)).status, id);
  await expect.poll(status, { timeout: 20_000 }).toBe("processing");
  expect(proxy.log).toEqual([]);
  await rig.lab.context.setOffline(false);
  expect((await wait(id)).error).toBe(null);
  expect((await object("offline")).bytes.equals(pattern(6 * MB))).toBe(true);
});

test("an upload that is cancelled, forbidden, or failed and then deleted or too old for a retry leaves nothing in the bucket", async () => {
  proxy.fail(({ part }) => (part === 3 ? { status: 503 } : null));
  const cancelled = await upload("cancelled", 11 * MB);
  await expect.poll(() => proxy.log.some(({ part }) => part === 3), { timeout: 20_000 }).toBe(true);
  await rig.lab.page.evaluate((id) => kit.client.steps.cancel(id), cancelled);
  await expect.poll(() => ceph.unfinished("pages"), { timeout: 20_000 }).toEqual([]);

  proxy.fail(({ part }) => (part === 2 ? { status: 403, code: "AccessDenied" } : null));
  const { error } = await wait(await upload("refused", 11 * MB));
  expect([error?.kind, error?.retryable]).toEqual(["upload_forbidden", false]);
  expect(await ceph.unfinished("pages")).toEqual([]);

  await reopen("signed");
  const failed = await wave("deleted.wav");
  expect(failed.error?.kind).toBe("upload_failed");
  expect(await ceph.unfinished("pages")).toEqual(["deleted.wav"]);
  await rig.lab.page.evaluate((id) => kit.client.tasks.delete(id), failed.id);
  expect(await ceph.unfinished("pages")).toEqual([]);
  const stored = await rig.lab.page.evaluate(() => kit.stored());
  expect(stored.filter((path) => path.includes(failed.id))).toEqual([]);

  const old = await wave("deleted.wav");
  expect([old.error?.kind, await ceph.unfinished("pages")]).toEqual(["upload_failed", ["deleted.wav"]]);
  await reopen("signed", { keepSeconds: 0 });
  await expect.poll(() => ceph.unfinished("pages"), { timeout: 20_000 }).toEqual([]);
  const pieces = () =>
    rig.lab.page.evaluate(async (id) => {
      const opening = indexedDB.open("s3");
      await new Promise((resolve) => opening.addEventListener("success", resolve));
      const reading = opening.result.transaction("pieces").objectStore("pieces").getAllKeys();
      await new Promise((resolve) => reading.addEventListener("success", resolve));
      opening.result.close();
      return reading.result.filter((key) => String(key).includes(id));
    }, old.id);
  await expect.poll(pieces).toEqual([]);
});
