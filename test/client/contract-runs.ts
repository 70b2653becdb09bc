import type { NewStep, Update } from "../../src/client/client.ts";
import { MediaError } from "../../src/media/errors.ts";
import type { Source } from "../../src/media/source.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { deepEqual, equal, match, ok, rejects } from "../browser/assert.ts";
import { type ClientCase, type ClientClauses, createSilent } from "./contract-case.ts";

const WAITING = { input: null, output: null, status: "waiting", progress: null, error: null } as const;

/** Tasks and steps from start to end. */
export const RUNS: ClientClauses = [
  {
    name: "creates a task with its four steps, and returns it",
    async check(context) {
      const { client, inputs } = context;
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
    name: "runs a task to its end, reports its changes, and returns the file",
    async check({ client, inputs }) {
      const options = { format: "webm", width: 64, height: 36, end: 1 } as const;
      const task = await client.tasks.create({ input: inputs.video, kind: "video", options });
      const updates: Update<Task>[] = [];
      client.on(task, "update", (update) => updates.push(update));
      const done = await client.tasks.wait(task);
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
    name: "runs steps in sequence, each on the output of the previous one",
    async check({ client, inputs }) {
      const created = await client.steps.create({ kind: "probe", input: { url: inputs.video } });
      match(created.id, /^step_[0-9a-z]{26}$/);
      deepEqual(created.input, { object: "external_file", url: inputs.video });
      const updates: Update<Step>[] = [];
      client.on(created, "update", (update) => updates.push(update));
      const probe = await client.steps.wait(created);
      checkUpdates(updates, probe);
      const { kind, format, codecs, audio } = sourceOf(probe);
      deepEqual(
        { kind, format, codecs },
        { kind: "video", format: "mp4", codecs: { video: "h264", audio: "aac" } },
      );
      deepEqual(audio, { channels: 2, sample_rate: 44_100 });
      await rejects(client.output(probe), { kind: "media_not_found" });
      const image = await client.steps.wait(
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
  ...(
    [
      ["missing", "input_not_found"],
      ["text", "input_unsupported"],
    ] as const
  ).map(([which, kind]) => ({
    name: `fails a task on the ${which} input with ${kind}`,
    async check({ client, inputs }: ClientCase) {
      const task = await client.tasks.wait(
        await client.tasks.create({ input: inputs[which], kind: "audio" }),
      );
      deepEqual([task.status, task.output], ["failed", null]);
      const [probe, ...rest] = task.steps;
      deepEqual([task.error?.kind, task.error?.retryable, task.error?.step_id], [kind, false, probe?.id]);
      deepEqual([probe?.status, probe?.error?.kind], ["failed", kind]);
      deepEqual(
        rest.map(({ status }) => status),
        Array(3).fill("cancelled"),
      );
      const { message = "" } = task.error ?? {};
      for (const failed of [task, task.id]) {
        await rejects(client.output(failed), { kind, message, retryable: false, name: "MediaError" });
      }
    },
  })),
  {
    name: "has no output for a cancelled run",
    async check(context) {
      const { client } = context;
      const cancelled = await client.tasks.cancel((await createSilent(context)).id);
      const message = "There is no output: the task is cancelled, not succeeded.";
      await rejects(client.output(cancelled), { kind: "media_not_found", message });
    },
  },
  {
    name: "accepts bytes in every form as input",
    async check({ client, inputs }) {
      const bytes = await (await fetch(inputs.video)).arrayBuffer();
      const shifted = new Uint8Array([0, 0, 0, 0, ...new Uint8Array(bytes)]).subarray(4);
      const base64 = btoa(Array.from(new Uint8Array(bytes), (each) => String.fromCharCode(each)).join(""));
      const forms: NewStep["input"][] = [
        ...[new URL(inputs.video), { url: new URL(inputs.video) }, inputs.video],
        ...[bytes, shifted, new DataView(bytes), await fetch(inputs.video)],
        ...[new Blob([bytes]).stream(), `data:video/mp4;base64,${base64}`],
      ];
      for (const input of forms) {
        const probe = await client.steps.wait(await client.steps.create({ kind: "probe", input }));
        deepEqual([sourceOf(probe).format, sourceOf(probe).filesize], ["mp4", bytes.byteLength]);
      }
      const input = await fetch(inputs.video);
      const options = { format: "png", width: 40 } as const;
      const task = await client.tasks.wait(await client.tasks.create({ input, kind: "image", options }));
      deepEqual([task.status, task.error], ["succeeded", null]);
    },
  },
  {
    name: "rejects unusable inputs with a clear error",
    async check({ client, inputs }) {
      for (const [input, kind, message] of await badInputs(inputs.video)) {
        const refused = client.tasks.create({ input: input as string, kind: "video" });
        await rejects(refused, { kind, message, param: "input", retryable: false, name: "MediaError" });
      }
    },
  },
  {
    name: "accepts a file as input",
    async check({ client, inputs }) {
      const file = new File([await (await fetch(inputs.video)).blob()], "mine.mp4", { type: "video/mp4" });
      const options = { format: "png", width: 40 } as const;
      const task = await client.tasks.wait(
        await client.tasks.create({ input: file, kind: "image", options }),
      );
      deepEqual([task.status, task.error], ["succeeded", null]);
      const bytes = await bytesOf(await (await client.output(task)).blob());
      deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
      const probe = await client.steps.wait(await client.steps.create({ kind: "probe", input: file }));
      deepEqual([sourceOf(probe).format, sourceOf(probe).filesize], ["mp4", file.size]);
    },
  },
  {
    name: "fails an audio step on a picture with input_no_audio",
    async check({ client, inputs }) {
      const image = await client.tasks.wait(
        await client.tasks.create({ input: inputs.video, kind: "image", options: { format: "png" } }),
      );
      const url = await (await client.output(image)).url();
      const step = await client.steps.wait(
        await client.steps.create({
          kind: "audio",
          input: { object: "source", url, kind: "image", format: "png" },
        }),
      );
      deepEqual([step.status, step.error?.kind], ["failed", "input_no_audio"]);
    },
  },
];

const ACCEPTED =
  "input must be a URL (http, https, s3, data: or relative, as text or as a URL object), a File, Blob or file handle, " +
  "an ArrayBuffer or typed array, a Response, or a ReadableStream of bytes; it is";

async function badInputs(url: string): Promise<[input: unknown, kind: string, message: string][]> {
  const read = await fetch(url);
  await read.arrayBuffer();
  const [locked, begun] = [new Blob(["a"]).stream(), new Blob(["a"]).stream()];
  locked.getReader();
  const reader = begun.getReader();
  await reader.read();
  reader.releaseLock();
  const detached = new ArrayBuffer(8);
  const view = new Uint8Array(detached);
  structuredClone(detached, { transfer: [detached] });
  const broken = new ReadableStream({
    pull: (controller) => controller.error(new Error("the cable is out")),
  });
  const texts = new ReadableStream({ start: (controller) => controller.enqueue("text") });
  const clause = "it was transferred elsewhere, and its bytes went with it.";
  return [
    [7, "request_invalid", `${ACCEPTED} a number.`],
    [new Map(), "request_invalid", `${ACCEPTED} a Map.`],
    [Promise.resolve(url), "request_invalid", `${ACCEPTED} a Promise; await it.`],
    [{ url }, "request_invalid", `${ACCEPTED} an Object.`],
    [read, "invalid_input", "input is a Response that was already read; clone it before you read it."],
    [
      new Response("No", { status: 404 }),
      "invalid_input",
      "input is a Response of status 404, which contains no media.",
    ],
    [
      locked,
      "invalid_input",
      "input is a ReadableStream that is locked to another reader; release that reader first.",
    ],
    [begun, "invalid_input", "input is a ReadableStream that was already read in part; pass it unread."],
    [
      texts,
      "invalid_input",
      "input must be a ReadableStream of bytes: it yields a string, not a Uint8Array.",
    ],
    [broken, "input_unreachable", "input: the stream broke off before its end (the cable is out)."],
    [detached, "invalid_input", `input is a detached ArrayBuffer: ${clause}`],
    [view, "invalid_input", `input is a detached ArrayBuffer: ${clause}`],
    [
      "data:video/mp4;base64",
      "invalid_input",
      "input must be a complete data: URL, of the form data:<type>;base64,<bytes>.",
    ],
  ];
}

function checkUpdates(updates: readonly Update<Task | Step>[], done: Task | Step): void {
  ok(updates.length > 0, "no update was reported");
  deepEqual(updates.at(-1)?.record, done);
  const encode = done.object === "task" ? done.steps[2] : done;
  const output = encode?.kind === "probe" ? undefined : encode?.output;
  const { encoder, reason, refusals } = output ?? {};
  const choice = output ? { encoder, reason, ...(refusals && { refusals }) } : null;
  deepEqual(updates.at(-1)?.choice, choice);
  const order = ["queued", "waiting", "processing", "succeeded", "failed", "cancelled"];
  updates.forEach(({ record, progress, speed, eta, choice: current = null }, index) => {
    const before = updates[index - 1];
    equal(record.id, done.id);
    if (current !== null) deepEqual(current, choice);
    ok(progress === null || (Number.isInteger(progress) && progress >= 0 && progress <= 100));
    for (const pace of [speed, eta]) ok(pace === null || (Number.isFinite(pace) && pace >= 0));
    if (!before) return;
    ok(record.updated_at >= before.record.updated_at, "an older record came after a newer one");
    ok(order.indexOf(record.status) >= order.indexOf(before.record.status), "the status went back");
    ok((progress ?? 0) >= (before.progress ?? 0), `progress fell from ${before.progress} to ${progress}`);
    ok(current !== null || !before.choice, "the choice of encoder was withdrawn");
    equal(isFinished(before.record), false, "an update came after the final one");
  });
}

function sourceOf(step: Step): Source {
  if (!step.output) throw new MediaError("media_not_found", `${step.id} is ${step.status}.`);
  return step.output;
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer());
}

// One string compares faster than a list of bytes.
function text(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
