import type { Client, Update } from "../../src/client/client.ts";
import { MediaError } from "../../src/core/errors.ts";
import type { Source } from "../../src/core/source.ts";
import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import { isFinished } from "../../src/core/transitions.ts";
import { deepEqual, equal, match, ok, rejects } from "../browser/assert.ts";
import type { Clause } from "../fixtures/contract.ts";

/** A client, and where media for it are. */
export interface ClientCase {
  client: Client;
  inputs: {
    /** A video with sound, in mp4. */
    video: string;
    /** Text that says of itself to be a video. */
    text: string;
    /** A path that is not there. */
    missing: string;
    /** A path that never answers, so that a run of it runs until it is cancelled. */
    silent: string;
  };
}

const UNKNOWN_IDS = ["task_01kbb1d3x4e8v0t6m9q2y5z7av", "task_", "x", "", "..", "a/b", "%00", "__proto__"];
const WAITING = { input: null, output: null, status: "waiting", progress: null, error: null } as const;

const create = ({ client, inputs }: ClientCase, more: object = {}) =>
  client.tasks.create({ input: inputs.silent, kind: "video", ...more });

/** What every client must do, wherever the work is done. */
export const CLIENT_CONTRACT: Clause<ClientCase>[] = [
  {
    name: "creates a task with its four steps, and gives it back",
    async check(given) {
      const { client, inputs } = given;
      const options = { format: "webm", width: "50%" } as const;
      const metadata = { order: 7, deep: { list: [1, null, "é"] } };
      const task = await client.tasks.create({ input: inputs.silent, kind: "video", options, metadata });
      match(task.id, /^task_[0-9a-z]{26}$/);
      const { id, created_at } = task;
      const times = { created_at, started_at: null, finished_at: null, updated_at: created_at };
      deepEqual(task, {
        ...{ id, object: "task", kind: "video", input: inputs.silent, output: null, options, metadata },
        ...{ status: "queued", error: null },
        steps: ["probe", "ingest", "video", "upload"].map((kind, index) => ({
          ...{ id: task.steps[index]?.id, object: "step", kind, options: {}, ...WAITING, ...times },
        })),
        ...times,
      });
      const read = await client.tasks.get(id);
      deepEqual([read.id, read.options, read.metadata], [id, options, metadata]);
      await client.tasks.cancel(id);
    },
  },
  {
    name: "runs a task to its end, tells of every change on the way, and gives the file",
    async check({ client, inputs }) {
      const options = { format: "webm", width: 64, height: 36, end: 1 } as const;
      const task = await client.tasks.create({ input: inputs.video, kind: "video", options });
      const updates: Update<Task>[] = [];
      client.on(task, "update", (update) => updates.push(update));
      const done = await client.wait(task);
      deepEqual([done.status, done.error], ["succeeded", null]);
      deepEqual(await client.tasks.get(task.id), done);
      checkUpdates(updates, done);
      equal(updates.at(-1)?.progress, 100);
      const output = await client.output(done);
      const { source } = output;
      const facts = { format: source.format, width: source.width, height: source.height };
      deepEqual([facts, source.mime], [{ format: "webm", width: 64, height: 36 }, "video/webm"]);
      ok(Math.abs((source.duration ?? 0) - 1) < 0.1, `it lasts ${source.duration} s`);
      deepEqual(done.steps.at(-1)?.output, source);
      const bytes = await bytesOf(await output.blob());
      equal(bytes.length, source.filesize);
      deepEqual([...bytes.subarray(0, 4)], [0x1a, 0x45, 0xdf, 0xa3]);
      equal((await output.blob()).type, "video/webm");
      equal(text(await bytesOf(await new Response(await output.stream()).blob())), text(bytes));
      equal(text(await bytesOf(await (await fetch(await output.url())).blob())), text(bytes));
      deepEqual((await client.output(task.id)).source, source);
      const listed = await client.tasks.list({ status: "succeeded", kind: "video", limit: 1 });
      equal(listed.records[0]?.id, task.id);
      await rejects(client.tasks.cancel(task.id), { kind: "task_finished" });
      await client.tasks.delete(task.id);
      await rejects(client.tasks.get(task.id), { kind: "task_not_found" });
      await rejects(output.blob(), { kind: "media_not_found" });
    },
  },
  {
    name: "runs steps one after the other, each on the output of the one before",
    async check({ client, inputs }) {
      const created = await client.steps.create({ kind: "probe", input: { url: inputs.video } });
      match(created.id, /^step_[0-9a-z]{26}$/);
      deepEqual(created.input, { object: "external_file", url: inputs.video });
      const updates: Update<Step>[] = [];
      client.on(created, "update", (update) => updates.push(update));
      const probe = await client.wait(created);
      checkUpdates(updates, probe);
      const { kind, format, codecs, audio } = sourceOf(probe);
      deepEqual(
        { kind, format, codecs },
        { kind: "video", format: "mp4", codecs: { video: "h264", audio: "aac" } },
      );
      deepEqual(audio, { channels: 2, sample_rate: 44_100 });
      await rejects(client.output(probe), { kind: "media_not_found" });
      const image = await client.wait(
        await client.steps.create({
          kind: "image",
          input: sourceOf(probe),
          options: { format: "png", width: 40 },
        }),
      );
      deepEqual([image.status, image.error], ["succeeded", null]);
      const output = await client.output(image);
      deepEqual([output.source.format, output.source.width], ["png", 40]);
      const bytes = await bytesOf(await output.blob());
      deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
      const { records } = await client.steps.list({ limit: 2 });
      deepEqual(
        records.map(({ id }) => id),
        [image.id, probe.id],
      );
      deepEqual(await client.steps.get(probe.id), probe);
      await rejects(client.steps.cancel(probe.id), { kind: "step_finished" });
    },
  },
  {
    name: "cancels a task once, and whoever waits hears of it",
    async check(given) {
      const { client } = given;
      const task = await create(given);
      const waiting = client.wait(task);
      const cancelled = await client.tasks.cancel(task.id);
      deepEqual([cancelled.status, cancelled.error, cancelled.output], ["cancelled", null, null]);
      deepEqual(
        cancelled.steps.map(({ status }) => status),
        Array(4).fill("cancelled"),
      );
      deepEqual(await waiting, cancelled);
      deepEqual(await client.wait(task.id), cancelled);
      await rejects(client.tasks.cancel(task.id), { kind: "task_finished", retryable: false });
      await rejects(client.output(task.id), { kind: "media_not_found" });
    },
  },
  {
    name: "cancels a step once, but not one of a task",
    async check(given) {
      const { client, inputs } = given;
      const step = await client.steps.create({ kind: "probe", input: { url: inputs.silent } });
      equal((await client.steps.cancel(step.id)).status, "cancelled");
      await rejects(client.steps.cancel(step.id), { kind: "step_finished" });
      const task = await create(given);
      const inner = task.steps[0]?.id ?? "";
      equal((await client.steps.get(inner)).kind, "probe");
      await rejects(client.steps.cancel(inner), { kind: "request_invalid" });
      await client.tasks.cancel(task.id);
      equal((await client.steps.get(inner)).status, "cancelled");
    },
  },
  {
    name: "deletes a task that is finished, and none that runs",
    async check(given) {
      const { client } = given;
      const { id } = await create(given);
      await rejects(client.tasks.delete(id), { kind: "task_running" });
      await client.tasks.cancel(id);
      await client.tasks.delete(id);
      await rejects(client.tasks.get(id), { kind: "task_not_found" });
      await rejects(client.tasks.delete(id), { kind: "task_not_found" });
      ok((await client.tasks.list({ limit: 100 })).records.every((task) => task.id !== id));
    },
  },
  {
    name: "retries a task that is finished with the same request, and none that runs",
    async check(given) {
      const { client } = given;
      const request = { options: { format: "mp4", fps: 12 }, metadata: { tag: "again" } };
      const first = await create(given, request);
      await rejects(client.tasks.retry(first.id), { kind: "task_running" });
      const ended = await client.tasks.cancel(first.id);
      const second = await client.tasks.retry(first.id);
      ok(second.id > first.id, `${second.id} does not come after ${first.id}`);
      const { input, kind, options, metadata, status, output } = second;
      deepEqual(
        { input, kind, options, metadata, status, output },
        { input: first.input, kind: "video", ...request, status: "queued", output: null },
      );
      deepEqual(await client.tasks.get(first.id), ended);
      await client.tasks.cancel(second.id);
    },
  },
  {
    name: "lists the newest first, in pages, by state and by kind",
    async check(given) {
      const { client } = given;
      const ids: string[] = [];
      for (const kind of ["audio", "image", "audio"]) {
        const { id } = await create(given, { kind });
        ids.unshift(id);
        await client.tasks.cancel(id);
      }
      const list = async (asked: Parameters<Client["tasks"]["list"]>[0]) => {
        const { records, more } = await client.tasks.list(asked);
        return [records.map(({ id }) => ids.indexOf(id)), more];
      };
      deepEqual((await list({ limit: 3 }))[0], [0, 1, 2]);
      deepEqual(await list({ limit: 1 }), [[0], true]);
      deepEqual((await list({ limit: 2, after: ids[0] as string }))[0], [1, 2]);
      deepEqual(await list({ before: ids[1] as string }), [[0], false]);
      deepEqual((await list({ limit: 2, kind: "audio", status: "cancelled" }))[0], [0, 2]);
      deepEqual((await list({ limit: 2, order: "asc", after: ids[2] as string }))[0], [1, 0]);
      for (const [asked, kind, param] of [
        [{ limit: 0 }, "request_invalid", "limit"],
        [{ limit: 101 }, "request_invalid", "limit"],
        [{ after: "x" }, "request_invalid", "after"],
        [{ status: "done" }, "request_invalid", "status"],
        [{ kind: "movie" }, "invalid_kind", "kind"],
      ] as const) {
        await rejects(client.tasks.list(asked), { kind, param });
      }
      await rejects(client.steps.list({ status: "queued" }), { kind: "request_invalid", param: "status" });
    },
  },
  ...refusals().map(([what, request, kind, param]) => ({
    name: `refuses ${what} as ${kind}, and creates nothing`,
    async check(given: ClientCase) {
      const newest = async () => (await given.client.tasks.list({ limit: 1 })).records[0]?.id;
      const before = await newest();
      await rejects(create(given, request), { kind, param, name: "MediaError", retryable: false });
      equal(await newest(), before);
    },
  })),
  {
    name: "refuses steps that are wrong",
    async check({ client, inputs }) {
      const input = { url: inputs.video };
      const source = { object: "source", url: inputs.video, kind: "video", format: "mp4" } as const;
      const refused = (request: object) => client.steps.create(request as never);
      await rejects(refused({ kind: "film", input }), { kind: "invalid_kind", param: "kind" });
      await rejects(refused({ kind: "probe" }), { kind: "input_required", param: "input" });
      await rejects(refused({ kind: "probe", input: {} }), { kind: "input_required", param: "input.url" });
      await rejects(refused({ kind: "probe", input, options: { fps: 3 } }), { kind: "request_invalid" });
      await rejects(refused({ kind: "video", input }), { kind: "invalid_input", param: "input.object" });
      await rejects(refused({ kind: "audio", input: source, options: { bitrate: 1 } }), {
        ...{ kind: "invalid_options", param: "options.bitrate" },
      });
    },
  },
  {
    name: "knows no id but its own",
    async check({ client }) {
      for (const id of UNKNOWN_IDS) {
        for (const method of ["get", "cancel", "retry", "delete"] as const) {
          await rejects(client.tasks[method](id), { kind: "task_not_found", name: "MediaError" });
        }
        for (const method of ["get", "cancel"] as const) {
          await rejects(client.steps[method](id), { kind: "step_not_found" });
        }
        await rejects(client.wait(id), { kind: "task_not_found" });
        await rejects(client.output(id), { kind: "task_not_found" });
      }
      await rejects(client.wait("step_01kbb1d3x4e8v0t6m9q2y5z7av"), { kind: "step_not_found" });
    },
  },
  ...(
    [
      ["missing", "input_not_found"],
      ["text", "input_unsupported"],
    ] as const
  ).map(([which, kind]) => ({
    name: `fails at an input that is ${which} as ${kind}`,
    async check({ client, inputs }: ClientCase) {
      const task = await client.wait(await client.tasks.create({ input: inputs[which], kind: "audio" }));
      deepEqual([task.status, task.output], ["failed", null]);
      const [probe, ...rest] = task.steps;
      deepEqual([task.error?.kind, task.error?.retryable, task.error?.step_id], [kind, false, probe?.id]);
      deepEqual([probe?.status, probe?.error?.kind], ["failed", kind]);
      deepEqual(
        rest.map(({ status }) => status),
        Array(3).fill("cancelled"),
      );
      await rejects(client.output(task), { kind: "media_not_found" });
    },
  })),
  {
    name: "says when there is no sound to take",
    async check({ client, inputs }) {
      const image = await client.wait(
        await client.tasks.create({ input: inputs.video, kind: "image", options: { format: "png" } }),
      );
      const url = await (await client.output(image)).url();
      const step = await client.wait<Step>(
        await client.steps.create({
          kind: "audio",
          input: { object: "source", url, kind: "image", format: "png" },
        }),
      );
      deepEqual([step.status, step.error?.kind], ["failed", "input_no_audio"]);
    },
  },
  {
    name: "stops waiting when the signal aborts, and the task goes on",
    async check(given) {
      const { client } = given;
      const task = await create(given);
      const gone = new Error("the visitor left");
      const stop = new AbortController();
      const waiting = client.wait(task, { signal: stop.signal });
      stop.abort(gone);
      const thrown: unknown = await waiting.catch((error: unknown) => error);
      equal(thrown, gone);
      equal(await client.wait(task, { signal: stop.signal }).catch((error: unknown) => error), gone);
      ok(!isFinished(await client.tasks.get(task.id)));
      await client.tasks.cancel(task.id);
    },
  },
  {
    name: "tells every listener the same, and nothing to one that left",
    async check(given) {
      const { client } = given;
      const task = await create(given);
      const [left, first, second]: [Task[], Task[], Task[]] = [[], [], []];
      const leave = client.on(task, "update", ({ record }) => left.push(record));
      leave();
      client.on(task, "update", ({ record }) => first.push(record));
      // Whoever comes later hears how it stands as well.
      await until(() => first.length > 0);
      client.on<Task>(task.id, "update", ({ record }) => second.push(record));
      await until(() => second.length > 0);
      // Its first may be followed by others already.
      deepEqual(second, first.slice(-second.length));
      const cancelled = await client.tasks.cancel(task.id);
      await client.wait(task);
      deepEqual([left.length, first.at(-1), second.at(-1)], [0, cancelled, cancelled]);
      const late: Task[] = [];
      client.on(cancelled, "update", ({ record }) => late.push(record));
      await until(() => late.length > 0);
      deepEqual(late, [cancelled]);
    },
  },
];

function refusals(): [what: string, request: object, kind: string, param: string | undefined][] {
  return [
    ["no input", { input: undefined }, "input_required", "input"],
    ["an empty input", { input: "" }, "input_required", "input"],
    ["an ftp input", { input: "ftp://example.com/a.mp4" }, "invalid_input", "input"],
    ["an input that is a number", { input: 7 }, "request_invalid", "input"],
    ["no kind", { kind: undefined }, "request_invalid", "kind"],
    ["an unknown kind", { kind: "movie" }, "invalid_kind", "kind"],
    ["an unknown format", { options: { format: "wmv" } }, "invalid_format", "options.format"],
    [
      "a codec in the wrong format",
      { options: { format: "webm", codec: "h264" } },
      "invalid_codec",
      "options.codec",
    ],
    ["90 frames a second", { options: { fps: 90 } }, "invalid_options", "options.fps"],
    ["an unknown option", { options: { loud: true } }, "request_invalid", "options.loud"],
    ["an end before the start", { options: { start: 2, end: 1 } }, "invalid_options", "options.end"],
    [
      "a background without contain",
      { options: { background: "#fff" } },
      "invalid_options",
      "options.background",
    ],
    ["metadata that are a list", { metadata: [1] }, "request_invalid", "metadata"],
    ["a destination that is no bucket", { output: "https://example.com/a" }, "invalid_output", "output"],
    ["an unknown field", { inputs: [] }, "request_invalid", "inputs"],
  ];
}

function checkUpdates<T extends Task | Step>(updates: readonly Update<T>[], done: T): void {
  ok(updates.length > 0, "nothing was told");
  deepEqual(updates.at(-1)?.record, done);
  const order = ["queued", "waiting", "processing", "succeeded", "failed", "cancelled"];
  updates.forEach(({ record, progress, speed, eta }, index) => {
    const before = updates[index - 1];
    equal(record.id, done.id);
    ok(progress === null || (Number.isInteger(progress) && progress >= 0 && progress <= 100));
    for (const pace of [speed, eta]) ok(pace === null || (Number.isFinite(pace) && pace >= 0));
    if (!before) return;
    ok(record.updated_at >= before.record.updated_at, "an older record came after a newer one");
    ok(order.indexOf(record.status) >= order.indexOf(before.record.status), "the state went back");
    ok((progress ?? 0) >= (before.progress ?? 0), `progress fell from ${before.progress} to ${progress}`);
    equal(isFinished(before.record), false, "something was told after the end");
  });
}

function sourceOf(step: Step): Source {
  if (!step.output) throw new MediaError("media_not_found", `${step.id} is ${step.status}.`);
  return step.output;
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer());
}

// As one string, as a list of every byte would be slow to compare.
function text(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

async function until(check: () => boolean, seconds = 20): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !check(); ) {
    ok(Date.now() < end, "it did not come to pass in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
