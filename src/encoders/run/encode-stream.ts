import { languageOf } from "../../media/features/track.ts";
import {
  dashPeriods,
  type MasterEntry,
  measureStream,
  nameTracks,
  PLAYLIST,
  parseMasterPlaylist,
  parseMediaPlaylist,
  type SegmentRun,
  writeManifests,
} from "../../media/ffmpeg/manifests.ts";
import { adaptiveMime } from "../../media/ffmpeg/output-files.ts";
import { type AdaptiveFormat, hasDash, lacksHls } from "../../media/formats.ts";
import { exactFps } from "../../media/index.ts";
import { type Chunk, outputStart, type Plan, soundFolder, soundsOf } from "../../media/plan.ts";
import type { Counts, Source } from "../../media/source.ts";
import { shownEnd } from "../../media/timeline.ts";
import { AAC_FRAME, type Contents } from "../../mux/contents.ts";
import { readCodecString } from "../../mux/parameter-sets.ts";
import type { Storage } from "../../runs/ports.ts";
import { readAll, requireEncoded } from "../../storage/storage.ts";
import type { SubtitleTrack } from "../../subtitles/track.ts";
import { equalBytes } from "../../util/bytes.ts";
import type { EncodedFile, Written, WrittenFile } from "../encoder.ts";
import * as errors from "../errors.ts";
import { type Counted, checkOutput, type Encoded, encodeCounted } from "./encode-chunk.ts";
import { type EncodedPart, subtitlesOf } from "./encode-file.ts";
import type { EncodeResult, Encoding, OutputFiles } from "./encoding.ts";
import { encryptSegments } from "./encrypt-segments.ts";
import { placeAll, placeSegments } from "./place-files.ts";
import { writeStreamTexts } from "./subtitles.ts";

/** Encodes adaptive video of one chunk. */
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
 * Encodes one chunk of adaptive video into the output folder. Returns the key of a list of its segments in working storage, because a
 * durable step cannot return thousands of segments.
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
  if (!content_key) throw errors.contentKeyMissing();
  const encryption = { key: content_key, iv: plan.encryption.iv };
  const hooks = { signal: AbortSignal.any([stopped, durable]), onFile: tracker.waits };
  const encrypted = await encryptSegments(storage, written, { from: folder, to: out }, encryption, hooks);
  await storage.clear(folder);
  return { written: encrypted, playlists };
}

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
  const decodedSound = soundsOf(plan).reduce((sum, { audio: own }, index) => {
    const rate = own.mode === "encode" ? own.sample_rate : Number.POSITIVE_INFINITY;
    return sum + (samplesOf(soundFolder(index)) * AAC_FRAME) / rate;
  }, 0);
  return {
    decodedSound,
    pictures: renditions.length > 0 ? Math.min(...renditions.map(({ name }) => samplesOf(name))) : 0,
    sound: audio ? segments.reduce((sum, { seconds }) => sum + seconds, 0) : 0,
  };
}

/** Writes the playlists of adaptive video once all chunks are encoded, and checks the stream against their counts. */
export async function finishParts(
  encoding: Encoding,
  parts: readonly EncodedPart[],
  counts: Counts,
  signal: AbortSignal,
): Promise<OutputFiles> {
  const reads = parts.map(async ({ chunk, stored }) => ({
    chunk,
    ...(await readNote(encoding.storage, stored)),
  }));
  const notes = await Promise.all(reads);
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
  if (!main) throw errors.noFiles();
  return { key: out + main.name, files: files.length, size: files.reduce((sum, file) => sum + file.size, 0) };
}

/** One encoded chunk of adaptive video; all names are relative to the master playlist. */
export interface StreamPart extends Written {
  chunk: Chunk;
}

export interface StreamStitching {
  plan: Plan;
  source: Source;
  parts: readonly StreamPart[];
  /** The text tracks; absent for none. */
  subtitles?: readonly SubtitleTrack[];
  /** Reads a written file; called for init segments only. */
  read(name: string): Promise<Uint8Array>;
}

/**
 * Joins the playlists of adaptive video's chunks and writes its text tracks and the manifests of its format. Returns all these files,
 * the manifest to open last. Rejects with `encode_failed` when a rendition lacks a chunk, or a playlist lists a file that was not
 * written.
 */
export async function stitchStream(stitching: StreamStitching): Promise<EncodedFile[]> {
  const { plan, source, parts, read, subtitles } = stitching;
  const streams = runsOf(plan, source, parts);
  const names = new Set([...streams.values()].flatMap((runs) => runs.flatMap(({ init }) => init ?? [])));
  const inits = await Promise.all([...names].map(async (name) => [name, await read(name)] as const));
  return joinStream(plan, source, parts, new Map(inits), subtitles);
}

/** {@link stitchStream} with the init segments already read. */
export function joinStream(
  plan: Plan,
  source: Source,
  parts: readonly StreamPart[],
  inits: ReadonlyMap<string, Uint8Array>,
  subtitles: readonly SubtitleTrack[] = [],
): EncodedFile[] {
  const sizes = new Map(
    parts.flatMap(({ written }) => written.map(({ name, size }) => [name, size] as const)),
  );
  const streams = [...runsOf(plan, source, parts)].map(([folder, own]) => {
    const runs = shareInits(own, inits);
    const segments = runs.flatMap((run) => run.segments);
    const rate = measureStream(
      segments.map(({ name, seconds }) => ({ seconds, size: sizes.get(name) ?? 0 })),
    );
    return { folder, runs, rate, ...(ownEntry(plan, folder, runs, inits) ?? entryOf(folder, parts)) };
  });
  const of = (folder: string) => streams.filter((stream) => stream.folder === folder);
  const pictures = plan.renditions.flatMap(({ name }) => of(name));
  const tracks = soundsOf(plan).flatMap(({ track, audio }, index) =>
    of(soundFolder(index)).map((stream) => {
      const encoded = audio.mode === "encode" ? audio : null;
      return {
        ...stream,
        language: languageOf(source, track),
        channels: encoded?.channels ?? source.audio?.channels ?? 2,
        priming: encoded ? AAC_FRAME / encoded.sample_rate : 0,
      };
    }),
  );
  const [only, ...more] = tracks;
  const names = only && !only.language && more.length === 0 ? ["audio"] : nameTracks(tracks);
  const sounds = tracks.map((track, index) => ({ ...track, name: names[index] ?? "" }));
  const format = plan.format as AdaptiveFormat;
  const { texts, files } = writeStreamTexts(subtitles, {
    seconds: lacksHls(format) ? null : Math.max(...streams.map(({ runs }) => secondsOf(runs))),
    periods: hasDash(format) ? dashPeriods({ pictures, sounds }) : [],
  });
  const manifests = writeManifests(format, {
    pictures,
    sounds,
    texts,
    encryption: plan.encryption,
    fps: source.fps === undefined ? undefined : exactFps(source.fps),
    ...(plan.i_frames && pictures.length > 0 && { leads: leadsOf(pictures, parts) }),
  });
  const written = manifests.map(({ name, text }) => ({
    name,
    mime: adaptiveMime(name),
    bytes: new TextEncoder().encode(text),
  }));
  return [...files, ...written];
}

function secondsOf(runs: readonly SegmentRun[]): number {
  return runs.flatMap(({ segments }) => segments).reduce((sum, { seconds }) => sum + seconds, 0);
}

function leadsOf(
  pictures: readonly { runs: readonly SegmentRun[] }[],
  parts: readonly StreamPart[],
): Map<string, number> {
  const leads = new Map(
    parts.flatMap(({ written }) => written.map(({ name, lead }) => [name, lead] as const)),
  );
  const names = pictures.flatMap(({ runs }) => runs.flatMap((run) => run.segments.map(({ name }) => name)));
  return new Map(
    names.map((name) => {
      const lead = leads.get(name);
      if (lead === undefined) throw errors.leadUnknown({ name });
      return [name, lead];
    }),
  );
}

function runsOf(plan: Plan, source: Source, parts: readonly StreamPart[]): Map<string, SegmentRun[]> {
  const streams = new Map<string, SegmentRun[]>();
  const pictures = new Set(plan.renditions.map(({ name }) => name));
  for (const [folder, runs] of timedRuns(plan, parts))
    streams.set(folder, inTime(runs, pictures.has(folder) ? shownEnd(source, plan) : null));
  return streams;
}

interface TimedRun extends SegmentRun {
  /** Seconds from the start of the stream. */
  start: number;
}

function timedRuns(plan: Plan, parts: readonly StreamPart[]): Map<string, TimedRun[]> {
  const startOf = ({ chunk }: StreamPart) => outputStart(plan, chunk);
  const inOrder = parts.toSorted((a, b) => startOf(a) - startOf(b) || a.chunk.index - b.chunk.index);
  const pictures = plan.renditions.map(({ name }) => name);
  const streams = new Map<string, TimedRun[]>();
  for (const part of inOrder) {
    const { track } = part.chunk;
    const video = track === "audio" ? [] : pictures.map((name) => readRun(name, part));
    if (new Set(video.map(({ run }) => run.segments.length > 0)).size > 1) {
      throw errors.renditionsMissing({ chunk: part.chunk.index });
    }
    const audio = plan.audio && track !== "video" ? [readRun(soundFolder(part.chunk.sound), part)] : [];
    for (const { folder, run } of [...video, ...audio]) {
      if (run.segments.length === 0) continue;
      const start = startOf(part);
      streams.set(folder, [...(streams.get(folder) ?? []), { ...run, start }]);
    }
  }
  const expected = plan.video ? pictures : [soundFolder()];
  const missing = expected.find((name) => !streams.has(name));
  if (missing !== undefined) throw errors.streamMissing({ name: missing });
  checkNames(streams);
  return streams;
}

// Beyond this drift, a player seeks to the wrong segment.
const MAX_DRIFT_SECONDS = 0.1;
// The last segment fixes the length of the stream, so it must be exact.
const MAX_END_DRIFT_SECONDS = 0.000001;

// An encoder cannot know how long its chunk's last frame stays visible, and ffmpeg (5.1) misjudges the end of the last segment.
function inTime(runs: readonly TimedRun[], until: number | null): SegmentRun[] {
  let at = 0;
  return runs.map(({ init, segments }, index) => {
    at += segments.reduce((sum, { seconds }) => sum + seconds, 0);
    const last = segments[segments.length - 1];
    const next = runs[index + 1];
    const gap = (next?.start ?? until ?? at) - at;
    if (
      !last ||
      Math.abs(gap) < (next ? MAX_DRIFT_SECONDS : MAX_END_DRIFT_SECONDS) ||
      last.seconds + gap <= 0
    )
      return { init, segments };
    at += gap;
    const seconds = last.seconds + gap;
    return {
      init,
      segments: [...segments.slice(0, -1), { ...last, seconds, line: `#EXTINF:${seconds.toFixed(6)},` }],
    };
  });
}

function readRun(folder: string, { chunk, playlists, written }: StreamPart) {
  const name = `${folder}/${PLAYLIST}`;
  const playlist = playlists.find((file) => file.name === name);
  const run = parseMediaPlaylist(name, playlist ? new TextDecoder().decode(playlist.bytes) : "");
  // ffmpeg writes a segment without samples for a track that is empty in the span.
  const isEmpty = ({ name, samples }: WrittenFile) => name.endsWith(".m4s") && samples === 0;
  const stored = new Set(written.filter((file) => file.size > 0 && !isEmpty(file)).map((file) => file.name));
  const names = [
    ...run.segments.map((segment) => segment.name),
    ...(run.segments.length > 0 ? [run.init] : []),
  ];
  for (const each of names) {
    if (each === null) throw errors.initMissing({ chunk: chunk.index, playlist: name });
    if (!stored.has(each)) throw errors.segmentMissing({ name: each });
  }
  for (const each of stored) {
    if (each.startsWith(`${folder}/`) && each.endsWith(".m4s") && !names.includes(each)) {
      throw errors.segmentUnlisted({ name: each });
    }
  }
  return { folder, run };
}

function checkNames(streams: ReadonlyMap<string, readonly SegmentRun[]>): void {
  const names = new Set<string>();
  for (const { name } of [...streams.values()].flat().flatMap((run) => run.segments)) {
    if (names.has(name)) throw errors.segmentRepeated({ name });
    names.add(name);
  }
}

function shareInits(runs: readonly SegmentRun[], inits: ReadonlyMap<string, Uint8Array>): SegmentRun[] {
  const distinct: { name: string; bytes: Uint8Array }[] = [];
  return runs.map((run) => {
    const bytes = inits.get(run.init ?? "");
    if (run.init === null || !bytes) return run;
    const same = distinct.find((other) => equalBytes(other.bytes, bytes));
    if (!same) distinct.push({ name: run.init, bytes });
    return { ...run, init: same?.name ?? run.init };
  });
}

// ffmpeg's master playlists omit AV1, and state profiles of H.265 inexactly (5.1).
function ownEntry(
  { renditions }: Plan,
  folder: string,
  runs: readonly SegmentRun[],
  inits: ReadonlyMap<string, Uint8Array>,
): Pick<MasterEntry, "codecs" | "width" | "height"> | null {
  const rendition = renditions.find(({ name, codec }) => name === folder && codec !== undefined);
  if (!rendition) return null;
  const init = inits.get(runs[0]?.init ?? "");
  const codecs = init ? readCodecString(init) : null;
  if (codecs === null) throw errors.codecUnknown({ name: folder });
  const { width, height } = rendition.geometry;
  return { codecs, width, height };
}

// ffmpeg's master playlists state codecs and sizes correctly but only guess bitrates.
function entryOf(
  folder: string,
  parts: readonly StreamPart[],
): Pick<MasterEntry, "codecs" | "width" | "height"> {
  const masters = parts.flatMap(({ playlists }) => playlists.filter(({ name }) => !name.includes("/")));
  const entries = masters.flatMap(({ bytes }) => parseMasterPlaylist(new TextDecoder().decode(bytes)));
  const entry = entries.find(({ uri, codecs }) => uri === `${folder}/${PLAYLIST}` && codecs !== "");
  if (!entry) throw errors.codecUnknown({ name: folder });
  const { codecs, width, height } = entry;
  return { codecs, ...(width && height ? { width, height } : {}) };
}
