import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { NativeInstance } from "../../src/encoders/native/native.ts";
import type { NativeJob, NativeState } from "../../src/encoders/native/native-wire.ts";

/** A scripted answer to one request: a state, a status with a text, or a broken answer. */
export type Reply =
  | NativeState
  | { status: number; text?: string; mime?: string }
  | "silent"
  | "cut"
  | "endless"
  | "half";

/** The answers to starts (POST), polls (GET) and ends (DELETE) in order; the last one repeats. */
export interface Script {
  start?: readonly Reply[];
  ask?: readonly Reply[];
  end?: readonly Reply[];
}

/** A real HTTP server that speaks the native encoder's protocol from a script. */
export interface ScriptedNative extends NativeInstance {
  /** Method and path of every request, oldest first. */
  readonly log: string[];
  /** The jobs it received. */
  readonly jobs: NativeJob[];
  /** The Authorization headers it received. */
  readonly tokens: (string | undefined)[];
  /** Resolves when a request of that method has arrived. */
  arrival(method: string): Promise<void>;
  /** Closes the server and its connections. */
  close(): Promise<void>;
}

export const RUNNING: NativeState = { state: "running", share: 0, speed: null };
export const DONE: NativeState = {
  state: "done",
  written: [{ name: "out.mp4", mime: "video/mp4", size: 1234 }],
  playlists: [],
  tally: {},
};
/** The answer of an encoder without a free slot. */
export const BUSY: Reply = { status: 503, text: '{"kind":"service_unavailable","message":"busy"}' };

const GONE: Reply = { status: 204 };

/** Starts an encoder that accepts every job and reports it done at the first poll, unless scripted otherwise. */
export async function startScripted(name: string, script: Script = {}): Promise<ScriptedNative> {
  const replies = {
    POST: script.start ?? [RUNNING],
    GET: script.ask ?? [DONE],
    DELETE: script.end ?? [GONE],
  };
  const counts = { POST: 0, GET: 0, DELETE: 0 };
  const log: string[] = [];
  const jobs: NativeJob[] = [];
  const tokens: (string | undefined)[] = [];
  const seen = new Map<string, PromiseWithResolvers<void>>();
  const arrivalOf = (method: string) => {
    const sight = seen.get(method) ?? Promise.withResolvers<void>();
    seen.set(method, sight);
    return sight;
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "" } = request;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    log.push(`${method} ${url}`);
    tokens.push(request.headers.authorization);
    if (method === "POST") jobs.push(JSON.parse(Buffer.concat(pieces).toString()));
    arrivalOf(method).resolve();
    if (!Object.hasOwn(replies, method)) return void response.destroy();
    const verb = method as keyof typeof replies;
    const reply = replies[verb][Math.min(counts[verb]++, replies[verb].length - 1)];
    if (reply) sendReply(reply, verb === "POST" ? 202 : 200, response);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ name, log, jobs, tokens },
    fetch: (path, init) => fetch(base + path, init),
    arrival: (method) => arrivalOf(method).promise,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function sendReply(reply: Reply, status: number, response: ServerResponse): void {
  if (reply === "silent") return;
  if (reply === "cut") return void response.destroy();
  if (reply === "half") {
    response.writeHead(status, { "Content-Length": "100" });
    response.write('{"state":"run');
    setImmediate(() => response.destroy());
    return;
  }
  if (reply === "endless") {
    response.writeHead(status);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(1 << 16))) {}
    };
    response.on("drain", more);
    more();
    return;
  }
  if ("state" in reply) {
    response.writeHead(status, { "Content-Type": "application/json" });
    return void response.end(JSON.stringify(reply));
  }
  response.writeHead(reply.status, { "Content-Type": reply.mime ?? "application/json" });
  response.end(reply.text ?? "");
}
