import type { MediaInput } from "../../src/index.ts";
import { roundTime } from "./parse-time.ts";

// Over two hours of film; a longer list costs more than it helps.
const MOST = 200_000;
const WITHIN_MS = 5_000;

/**
 * Returns the start times of the pictures in a visitor's file, in seconds and in order, so that a step is one picture even
 * at a variable frame rate. Null for a URL, and when reading takes more than a few seconds.
 */
export async function readFrameTimes(input: MediaInput, signal: AbortSignal): Promise<number[] | null> {
  if (typeof input === "string") return null;
  const { ALL_FORMATS, BlobSource, EncodedPacketSink, Input } = await import("mediabunny");
  const over = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]);
  const file = new Input({
    formats: ALL_FORMATS,
    source: new BlobSource("getFile" in input ? await input.getFile() : input),
  });
  try {
    const track = await file.getPrimaryVideoTrack();
    if (!track) return null;
    const starts = await Promise.all((await file.getTracks()).map((each) => each.getFirstTimestamp()));
    const origin = Math.min(...starts);
    const times: number[] = [];
    for await (const packet of new EncodedPacketSink(track).packets(undefined, undefined, {
      metadataOnly: true,
    })) {
      if (over.aborted || times.length === MOST) return null;
      times.push(roundTime(Math.max(0, packet.timestamp - origin)));
    }
    return times.length > 0 ? times.sort((a, b) => a - b) : null;
  } finally {
    file.dispose();
  }
}
