import { countSetting } from "../text-settings.ts";
import type { RunLimits } from "./run-queue.ts";
import type { Use } from "./usage.ts";

const DEFAULTS = {
  MAX_REQUESTS: 300,
  MAX_CREATIONS: 60,
  MAX_RUNNING: 25,
  MAX_RUNNING_TOTAL: 1000,
  MAX_WAITING: 1000,
} as const;
/** The name of a setting of limits; see worker/env.ts. */
export type LimitSetting = keyof typeof DEFAULTS;
/** The settings of limits. */
export const LIMIT_SETTINGS = Object.keys(DEFAULTS) as LimitSetting[];

/** The settings of limits as they are given. */
export type LimitTexts = { readonly [name in LimitSetting]?: string | undefined };

/** Reads a setting of limits; throws an Error that names it for what is no whole number from 1. */
export function limitSetting(name: LimitSetting, env: LimitTexts): number {
  return countSetting(name, env[name], DEFAULTS[name], 1);
}

/** Reads how much a key may use a minute. */
export function rateLimits(env: LimitTexts): Use {
  return { requests: limitSetting("MAX_REQUESTS", env), creations: limitSetting("MAX_CREATIONS", env) };
}

/** Reads how many runs there may be at once. */
export function runLimits(env: LimitTexts): RunLimits {
  return { per_key: limitSetting("MAX_RUNNING", env), total: limitSetting("MAX_RUNNING_TOTAL", env) };
}
