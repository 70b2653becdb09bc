import type { Env } from "./env.ts";

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
