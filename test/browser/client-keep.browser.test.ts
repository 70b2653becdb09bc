import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { type ClientLab, openClientLab, openKit, spoilWorkers } from "./client-rig.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  await rig.serve(await clip("png"), "picture.png");
  await rig.serve(await clip("mp4", { seconds: 24 }), "long.mp4");
});
afterAll(() => rig?.close());
beforeEach(async () => {
  await rig.lab.page.goto(rig.lab.url);
  await openKit(rig.lab.page, { name: "keep" });
  return async () => {
    await rig.lab.page.evaluate(() => kit.client.close());
    expect(rig.lab.complaints.splice(0)).toEqual([]);
  };
});

const make = () =>
  rig.lab.page.evaluate(async () => {
    const input = await kit.file("/files/picture.png", "my picture.png");
    const options = { format: "webp", width: 40 } as const;
    const task = await kit.client.tasks.create({ input, kind: "image", options });
    return kit.client.tasks.wait(task);
  });

test("after a reload a task still has its output, and its file can be retried", async () => {
  const done = await make();
  expect(done.error).toBe(null);
  await rig.lab.page.reload();
  await openKit(rig.lab.page, { name: "keep" });
  const seen = await rig.lab.page.evaluate(async (before) => {
    const { client } = kit;
    const stored = await client.tasks.get(before.id);
    const size = (await (await client.output(stored.id)).blob()).size;
    const retry = await client.tasks.retry(before.id);
    const after = await client.tasks.wait(retry);
    const { records } = await client.tasks.list();
    return { stored, size, retry, after, listed: records.map(({ id }) => id) };
  }, done);
  const { stored, retry, after } = seen;
  expect(stored).toEqual(done);
  expect(seen.size).toBe(done.steps.at(-1)?.output?.filesize);
  expect([retry.status, retry.input, after.status]).toEqual(["queued", "file:my picture.png", "succeeded"]);
  expect(seen.listed).toEqual([retry.id, done.id]);
});

test("an extra file survives a reload, serves a retry, and goes with its tasks", async () => {
  const { page } = rig.lab;
  await rig.serve(await clip("mp4"), "short.mp4");
  const { id, before } = await page.evaluate(async () => {
    const before = (await kit.client.usage()).inputs;
    const [input, logo] = await Promise.all([kit.file("/files/short.mp4"), kit.file("/files/picture.png")]);
    const options = { width: 64, overlay: { url: logo, width: "50%" } } as const;
    return { id: (await kit.client.tasks.create({ input, kind: "video", options })).id, before };
  });
  await page.reload();
  await openKit(page, { name: "keep" });
  const seen = await page.evaluate(async (task) => {
    const { client } = kit;
    const first = await client.tasks.wait(task);
    const second = await client.tasks.wait(await client.tasks.retry(task));
    const inputBytes = (await client.usage()).inputs;
    for (const each of [first, second]) await client.tasks.delete(each.id);
    return {
      ends: [first, second].map(({ status, error }) => [status, error]),
      inputBytes,
      after: await client.usage(),
    };
  }, id);
  expect(seen.ends).toEqual([
    ["succeeded", null],
    ["succeeded", null],
  ]);
  expect(seen.inputBytes).toBeGreaterThan(before);
  expect([seen.after.inputs, seen.after.work]).toEqual([before, 0]);
});

test("asks the browser only once for persistent storage", async () => {
  const { page } = rig.lab;
  const storage = await page.evaluate(async () => {
    localStorage.clear();
    const { persist } = StorageManager.prototype;
    let requests = 0;
    StorageManager.prototype.persist = function (this: StorageManager) {
      requests++;
      return persist.call(this);
    };
    const create = async () => {
      const input = await kit.file("/files/picture.png");
      await kit.client.tasks.wait(
        await kit.client.tasks.create({ input, kind: "image", options: { width: 8 } }),
      );
    };
    await create();
    await create();
    StorageManager.prototype.persist = persist;
    return { requests, keys: Object.keys(localStorage) };
  });
  // A browser that already persists storage is not asked; this one does not.
  expect(storage).toEqual({ requests: 1, keys: ["keep asked to keep storage"] });
});

test("clears old outputs but keeps their records, and cancels old runs whose file is gone", async () => {
  const done = await make();
  const lost = await rig.lab.page.evaluate(async () => {
    const origin = await navigator.storage.getDirectory();
    const input = await origin.getFileHandle("lost.mp4", { create: true });
    await (await kit.file("/files/long.mp4")).stream().pipeTo(await input.createWritable());
    const { id } = await kit.client.tasks.create({ input, kind: "video", options: { width: 240 } });
    await kit.client.close();
    await origin.removeEntry("lost.mp4");
    return id;
  });
  // Records of a week are not old yet.
  await openKit(rig.lab.page, { name: "keep" });
  const waits = await rig.lab.page.evaluate(async (task) => {
    for await (const { waiting } of kit.client.watch(task)) if (waiting) break;
    const { status } = await kit.client.tasks.get(task);
    await kit.client.close();
    return status;
  }, lost);
  expect(["queued", "processing"]).toContain(waits);
  await openKit(rig.lab.page, { name: "keep", keepSeconds: 0 });
  await expect.poll(() => rig.lab.page.evaluate(() => kit.stored()), { timeout: 120_000 }).toEqual([]);
  const seen = await rig.lab.page.evaluate(
    async ([id, lost]) => {
      const kindOf = (work: Promise<unknown>) =>
        work.then(
          () => null,
          (thrown: unknown) => Reflect.get(Object(thrown), "kind"),
        );
      const { status } = await kit.client.tasks.get(id);
      return [
        status,
        (await kit.client.tasks.wait(lost)).status,
        await kindOf(kit.client.output(id)),
        await kindOf(kit.client.tasks.retry(id)),
      ];
    },
    [done.id, lost] as const,
  );
  expect(seen).toEqual(["succeeded", "cancelled", "media_not_found", "invalid_input"]);
});

test("chains steps on a file: probe, ingest, image", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client } = kit;
    const run = async (request: Parameters<typeof client.steps.create>[0]) => {
      const done = await client.steps.wait(await client.steps.create(request));
      if (!done.output) throw new Error(JSON.stringify(done.error));
      return done.output;
    };
    const input = await kit.file("/files/picture.png");
    const probe = await run({ kind: "probe", input });
    const ingest = await run({ kind: "ingest", input: probe });
    const image = await run({ kind: "image", input: ingest, options: { format: "jpeg", width: 32 } });
    const direct = await run({ kind: "image", input, options: { format: "jpeg", width: 24 } });
    return [probe, ingest, image, direct].map(({ url, format, width }) => [url, format, width]);
  });
  expect(seen).toEqual([
    [expect.stringMatching(/^file:picture\.png#step_\w+$/), "png", 160],
    [expect.stringMatching(/^opfs:\/keep\/out\/step_\w+\/picture$/), "png", 160],
    [expect.stringMatching(/^opfs:\/keep\/out\/step_\w+\/picture\.jpg$/), "jpeg", 32],
    [expect.stringMatching(/^opfs:\/keep\/out\/step_\w+\/picture\.jpg$/), "jpeg", 24],
  ]);
});

test("rejects or fails with the right error kind: bad metadata, missing or empty input, no connection, full storage, closed client", async () => {
  const session = await rig.lab.context.newCDPSession(rig.lab.page);
  const { origin } = new URL(rig.lab.url);
  const seen = await rig.lab.page.evaluate(async () => {
    const kindOf = (work: Promise<unknown>) =>
      work.then(
        (value) => Reflect.get(Object(value), "error")?.kind,
        (thrown: unknown) => Reflect.get(Object(thrown), "kind"),
      );
    const { client } = kit;
    const input = await kit.file("/files/picture.png");
    const metadata = { call: () => 1 };
    const missing = client.tasks.create({ input: "opfs:/nowhere/film.mp4", kind: "image" });
    const empty = client.tasks.create({ input: new Blob([]), kind: "image" });
    const kinds = [
      await kindOf(client.tasks.create({ input, kind: "image", metadata })),
      await kindOf(client.tasks.wait(await missing)),
      await kindOf(client.tasks.wait(await empty)),
      await kindOf(client.tasks.create({ input, kind: "image", output: "s3://bucket/key" })),
      await kindOf(client.tasks.create({ input: "s3://bucket/key", kind: "image" })),
    ];
    return kinds;
  });
  expect(seen).toEqual([
    ...["request_invalid", "input_not_found", "input_unsupported"],
    ...["connection_required", "connection_required"],
  ]);
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1 });
  const full = await rig.lab.page.evaluate(async () => {
    const input = await kit.file("/files/picture.png");
    return kit.client.tasks.create({ input, kind: "image" }).then(
      async (task) => (await kit.client.tasks.wait(task)).error?.kind,
      (thrown: unknown) => Reflect.get(Object(thrown), "kind"),
    );
  });
  await session.send("Storage.overrideQuotaForOrigin", { origin });
  expect(full).toBe("storage_full");
  const closed = await rig.lab.page.evaluate(async () => {
    await kit.client.close();
    return kit.client.tasks.list().catch((thrown: unknown) => Reflect.get(Object(thrown), "kind"));
  });
  expect(closed).toBe("service_unavailable");
});

// OPFS files are always readable, so this stubs the permission API, in the workers and in the page.
const forbidding = (state: string) => `
  const { getFile } = FileSystemFileHandle.prototype;
  Object.assign(FileSystemFileHandle.prototype, {
    getFile() {
      if (this.name !== "film.mp4") return getFile.call(this);
      return Promise.reject(new DOMException("It is not allowed.", "NotAllowedError"));
    },
    queryPermission: async () => "${state}",
    async requestPermission() {
      if ("${state}" === "prompt") throw new DOMException("There was no click.", "SecurityError");
      return "${state}";
    },
  });`;

test.for([
  {
    state: "prompt",
    reason: "permission",
    resumed: /^The browser asks whether film\.mp4 may be read only after a click: call resume\(\)/,
  },
  {
    state: "denied",
    reason: "gone",
    resumed: /^The visitor did not allow film\.mp4 to be read: pass the file, chosen again, to resume/,
  },
] as const)(
  "a handle whose permission is $state after a reload waits, and errors say how to resume",
  async ({ state, reason, resumed }) => {
    const { page } = rig.lab;
    const id = await page.evaluate(async () => {
      const origin = await navigator.storage.getDirectory();
      const input = await origin.getFileHandle("film.mp4", { create: true });
      await (await kit.file("/files/long.mp4")).stream().pipeTo(await input.createWritable());
      return (await kit.client.tasks.create({ input, kind: "video", options: { width: 240 } })).id;
    });
    await page.reload();
    await spoilWorkers(page, forbidding(state));
    await page.addScriptTag({ content: forbidding(state) });
    await openKit(page, { name: "keep" });
    const seen = await page.evaluate(async (task) => {
      const { client } = kit;
      const { createRemoteClient } = await import("../../src/client/remote.ts");
      const remote = createRemoteClient({ baseUrl: location.origin, apiKey: "key" });
      const input = await (await navigator.storage.getDirectory()).getFileHandle("film.mp4");
      const refusal = (call: Promise<unknown>) =>
        call.then(
          () => "resolved",
          (thrown: unknown) => ["name", "kind", "message"].map((name) => Reflect.get(Object(thrown), name)),
        );
      for await (const _ of client.watch(task)) if (await client.waiting(task)) break;
      const calls = [
        client.resume(task),
        client.tasks.create({ input, kind: "video" }),
        remote.tasks.create({ input, kind: "video" }),
      ];
      const refusals = await Promise.all(calls.map(refusal));
      const waiting = await client.waiting(task);
      await client.tasks.cancel(task);
      await client.tasks.delete(task);
      return { refusals, waiting };
    }, id);
    expect(seen.waiting).toEqual({ name: "film.mp4", size: expect.any(Number), reason });
    const created =
      /^The file film\.mp4 may not be read before the visitor allows it: call requestPermission\(\)/;
    expect(seen.refusals).toEqual(
      [resumed, created, created].map((words) => [
        "MediaError",
        "input_unreachable",
        expect.stringMatching(words),
      ]),
    );
  },
);
