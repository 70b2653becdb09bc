import type { VideoFormat } from "../core/formats.ts";
import type { Encoder } from "./encoder.ts";
import { stitch } from "./stitch.ts";

// Of the formats that a plan copies from, the one that mediabunny does not read.
const UNREAD = "flv";

/**
 * Creates the encoder that encodes nothing: it moves the packets of pictures and sound into another container, streaming,
 * so that files of any size go through in little memory. Run it where it can be ended: a damaged source can keep
 * mediabunny busy for ever.
 */
export function createCopyEncoder(): Encoder {
  return {
    name: "copy",
    can(plan, source) {
      if (plan.kind !== "video") return "it only copies video";
      if (plan.video?.mode !== "copy") return "the pictures need encoding";
      if (plan.audio && plan.audio.mode !== "copy") return "the sound needs encoding";
      return source.format === UNREAD ? `packets are not copied from ${UNREAD}` : null;
    },
    async encode({ plan, input, signal }) {
      const audio = plan.audio ? input : null;
      const video = [{ input, at: 0 }];
      return stitch({ format: plan.format as VideoFormat, video, audio, of_source: true, signal });
    },
  };
}
