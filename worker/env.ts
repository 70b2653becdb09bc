/// <reference path="./bindings.d.ts" />
import type { ServiceSettings } from "./settings/schema.ts";
import { serviceSettings } from "./settings/service-settings.ts";

/** The bindings of the service Worker with its settings. */
export interface Env extends Bindings {
  readonly settings: ServiceSettings;
}

/** Adds the parsed settings to the bindings; throws a {@link SettingsError}. */
export function readEnv(bindings: Bindings): Env {
  return { ...bindings, settings: serviceSettings(bindings) };
}
