import type { LightEncoder } from "../../src/encoders/light/light.ts";
import type { NativeEncoder } from "../../src/encoders/native/native.ts";
import { cutPlan, type Plan } from "../../src/media/index.ts";
import { keepsWork } from "../../src/media/route/decide.ts";
import { type NativeHost, nativeOffer, type Offer } from "../../src/media/route/offers.ts";
import type { Source } from "../../src/media/source.ts";

/** The encoders of the edge. */
export interface EdgeEncoders extends NativeHost {
  light: LightEncoder;
  native: NativeEncoder;
}

/** Creates the offers of the edge's encoders for an uncut plan: the light one first, as it costs no container. */
export function createOffers({ light, native, ...host }: EdgeEncoders) {
  return async (plan: Plan, source: Source): Promise<Offer[]> => {
    const first = await lightOffer(light, plan, source);
    // To ask a native encoder may start its container, which is wasted on work that stays here.
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
