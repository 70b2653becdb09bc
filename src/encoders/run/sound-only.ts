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
import { readCover } from "../../mux/file-metadata.ts";
import { createOpener, openSound } from "../../mux/packets.ts";
import { openSource } from "../../probe/open-source.ts";

/**
 * Remuxes the first audio track of a file, packets and times unchanged. Keeps the first picture too, because without it
 * times counted from the start of the file would shift. A cover, if any, becomes the third stream. Null when there is no
 * such track or it does not fit the container.
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
    // Remuxing would lose the delay of Opus.
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
