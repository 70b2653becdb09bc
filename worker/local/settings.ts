import { join, resolve } from "node:path";
import { parseKeys } from "../auth/key-ring.ts";
import { createSeal } from "../connections/seal.ts";
import { LIMIT_SETTINGS, limitSetting } from "../limits/settings.ts";
import { LOG_LEVELS } from "../observability/log.ts";
import { countSetting, parseUrls } from "../text-settings.ts";
import { wrong } from "./cli.ts";

/** The folder that holds package.json. */
export const ROOT = join(import.meta.dirname, "..", "..");

/** Settings that go to the service Worker as they are; see worker/env.ts. */
export const PASSED_ON = [
  "MEDIA_TTL",
  "MAX_INPUT_BYTES",
  "MAX_INPUT_SECONDS",
  "WATCH_SECONDS",
  "STALL_SECONDS",
  "INGEST_SECONDS",
  "EVENT_TTL",
  "WEBHOOK_TIMEOUT_SECONDS",
  "WEBHOOK_RETRY_SECONDS",
  "PUBLIC_URL",
  "ALLOWED_HOSTS",
  "NATIVE_ENCODER_URL",
  "MAX_CHUNKS_IN_FLIGHT",
  "LOG_LEVEL",
  ...LIMIT_SETTINGS,
] as const;

const TEXTS: ReadonlySet<string> = new Set([
  "PUBLIC_URL",
  "ALLOWED_HOSTS",
  "NATIVE_ENCODER_URL",
  "LOG_LEVEL",
]);

// The local engine sleeps through a restart until the watch wakes it, so the watch looks sooner than at the edge.
const LOCAL_WATCH_SECONDS = "5";

/** Settings of the local service. */
export interface Settings {
  /** Port on 127.0.0.1; 0 for any free one. */
  port: number;
  /** Comma-separated `KEY` or `PROJECT:KEY`. */
  api_keys: string;
  /** Folder of everything that the service keeps. */
  state_dir: string;
  /** Variables of the service Worker. */
  vars: Record<string, string>;
  /** What the native encoders of `NATIVE_ENCODER_URL` want to be told. */
  native_token?: string;
  /** Encrypts the secrets of connections, comma-separated, the newest first; default one that the state folder keeps. */
  connection_keys?: string;
}

/** Reads the settings from environment variables; throws a {@link MediaError} that names the wrong one. */
export function parseSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const port = Number(env.PORT || 8787);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    wrong(`PORT must be a whole number from 0 to 65535, not ${JSON.stringify(env.PORT)}.`, "PORT");
  }
  const api_keys = env.API_KEYS || "dev-key";
  checkKeys(api_keys);
  const allow = env.ALLOW_PRIVATE_NETWORK || "true";
  if (allow !== "true" && allow !== "false") {
    wrong("ALLOW_PRIVATE_NETWORK must be true or false.", "ALLOW_PRIVATE_NETWORK");
  }
  const vars: Record<string, string> = {
    ALLOW_PRIVATE_NETWORK: allow,
    WATCH_SECONDS: LOCAL_WATCH_SECONDS,
    // A line for every request is for those who collect them.
    LOG_LEVEL: "error",
  };
  for (const name of PASSED_ON) {
    const value = env[name];
    if (!value) continue;
    if (!TEXTS.has(name) && !(Number(value) > 0)) wrong(`${name} must be a positive number.`, name);
    vars[name] = value;
  }
  if (!(LOG_LEVELS as readonly string[]).includes(vars.LOG_LEVEL ?? "")) {
    wrong(`LOG_LEVEL must be ${LOG_LEVELS.join(" or ")}.`, "LOG_LEVEL");
  }
  attempt("NATIVE_ENCODER_URL", () => parseUrls(vars.NATIVE_ENCODER_URL));
  attempt("MAX_CHUNKS_IN_FLIGHT", () =>
    countSetting("MAX_CHUNKS_IN_FLIGHT", vars.MAX_CHUNKS_IN_FLIGHT, 1, 1),
  );
  for (const name of LIMIT_SETTINGS) attempt(name, () => limitSetting(name, vars));
  const native_token = env.NATIVE_ENCODER_TOKEN;
  const connection_keys = env.CONNECTION_KEYS;
  if (connection_keys) attempt("CONNECTION_KEYS", () => createSeal(connection_keys));
  const state_dir = resolve(env.STATE_DIR || ".framewright");
  return {
    port,
    api_keys,
    state_dir,
    vars,
    ...(native_token && { native_token }),
    ...(connection_keys && { connection_keys }),
  };
}

function checkKeys(text: string): void {
  if (attempt("API_KEYS", () => parseKeys(text)).length > 0) return;
  wrong("API_KEYS must name at least one key.", "API_KEYS");
}

// The service Worker checks its settings too; here they are refused before anything starts.
function attempt<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    return wrong(thrown instanceof Error ? thrown.message : String(thrown), name);
  }
}
