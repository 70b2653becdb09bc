import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { EncodedFile } from "../../src/encoders/encoder.ts";
import { type StreamPart, stitchStream } from "../../src/encoders/run/encode-stream.ts";
import { encryptSegment } from "../../src/encoders/run/encrypt-segments.ts";
import { readSubtitles } from "../../src/encoders/run/subtitles.ts";
import { segmentIv } from "../../src/media/ffmpeg/manifests.ts";
import { adaptiveMime } from "../../src/media/ffmpeg/output-files.ts";
import type { Chunk, Plan } from "../../src/media/index.ts";
import type { AdaptiveVideoOptions } from "../../src/media/options.ts";
import { soundsOf } from "../../src/media/plan.ts";
import type { Source } from "../../src/media/source.ts";
import { readSegment } from "../../src/mux/contents.ts";
import { readAll, streamOf } from "../../src/storage/storage.ts";
import { encodeChunk } from "../ffmpeg/native-encode.ts";
import { makeFolder } from "../fixtures/end-of-file.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probeFile } from "../probe/probe-file.ts";
import { finishStream } from "./finish-stream.ts";
import { openFile } from "./native-encoder.ts";

/** Adaptive video on the local disk. */
export interface NativeStream {
  plan: Plan;
  source: Source;
  /** The folder with its files, in which the master playlist is `master.m3u8`. */
  folder: string;
  master: string;
  /** Names of the playlists, the master last. */
  playlists: string[];
  /** The output of its chunks; a single part for a stream encoded in one pass. */
  parts: StreamPart[];
}

/** Plans adaptive video, and adds a rendition of half the size if the ladder has only one. */
export async function planStream(
  input: string,
  options: AdaptiveVideoOptions = {},
): Promise<{ plan: Plan; source: Source }> {
  const { source } = await probeFile(input);
  const plan = createPlan(source, "adaptive_video", options);
  const [best, ...others] = plan.renditions;
  if (!best || others.length > 0) return { plan, source };
  const even = (pixels: number) => 2 * Math.ceil(pixels / 4);
  const { width, height } = { width: even(best.geometry.width), height: even(best.geometry.height) };
  const geometry = { ...best.geometry, scale: { width, height }, width, height };
  const half = { ...best, name: `${Math.min(width, height)}p`, geometry };
  return { plan: { ...plan, renditions: [best, half] }, source };
}

/** Encodes adaptive video in one pass with native ffmpeg. */
export async function wholeStream(input: string, plan: Plan, source: Source): Promise<NativeStream> {
  const chunk: Chunk = { index: 0, track: "all", start: plan.start, end: plan.end };
  const { path } = await encodeChunk(input, source, plan, chunk);
  const folder = dirname(path);
  const files = await readFolder(folder);
  const playlists = finishStream(files, plan, source).filter(isPlaylist);
  return write(plan, source, folder, playlists, [partOf(chunk, files)]);
}

/**
 * Encodes adaptive video with native ffmpeg in video chunks cut at these output seconds, or in those of a plan with several parts, plus the
 * sound, and stitches them.
 */
export async function chunkedStream(
  input: string,
  plan: Plan,
  source: Source,
  cuts: readonly number[],
  content_key?: CryptoKey,
): Promise<NativeStream> {
  const edges = [plan.start, ...cuts.map((cut) => plan.start + cut)];
  const pieces: Chunk[] = edges.map((start, index) => {
    return { index, track: "video", start, end: edges[index + 1] ?? plan.end };
  });
  const sounds = [...soundsOf(plan).keys()].map((sound): Chunk => {
    return { index: pieces.length + sound, track: "audio", start: plan.start, end: plan.end, sound };
  });
  const chunks = plan.parts ? plan.chunks : [...pieces, ...sounds];
  const folder = await makeFolder("streams");
  const parts: StreamPart[] = [];
  for (const chunk of chunks) {
    const { path, log } = await encodeChunk(input, source, plan, chunk);
    if (log !== "") throw new Error(log);
    const encodedFiles = await readFolder(dirname(path));
    const files = content_key
      ? await Promise.all(encodedFiles.map((file) => encrypted(file, content_key)))
      : encodedFiles;
    const part = partOf(chunk, encodedFiles);
    const sizes = new Map(files.map(({ name, bytes }) => [name, bytes.length]));
    const written = part.written.map((file) => ({ ...file, size: sizes.get(file.name) ?? file.size }));
    parts.push({ ...part, written });
    // The flag reveals two chunks that write the same name.
    for (const { name, bytes } of files.filter((file) => !isPlaylist(file))) {
      await mkdir(join(folder, dirname(name)), { recursive: true });
      await writeFile(join(folder, name), bytes, { flag: "wx" });
    }
  }
  const read = async (name: string) => new Uint8Array(await readFile(join(folder, name)));
  const signal = AbortSignal.timeout(60_000);
  const reading = { plan, source, signal, onWait: () => {} };
  const { tracks: subtitles } = await readSubtitles(reading, await openFile(input));
  const playlists = await stitchStream({ plan, source, parts, read, subtitles });
  return write(plan, source, folder, playlists, parts);
}

async function encrypted(file: EncodedFile, key: CryptoKey): Promise<EncodedFile> {
  if (!file.name.endsWith(".m4s")) return file;
  const body = streamOf(file.bytes).pipeThrough(encryptSegment(key, segmentIv(file.name)));
  return { ...file, bytes: await readAll(body) };
}

function isPlaylist({ name }: EncodedFile): boolean {
  return name.endsWith(".m3u8") || name.endsWith(".mpd");
}

function partOf(chunk: Chunk, files: readonly EncodedFile[]): StreamPart {
  const written = files
    .filter((file) => !isPlaylist(file))
    .map(({ name, mime, bytes }) => ({ name, mime, size: bytes.length, ...readSegment(bytes) }));
  return { chunk, written, playlists: files.filter(isPlaylist) };
}

async function write(
  plan: Plan,
  source: Source,
  folder: string,
  playlists: readonly EncodedFile[],
  parts: StreamPart[],
): Promise<NativeStream> {
  for (const { name, bytes } of playlists) {
    await mkdir(join(folder, dirname(name)), { recursive: true });
    await writeFile(join(folder, name), bytes);
  }
  const names = playlists.map(({ name }) => name);
  return { plan, source, folder, master: join(folder, "master.m3u8"), playlists: names, parts };
}

async function readFolder(folder: string): Promise<EncodedFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.toSorted().map(async (path) => {
      const name = relative(folder, path);
      return { name, mime: adaptiveMime(name), bytes: new Uint8Array(await readFile(path)) };
    }),
  );
}
