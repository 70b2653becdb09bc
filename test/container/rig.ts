import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NATIVE_PROTOCOL, type NativeJob, type NativeState } from "../../src/encoders/native/native-wire.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import { COMPILE_CACHE } from "../../worker/local/programs.ts";
import { type Answer, type Origin, startOrigin } from "../fixtures/origin.ts";
import { type Sink, startSink } from "../fixtures/sink.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe } from "../probe/probe-file.ts";

/** A native encoder in its own process, as a host starts it, with an origin to read and a sink to fill. */
export interface Rig {
  /** Base URL of the server. */
  readonly url: string;
  readonly origin: Origin;
  readonly sink: Sink;
  /** Working folder of the container. */
  readonly home: string;
  readonly child: ChildProcess;
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Returns the standard output so far. */
  output(): string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Creates a job for a local file; `answer` changes how the origin serves it. */
  job<K extends EncodeKind>(
    input: string,
    kind: K,
    options?: OptionsOf<K>,
    answer?: (answer: Answer) => Answer | ((request: number) => Answer),
  ): Promise<NativeJob>;
  /** Starts a job and returns its final state. */
  run(job: NativeJob): Promise<NativeState>;
  /** Waits until a job has ended; returns its final state. */
  finish(id: string): Promise<NativeState>;
  /** Process ids of the server's ffmpegs. */
  ffmpegs(): Promise<number[]>;
  /** The files left in its folder. */
  left(): Promise<string[]>;
  close(): Promise<void>;
}

/** The program of the native encoder. */
export const MAIN = join(import.meta.dirname, "..", "..", "worker", "container", "main.ts");

/** Starts a server with these settings, from `main.ts` or a copy of it in another folder. */
export async function startRig(env: Record<string, string> = {}, main = MAIN): Promise<Rig> {
  const [origin, sink] = await Promise.all([startOrigin(), startSink()]);
  const home = await mkdtemp(join(tmpdir(), "framewright-container-"));
  const child = fork(main, [], {
    execArgv: [],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, PORT: "0", TMPDIR: home, ...env },
  });
  let output = "";
  child.stdout?.on("data", (bytes) => {
    output += bytes;
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once("exit", (code, signal) => resolve(code ?? signal ?? ""));
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("message", (message: { type: string; url: string; message: string }) => {
      if (message.type === "ready") resolve(message.url);
      else reject(new Error(message.message));
    });
    child.once("exit", (code) => reject(new Error(`The server ended with code ${code}.`)));
  });
  const token = env.NATIVE_ENCODER_TOKEN;
  const rig: Rig = {
    url,
    origin,
    sink,
    home,
    child,
    ended,
    output: () => output,
    call(method, path, body, headers = {}) {
      const auth = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      return fetch(url + path, {
        method,
        headers: { ...auth, "Content-Type": "application/json", ...headers },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
    },
    async job(input, kind, options = {} as never, answer = (plain) => plain) {
      const source = await probe(input);
      const plan = createPlan(source, kind, options);
      const [chunk] = plan.chunks;
      if (!chunk) throw new Error("The plan has no chunk.");
      const id = randomUUID();
      const size = source.filesize ?? 0;
      return {
        protocol: NATIVE_PROTOCOL,
        id,
        plan,
        chunk,
        source,
        input: { url: origin.serve(`/${id}`, answer({ file: input })), size, etag: "v1" },
        folder: `${sink.url}/${id}/`,
        name: kind === "adaptive_video" ? null : `output.${plan.format}`,
      };
    },
    async run(job) {
      const answer = await rig.call("POST", "/jobs", job);
      if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
      return rig.finish(job.id);
    },
    async finish(id) {
      for (;;) {
        const answer = await rig.call("GET", `/jobs/${id}?wait=10`);
        if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
        const state = (await answer.json()) as NativeState;
        if (state.state !== "running") return state;
      }
    },
    ffmpegs: () => childrenOf(child.pid ?? 0, "ffmpeg"),
    async left() {
      for (;;) {
        try {
          const paths = await readdir(home, { recursive: true });
          // All but the folder of the server itself.
          return paths.filter((path) => path.includes("/"));
        } catch (thrown) {
          // A folder was removed while it was read.
          if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
        }
      }
    },
    async close() {
      if (child.connected) child.disconnect();
      await ended;
      await Promise.all([origin.close(), sink.close()]);
      await rm(home, { recursive: true, force: true });
    },
  };
  return rig;
}

async function childrenOf(parent: number, name: string): Promise<number[]> {
  const pids: number[] = [];
  for (const pid of (await readdir("/proc")).map(Number).filter((id) => id > 0)) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const [, command, state, parentPid] = /^\d+ \((.*)\) (\w) (\d+)/.exec(stat) ?? [];
    if (command === name && Number(parentPid) === parent && state !== "Z") pids.push(pid);
  }
  return pids;
}

/** Polls until the result is truthy; rejects after half a minute. */
export async function until<T>(read: () => Promise<T> | T, max_ms = 30_000): Promise<NonNullable<T>> {
  for (const end = Date.now() + max_ms; Date.now() < end; ) {
    const value = await read();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Not so within ${max_ms} ms: ${read}`);
}
