import type { NativeInstance } from "../../src/encoders/native/native.ts";
import type { ServiceSettings } from "../settings/schema.ts";

/** The binding and the settings that native encoders come from. */
export interface NativeEnv {
  NATIVE?: { getByName(name: string): { fetch(url: string, init?: RequestInit): Promise<Response> } };
  settings: Pick<ServiceSettings, "NATIVE_ENCODER_URL" | "NATIVE_INSTANCES" | "MAX_CHUNKS_IN_FLIGHT">;
}

/** The native encoders that the service may ask, and where they reach it. */
export interface Natives {
  /** In the order in which they are asked. */
  instances: NativeInstance[];
  /** Base of the media URLs that they are given. */
  base: string;
  /** Chunks of one encode that they are given at once, at most. */
  max_in_flight: number;
}

/** Processors that a native encoder is taken to have: those of the containers in wrangler.toml. */
export const NATIVE_CORES = 2;

/** Where one of the service's containers finds its media: a host that no other client can reach. */
export const SERVICE_IN_CONTAINER = "http://framewright.internal";

/**
 * Creates the native encoders of the settings: those of NATIVE_ENCODER_URL, which reach the service at `base`, else the
 * containers; none where neither is set.
 */
export function createNatives(env: NativeEnv, base: string): Natives {
  const { NATIVE, settings } = env;
  const { NATIVE_ENCODER_URL: urls = [], MAX_CHUNKS_IN_FLIGHT: max_in_flight } = settings;
  const instances = urls.map((url) => ({
    name: URL.parse(url)?.host ?? url,
    fetch: (path: string, init?: RequestInit) => fetch(url + path, init),
  }));
  if (instances.length > 0 || !NATIVE) return { instances, base, max_in_flight };
  const names = Array.from({ length: settings.NATIVE_INSTANCES }, (_, index) => `native-${index + 1}`);
  return {
    instances: names.map((name) => ({
      name,
      // A stub that has failed once stays broken, so each call takes a fresh one.
      fetch: (path, init) => NATIVE.getByName(name).fetch(`http://native${path}`, init),
    })),
    base: SERVICE_IN_CONTAINER,
    max_in_flight,
  };
}
