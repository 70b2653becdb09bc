import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { createNativeEncoder } from "../../src/encoders/native/native.ts";
import type { Source } from "../../src/media/source.ts";
import { type ProbeInput, probeMedia } from "../../src/probe/probe.ts";
import { createIds } from "../../src/runs/ids.ts";
import { runTask } from "../../src/runs/pipeline.ts";
import type { ByteReader, Storage } from "../../src/runs/ports.ts";
import { openStored } from "../../src/runs/steps/inputs.ts";
import { createStepWork } from "../../src/runs/steps/step-work.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { applyToTask } from "../../src/runs/transitions.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { readAll } from "../../src/storage/storage.ts";
import { startRig } from "../container/rig.ts";
import type { TaskBody } from "../judge/front-door.ts";
import { diskReader } from "../probe/probe-file.ts";
import { startEncoder } from "../worker/encoder/rig.ts";

/** The encoder and the chunk length that a run must use. */
export interface Forced {
  encoder: "light" | "native";
  /** Seconds of source per chunk; null for a single chunk. */
  chunk_seconds: number | null;
  /** Whether the encoder may refuse the work, as in a service. Default false: it must do it. */
  may_refuse?: boolean;
}

/** A host for whole tasks that cuts short sources too, which the service does not. */
export interface ChunkedHost {
  /** Probes a local file; rejects as the step would fail. */
  probe(path: string): Promise<Source>;
  /** Runs a task on a local file; resolves with its record and the bytes of its output, null if it failed. */
  run(
    path: string,
    body: Omit<TaskBody, "input">,
    forced: Forced,
  ): Promise<{ task: Task; bytes: Uint8Array | null }>;
  close(): Promise<void>;
}

const STORED = "http://stored/";

/** Starts a host with the light encoder in workerd and native encoders in separate processes; two share the chunks of a run. */
export async function openChunkedHost({ natives: count = 2 } = {}): Promise<ChunkedHost> {
  const storage = createMemoryStorage();
  const [media, workerd, ...natives] = await Promise.all([
    serveStorage(storage),
    startEncoder(),
    ...Array.from({ length: count }, () => startRig()),
  ]);
  const native = createNativeEncoder({
    instances: natives.map(({ url }) => ({ name: url, fetch: (path, init) => fetch(url + path, init) })),
  });
  const { light } = workerd;
  const id = createIds(Math.random);
  const open = (key: string) => storageReader(storage, key);
  const keyOf = (url: string) => url.slice(STORED.length);

  const probe = (reader: ByteReader, hints: ProbeInput, until: AbortSignal, onWait?: () => unknown) =>
    probeMedia(reader, hints, (from, signal) => light.probe(from, signal, onWait), until);

  return {
    async probe(path) {
      return probe(await diskReader(path), { url: `${STORED}source` }, AbortSignal.timeout(120_000));
    },
    async run(path, { kind, options = {} }, { encoder, chunk_seconds, may_refuse = false }) {
      await storage.write("source", await readFile(path), "application/octet-stream");
      const input = `${STORED}source`;
      let task = createTask({ input, kind, options, metadata: {} }, id, Date.now());
      const work = createStepWork(
        {
          ...{ storage, encoders: [light, native], max_seconds: 3600, open, stem: "output" },
          offers: async (plan, source) => {
            if (may_refuse) await (encoder === "light" ? light.prepare() : native.prepare(plan));
            const refusal = may_refuse ? { light, native }[encoder].refuse(plan, source) : null;
            return [{ encoder, chunk_seconds, refusal, chunks: 1, at_once: natives.length, seconds: null }];
          },
          inputs: { open: (url) => openStored(storage, keyOf(url), url, open) },
          inFlight: () => natives.length,
          remote: { url: async (key) => media.url + key, folder: async (prefix) => media.url + prefix },
          probe,
          url: async (key) => STORED + key,
          key: async (url) => (url.startsWith(STORED) ? keyOf(url) : null),
        },
        { kind, options },
      );
      const report = async (event: Parameters<typeof applyToTask>[1]) => {
        task = applyToTask(task, event, Date.now());
        return true;
      };
      await runTask(task, work, report, (_, piece) => piece(AbortSignal.timeout(120_000)));
      const output = task.steps[3]?.output?.url;
      const stored = output ? await storage.read(keyOf(output)) : null;
      const bytes = stored && (await readAll(stored.body));
      await Promise.all(["source", "work/", "out/"].map((prefix) => storage.clear(prefix)));
      return { task, bytes };
    },
    async close() {
      await Promise.all([media.close(), workerd.close(), ...natives.map((each) => each.close())]);
    },
  };
}

// The store that native encoders read from and write to.
async function serveStorage(storage: Storage): Promise<{ url: string; close(): Promise<unknown> }> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = new URL(request.url ?? "", "http://media").pathname.slice(1);
    if (request.method === "PUT") {
      const body = await buffer(request);
      const { size, etag } = await storage.write(key, body, request.headers["content-type"] ?? "");
      response.writeHead(201, { "Content-Type": "application/json" }).end(JSON.stringify({ size, etag }));
      return;
    }
    const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const range = { start: Number(from), end: Number(last) + 1 };
    const stored = await storage.read(key, range);
    if (!stored) return void response.writeHead(404).end();
    const { size, etag, body } = stored;
    const headers = { ETag: `"${etag}"`, "Content-Range": `bytes ${from}-${last}/${size}` };
    response.writeHead(206, headers).end(await readAll(body));
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections();
      return once(server.close(), "close");
    },
  };
}
