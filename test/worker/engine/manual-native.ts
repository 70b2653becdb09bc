import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  NATIVE_PROTOCOL,
  type NativeHealth,
  type NativeJob,
  type NativeState,
} from "../../../src/encoders/native/native-wire.ts";
import { engineFeatures } from "../../../src/media/features.ts";

const run = promisify(execFile);

/** Native encoders as real HTTP servers that speak the protocol; each job runs until a test finishes it. */
export interface ManualNative {
  /** The setting NATIVE_ENCODER_URL: two servers that know the same jobs. */
  urls: string;
  /** Chunks being encoded now. */
  running(): number[];
  /** The most chunks that ran at once. */
  maxRunning(): number;
  /** Chunks in the order of their start, each job once. */
  started: number[];
  /** Chunks for which a start was requested, every time. */
  requested: number[];
  /** The jobs that it has. */
  jobs(): NativeJob[];
  /** Chunks that were cancelled. */
  cancelled: number[];
  /** Stores a chunk of gray pictures, one a second, and reports it done. */
  finish(chunk: number): Promise<void>;
  close(): Promise<void>;
}

interface JobEntry {
  job: NativeJob;
  state: NativeState;
  changed: PromiseWithResolvers<void>;
}

const RUNNING: NativeState = { state: "running", share: 0, speed: null };

export async function startManualNative(): Promise<ManualNative> {
  const jobs = new Map<string, JobEntry>();
  const started: number[] = [];
  const requested: number[] = [];
  const cancelled: number[] = [];
  let maxRunning = 0;
  const folder = await mkdtemp(join(tmpdir(), "framewright-manual-"));
  const running = () =>
    [...jobs.values()]
      .filter(({ state }) => state.state === "running")
      .map(({ job }) => job.chunk.index)
      .sort((one, other) => one - other);

  async function answer(request: IncomingMessage): Promise<[number, unknown]> {
    const url = new URL(request.url ?? "", "http://native");
    if (url.pathname === "/health") {
      const health: NativeHealth = {
        protocol: NATIVE_PROTOCOL,
        reads: [NATIVE_PROTOCOL],
        features: engineFeatures("native"),
        ffmpeg: "5.1.9",
        places: 99,
        running: running().length,
        ending: false,
      };
      return [200, health];
    }
    if (request.method === "POST") return start(JSON.parse(await readBody(request)));
    const entry = jobs.get(url.pathname.split("/").at(-1) ?? "");
    if (!entry) return [404, { kind: "route_not_found", message: "There is no such job." }];
    if (request.method === "DELETE") {
      cancelled.push(entry.job.chunk.index);
      jobs.delete(entry.job.id);
      entry.changed.resolve();
      return [204, null];
    }
    const wait = Number(url.searchParams.get("wait") ?? 0);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, wait * 1000);
    if (entry.state.state === "running") await Promise.race([entry.changed.promise, promise]);
    clearTimeout(timer);
    return [200, entry.state];
  }

  function start(job: NativeJob): [number, unknown] {
    requested.push(job.chunk.index);
    const existing = jobs.get(job.id);
    if (existing) return [200, existing.state];
    started.push(job.chunk.index);
    jobs.set(job.id, { job, state: RUNNING, changed: Promise.withResolvers() });
    maxRunning = Math.max(maxRunning, running().length);
    return [202, RUNNING];
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const [status, body] = await answer(request).catch(
      (thrown) => [500, { message: String(thrown) }] as const,
    );
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(body === null ? undefined : JSON.stringify(body));
  };
  const servers = [1, 2].map(() => createServer((request, response) => void serve(request, response)));
  const urls = servers.map(async (server) => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  return {
    urls: (await Promise.all(urls)).join(","),
    running,
    started,
    requested,
    cancelled,
    maxRunning: () => maxRunning,
    jobs: () => [...jobs.values()].map(({ job }) => job),
    async finish(chunk) {
      const entry = [...jobs.values()].find(
        ({ job, state }) => job.chunk.index === chunk && state === RUNNING,
      );
      if (!entry) throw new Error(`Chunk ${chunk} is not being encoded.`);
      const { job } = entry;
      const name = job.name ?? "";
      const seconds = (job.chunk.end ?? job.plan.duration ?? 0) - job.chunk.start;
      const bytes = await gray(folder, seconds);
      const answer = await fetch(job.folder + name, {
        method: "PUT",
        body: bytes,
        headers: { "Content-Type": "video/mp4" },
      });
      if (answer.status !== 201)
        throw new Error(`Storing was answered with ${answer.status}: ${await answer.text()}`);
      entry.state = {
        state: "done",
        written: [{ name, mime: "video/mp4", size: bytes.length }],
        playlists: [],
        tally: {},
      };
      entry.changed.resolve();
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
        await once(server, "close");
      }
      await rm(folder, { recursive: true });
    },
  };
}

async function gray(folder: string, seconds: number): Promise<Uint8Array<ArrayBuffer>> {
  const path = join(folder, `${seconds}-${Math.random()}.mp4`);
  const pictures = ["-f", "lavfi", "-i", `color=gray:size=64x36:rate=1:duration=${seconds}`];
  await run("ffmpeg", [
    "-v",
    "error",
    "-y",
    ...pictures,
    ..."-c:v libx264 -pix_fmt yuv420p".split(" "),
    path,
  ]);
  return new Uint8Array(await readFile(path));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
