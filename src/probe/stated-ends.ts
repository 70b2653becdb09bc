import { ALL_FORMATS, CustomSource, EncodedPacketSink, Input, type InputTrack } from "mediabunny";
import type { EncodeKind } from "../core/formats.ts";
import type { ByteReader } from "../core/ports.ts";
import type { Source, SourceStream } from "../core/source.ts";
import { MIB, viewOf } from "../util/bytes.ts";
import { boundReader, OutOfBounds, type ProbeBounds } from "./bounded-reader.ts";
import { openSource } from "./open-source.ts";
import { measureWhole } from "./probe.ts";
import { microseconds } from "./whole-file.ts";

type Kind = SourceStream["kind"];
type Ends = ReadonlyMap<Kind, number>;

// The headers of these formats state a length that no list of packets proves.
const MEASURES: Readonly<
  Record<string, (reader: ByteReader, source: Source, signal: AbortSignal) => Promise<Ends>>
> = { matroska: readLastPackets, webm: readLastPackets, flv: readLastTags, avi: readAviIndex };

// Seconds by which a header may state more than the packets have: what rounding, and a last packet of unknown length, come to.
const GRACE = 0.5;
// The index and the last clusters.
const BOUNDS: ProbeBounds = { reads: 20_000, blocks: 1024, jumps: 256 };
const GUESSED_FPS = 25;

/** Measures what a source's headers only state or leave open, and what a kind of output needs to know of it. Rejects as the reader does. */
export async function measureSource(
  source: Source,
  wanted: EncodeKind | undefined,
  open: () => Promise<ByteReader>,
  signal: AbortSignal,
): Promise<Source> {
  // A picture needs no end.
  const ends = wanted !== "image" && isEndStated(source);
  if (!source.duration_estimated && !ends) return source;
  const reader = await open();
  const whole = await measureWhole(source, reader, signal);
  return ends ? measureEnds(whole, reader, signal) : whole;
}

function isEndStated({ kind, format, duration }: Source): boolean {
  return kind === "video" && duration !== undefined && Object.hasOwn(MEASURES, format);
}

/**
 * Replaces an end that a source's headers state, and that its last packets do not reach, by theirs; a last picture would be repeated
 * up to it. Leaves a source as it is where the packets cannot be found in a few reads. Rejects only when aborted.
 */
export async function measureEnds(source: Source, reader: ByteReader, signal: AbortSignal): Promise<Source> {
  const measure = MEASURES[source.format];
  const { streams = [], duration = 0 } = source;
  if (!measure || !isEndStated(source)) return source;
  let ends: Ends;
  try {
    ends = await measure(reader, source, signal);
  } catch {
    signal.throwIfAborted();
    return source;
  }
  const firsts = new Map(streams.toReversed().map((stream) => [stream.kind, stream]));
  const measured = streams.map((stream) => {
    const end = firsts.get(stream.kind) === stream ? ends.get(stream.kind) : undefined;
    const stated = stream.end ?? stream.duration ?? duration;
    return end === undefined || end + GRACE >= stated ? stream : { ...stream, duration: end, end };
  });
  // Other tracks may last as long as stated.
  const timed = measured.filter(({ kind }) => kind === "video" || kind === "audio");
  const longest = Math.max(...timed.map((stream) => stream.end ?? stream.duration ?? duration));
  return { ...source, streams: measured, ...(longest + GRACE < duration && { duration: longest }) };
}

async function readLastPackets(
  reader: ByteReader,
  { format, fps }: Source,
  signal: AbortSignal,
): Promise<Ends> {
  const ends = new Map<Kind, number>();
  const readable = await openSource(boundReader(reader, BOUNDS, signal), format, signal);
  if (!readable) return ends;
  const source = new CustomSource({
    getSize: () => readable.size,
    read: (start, end) => readable.read({ start, end }, signal),
    handleUnhandledError: () => {},
    maxCacheSize: 0,
  });
  using input = new Input({ formats: ALL_FORMATS, source });
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  const origin = Math.max(0, await input.getFirstTimestamp());
  const read = async (track: InputTrack, usual: number) => {
    const last = await new EncodedPacketSink(track).getPacket(Number.POSITIVE_INFINITY, {
      metadataOnly: true,
    });
    if (last) ends.set(track.type, microseconds(last.timestamp + Math.max(last.duration, usual) - origin));
  };
  if (video) await read(video, 1 / (fps ?? GUESSED_FPS));
  if (audio) await read(audio, 0);
  return ends;
}

const TAIL = 4 * MIB;
const TAG_HEAD = 11;
const TAG_KINDS: Readonly<Record<number, Kind>> = { 8: "audio", 9: "video" };
// Pictures may be stored out of order.
const REORDERED = 32;

// Each tag of an FLV is followed by its size, so the last ones are found from the end.
async function readLastTags(reader: ByteReader, { fps }: Source, signal: AbortSignal): Promise<Ends> {
  const from = Math.max(0, reader.size - TAIL);
  const [head, tail] = [
    await reader.read({ start: 0, end: Math.min(reader.size, TAIL) }, signal),
    await reader.read({ start: from, end: reader.size }, signal),
  ];
  const [front, view] = [viewOf(head), viewOf(tail)];
  const ends = new Map<Kind, number>();
  const origin = firstTag(front);
  let seen = 0;
  for (let at = tail.length; at >= TAG_HEAD + 4 && seen < REORDERED; ) {
    const tag = at - 4 - view.getUint32(at - 4);
    const kind = tag >= 0 && tag <= at - 4 - TAG_HEAD ? TAG_KINDS[view.getUint8(tag) & 0x1f] : undefined;
    if (tag < 0 || tag > at - 4 - TAG_HEAD) throw new OutOfBounds("The file ends within a tag.");
    const time = kind && (timeOf(view, tag) - origin) / 1000;
    // Of H.264, 2 ends the stream.
    const ended =
      kind === "video" &&
      (view.getUint8(tag + TAG_HEAD) & 15) === 7 &&
      view.getUint8(tag + TAG_HEAD + 1) === 2;
    if (kind && time !== undefined && !ended) {
      const end = kind === "video" ? time + 1 / (fps ?? GUESSED_FPS) : time;
      ends.set(kind, Math.max(ends.get(kind) ?? 0, microseconds(end)));
      if (kind === "video") seen++;
    }
    at = tag;
  }
  return ends;
}

function firstTag(view: DataView): number {
  for (
    let at = view.getUint32(5) + 4;
    at + TAG_HEAD <= view.byteLength;
    at += TAG_HEAD + sizeOf(view, at) + 4
  )
    if (TAG_KINDS[view.getUint8(at) & 0x1f]) return timeOf(view, at);
  return 0;
}

function sizeOf(view: DataView, tag: number): number {
  return view.getUint32(tag) & 0xffffff;
}

// The upper eight bits follow the lower ones.
function timeOf(view: DataView, tag: number): number {
  return (view.getUint32(tag + 4) >>> 8) + view.getUint8(tag + 7) * 2 ** 24;
}

const LISTED = 16;
const HEADER = 1024;
// Before the index stand the headers, the pictures, and some padding.
const MOST_CHUNKS = 64;

// The index of an AVI lists its chunks; one of several parts (OpenDML) has others, which are not read.
async function readAviIndex(reader: ByteReader, { fps }: Source, signal: AbortSignal): Promise<Ends> {
  const head = viewOf(await reader.read({ start: 0, end: Math.min(reader.size, HEADER) }, signal));
  const word = (view: DataView, at: number) =>
    String.fromCharCode(...[0, 1, 2, 3].map((each) => view.getUint8(at + each)));
  const ends = new Map<Kind, number>();
  for (let at = 12, chunks = 0; at + 8 <= reader.size && chunks < MOST_CHUNKS; chunks++) {
    const chunk = viewOf(await reader.read({ start: at, end: at + 8 }, signal));
    const size = chunk.getUint32(4, true);
    if (word(chunk, 0) === "idx1" && size <= TAIL * 4) {
      const index = viewOf(await reader.read({ start: at + 8, end: at + 8 + size }, signal));
      let pictures = 0;
      for (let row = 0; row + LISTED <= index.byteLength; row += LISTED)
        if (/^\d\dd[bc]$/.test(word(index, row))) pictures++;
      const next = at + 8 + size + (size % 2);
      // Another part follows.
      if (next + 12 <= reader.size) {
        const more = viewOf(await reader.read({ start: next, end: next + 4 }, signal));
        if (word(more, 0) === "RIFF") return ends;
      }
      const seconds = secondsEach(head) ?? 1 / (fps ?? GUESSED_FPS);
      if (pictures > 0) ends.set("video", microseconds(pictures * seconds));
      return ends;
    }
    at += 8 + size + (size % 2);
  }
  return ends;
}

// Of the first picture stream: scale over rate.
function secondsEach(view: DataView): number | null {
  for (let at = 0; at + 40 <= view.byteLength; at += 4)
    if (view.getUint32(at) === 0x73747268 && view.getUint32(at + 8) === 0x76696473)
      return view.getUint32(at + 28, true) / view.getUint32(at + 32, true);
  return null;
}
