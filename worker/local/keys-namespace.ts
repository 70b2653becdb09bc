import { z } from "zod";
import { retry } from "../../src/util/retry.ts";
import type { KeyNamespace } from "../auth/key-store.ts";
import { runWrangler } from "./wrangler.ts";

const TRIES = 5;
const Listed = z.array(z.object({ name: z.string(), metadata: z.unknown().optional() }));

/** Accesses the service's KV namespace through wrangler's commands; the arguments `where` select it. */
export function wranglerNamespace(where: readonly string[]): KeyNamespace {
  const kv = (...args: string[]) => runPatiently(["kv", "key", ...args, "--binding", "KV", ...where]);
  return {
    get: async (name) => JSON.parse(await kv("get", name)),
    async put(name, value, { metadata, expirationTtl }) {
      const life = expirationTtl === undefined ? [] : ["--ttl", String(expirationTtl)];
      await kv("put", name, value, "--metadata", JSON.stringify(metadata), ...life);
    },
    async delete(name) {
      await kv("delete", name);
    },
    // The command fetches all pages itself.
    list: async ({ prefix }) => ({
      keys: Listed.parse(JSON.parse(await kv("list", "--prefix", prefix))),
      list_complete: true,
    }),
  };
}

// The running service may lock the same file for a moment. All of these commands are idempotent.
function runPatiently(args: string[]): Promise<string> {
  const tries = args.includes("--remote") ? 1 : TRIES;
  return retry(() => runWrangler(args), { tries, pauseMs: (tried) => Math.random() * 500 * tried });
}
