import {
  ALL_FORMATS,
  CustomSource,
  type EncodedPacket,
  EncodedPacketSink,
  Input,
  type InputVideoTrack,
} from "mediabunny";
import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { bytesOf } from "../util/buffers.ts";
import { KIB } from "../util/bytes.ts";
import { boundReader, type ProbeBounds } from "./bounded-reader.ts";
import { h264Entry } from "./h264-entry.ts";
import { openSource } from "./open-source.ts";
import { isShown } from "./vp8-frame.ts";

/** Finds a place in a source by a time, both in seconds; null where it is not known. */
export type Find = (time: number) => Promise<number | null>;

/** Finds what lies around the start of a cut. */
export interface Finder {
  /** Where decoding has to begin so that every picture from a time on is whole. */
  entry: Find;
  /** Where the picture begins that is on screen at a time. */
  shown: Find;
}

// Some keyframes and what lies around them, for each of hundreds of cuts.
const BOUNDS: ProbeBounds = { reads: 1_000_000, blocks: 4096, jumps: 4000 };
// Keyframes to look at, going back, before a stretch is taken to have no entry.
const TRIES = 40;
// A picture on an edge but for rounding belongs to the span that starts there.
const NUDGE = 0.0005;
const GUESSED_FPS = 25;

// Whose keyframes the container marks, and which are entries by themselves or for the pictures behind them.
const FORMATS: ReadonlySet<string> = new Set(["mp4", "mov", "matroska", "webm", "mpegts"]);

/** Whether entries of a source can be looked up at all; of others the marks of their container are all there is. */
export function hasEntries({ format, codecs }: Source): boolean {
  return FORMATS.has(format) && !(format === "mpegts" && !/^h26[45]$/.test(codecs?.video ?? ""));
}

/** Opens a source to find its entries and pictures, looking at the pictures themselves: what a container marks as a keyframe may refer to earlier ones. */
export async function withEntries<T>(
  reader: ByteReader,
  source: Source,
  signal: AbortSignal,
  use: (finder: Finder) => Promise<T>,
): Promise<T> {
  let input: Input | null = null;
  const open = async () => {
    const readable = await openSource(reader, source.format, signal);
    if (!readable) return null;
    const bounded = boundReader(inBlocks(readable), BOUNDS, signal);
    input = new Input({
      formats: ALL_FORMATS,
      source: new CustomSource({
        getSize: () => bounded.size,
        read: (start, end) => bounded.read({ start, end }, signal),
        handleUnhandledError: () => {},
        // Every read comes by the bounds, which end an endless loop over a malformed file.
        maxCacheSize: 0,
      }),
    });
    const track = await input.getPrimaryVideoTrack();
    return track && createFinder(track, Math.max(0, await input.getFirstTimestamp()), source);
  };
  const quietly = async <R>(work: () => Promise<R | null>) => {
    try {
      return await work();
    } catch {
      // Whatever is wrong with the file, the encoder will say it better.
      signal.throwIfAborted();
      return null;
    }
  };
  try {
    const finder = await quietly(open);
    return await use({
      entry: async (time) => finder && quietly(() => finder.entry(time)),
      shown: async (time) => finder && quietly(() => finder.shown(time)),
    });
  } finally {
    (input as Input | null)?.dispose();
  }
}

async function createFinder(track: InputVideoTrack, origin: number, source: Source): Promise<Finder> {
  const sink = new EncodedPacketSink(track);
  const codec = await track.getCodec();
  const config = codec && (await track.getDecoderConfig());
  const description = config?.description ? bytesOf(config.description) : null;
  const frame = 1 / (source.fps ?? GUESSED_FPS);

  // Pictures to leave out behind a keyframe; null where it is no entry.
  const leadOf = async (key: EncodedPacket): Promise<number | null> => {
    if (codec === "avc") return h264Entry(key.data, description);
    return (await track.determinePacketType(key)) === "key" ? 0 : null;
  };

  const entry: Find = async (time) => {
    let key = await sink.getKeyPacket(origin + time + NUDGE);
    // Of a codec that is unknown here, one group more than the container asks for.
    if (!codec) key = key && ((await sink.getKeyPacket(before(key))) ?? key);
    for (let left = TRIES; key && left > 0; left--) {
      const at = key.timestamp - origin;
      const lead = codec ? await leadOf(key) : 0;
      if (lead !== null && at + lead * frame <= time + NUDGE) return Math.max(0, Math.min(at, time));
      key = await sink.getKeyPacket(before(key));
    }
    // Decoding from the very start is always right, and the only way where nothing before is an entry.
    return key ? null : 0;
  };

  const shown: Find = async (time) => {
    const options = { metadataOnly: codec !== "vp8" };
    let packet = await sink.getPacket(origin + time + NUDGE, options);
    // A hidden picture may have the time of the one behind it, or one just after the one before.
    if (packet && isHidden(packet)) {
      const next = await sink.getNextPacket(packet, options);
      const together = next && next.timestamp <= packet.timestamp;
      packet = together ? next : await sink.getPacket(before(packet), options);
    }
    const at = packet && packet.timestamp - origin;
    return at === null || at < 0 ? null : Math.min(at, time);
  };

  return { entry, shown };
}

function isHidden({ isMetadataOnly, data }: EncodedPacket): boolean {
  return !isMetadataOnly && !isShown(data);
}

const BLOCK = 256 * KIB;
const KEPT = 8;

// mediabunny reads a transport stream packet by packet.
function inBlocks(reader: ByteReader): ByteReader {
  const blocks = new Map<number, Promise<Uint8Array>>();
  const load = (index: number, signal?: AbortSignal) => {
    const known = blocks.get(index);
    const block = known ?? reader.read({ start: index * BLOCK, end: (index + 1) * BLOCK }, signal);
    blocks.delete(index);
    blocks.set(index, block);
    const [oldest] = blocks.keys();
    if (blocks.size > KEPT && oldest !== undefined) blocks.delete(oldest);
    return block;
  };
  return {
    size: reader.size,
    async read({ start, end }, signal) {
      const index = Math.floor(start / BLOCK);
      const last = Math.min(end, reader.size);
      if (last > (index + 1) * BLOCK) return reader.read({ start, end }, signal);
      const block = await load(index, signal);
      return block.subarray(start - index * BLOCK, last - index * BLOCK);
    },
  };
}

function before({ timestamp }: EncodedPacket): number {
  return timestamp - NUDGE;
}
