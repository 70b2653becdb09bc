import { availableParallelism, tmpdir, totalmem } from "node:os";
import { slotsFor } from "../../src/media/route.ts";
import { isLoopback } from "../../src/util/text.ts";
import { NativeSettings, readSettings, type Variables } from "../settings.ts";
import * as errors from "./errors.ts";

/** The native encoder's settings, read from its environment as {@link NativeSettings} documents. */
export interface Settings {
  port: number;
  host: string;
  /** Token that requests must send; null if none is required. */
  token: string | null;
  /** Origins that jobs may name; null for any. */
  origins: readonly string[] | null;
  /** Jobs with moving pictures that run at once. */
  slots: number;
  /** Threads of such a job, so that all slots together fill the cores. */
  threads: number;
  lease_seconds: number;
  grace_seconds: number;
  stall_seconds: number;
  max_file_bytes: number;
  max_memory_bytes: number;
  /** User that ffmpeg runs as; null for the server's own. */
  ffmpeg_user: string | null;
  tmpdir: string;
}

/**
 * Reads the settings from the environment. Throws a {@link SettingsError}, or `request_invalid` when other machines can reach the encoder
 * but it has no token or accepts any origin.
 */
export function parseSettings(env: Variables, cores: number = availableParallelism()): Settings {
  const settings = readSettings(NativeSettings, env);
  requireProtection(settings);
  const { PLACES: slots = slotsFor(cores).slots } = settings;
  return {
    port: settings.PORT,
    host: settings.HOST,
    token: settings.NATIVE_ENCODER_TOKEN ?? null,
    origins: settings.SERVICE_ORIGINS ?? null,
    slots,
    threads: Math.max(1, Math.ceil(cores / slots)),
    lease_seconds: settings.LEASE_SECONDS,
    grace_seconds: settings.GRACE_SECONDS,
    stall_seconds: settings.STALL_SECONDS,
    max_file_bytes: settings.MAX_FILE_BYTES,
    max_memory_bytes: settings.MAX_MEMORY_BYTES ?? Math.floor(machineMemory() * FFMPEG_SHARE),
    ffmpeg_user: settings.FFMPEG_USER ?? null,
    tmpdir: settings.TMPDIR ?? tmpdir(),
  };
}

const FFMPEG_SHARE = 0.9;

function requireProtection({ HOST, ...settings }: NativeSettings): void {
  if (isLoopback(HOST)) return;
  const missing = (["NATIVE_ENCODER_TOKEN", "SERVICE_ORIGINS"] as const).filter((name) => !settings[name]);
  if (missing.length === 0) return;
  throw errors.protectionMissing({ names: missing, host: HOST });
}

function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}
