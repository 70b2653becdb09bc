import type { VideoFormat } from "../../core/formats.ts";
import type { ByteReader } from "../../core/ports.ts";
import type { Tally } from "../../ffmpeg/tally.ts";
import { containerOf } from "../../media/containers.ts";
import { countContents } from "../../mux/contents.ts";
import { readMetadata } from "../../mux/file-metadata.ts";
import { readStart } from "../../mux/packets.ts";
import { stitch } from "../../mux/stitch.ts";
import { picturesEnd } from "../../plan/pictures-end.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Encoder } from "../encoder.ts";

/**
 * Creates the encoder that only remuxes: it streams the packets into another container, so files of any size need little
 * memory. Run it where it can be terminated: a damaged source can keep mediabunny busy forever.
 */
export function createCopyEncoder(): Encoder {
  return {
    name: "copy",
    refuse(plan, source) {
      if (plan.kind !== "video") return { code: "other_work" };
      if (plan.video?.mode !== "copy") return { code: "needs_encoding", track: "video" };
      if (plan.audio && plan.audio.mode !== "copy") return { code: "needs_encoding", track: "audio" };
      const isPart = plan.start > 0 || plan.end !== null || plan.sound_track !== undefined;
      if (isPart) return { code: "other_work" };
      return containerOf(source).mediabunny !== "copies"
        ? { code: "input_format", format: source.format }
        : null;
    },
    async encode({ plan, source, input, signal, onTally, onWait }) {
      const from = await readStart(input, signal).catch(() => failLater(signal, 0));
      const audio = plan.audio ? input : null;
      const video = [{ input, at: -from }];
      const until = picturesEnd(source, plan);
      const metadata = await readMetadata(plan, () => input, signal);
      const format = plan.format as VideoFormat;
      const body = stitch({
        ...{ format, video, audio, audio_from: from, until, metadata, of_source: true, signal, onWait },
      });
      onTally?.(await tallySource(plan, input, signal));
      return body;
    },
  };
}

// When the source cannot be read, the copy itself fails.
function failLater<T>(signal: AbortSignal, unread: T): T {
  signal.throwIfAborted();
  return unread;
}

async function tallySource(plan: Plan, input: ByteReader, signal: AbortSignal): Promise<Tally> {
  try {
    const { pictures, sound } = await countContents(input, signal);
    const none = { missing: 0, missing_at: null, late_start: false, unreadable: 0 };
    return {
      ...(plan.video && { pictures: { ...none, decoded: pictures ?? 0 } }),
      ...(plan.audio && { sound }),
    };
  } catch {
    return failLater(signal, {});
  }
}
