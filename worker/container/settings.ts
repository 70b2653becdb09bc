import { availableParallelism, tmpdir, totalmem } from "node:os";
import { MediaError } from "../../src/core/errors.ts";
import { placesOf } from "../../src/plan/native-time.ts";

/** What the native encoder is told by its environment. */
export interface Settings {
  /** PORT: default 8080; 0 for any free one. */
  port: number;
  /** HOST: the address to listen at; default 127.0.0.1. */
  host: string;
  /** NATIVE_ENCODER_TOKEN: what requests must carry; null for none. */
  token: string | null;
  /** SERVICE_ORIGINS: comma-separated, such as `https://media.example`; jobs may read from and write to these alone. Null for any. */
  origins: readonly string[] | null;
  /** PLACES: jobs with pictures in motion that may run at once; default half the cores. One more place is for images and sound. */
  places: number;
  /** Cores that one job with pictures in motion has threads for, so that all places together fill them. */
  threads: number;
  /** LEASE_SECONDS: a job that nobody asks after for so long is ended; default 120. */
  lease_seconds: number;
  /** GRACE_SECONDS: how long running jobs may take to finish after SIGTERM; default 600. */
  grace_seconds: number;
  /** STALL_SECONDS: an ffmpeg that does nothing for so long is ended; default 60. */
  stall_seconds: number;
  /** MAX_FILE_BYTES: the most that one file of an output may have; default 64 GiB. */
  max_file_bytes: number;
  /** MAX_MEMORY_BYTES: the most that one ffmpeg may take; default what the machine or the container has. */
  max_memory_bytes: number;
  /** TMPDIR: where the folders of jobs are. */
  tmpdir: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Reads the settings from the environment; throws a {@link MediaError} that names the wrong one. */
export function parseSettings(env: Env, cores: number = availableParallelism()): Settings {
  const number = (name: string, fallback: number, least: number, most: number): number => {
    const text = env[name]?.trim();
    if (!text) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new MediaError("request_invalid", `${name} must be a whole number from ${least} to ${most}.`);
  };
  const places = number("PLACES", placesOf(cores).places, 1, 256);
  const day = 86_400;
  return {
    port: number("PORT", 8080, 0, 65_535),
    host: env.HOST?.trim() || "127.0.0.1",
    token: env.NATIVE_ENCODER_TOKEN?.trim() || null,
    origins: parseOrigins(env.SERVICE_ORIGINS),
    places,
    threads: Math.max(1, Math.ceil(cores / places)),
    lease_seconds: number("LEASE_SECONDS", 120, 1, day),
    grace_seconds: number("GRACE_SECONDS", 600, 0, day),
    stall_seconds: number("STALL_SECONDS", 60, 1, day),
    max_file_bytes: number("MAX_FILE_BYTES", 64 * 2 ** 30, 2 ** 12, 2 ** 50),
    max_memory_bytes: number("MAX_MEMORY_BYTES", machineMemory(), 2 ** 26, 2 ** 50),
    tmpdir: env.TMPDIR?.trim() || tmpdir(),
  };
}

function parseOrigins(text: string | undefined): string[] | null {
  const origins = (text ?? "").split(",").flatMap((part) => part.trim() || []);
  for (const origin of origins) {
    if (/^https?:$/.test(URL.parse(origin)?.protocol ?? "") && URL.parse(origin)?.origin === origin) continue;
    const right = "origins such as https://media.example, without a path";
    throw new MediaError("request_invalid", `SERVICE_ORIGINS must be a comma-separated list of ${right}.`);
  }
  return origins.length > 0 ? origins : null;
}

// Of a container, what it may take rather than what its host has.
function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}
