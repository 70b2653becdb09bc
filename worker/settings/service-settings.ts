import { readSettings } from "./read.ts";
import { ServiceSettings } from "./schema.ts";

const parsed = new WeakMap<object, { settings: ServiceSettings } | { error: unknown }>();

/**
 * Reads the settings of the service Worker, once for each `env`, of which an isolate has one; throws a {@link SettingsError}. An object whose
 * alarm must not be lost reads them when it needs them, not in its constructor: where that throws, the platform gives the alarm up.
 */
export function serviceSettings(env: object): ServiceSettings {
  const found = parsed.get(env) ?? parse(env);
  parsed.set(env, found);
  if ("error" in found) throw found.error;
  return found.settings;
}

function parse(env: object): { settings: ServiceSettings } | { error: unknown } {
  try {
    return { settings: readSettings(ServiceSettings, { ...env }) };
  } catch (error) {
    return { error };
  }
}
