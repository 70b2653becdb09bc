import { MediaError } from "../../core/errors.ts";
import type { Storage } from "../../core/ports.ts";
import type { Counts } from "../../core/source.ts";
import { PLAYLIST, parseMediaPlaylist } from "../../ffmpeg/manifests/media-playlist.ts";
import { AAC_FRAME, type Contents } from "../../mux/contents.ts";
import { type Chunk, type Plan, soundFolder, soundsOf } from "../../plan/plan.ts";
import { readAll, requireEncoded } from "../../storage/storage.ts";
import type { EncodedFile, Written } from "../encoder.ts";
import { type StreamPart, stitchStream } from "../stitch/stitch-stream.ts";
import type { Encoded } from "./encode-chunk.ts";
import { type Counted, checkOutput, encodeCounted } from "./encode-counted.ts";
import type { EncodedPart } from "./encode-parts.ts";
import { subtitlesOf } from "./encode-whole.ts";
import type { EncodeResult, Encoding, OutputFiles } from "./encoding.ts";
import { encryptSegments } from "./encrypt-segments.ts";
import { placeAll, placeSegments } from "./place-files.ts";

/** Encodes adaptive video that consists of one chunk. */
export function encodeStream(encoding: Encoding, chunk: Chunk): Promise<EncodeResult> {
  const { plan } = encoding;
  return encoding.durably("encode", async (signal) => {
    const place = { folder: folderOf(encoding, chunk), name: null };
    const { stored, counts } = await encodeCounted(encoding, chunk, place, signal, async (encoded) => {
      const written = await store(encoding, encoded, place.folder, signal);
      return { stored: written, count: async () => countStream(plan, written) };
    });
    return { ...(await join(encoding, [{ chunk, ...stored }], signal)), counts };
  });
}

/**
 * Encodes one chunk of adaptive video straight into the output folder. Returns the key of a note in working storage that
 * lists its segments, which may be too many for a durable step to return.
 */
export async function encodeStreamPart(
  encoding: Encoding,
  chunk: Chunk,
  signal: AbortSignal,
): Promise<Counted<string>> {
  const { plan, storage } = encoding;
  const place = { folder: folderOf(encoding, chunk), name: null };
  return encodeCounted(encoding, chunk, place, signal, async (encoded) => {
    const { written, playlists } = await store(encoding, encoded, place.folder, signal);
    const text = playlists.map((file) => ({ ...file, bytes: new TextDecoder().decode(file.bytes) }));
    const key = `${encoding.work}${chunk.index}.json`;
    const note = new TextEncoder().encode(JSON.stringify({ written, playlists: text }));
    await storage.write(key, note, NOTE_MIME);
    return { stored: key, count: async () => countStream(plan, { written, playlists }) };
  });
}

// Segments wait in working storage until they are encrypted.
function folderOf({ plan, out, work }: Encoding, { index }: Chunk): string {
  return plan.encryption ? `${work}${index}/` : out;
}

async function store(
  { plan, storage, out, content_key, stopped, tracker }: Encoding,
  encoded: Encoded,
  folder: string,
  durable: AbortSignal,
): Promise<Written> {
  const { written, playlists } = await placeSegments(storage, encoded, folder);
  if (!plan.encryption) return { written, playlists };
  if (!content_key) throw new MediaError("encode_failed", "The key of the encryption is missing.");
  const encryption = { key: content_key, iv: plan.encryption.iv };
  // Long sound has thousands of segments, each a sign of life.
  const hooks = { signal: AbortSignal.any([stopped, durable]), onFile: tracker.waits };
  const encrypted = await encryptSegments(storage, written, { from: folder, to: out }, encryption, hooks);
  await storage.clear(folder);
  return { written: encrypted, playlists };
}

// Every rendition holds the same pictures, so the one with the fewest shows what is missing.
function countStream(plan: Plan, { written, playlists }: Written): Contents {
  const { renditions, audio } = plan;
  const samplesOf = (folder: string) =>
    written
      .filter(({ name }) => name.startsWith(`${folder}/`))
      .reduce((sum, { samples = 0 }) => sum + samples, 0);
  const folders = soundsOf(plan).map((_, index) => `${soundFolder(index)}/${PLAYLIST}`);
  const lists = playlists.filter(({ name }) => folders.includes(name));
  const segments = lists.flatMap(
    ({ name, bytes }) => parseMediaPlaylist(name, new TextDecoder().decode(bytes)).segments,
  );
  const played = soundsOf(plan).reduce((sum, { audio: own }, index) => {
    const rate = own.mode === "encode" ? own.sample_rate : Number.POSITIVE_INFINITY;
    return sum + (samplesOf(soundFolder(index)) * AAC_FRAME) / rate;
  }, 0);
  return {
    played,
    pictures: renditions.length > 0 ? Math.min(...renditions.map(({ name }) => samplesOf(name))) : 0,
    sound: audio ? segments.reduce((sum, { seconds }) => sum + seconds, 0) : 0,
  };
}

/** Writes the playlists once all chunks of adaptive video are encoded, and checks the whole against their counts. */
export async function finishParts(
  encoding: Encoding,
  parts: readonly EncodedPart[],
  counts: Counts,
  signal: AbortSignal,
): Promise<OutputFiles> {
  const read = parts.map(async ({ chunk, stored }) => ({
    chunk,
    ...(await readNote(encoding.storage, stored)),
  }));
  const notes = await Promise.all(read);
  if (counts.pictures || counts.sound) {
    const written = notes.flatMap((note) => note.written);
    const playlists = notes.flatMap((note) => note.playlists);
    checkOutput(counts, countStream(encoding.plan, { written, playlists }));
  }
  return join(encoding, notes, signal);
}

const NOTE_MIME = "application/json";

async function join(encoding: Encoding, parts: StreamPart[], durable: AbortSignal): Promise<OutputFiles> {
  const { plan, source, out, storage } = encoding;
  const read = (name: string) => readStored(storage, out + name);
  const signal = AbortSignal.any([encoding.stopped, durable]);
  const { tracks: subtitles, lost } = await subtitlesOf(encoding, signal);
  const files = await stitchStream({ plan, source, parts, read, subtitles });
  const playlists = await placeAll(storage, files, out, encoding.tracker.waits);
  const segments = parts.flatMap(({ written }) => written);
  const output = summary(out, [...segments, ...playlists]);
  return { ...output, ...(lost.length > 0 && { lost_subtitles: lost }) };
}

async function readStored(storage: Storage, key: string): Promise<Uint8Array> {
  return readAll(requireEncoded(await storage.read(key)).body);
}

async function readNote(storage: Storage, key: string): Promise<Written> {
  const note: { written: Written["written"]; playlists: (Omit<EncodedFile, "bytes"> & { bytes: string })[] } =
    JSON.parse(new TextDecoder().decode(await readStored(storage, key)));
  const encoder = new TextEncoder();
  return {
    written: note.written,
    playlists: note.playlists.map((file) => ({ ...file, bytes: encoder.encode(file.bytes) })),
  };
}

function summary(out: string, files: Written["written"]): OutputFiles {
  const main = files[files.length - 1];
  if (!main) throw new MediaError("encode_failed", "The encoder returned no files.");
  return { key: out + main.name, files: files.length, size: files.reduce((sum, file) => sum + file.size, 0) };
}
