import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  MkvOutputFormat,
  MovOutputFormat,
  Output,
} from "mediabunny";
import { containerOf, isIsobmff } from "../media/containers.ts";
import type { PacketCounts } from "../media/ffmpeg/packet-count.ts";
import type { VideoFormat } from "../media/formats.ts";
import type { Plan } from "../media/plan.ts";
import type { Source } from "../media/source.ts";
import { picturesEnd } from "../media/timeline.ts";
import { countContents } from "../mux/contents.ts";
import { readCover, readMetadata } from "../mux/file-metadata.ts";
import { createOpener, openSound, readStart } from "../mux/packets.ts";
import { stitch } from "../mux/stitch.ts";
import { repairMatroska } from "../probe/matroska.ts";
import { listsTracks, openSource, pictureTrack, type TrackPlaces, trackPlaces } from "../probe/mediabunny.ts";
import type { ByteReader } from "../runs/ports.ts";
import type { Encoder } from "./encoder.ts";

/**
 * Creates the encoder that only remuxes: it streams the packets into another container, so files of any size need little memory.
 * Run it in a terminable worker: a damaged source can keep mediabunny busy forever.
 */
export function createCopyEncoder(): Encoder {
  return {
    name: "copy",
    refuse(plan, source) {
      if (plan.kind !== "video") return { code: "other_work" };
      if (plan.video?.mode !== "copy") return { code: "needs_encoding", track: "video" };
      if (plan.audio && plan.audio.mode !== "copy") return { code: "needs_encoding", track: "audio" };
      const isPart = plan.start > 0 || plan.end !== null || source.postroll !== undefined;
      if (isPart || (source.fragmented && source.preroll !== undefined)) return { code: "other_work" };
      return containerOf(source).mediabunny !== "copies" || !listsTracks(source)
        ? { code: "input_format", format: source.format }
        : null;
    },
    async encode({ plan, source, input: file, signal, onCounts, onWait }) {
      const input = await repairMatroska(file, source.format, signal);
      const from = await readStart(input, signal).catch(() => deferFailure(signal, 0));
      const audio = plan.audio ? input : null;
      const places = trackPlaces(source, plan.sound_track ?? 0);
      const video = [{ input, at: -from, place: places.video }];
      const until = picturesEnd(source, plan);
      const metadata = await readMetadata(plan, () => input, signal);
      const format = plan.format as VideoFormat;
      const body = stitch({
        format,
        video,
        audio,
        audioPlace: places.audio,
        audioFrom: from,
        until,
        metadata,
        ofSource: true,
        signal,
        onWait,
      });
      onCounts?.(await countSource(plan, input, places, signal));
      return body;
    },
  };
}

function deferFailure<T>(signal: AbortSignal, fallback: T): T {
  signal.throwIfAborted();
  return fallback;
}

async function countSource(
  plan: Plan,
  input: ByteReader,
  places: TrackPlaces,
  signal: AbortSignal,
): Promise<PacketCounts> {
  try {
    const { pictures, sound } = await countContents(input, signal, places);
    const none = { missing: 0, missing_at: null, late_start: false, unreadable: 0 };
    return {
      ...(plan.video && { pictures: { ...none, decoded: pictures ?? 0 } }),
      ...(plan.audio && { sound }),
    };
  } catch {
    return deferFailure(signal, {});
  }
}

/**
 * Remuxes an audio track of a file, with packets and times unchanged. Keeps the first picture, so that times from the start of
 * the file do not shift. A cover, if any, becomes the third stream. Null when there is no such track or the container does not
 * support it.
 */
export async function takeSound(
  input: ByteReader,
  source: Source,
  signal: AbortSignal,
  { withCover = false, track: sound_track = 0 } = {},
): Promise<Uint8Array | null> {
  const readable = await openSource(input, source.format, signal);
  if (!readable) return null;
  const { open, close } = createOpener(signal, false);
  const format = isIsobmff(source.format)
    ? new MovOutputFormat({ fastStart: false, metadataFormat: "mdir" })
    : new MkvOutputFormat();
  const target = new BufferTarget();
  const output = new Output({ format, target });
  try {
    const file = open(readable);
    const sound = await openSound(file, 0, trackPlaces(source, sound_track).audio);
    const track = await pictureTrack(file, source);
    const codec = await track?.getCodec();
    const decoderConfig = await track?.getDecoderConfig();
    const picture = track && (await new EncodedPacketSink(track).getFirstPacket());
    const fits = format.getSupportedCodecs().includes(sound.codec);
    // Remuxing would lose the pre-skip of Opus.
    if (!fits || sound.codec === "opus" || !codec || !decoderConfig || !picture) return null;
    const pictures = new EncodedVideoPacketSource(codec);
    const sounds = new EncodedAudioPacketSource(sound.codec);
    output.addVideoTrack(pictures);
    output.addAudioTrack(sounds);
    const cover = withCover ? await readCover(readable, signal) : null;
    if (cover) {
      output.setMetadataTags({ images: [{ data: cover.bytes, mimeType: cover.mime, kind: "coverFront" }] });
    }
    await output.start();
    await pictures.add(picture, { decoderConfig });
    pictures.close();
    for await (const packet of sound.packets(false)) {
      signal.throwIfAborted();
      await sounds.add(packet, { decoderConfig: sound.config });
    }
    await output.finalize();
    return target.buffer && new Uint8Array(target.buffer);
  } catch (thrown) {
    await output.cancel().catch(() => {});
    signal.throwIfAborted();
    throw thrown;
  } finally {
    close();
  }
}
