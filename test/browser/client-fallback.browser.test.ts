import { randomUUID } from "node:crypto";
import type { Route } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { type ClientLab, openClientLab } from "./client-rig.ts";

let rig: ClientLab;
let edge: Rig;
let remote: { baseUrl: string; apiKey: string; url: string; slow: string };
beforeAll(async () => {
  [rig, edge] = await Promise.all([openClientLab(), openRig()]);
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
  const [file, long] = await Promise.all([clip("mp4"), clip("mp4", { seconds: 24 })]);
  remote = {
    ...{ baseUrl: edge.url, apiKey: edge.key },
    url: edge.origin.serve("/clip.mp4", { file, mime: "video/mp4", headers }),
    // It takes longer to arrive than a test may last.
    slow: edge.origin.serve("/slow.mp4", {
      ...{ file: long, mime: "video/mp4", headers },
      bytes_per_second: 20_000,
    }),
  };
});
afterAll(() => Promise.all([rig?.close(), edge?.close()]));

/** Opens a client that falls back to the service, on the stored state of an earlier client of the same name. */
const open = (name: string, with_fallback = true) =>
  rig.lab.page.evaluate(
    async ({ name, baseUrl, apiKey, with_fallback }) => {
      const { openClientKit } = await import("./client.page.ts");
      const { createRemoteClient } = await import("../../src/client/remote.ts");
      const fallback = createRemoteClient({ baseUrl, apiKey, poll: { firstMs: 20, maxMs: 200 } });
      openClientKit({ name, ...(with_fallback && { fallback }) });
      Object.assign(globalThis, { fallback });
    },
    { name, with_fallback, ...remote },
  );

/** Loses the answer of the service that creates the page's next task; `answered` resolves to the id of that task. */
async function loseAnswer(): Promise<{ answered: Promise<string> }> {
  const { promise: answered, resolve } = Promise.withResolvers<string>();
  const answer = async (route: Route) => resolve((await (await route.fetch()).json()).id);
  await rig.lab.page.route(`${remote.baseUrl}/tasks`, answer, { times: 1 });
  return { answered };
}

/** Returns the states of the service's tasks with a tag in their metadata. */
async function statusesThere(tag: string): Promise<string[]> {
  const { body } = await edge.door.request<Task[]>("GET", "/tasks");
  return body.filter(({ metadata }) => metadata.tag === tag).map(({ status }) => status);
}

test("runs a task that no encoder here supports on the fallback, and records that in the task", async () => {
  await open("elsewhere");
  const seen = await rig.lab.page.evaluate(async ({ url }) => {
    const { client } = kit;
    const options = { codec: "h265", width: 80 } as const;
    const task = await client.tasks.create({ input: url, kind: "video", options, metadata: { tag: 1 } });
    const updates: string[] = [];
    const percents: number[] = [];
    const choices = new Set<string>();
    client.on(task, "update", ({ record, progress, choice }) => {
      if (choice) choices.add(JSON.stringify(choice));
      if (updates.at(-1) !== record.status) updates.push(record.status);
      percents.push(progress ?? 0);
    });
    const done = await client.tasks.wait(task);
    const output = await client.output(done);
    const bytes = await kit.base64(await output.blob());
    const [there] = (await (globalThis as unknown as { fallback: typeof client }).fallback.tasks.list())
      .records;
    const steps = [task, done].map(({ steps }) => steps.map(({ id }) => id));
    await client.tasks.delete(task.id);
    return { task, done, bytes, there, steps, updates, percents, choices: [...choices] };
  }, remote);
  const { task, done, there } = seen;
  expect([done.status, done.error, done.id, done.metadata]).toEqual(["succeeded", null, task.id, { tag: 1 }]);
  expect(there).toMatchObject({ status: "succeeded", metadata: { tag: 1 }, output: done.output });
  expect(seen.steps[1]).toEqual(seen.steps[0]);
  // The first update may come late.
  const { updates, percents } = seen;
  expect(updates).toEqual(["queued", "processing", "succeeded"].slice(-updates.length));
  expect(percents).toEqual(percents.toSorted((a, b) => a - b));
  const source = done.steps.at(-1)?.output;
  expect(source?.encoder).toBe("native");
  expect(seen.choices).toEqual([
    JSON.stringify({ encoder: source?.encoder, reason: source?.reason, refusals: source?.refusals }),
  ]);
  expect(source?.refusals).toContainEqual({ encoder: "wasm", code: "output_codec", codec: "h265" });
  const { streams } = await rig.judge(seen.bytes, "out.mp4");
  expect(streams.map(({ codec_name, width }) => [codec_name, width])).toEqual([
    ["hevc", 80],
    ["aac", undefined],
  ]);
});

test("sends a file that no encoder here supports to the fallback", async () => {
  await open("sent");
  const seen = await rig.lab.page.evaluate(async ({ url }) => {
    const { client } = kit;
    const input = new File([await (await fetch(url)).blob()], "mine.mp4", { type: "video/mp4" });
    const options = { codec: "h265", width: 80 } as const;
    const task = await client.tasks.create({ input, kind: "video", options });
    const uploads: ({ sent: number; size: number } | null | undefined)[] = [];
    client.on(task, "update", ({ upload }) => uploads.push(upload));
    const done = await client.tasks.wait(task);
    const isDone = done.status === "succeeded";
    const bytes = isDone ? await kit.base64(await (await client.output(done)).blob()) : "";
    const { fallback } = globalThis as unknown as { fallback: typeof client };
    const [there] = (await fallback.tasks.list({ limit: 1 })).records;
    return { done, bytes, there, uploads, size: input.size };
  }, remote);
  const { done, there, size } = seen;
  // Updates report an upload only while one is in progress.
  const from = seen.uploads.findIndex((upload) => upload !== null);
  const uploads = seen.uploads.slice(from, seen.uploads.indexOf(null, from));
  expect([seen.uploads[0], seen.uploads.at(-1), uploads.at(-1)]).toEqual([null, null, { sent: size, size }]);
  expect(uploads).toEqual(uploads.toSorted((a, b) => (a?.sent ?? 0) - (b?.sent ?? 0)));
  expect([done.status, done.error, done.input]).toEqual(["succeeded", null, "file:mine.mp4"]);
  expect(there).toMatchObject({ status: "succeeded", output: done.output });
  expect(done.steps.at(-1)?.output?.encoder).toBe("native");
  const { streams } = await rig.judge(seen.bytes, "sent.mp4");
  expect(streams.map(({ codec_name, width }) => [codec_name, width])).toEqual([
    ["hevc", 80],
    ["aac", undefined],
  ]);
});

test("a step says that the fallback was not asked; without a fallback the error lists only the refusals", async () => {
  const skipped = " The fallback was not asked: it runs tasks, and this step stands alone.";
  for (const [name, with_fallback, end, fallback] of [
    ["step", true, skipped, "standalone_step"],
    ["alone", false, "", undefined],
  ] as const) {
    await open(name, with_fallback);
    const error = await rig.lab.page.evaluate(async ({ url }) => {
      const input = { object: "source", url, kind: "video", format: "mp4" } as const;
      const step = await kit.client.steps.create({ kind: "video", input, options: { codec: "h265" } });
      return (await kit.client.steps.wait(step)).error;
    }, remote);
    expect([error?.kind, error?.fallback]).toEqual(["encoder_unavailable", fallback]);
    expect(error?.message).toMatch(/^No encoder here can do this \(copy: .*; webcodecs: [^;]*\)\./);
    expect(error?.message.split(/\)\.(?= |$)/).at(-1)).toBe(end);
  }
});

test("follows a task on the fallback after a reload that lost the answer, leaves it alone on close, waits for a lost network, and cancels it there", async () => {
  const { page } = rig.lab;
  // The task of a failed try must not count in the next one.
  const name = `followed-${randomUUID()}`;
  const cancels: string[] = [];
  page.on("request", (request) => request.url().endsWith("/cancel") && cancels.push(request.url()));
  await open(name);
  const { answered } = await loseAnswer();
  const id = await page.evaluate(
    async ({ slow: input, name: tag }) => {
      const options = { codec: "h265", width: 80 } as const;
      return (await kit.client.tasks.create({ input, kind: "video", options, metadata: { tag } })).id;
    },
    { ...remote, name },
  );
  const there = await answered;
  await expect.poll(() => statusesThere(name)).toEqual(["processing"]);
  await page.reload();
  const request = Promise.withResolvers<Route>();
  await page.route(`${remote.baseUrl}/tasks/*`, request.resolve);
  await open(name);
  const answer = await request.promise;
  await page.evaluate(() => kit.client.close());
  await page.unroute(`${remote.baseUrl}/tasks/*`);
  // The closed client may have dropped the request.
  await answer.continue().catch(() => {});
  expect(new URL(answer.request().url()).pathname).toBe(`/tasks/${there}`);
  expect([await statusesThere(name), cancels]).toEqual([["processing"], []]);

  let lost = 0;
  await page.route(`${remote.baseUrl}/**`, async (route) => {
    await route.abort();
    lost++;
  });
  await open(name);
  // More often than a request that is not patient.
  await expect.poll(() => lost).toBeGreaterThan(4);
  await page.unroute(`${remote.baseUrl}/**`);
  const here = await page.evaluate(async (id) => {
    const { client } = kit;
    await new Promise<void>((resolve) => {
      client.on(id, "update", ({ record }) => record.status === "processing" && resolve());
    });
    await client.tasks.cancel(id);
    return (await client.tasks.get(id)).status;
  }, id);
  expect(here).toBe("cancelled");
  await expect.poll(() => statusesThere(name)).toEqual(["cancelled"]);
});

test("a file whose task was created before a reload is converted once, by the same task", async () => {
  const name = `sent-${randomUUID()}`;
  await open(name);
  const { answered } = await loseAnswer();
  const id = await rig.lab.page.evaluate(
    async ({ url, name: tag }) => {
      const input = new File([await (await fetch(url)).blob()], "mine.mp4", { type: "video/mp4" });
      const options = { codec: "h265", width: 80 } as const;
      return (await kit.client.tasks.create({ input, kind: "video", options, metadata: { tag } })).id;
    },
    { ...remote, name },
  );
  await answered;
  await rig.lab.page.reload();
  await open(name);
  const done = await rig.lab.page.evaluate((id) => kit.client.tasks.wait(id), id);
  expect([done.status, done.error, done.input]).toEqual(["succeeded", null, "file:mine.mp4"]);
  expect(await statusesThere(name)).toEqual(["succeeded"]);
});

test("a task fails when the fallback no longer shows how it goes on, and makes room for others", async () => {
  const { page } = rig.lab;
  const seen = await page.evaluate(async ({ slow, baseUrl, apiKey }) => {
    const { openClientKit } = await import("./client.page.ts");
    const { createRemoteClient } = await import("../../src/client/remote.ts");
    const owner = createRemoteClient({ baseUrl, apiKey });
    const { id: key, secret } = await owner.keys.create({ name: "page", scopes: ["read", "write"] });
    const fallback = createRemoteClient({ baseUrl, apiKey: secret ?? "", poll: { firstMs: 20, maxMs: 200 } });
    openClientKit({ name: "revoked", fallback });
    const { client } = kit;
    const options = { codec: "h265", width: 80 } as const;
    const task = await client.tasks.create({ input: slow, kind: "video", options });
    const going = async () => (await owner.tasks.list({ status: "processing" })).records[0]?.id;
    let there = await going();
    for (; !there; there = await going()) await new Promise((resolve) => setTimeout(resolve, 50));
    await owner.keys.revoke(key);
    const { status, error } = await client.tasks.wait(task);
    const { outputs, work } = await client.clear();
    await owner.tasks.cancel(there);
    return { status, error, left: [outputs, work] };
  }, remote);
  expect(seen.left).toEqual([0, 0]);
  expect(seen).toMatchObject({ status: "failed", error: { kind: "token_invalid", fallback: "failed" } });
  expect(seen.error?.message).toMatch(/^No encoder .*\. The fallback did not do it: /);
});

test("a task says why the fallback did not run it: it refused the key, or the page no longer has one", async () => {
  const seen = await rig.lab.page.evaluate(async ({ url, baseUrl }) => {
    const { openClientKit } = await import("./client.page.ts");
    const { createRemoteClient } = await import("../../src/client/remote.ts");
    const refusing = createRemoteClient({ baseUrl, apiKey: "another-key", poll: { firstMs: 20 } });
    const options = { codec: "h265", width: 80 } as const;
    openClientKit({ name: "refused", fallback: refusing });
    const refused = await kit.client.tasks.wait(
      await kit.client.tasks.create({ input: url, kind: "video", options }),
    );
    await kit.client.close();
    // It never answers, so the task is still being sent when the client is closed.
    const request = Promise.withResolvers<void>();
    const fetch = () => {
      request.resolve();
      return new Promise<never>(() => {});
    };
    openClientKit({ name: "missing", fallback: createRemoteClient({ baseUrl, apiKey: "key", fetch }) });
    const task = await kit.client.tasks.create({ input: url, kind: "video", options });
    await request.promise;
    await kit.client.close();
    openClientKit({ name: "missing" });
    const missing = await kit.client.tasks.wait(task.id);
    return [refused, missing].map(({ status, error }) => ({ status, error }));
  }, remote);
  const error = (kind: string, fallback: string, message: RegExp) => ({
    ...{ status: "failed" },
    error: expect.objectContaining({ kind, fallback, message: expect.stringMatching(message) }),
  });
  expect(seen).toEqual([
    error("token_invalid", "failed", /^No encoder .*\. The fallback did not do it: /),
    error("encoder_unavailable", "missing", /^No encoder .*\. This page has no fallback to ask\.$/),
  ]);
});
