import type { Signer } from "../../../worker/media/signed-urls.ts";
import { startOrigin } from "../../fixtures/origin.ts";
import { createMemoryApi } from "./memory-api.ts";
import { type Bindings, startService } from "./service.ts";

/** The API on one host, with keys of two projects and an input that keeps a task waiting until cancelled. */
export interface ApiHost {
  base: string;
  input: string;
  signer: Signer;
  /** The real storage and keys behind it, if any. */
  bindings?: Bindings;
  /** Sends a request unchanged. */
  send(url: string, init?: RequestInit): Promise<Response>;
  /** Sends a request with a key; the caller vouches for the type of the parsed body. */
  ask<Body = unknown>(method: string, path: string, body?: unknown, key?: string): Promise<ApiAnswer<Body>>;
  close(): Promise<void>;
}

export interface ApiAnswer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** The body of an error response. */
export interface Refusal {
  kind: string;
  message: string;
  param?: string;
}

/** Keys of different projects, which every host knows. */
export const KEYS = { mine: "good-key", theirs: "other-key" } as const;

/** The hosts of the same tests: in memory, and against the whole service in workerd. */
export const HOSTS: Record<string, () => Promise<ApiHost>> = {
  async "in memory"() {
    const { app, signer } = createMemoryApi();
    const base = "http://localhost";
    const send = async (url: string, init?: RequestInit) => app.request(url, init);
    const ask = createAsk((path, init) => send(base + path, init));
    return { base, input: "https://example.com/a.mp4", signer, send, ask, close: async () => {} };
  },
  async "in workerd"() {
    const origin = await startOrigin();
    const service = await startService(`mine:${KEYS.mine},theirs:${KEYS.theirs}`);
    return {
      base: service.base,
      input: origin.serve("/silent.mp4", { silent: true }),
      signer: service.signer,
      bindings: service.bindings,
      send: fetch,
      ask: createAsk((path, init) => fetch(service.base + path, init)),
      async close() {
        await service.close();
        await origin.close();
      },
    };
  },
};

function createAsk(send: (path: string, init: RequestInit) => Promise<Response>): ApiHost["ask"] {
  return async (method, path, body, key = KEYS.mine) => {
    const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await send(path, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : JSON.parse(text),
    };
  };
}
