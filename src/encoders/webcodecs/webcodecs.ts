import { refuseFeatures } from "../../media/features.ts";
import { filterContext } from "../../media/ffmpeg/color.ts";
import { outputFile } from "../../media/ffmpeg/output-files.ts";
import type { VideoEncode } from "../../media/ffmpeg/picture-graph.ts";
import { type Plan, plannedOf } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import type { Encoder } from "../encoder.ts";
import * as errors from "../errors.ts";
import { encodePictures } from "./chunk.ts";
import { createDecoders } from "./input.ts";
import {
  encodeAll,
  encodeSound,
  encodeStream,
  prepareSound,
  refuseSound,
  type SoundEncoder,
} from "./sound.ts";
import { videoOf } from "./stream.ts";
import { type Ability, tryCodec } from "./trial.ts";

/** Options of {@link createWebCodecsEncoder}. */
export interface WebCodecsOptions {
  /**
   * Encodes the sound of a plan, because WebCodecs lacks encoders for Framewright's formats; null refuses plans whose sound needs
   * encoding.
   */
  sound: SoundEncoder | null;
}

/** The browser's own video encoders. */
export interface WebCodecsEncoder extends Encoder {
  /** Tests support for a plan on this machine, once per codec and size; `refuse` uses the result. Never rejects. */
  prepare(plan: Plan, source: Source): Promise<void>;
}

/**
 * Creates the encoder "webcodecs": video and adaptive video by the browser's own encoders, in a page or a dedicated worker. Copied sound is
 * remuxed; other sound goes to the encoder in `sound`, in parallel with the pictures. `encode` rejects with `encoder_unavailable` when
 * the machine's encoder does not work after all.
 */
export function createWebCodecsEncoder({ sound }: WebCodecsOptions): WebCodecsEncoder {
  const trials = new Map<string, Promise<Ability | RefusalReason>>();
  const results = new Map<string, Ability | RefusalReason>();
  const decoders = createDecoders();

  const attempt = async ({ codec, geometry: { width, height } }: VideoEncode) => {
    const name = `${codec} ${width}x${height}`;
    const trial = trials.get(name) ?? tryCodec(codec, { width, height });
    trials.set(name, trial);
    results.set(name, await trial);
    return trial;
  };

  return {
    name: "webcodecs",
    async prepare(plan, source) {
      const videos = videosOf(plan);
      if (videos.length > 0) await decoders.prepare(source);
      // A machine may have few hardware encoders, so try one at a time.
      for (const video of videos) await attempt(video);
      await prepareSound(plan, source, sound);
    },
    refuse(plan, source) {
      const { video } = plan;
      if (video?.mode !== "encode") return { code: "other_work" };
      const featureRefusal = refuseFeatures(plannedOf(plan), source, "webcodecs", filterContext);
      const refusal = featureRefusal ?? refuseDepth(video) ?? decoders.refuse(source) ?? refuseHidden(source);
      if (refusal !== null) return refusal;
      for (const { codec, geometry } of videosOf(plan)) {
        const ability = results.get(`${codec} ${geometry.width}x${geometry.height}`);
        if (ability === undefined) return { code: "not_tried" };
        if ("code" in ability) return ability;
      }
      return refuseSound(plan, source, sound);
    },
    async encode(job) {
      const { plan, chunk } = job;
      if (chunk.track === "audio") return encodeSound(job, sound);
      const { video } = plan;
      if (video?.mode !== "encode") throw errors.noPicturesToEncode();
      const abilities = (await Promise.all(videosOf(plan).map(attempt))).map((ability) => {
        if ("code" in ability) throw errors.refused({ refusals: [{ encoder: "webcodecs", ...ability }] });
        return ability;
      });
      if (plan.kind === "adaptive_video") return encodeStream(job, video, abilities, sound);
      const [ability] = abilities;
      if (!ability) throw errors.noPicturesToEncode();
      if (chunk.track === "video") {
        const bytes = await encodePictures(job, video, ability);
        return [{ ...outputFile(plan, chunk), bytes }];
      }
      return encodeAll(job, video, ability, sound);
    },
  };
}

function videosOf({ video, renditions }: Plan): VideoEncode[] {
  if (video?.mode !== "encode") return [];
  return renditions.length > 0 ? renditions.map((rendition) => videoOf(video, rendition)) : [video];
}

// mediabunny pairs VP8's separate packets of transparency wrongly after a hidden picture.
function refuseHidden({ codecs, has_alpha }: Source): RefusalReason | null {
  return codecs?.video === "vp8" && has_alpha ? { code: "picture_times", codec: "vp8" } : null;
}

function refuseDepth({ depth }: VideoEncode): RefusalReason | null {
  return depth === 8 ? null : { code: "bit_depth", max_depth: 8 };
}
