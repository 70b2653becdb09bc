import type { DurableObjectNamespace } from "@cloudflare/workers-types";
import { createTestHarness } from "wrangler";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import type { RunBinding } from "../../../worker/run/workflow-instance.ts";
import { NO_LIMITS } from "../../fixtures/no-limits.ts";

const KEYS = "alpha:key-of-alpha,beta:key-of-beta";

/** The bindings that tests use. */
export interface Bindings {
  KV: {
    get(key: string, type: "json"): Promise<unknown>;
    put(key: string, value: string): Promise<void>;
    delete(key: string): Promise<void>;
    list(options: { prefix: string }): Promise<{ keys: { name: string; expiration?: number }[] }>;
  };
  MEDIA: {
    list(options: { prefix: string }): Promise<{ objects: { key: string }[] }>;
    get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
    put(key: string, value: string): Promise<unknown>;
  };
  TASK: DurableObjectNamespace;
  JOB: DurableObjectNamespace;
  PROJECT: DurableObjectNamespace;
  QUEUE: DurableObjectNamespace;
  RUN: RunBinding;
  RUN_2: RunBinding;
  RUN_3: RunBinding;
}

/**
 * The whole service in one workerd, with short timeouts and real bindings to inspect. The harness itself follows redirects of sources, so
 * tests of redirects start the service in another way. `between` is a Worker in front of the encoder, and `configPath` the configuration
 * of a Worker that wraps the service.
 */
export function createRig(
  vars: Record<string, string> = {},
  between?: { name: string; configPath: string },
  configPath = "./wrangler.toml",
) {
  const server = createTestHarness({
    workers: [
      {
        configPath,
        vars: {
          ALLOW_PRIVATE_NETWORK: "true",
          NATIVE_INSTANCES: "0",
          WATCH_SECONDS: "2",
          ...NO_LIMITS,
          ...vars,
        },
        ...(between && { bindingOverrides: { ENCODER: between.name } }),
        secrets: {
          API_KEYS: KEYS,
          MEDIA_SIGNING_KEY: "a-signing-key-of-32-characters-for-tests",
          CONNECTION_KEYS: "a-connection-key-for-tests",
        },
      },
      { configPath: "./worker/encoder/wrangler.toml" },
      ...(between ? [{ configPath: between.configPath }] : []),
    ],
  });
  const worker = () => server.getWorker<Bindings>("framewright");

  async function call(path: string, init: { method?: string; body?: unknown; key?: string } = {}) {
    const { method = "GET", body, key = "key-of-alpha" } = init;
    const response = await server.fetch(path, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text ? JSON.parse(text) : null };
  }

  /** Polls until the condition holds; returns the value that met it. */
  async function until<T>(ask: () => Promise<T>, holds: (value: T) => boolean, limit = 60_000): Promise<T> {
    const end = Date.now() + limit;
    for (;;) {
      const value = await ask();
      if (holds(value)) return value;
      if (Date.now() > end) throw new Error(`Not within ${limit} ms: ${JSON.stringify(value)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const read = async <T extends Task | Step>(path: string): Promise<T> => (await call(path)).json;

  return {
    server,
    worker,
    call,
    until,
    finished: (id: string) =>
      until(
        () => read<Task>(`/tasks/${id}`),
        ({ status }) => status !== "queued" && status !== "processing",
      ),
    finishedStep: (id: string) =>
      until(
        () => read<Step>(`/steps/${id}`),
        ({ status }) => status !== "waiting" && status !== "processing",
      ),
  };
}
