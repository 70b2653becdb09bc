import { extraInputs } from "../../media/extra-inputs.ts";
import type { Sprite } from "../../media/features/storyboard.ts";
import { STORYBOARD } from "../../media/features/storyboard-graph.ts";
import { parseDash, parseMasterPlaylist } from "../../media/ffmpeg/manifests.ts";
import { spriteName } from "../../media/ffmpeg/output-files.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { type Plan, pictureSize } from "../../media/plan.ts";
import type { Source, WaveformFacts } from "../../media/source.ts";
import { requireEncoded } from "../../storage/storage.ts";
import type { Storage } from "../ports.ts";

/**
 * Describes a storyboard or a series of stills: a Source whose URL is that of the WebVTT file or the first still, with a list of all
 * files.
 */
export async function describeSprites(
  key: string,
  filesize: number,
  plan: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
): Promise<Source> {
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const { mime } = requireEncoded(await storage.head(key));
  const { image, duration } = plan;
  const names = image?.sheet ? filesOf(plan, image.sheet) : [];
  const files = names.map(async ({ name, ...facts }) => {
    const info = requireEncoded(await storage.head(folder + name));
    return { url: await url(folder + name), mime: info.mime, filesize: info.size, ...facts };
  });
  return {
    object: "source",
    url: await url(key),
    kind: "image",
    format: plan.format,
    mime,
    filesize,
    ...(image && pictureSize(image)),
    ...(plan.kind === "storyboard" && duration !== null && { duration }),
    files: await Promise.all(files),
  };
}

function filesOf(plan: Plan, { sheets, interval }: Sprite): { name: string; time?: number }[] {
  const names = Array.from({ length: sheets }, (_, index) => spriteName(plan, index));
  if (plan.kind === "storyboard")
    return [STORYBOARD.vtt, STORYBOARD.json, ...names].map((name) => ({ name }));
  return names.map((name, index) => ({ name, time: Number((plan.start + index * interval).toFixed(3)) }));
}

/**
 * Describes adaptive video by its master playlist or DASH manifest: a Source with its renditions, best first. DASH renditions have
 * no playlists, so each has the manifest's URL.
 */
export async function describeStream(
  key: string,
  filesize: number,
  plan: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
): Promise<Source> {
  const { body, mime } = requireEncoded(await storage.read(key));
  const text = await new Response(body).text();
  const name = key.slice(key.lastIndexOf("/") + 1);
  const entries =
    plan.format === "dash"
      ? parseDash(text).map((entry) => ({ uri: name, ...entry }))
      : parseMasterPlaylist(text);
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const renditions = await Promise.all(
    entries.map(async ({ uri, ...facts }) => ({ ...facts, url: await url(folder + uri) })),
  );
  renditions.sort((a, b) => b.bitrate - a.bitrate);
  const [best] = renditions;
  return {
    object: "source",
    url: await url(key),
    kind: "adaptive_video",
    format: plan.format,
    mime,
    filesize,
    ...(plan.duration === null ? {} : { duration: plan.duration }),
    ...(best?.width && best.height ? { width: best.width, height: best.height } : {}),
    codecs: { video: plan.video?.codec ?? null, audio: plan.audio?.codec ?? null },
    renditions,
  };
}

/** Describes a waveform; a probe would find only the size of its picture. */
export async function describeWaveform(
  key: string,
  waveform: WaveformFacts,
  { format, duration, waveform: waveformPlan }: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
): Promise<Source> {
  const info = requireEncoded(await storage.head(key));
  const { width, height } = waveformPlan?.picture ?? {};
  return {
    object: "source",
    url: await url(key),
    kind: width === undefined ? "data" : "image",
    format,
    mime: info.mime,
    filesize: info.size,
    ...(width !== undefined && height !== undefined && { width, height }),
    ...(duration !== null && { duration }),
    waveform,
  };
}

// ThumbHash accepts at most this many pixels a side.
const MAX_SIDE = 100;
const FRAME_SHARE = 0.1;

/** Returns the request for the small image from which a placeholder is computed; null for a source without pictures. */
export function placeholderRequest({ kind, width = 0, height = 0, duration }: Source): EncodeRequest | null {
  if (kind !== "video" && kind !== "image") return null;
  const scale = Math.min(1, MAX_SIDE / Math.max(1, width, height));
  const scaled = (side: number) => Math.max(1, Math.round(side * scale));
  const size = scale < 1 && { width: scaled(width), height: scaled(height), fit: "fill" as const };
  const start = kind === "video" && duration ? Number((duration * FRAME_SHARE).toFixed(3)) : 0;
  return { kind: "image", options: { format: "png", ...size, ...(start > 0 && { start }) } };
}

/**
 * Returns whether an output of the source's own kind has more bytes than the source, but no more pixels, frames, channels, samples or
 * seconds, and no other files in it.
 */
export function isLargerAtNoGain(output: Source, source: Source, options: EncodeRequest["options"]): boolean {
  const { kind, files, filesize: bytes = 0 } = output;
  const isComparable = kind === source.kind && kind !== "adaptive_video" && files === undefined;
  if (!isComparable || source.filesize === undefined || bytes <= source.filesize) return false;
  if (extraInputs({ options }).length > 0) return false;
  const gains = (measure: (file: Source) => number | undefined) =>
    (measure(output) ?? 0) > (measure(source) ?? Number.POSITIVE_INFINITY) * PADDED;
  return !(
    gains(({ width = 0, height = 0 }) => width * height) ||
    gains(({ fps }) => fps) ||
    gains(({ duration }) => duration) ||
    gains(({ audio }) => audio?.channels) ||
    gains(({ audio }) => audio?.sample_rate)
  );
}

// Encoders round sides and pad sound.
const PADDED = 1.01;
