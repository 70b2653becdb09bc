import type { LightEncoder } from "../../src/encoders/light/light.ts";
import type { NativeEncoder, NativeInstance } from "../../src/encoders/native/native.ts";
import { cutPlan, type Plan } from "../../src/media/index.ts";
import { keepsWork, type NativeHost, nativeOffer, type Offer } from "../../src/media/route.ts";
import type { Source } from "../../src/media/source.ts";
import type { ServiceSettings } from "../settings.ts";

/** The binding and the settings that define the native encoders. */
export interface NativeEnv {
  NATIVE?: { getByName(name: string): { fetch(url: string, init?: RequestInit): Promise<Response> } };
  settings: Pick<ServiceSettings, "NATIVE_ENCODER_URL" | "NATIVE_INSTANCES" | "MAX_CHUNKS_IN_FLIGHT">;
}

/** The native encoders of the service, and the address at which they reach it. */
export interface Natives {
  /** The instances in order of preference. */
  instances: NativeInstance[];
  /** Base of the media URLs that they receive. */
  base: string;
  /** Chunks of one encode that may be in flight at once. */
  max_in_flight: number;
}

/** Assumed processors of a native encoder: those of the containers in wrangler.toml. */
export const NATIVE_CORES = 2;

/** Base of the media URLs inside the service's containers: a host that no other client can reach. */
export const SERVICE_IN_CONTAINER = "http://framewright.internal";

/**
 * Creates the native encoders from the settings: those at NATIVE_ENCODER_URL, which reach the service at `base`, otherwise the
 * containers. Returns no instances when neither is configured.
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

/** The encoders of the edge. */
export interface EdgeEncoders extends NativeHost {
  light: LightEncoder;
  native: NativeEncoder;
}

/** Creates the function that returns the edge encoders' offers for an uncut plan, the light one first because it needs no container. */
export function createOffers({ light, native, ...host }: EdgeEncoders) {
  return async (plan: Plan, source: Source): Promise<Offer[]> => {
    const first = await lightOffer(light, plan, source);
    if (first.refusal || !keepsWork(plan, first)) await native.prepare(plan);
    return [first, nativeOffer(plan, source, { ...host, refusal: native.refuse(plan, source) })];
  };
}

async function lightOffer(light: LightEncoder, plan: Plan, source: Source): Promise<Offer> {
  await light.prepare();
  const chunk_seconds = plan.kind === "video" ? light.chunkSeconds(plan, source) : null;
  const cut = chunk_seconds === null ? plan : cutPlan(plan, { chunk_seconds });
  const seconds = light.seconds(plan, source);
  const chunks = cut.chunks.filter(({ track }) => track !== "audio").length;
  return { encoder: "light", refusal: light.refuse(cut, source), chunk_seconds, chunks, at_once: 1, seconds };
}
