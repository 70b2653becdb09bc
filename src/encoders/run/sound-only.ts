import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  MkvOutputFormat,
  MovOutputFormat,
  Output,
} from "mediabunny";
import type { ByteReader } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import { openSource } from "../../probe/open-source.ts";
import { createOpener, openSound } from "../stitch/packets.ts";
import { readCover } from "./file-metadata.ts";

/**
 * Takes the first sound of a file out of it, packets as they are and with their times; the first picture stays too, as what is
 * counted from the start of the file would else move. A cover, where it is wanted, becomes its third stream. Null when it has no such sound, or it does not fit into the container.
 */
export async function takeSound(
  input: ByteReader,
  source: Source,
  signal: AbortSignal,
  withCover = false,
): Promise<Uint8Array | null> {
  const readable = await openSource(input, source.format, signal);
  if (!readable) return null;
  const { open, close } = createOpener(signal, false);
  const isobmff = source.format === "mp4" || source.format === "mov";
  const format = isobmff
    ? new MovOutputFormat({ fastStart: false, metadataFormat: "mdir" })
    : new MkvOutputFormat();
  const target = new BufferTarget();
  const output = new Output({ format, target });
  try {
    const file = open(readable);
    const sound = await openSound(file);
    const track = await file.getPrimaryVideoTrack();
    const codec = await track?.getCodec();
    const decoderConfig = await track?.getDecoderConfig();
    const picture = track && (await new EncodedPacketSink(track).getFirstPacket());
    const fits = format.getSupportedCodecs().includes(sound.codec);
    // The delay of Opus would be lost on the way.
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
