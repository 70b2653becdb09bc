import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VP9_CORE_FILES } from "../../src/encoders/wasm/core-facts.ts";
import { clip } from "../fixtures/clips.ts";
import { PAGE_CORE_BYTES, PAGE_ENCODER } from "../fixtures/fast-encoder.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { CORE } from "./client-core.ts";
import { type ClientLab, openClientLab, openKit, spoilWorkers } from "./client-rig.ts";

let rig: ClientLab;
let origin: Origin;
let silent: string;
beforeAll(async () => {
  [rig, origin] = await Promise.all([openClientLab(), startOrigin()]);
  silent = origin.serve("/silent.mp4", { silent: true });
  await rig.serve(await clip("mp4"), "clip.mp4");
  await openKit(rig.lab.page, { name: "kept" });
});
afterAll(async () => {
  await rig?.lab.page.evaluate(() => kit.client.close());
  await rig?.close();
  await origin?.close();
});

const usage = () => rig.lab.page.evaluate(() => kit.client.usage());

test("usage() counts what is stored, and clear() frees what is finished", async () => {
  const none = { inputs: 0, work: 0, outputs: 0, records: 0, core: 0, total: 0 };
  expect(await usage()).toEqual(none);
  const output = await rig.lab.page.evaluate(async (silent) => {
    const { client } = kit;
    const input = await kit.file("/files/clip.mp4");
    const options = { format: "mp3" } as const;
    const done = await client.tasks.wait(await client.tasks.create({ input, kind: "audio", options }));
    const probe = await client.steps.wait(await client.steps.create({ kind: "probe", input }));
    const waits = await client.tasks.create({ input: silent, kind: "video" });
    const { size } = await (await client.output(done)).blob();
    return {
      ids: [done.id, probe.id, waits.id],
      input: input.size,
      size,
      statuses: [done.status, probe.status],
    };
  }, silent);
  expect(output.statuses).toEqual(["succeeded", "succeeded"]);
  const stored = await usage();
  // One copy for the task, one for the step.
  expect(stored).toMatchObject({ inputs: 2 * output.input, outputs: output.size, work: 0 });
  expect(stored.records).toBeGreaterThan(1000);
  expect(stored.core).toBe(PAGE_CORE_BYTES);
  expect(stored.total).toBe(stored.inputs + stored.work + stored.outputs + stored.records + stored.core);

  const left = await rig.lab.page.evaluate(() => kit.client.clear());
  expect(left).toMatchObject({ inputs: 0, work: 0, outputs: 0, core: stored.core });
  expect(left.records).toBeGreaterThan(0);
  expect(await usage()).toEqual(left);
  const rest = await rig.lab.page.evaluate(async () => {
    const [tasks, steps] = await Promise.all([kit.client.tasks.list(), kit.client.steps.list()]);
    return { ids: [...tasks.records, ...steps.records].map(({ id }) => id), stored: await kit.stored() };
  });
  expect(rest).toEqual({ ids: [output.ids[2]], stored: [] });

  const everything = await rig.lab.page.evaluate(() => kit.client.clear({ everything: true }));
  expect(everything).toEqual(none);
  const error = await rig.lab.page.evaluate(
    (id) => kit.client.tasks.get(id).catch(({ kind }) => kind),
    output.ids[2] ?? "",
  );
  expect(error).toBe("task_not_found");
});

test("a job stores its file once and reads its URL once, and goes with its last task", async () => {
  const file = await clip("mp4");
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
  const url = origin.serve("/job.mp4", { file, mime: "video/mp4", headers });
  const { size, inputs } = await rig.lab.page.evaluate(async (url) => {
    const { client } = kit;
    const input = await kit.file("/files/clip.mp4");
    const outputs = [
      { kind: "audio", options: { format: "mp3" } },
      { kind: "image", options: { format: "png", width: 40 } },
    ] as const;
    const inputs: unknown[] = [];
    for (const each of [input, url]) {
      const { status } = await client.jobs.wait(await client.jobs.create({ input: each, outputs }));
      inputs.push([status, (await client.usage()).inputs]);
    }
    return { size: input.size, inputs };
  }, url);
  expect(inputs).toEqual([
    ["succeeded", size],
    ["succeeded", size],
  ]);
  await expect.poll(async () => (await usage()).work, { timeout: 60_000 }).toBe(0);
  const stored = await rig.lab.page.evaluate(async () => {
    await kit.client.clear();
    return [(await kit.client.jobs.list()).records, await kit.client.usage(), await kit.stored()];
  });
  // The probe reads a part of it before it is copied.
  const sent = origin.log.filter(({ path }) => path === "/job.mp4").map(({ bytes }) => bytes);
  expect(sent.filter((bytes) => bytes === size)).toHaveLength(1);
  expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(2.5 * size);
  expect(stored).toEqual([[], expect.objectContaining({ inputs: 0, work: 0, outputs: 0, records: 0 }), []]);

  const left = await rig.lab.page.evaluate(async (input) => {
    const { client } = kit;
    const outputs = [{ kind: "audio" }, { kind: "video" }, { kind: "image", after: 1 }] as const;
    const { id, tasks } = await client.jobs.create({ input, outputs });
    await client.tasks.cancel(tasks[0]?.id ?? "");
    await client.clear();
    const job = await client.jobs.get(id);
    return {
      ids: tasks.map((task) => task.id),
      left: job.tasks,
      end: await client.clear({ everything: true }),
    };
  }, silent);
  expect(left.left.map(({ id }) => id)).toEqual(left.ids.slice(1));
  expect(left.end.total).toBe(0);
});

// A response from another origin hides its compression from a page, and its Content-Length counts compressed bytes.
test("a compressed response of another origin is read", async () => {
  const file = gzipSync(await readFile(await clip("wav", { seconds: 1 })));
  const headers = { "Access-Control-Allow-Origin": "*", "Content-Encoding": "gzip" };
  const url = origin.serve("/zipped.wav", { file, mime: "audio/wav", ranges: false, headers });
  const { error, output } = await rig.lab.page.evaluate(async (input) => {
    const { client } = kit;
    return client.tasks.wait(
      await client.tasks.create({ input, kind: "audio", options: { format: "flac" } }),
    );
  }, url);
  expect(error).toBeNull();
  expect(output).not.toBeNull();
});

test("deleting a task ends the watches of it and its steps, also in a tab that missed its end", async () => {
  const other = await rig.lab.newPage();
  await spoilWorkers(
    other,
    `const { addEventListener } = BroadcastChannel.prototype;
    BroadcastChannel.prototype.addEventListener = function (type, listener) {
      addEventListener.call(this, type, (event) => event.data.record?.status === "cancelled" || listener(event));
    };`,
  );
  await openKit(other, { name: "kept" });
  const { id, step } = await rig.lab.page.evaluate(async (input) => {
    const { id, steps } = await kit.client.tasks.create({ input, kind: "video" });
    return { id, step: steps[0]?.id ?? "" };
  }, silent);
  const kinds = other.evaluate(
    async ([task, step]) => {
      const { client } = kit;
      const waits = [client.tasks.wait(task), client.steps.wait(step)];
      for (const run of [task, step]) await client.watch(run).next();
      document.title = step;
      return Promise.all(
        waits.map((wait) =>
          wait.then(
            ({ status }) => status,
            ({ kind }) => kind,
          ),
        ),
      );
    },
    [id, step] as const,
  );
  await expect.poll(() => other.title()).toBe(step);
  await rig.lab.page.evaluate(async (task) => {
    await kit.client.tasks.cancel(task);
    await kit.client.clear();
  }, id);
  expect(await kinds).toEqual(["task_not_found", "step_not_found"]);
  await other.close();
});

test.skipIf(PAGE_ENCODER !== "fast")("a WebM loads the core for VP9 and no other", async () => {
  await rig.lab.page.evaluate(async () => {
    const input = await kit.file("/files/clip.mp4");
    await kit.client.run({ input, kind: "video", options: { format: "webm", width: 80 } });
  });
  expect((await usage()).core).toBe(VP9_CORE_FILES.wasm.size);
});

test("relative URLs of the cores are the page's", async () => {
  const relative = Object.fromEntries(Object.entries(CORE).map(([name, path]) => [name, path.slice(1)]));
  await rig.lab.page.evaluate(() => kit.client.close());
  await openKit(rig.lab.page, { name: "relative", core: { ...relative, cache: null } });
  const encoder = await rig.lab.page.evaluate(async () => {
    const input = await kit.file("/files/clip.mp4");
    const { source } = await kit.client.run({ input, kind: "audio", options: { format: "mp3" } });
    return source.encoder;
  });
  expect(encoder).toBe(PAGE_ENCODER);
});
