import type { Update } from "../../src/client/client.ts";
import { deepEqual, equal, ok, rejects } from "../browser/assert.ts";
import type { ClientClauses } from "./contract-case.ts";
import { pixelOf } from "./kinds/pixel.ts";

const PNG = { kind: "image", options: { format: "png", width: 40 } } as const;

const JPEG = "image/jpeg";
const RED =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAACXBIWXMAAAABAAAAAQBPJcTWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

function redPicture(): File {
  const bytes = Uint8Array.from(atob(RED), (each) => each.charCodeAt(0));
  return new File([bytes], "red.png", { type: "image/png" });
}

/** The one-call methods: `run` and `probe`; and that every read can be aborted. */
export const CALLS: ClientClauses = [
  {
    name: "ends every read when its signal aborts",
    async check({ client, inputs }) {
      const { task, output } = await client.run({ input: inputs.video, ...PNG });
      const reason = new Error("the visitor left");
      const how = { signal: AbortSignal.abort(reason) };
      let [written, aborted] = [0, false];
      const sink = {
        write: () => void written++,
        abort() {
          aborted = true;
        },
      };
      const handle = {
        createWritable: async () => new WritableStream(sink),
      } as unknown as FileSystemFileHandle;
      const reads: Promise<unknown>[] = [
        ...[client.tasks.get(task.id, how), client.tasks.list(how), client.tasks.each(how).next()],
        ...[client.steps.get(task.steps[0]?.id ?? "", how), client.steps.list(how)],
        ...[client.jobs.list(how), client.jobs.each(how).next()],
        ...[output.blob(how), output.stream(how), output.saveTo(handle, how)],
      ];
      deepEqual(await Promise.all(reads.map((read) => read.catch((error: unknown) => error === reason))), [
        ...reads.map(() => true),
      ]);
      deepEqual([written, aborted], [0, false]);
      const stop = new AbortController();
      const { signal } = stop;
      deepEqual((await client.tasks.get(task.id, { signal })).id, task.id);
      deepEqual((await client.tasks.list({ signal, limit: 1 })).records.length, 1);
      const reader = (await output.stream({ signal })).getReader();
      stop.abort(reason);
      const rest = async () => {
        while (!(await reader.read()).done);
      };
      deepEqual(await rest().catch((error: unknown) => error === reason), true);
    },
  },
  {
    name: "runs a task to its end and resolves with its output",
    async check({ client, inputs }) {
      const updates: Update<{ id: string }>[] = [];
      const { blob, source, task, output } = await client.run(
        { input: inputs.video, ...PNG },
        { onProgress: (update) => updates.push(update) },
      );
      deepEqual([task.status, task.kind, task.options], ["succeeded", "image", PNG.options]);
      deepEqual([source.format, source.width, source.filesize], ["png", 40, blob.size]);
      deepEqual([...new Uint8Array(await blob.slice(0, 4).arrayBuffer())], [0x89, 0x50, 0x4e, 0x47]);
      deepEqual(await output.blob().then(({ size }) => size), blob.size);
      const last = updates.at(-1);
      deepEqual([last?.progress, last?.error, last?.record], [100, null, task]);
      for (const [index, { progress }] of updates.entries())
        ok((progress ?? 0) >= (updates[index - 1]?.progress ?? 0));
    },
  },
  {
    name: "rejects with the error of a failed task, which the last update carries",
    async check({ client, inputs }) {
      let last: Update<unknown> | undefined;
      await rejects(
        client.run(
          { input: inputs.text, ...PNG },
          {
            onProgress(update) {
              last = update;
            },
          },
        ),
        { name: "MediaError", kind: "input_unsupported" },
      );
      equal(last?.error?.kind, "input_unsupported");
    },
  },
  {
    name: "cancels the task when the signal aborts or the listener throws",
    async check({ client, inputs }) {
      const reason = new Error("the visitor left");
      const stop = new AbortController();
      const ends = [
        { signal: stop.signal, onProgress: () => stop.abort(reason) },
        {
          onProgress() {
            throw reason;
          },
        },
      ];
      for (const { onProgress, ...options } of ends) {
        let id = "";
        const run = client.run(
          { input: inputs.silent, kind: "video" },
          {
            ...options,
            onProgress({ record }) {
              id = record.id;
              onProgress();
            },
          },
        );
        equal(await run.catch((error: unknown) => error), reason);
        equal((await client.tasks.wait(id)).status, "cancelled");
      }
    },
  },
  {
    name: "takes files as extra inputs, and again in a retry",
    async check({ client, inputs }) {
      const overlay = { url: redPicture(), width: "200%" } as const;
      const text = new File(["WEBVTT\n\n00:00.000 --> 00:01.000\nHallo\n"], "de.txt");
      const subtitles = [{ url: text, language: "de", label: "Deutsch", default: true }];
      const { task } = await client.run({
        ...{ input: inputs.video, kind: "video", options: { width: 32, end: 0.2, overlay, subtitles } },
      });
      const retry = await client.tasks.wait(await client.tasks.retry(task.id));
      equal(retry.status, "succeeded");
      for (const record of [task, retry]) {
        equal(typeof (record.options as { overlay?: { url?: unknown } }).overlay?.url, "string");
        const blob = await (await client.output(record)).blob();
        const { blob: pixel } = await client.run({
          ...{ input: blob, kind: "image", options: { format: "png", width: 1, height: 1 } },
        });
        const [red = 0, green = 255, blue = 255] = await pixelOf(pixel);
        ok(red > 240 && green < 20 && blue < 20);
        const { codec, language, title } = (await client.probe(blob)).streams?.at(-1) ?? {};
        deepEqual([codec, language, title], ["mov_text", "deu", "Deutsch"]);
      }
      await rejects(
        client.run({ input: inputs.video, kind: "video", options: { overlay: { url: inputs.missing } } }),
        { name: "MediaError", kind: "input_not_found" },
      );
    },
  },
  {
    name: "burns in subtitles from a file, and says which letters its font lacks",
    async check({ client, inputs }) {
      const burn = async (text: string) => {
        const file = new File([`WEBVTT\n\n00:00.000 --> 00:01.000\n${text}\n`], "text.vtt");
        const subtitles = [{ url: file, burn: true }];
        const overlay = { url: redPicture(), width: "200%" } as const;
        const options = { width: 32, end: 0.2, overlay, subtitles };
        const { blob } = await client.run({ input: inputs.video, kind: "video", options });
        const { blob: pixel } = await client.run({
          ...{ input: blob, kind: "image", options: { format: "png", width: 1, height: 1 } },
        });
        return pixelOf(pixel);
      };
      // White blocks over red.
      const [red = 0, green = 0, blue = 0] = await burn("\u2588\u2588\u2588");
      ok(red > 200 && green > 40 && green < 200 && Math.abs(green - blue) < 20);
      // Egyptian hieroglyphs are in no font of a host.
      await rejects(burn("\u{13080}"), { name: "MediaError", kind: "input_unsupported" });
    },
  },
  {
    name: "probes a file and leaves no step behind",
    async check({ client, inputs }) {
      const before = (await client.steps.list({ limit: 100 })).records.length;
      const { kind, format, codecs } = await client.probe(inputs.video);
      deepEqual([kind, format, codecs], ["video", "mp4", { video: "h264", audio: "aac" }]);
      await rejects(client.probe(inputs.text), { kind: "input_unsupported" });
      const reason = new Error("the visitor left");
      await rejects(client.probe(inputs.silent, { signal: AbortSignal.abort(reason) }), {
        message: reason.message,
      });
      equal((await client.steps.list({ limit: 100 })).records.length, before);
    },
  },
  {
    name: "lists where a copy can start, and cuts there",
    async check({ client, inputs }) {
      const entries = await client.entries(inputs.video);
      ok(entries.length > 1);
      const start = entries.at(-1) ?? 0;
      const { source } = await client.run({
        ...{ input: inputs.video, kind: "video", options: { mode: "copy", start } },
      });
      equal(source.cut?.start, start);
      deepEqual(await client.entries(redPicture()), []);
    },
  },
  {
    name: "estimates an output and leaves no record behind",
    async check({ client, inputs }) {
      const count = async () => [
        (await client.tasks.list({ limit: 100 })).records.length,
        (await client.steps.list({ limit: 100 })).records.length,
      ];
      const before = await count();
      const request = { input: inputs.video, ...PNG };
      const last = (await Array.fromAsync(client.estimate(request))).at(-1);
      await rejects(Array.fromAsync(client.estimate({ ...request, input: inputs.text })), {
        name: "MediaError",
        kind: "input_unsupported",
      });
      const reason = new Error("the visitor left");
      const signal = AbortSignal.abort(reason);
      equal(await Array.fromAsync(client.estimate(request, { signal })).catch((error) => error), reason);
      deepEqual(await count(), before);
      const { blob } = await client.run(request);
      deepEqual([last?.bytes, last?.score], [{ low: blob.size, high: blob.size }, null]);
      ok((last?.seconds ?? 0) > 0);
    },
  },
  {
    name: "previews a frame, a picture and sound, and leaves no record behind",
    async check({ client, inputs }) {
      const count = async () => [
        (await client.tasks.list({ limit: 100 })).records.length,
        (await client.steps.list({ limit: 100 })).records.length,
      ];
      const before = await count();
      const request = { input: inputs.video, kind: "video", options: { width: 32 } } as const;
      const frame = await client.preview({ ...request, at: 0.5 });
      deepEqual([frame.at, frame.width, frame.original.type, frame.output.type], [0.5, 32, JPEG, JPEG]);
      ok(frame.bytes > 0 && (frame.seconds ?? 0) > 0);
      for (const each of [frame.original, frame.output]) equal((await client.probe(each)).width, 32);
      const picture = await client.preview({ input: inputs.video, ...PNG });
      deepEqual([picture.bytes, picture.output.type], [picture.output.size, "image/png"]);
      const { output, width } = await client.preview({ input: inputs.video, kind: "audio" });
      deepEqual([(await client.probe(output)).kind, width], ["audio", null]);
      for (const at of [-1, Number.POSITIVE_INFINITY, "0.5" as never])
        await rejects(client.preview({ ...request, at }), { kind: "invalid_options", param: "at" });
      await rejects(client.preview({ ...request, kind: "waveform", options: {} }), { kind: "invalid_kind" });
      await rejects(client.preview({ ...request, input: inputs.text }), { kind: "input_unsupported" });
      const reason = new Error("the visitor left");
      const signal = AbortSignal.abort(reason);
      equal(await client.preview(request, { signal }).catch((error) => error), reason);
      const replaced = client.preview(request).catch((error) => error.name);
      await client.preview({ input: inputs.video, ...PNG });
      equal(await replaced, "AbortError");
      deepEqual(await count(), before);
    },
  },
  {
    name: "draws a filmstrip and leaves no record behind",
    async check({ client, inputs }) {
      const count = async () => [
        (await client.tasks.list({ limit: 100 })).records.length,
        (await client.steps.list({ limit: 100 })).records.length,
      ];
      const before = await count();
      const pictures = await Array.fromAsync(client.filmstrip(inputs.video, { count: 3, height: 18 }));
      deepEqual(
        pictures.map(({ blob, width, height }) => [blob.type, width, height]),
        pictures.map(() => ["image/jpeg", 32, 18]),
      );
      const { duration = 0 } = await client.probe(inputs.video);
      const interval = Math.floor((duration / 3) * 1000) / 1000;
      deepEqual(
        pictures.map(({ at }) => at.toFixed(3)),
        [0, 1, 2].map((place) => (place * interval).toFixed(3)),
      );
      const { width, height } = await client.probe(pictures[1]?.blob ?? "");
      deepEqual([width, height], [32, 18]);
      for await (const _ of client.filmstrip(inputs.video, { count: 2 })) break;
      const refused = { name: "MediaError", kind: "invalid_options" };
      await rejects(Array.fromAsync(client.filmstrip(inputs.video, { count: 0 })), refused);
      await rejects(Array.fromAsync(client.filmstrip(inputs.video, { height: -1 })), refused);
      const wrong = { kind: "request_invalid", param: "counts" };
      await rejects(Array.fromAsync(client.filmstrip(inputs.video, { counts: 2 } as object)), wrong);
      await rejects(Array.fromAsync(client.filmstrip(redPicture())), refused);
      await rejects(Array.fromAsync(client.filmstrip(inputs.text)), { kind: "input_unsupported" });
      const reason = new Error("the visitor left");
      const signal = AbortSignal.abort(reason);
      equal(
        await Array.fromAsync(client.filmstrip(inputs.video, { signal })).catch((error) => error),
        reason,
      );
      deepEqual(await count(), before);
    },
  },
  {
    name: "emits the error that ends a watch",
    async check({ client }) {
      const emitted = new Promise((resolve) => {
        client.on("task_01kbb1d3x4e8v0t6m9q2y5z7av", "error", resolve);
      });
      equal(Reflect.get(Object(await emitted), "kind"), "task_not_found");
    },
  },
];
