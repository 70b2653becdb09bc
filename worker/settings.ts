import type { Env } from "./env.ts";
import type { WatchTimes } from "./watch.ts";

const MEDIA_TTL = 604_800;
const MAX_INPUT_BYTES = 5e9;

/** Reads a setting that is a positive number; an absent or useless text gives the default. */
export function numberSetting(text: string | undefined, fallback: number): number {
  const value = Number(text);
  return text && Number.isFinite(value) && value > 0 ? value : fallback;
}

/** Reads which hosts beside the public ones inputs may be on. */
export function readHostRules(env: Env): { allow_private: boolean; allowed_hosts: string[] } {
  const hosts = (env.ALLOWED_HOSTS ?? "").split(",").map((host) => host.trim());
  return {
    allow_private: env.ALLOW_PRIVATE_NETWORK === "true",
    allowed_hosts: hosts.filter((host) => host !== ""),
  };
}

/** Gives the Unix seconds until which the output of a run and its URL are good: counted from the creation, so that a repeated step gives the same URL. */
export function outputExpires({ created_at }: { created_at: number }, env: Pick<Env, "MEDIA_TTL">): number {
  return Math.floor(created_at / 1000) + mediaSeconds(env);
}

/** Gives the seconds that media are kept. */
export function mediaSeconds({ MEDIA_TTL: text }: Pick<Env, "MEDIA_TTL">): number {
  return numberSetting(text, MEDIA_TTL);
}

/** Gives the bytes that an input may have. */
export function maxInputBytes({ MAX_INPUT_BYTES: text }: Pick<Env, "MAX_INPUT_BYTES">): number {
  return numberSetting(text, MAX_INPUT_BYTES);
}

/** Reads the times of the watch over a run. */
export function watchTimes(env: Pick<Env, "WATCH_SECONDS" | "STALL_SECONDS">): WatchTimes {
  return {
    watch: numberSetting(env.WATCH_SECONDS, 30) * 1000,
    stall: numberSetting(env.STALL_SECONDS, 300) * 1000,
  };
}
