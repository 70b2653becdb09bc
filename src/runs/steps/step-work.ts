import { readPlaceholder } from "../../encoders/images/placeholder.ts";
import { extraInputs } from "../../media/extra-inputs.ts";
import type { Sprite } from "../../media/features/storyboard.ts";
import { STORYBOARD } from "../../media/features/storyboard-graph.ts";
import { parseDash, parseMasterPlaylist } from "../../media/ffmpeg/manifests.ts";
import { spriteName } from "../../media/ffmpeg/output-files.ts";
import { LOSSLESS_FORMAT, lacksHls } from "../../media/formats.ts";
import { listDropped } from "../../media/index.ts";
import { mainStream } from "../../media/main-tracks.ts";
import { drawsOver } from "../../media/option-groups.ts";
import type { EncodeRequest, ProbeOptions } from "../../media/options.ts";
import { constantFps, type Plan, pictureSize } from "../../media/plan.ts";
import { describeSpliceFault } from "../../media/plan-errors.ts";
import type { ChosenRate } from "../../media/quality-search.ts";
import type { Counts, Source, WaveformFacts } from "../../media/source.ts";
import { listEntries } from "../../probe/entries.ts";
import { measureWhole } from "../../probe/probe.ts";
import * as storageErrors from "../../storage/errors.ts";
import { requireEncoded } from "../../storage/storage.ts";
import { throttle } from "../../util/async.ts";
import type { ByteReader, StepContext, StepWork, Storage } from "../ports.ts";
import type { Decide, EncodedInput } from "./decide-encode.ts";
import { encodeAnyInput } from "./decoded-sound.ts";
import { createDecide, encodeInput } from "./encode.ts";
import * as errors from "./errors.ts";
import { createExtraIngest, mediaSeconds } from "./extra-inputs.ts";
import { exclusively, type OpenInput, reportWaiting, runIngest } from "./inputs.ts";
import { runFolder, sourceKey } from "./media-keys.ts";
import { checkParts } from "./parts.ts";
import type { StepTools } from "./step-tools.ts";
import { uploadOutput } from "./upload.ts";

/**
 * Creates the implementation of a run's steps, the same on every host. `request` is the encode request of the run's task; null for
 * a standalone step, whose input comes from the caller and is not trusted.
 */
export function createStepWork(tools: StepTools, request: EncodeRequest | null): StepWork {
  const { storage, inputs } = tools;
  const standalone = request === null;
  const ingestExtra = createExtraIngest(tools);
  const decide = createDecide(tools);
  const shared = tools.shared ?? null;
  const files = createInputFiles(tools, standalone);

  return {
    async probe(url, context) {
      const source = await exclusively(shared, "probe", context, async (signal, probed) => {
        if (probed) return probed;
        const source = await files.probeInput(url, context, signal);
        await shared?.saveSource(source);
        return source;
      });
      const { step } = context;
      const options: ProbeOptions = step.kind === "probe" ? step.options : {};
      const open = () => files.storeProbed(source, context);
      return addFacts(source, options, { tools, decide, open }, context);
    },

    async ingest(source, context) {
      checkDuration(source, tools.max_seconds);
      // Fail before copying anything.
      if (request) {
        const parts = await checkParts(
          tools,
          { source, key: files.inputKey(context.run_id), request },
          context,
        );
        if (parts) checkSeconds(totalSeconds(source, request, parts), tools.max_seconds);
        const extra = await ingestExtra(request, context);
        checkSeconds(totalSeconds(source, request, extra), tools.max_seconds);
        // Joining by copy can only be decided once all inputs are stored.
        if (!("concat" in request.options && request.options.concat))
          await decide(source, request, { extra }, context);
      }
      return exclusively(shared, "ingest", context, async (signal, probed) => {
        const key = standalone
          ? `${runFolder("out", context.run_id)}${tools.stem}`
          : files.inputKey(context.run_id);
        const stored = await storage.head(key);
        const info =
          stored ?? (await files.copyInput(await inputs.open(source.url, signal), key, context, signal));
        // A new download may differ from the probed file even if its size and ETag match, so probe again.
        const current =
          stored && !standalone
            ? (probed ?? source)
            : await files.probeStored(key, source.url, context, signal);
        if (!stored) await shared?.saveSource(current);
        checkDuration(current, tools.max_seconds);
        // Measuring large raw audio reads the whole file, which is local only now.
        const measured = current.duration_estimated
          ? await measureWhole(current, await tools.open(key), signal)
          : current;
        return { ...measured, url: await tools.url(key), filesize: info.size, etag: info.etag };
      });
    },

    async encode(input, request, context) {
      const { key, source } = await context.durably("open", async (signal) => {
        const stored = await tools.key(input.url);
        const key = stored ?? files.inputKey(context.run_id);
        if (stored === null && !(await storage.head(key)))
          await files.copyInput(await inputs.open(input.url, signal), key, context, signal);
        const source = standalone ? await files.probeStored(key, input.url, context, signal) : input;
        checkDuration(source, tools.max_seconds);
        return { key, source };
      });
      const extra = await ingestExtra(request, context);
      checkSeconds(totalSeconds(source, request, extra), tools.max_seconds);
      const encode = await encodeAnyInput(
        tools,
        {
          key,
          source,
          request,
          extra,
          decide,
          id: `${context.run_id}-${standalone ? "encode" : context.step.id}`,
          out: runFolder("out", context.run_id),
          name: tools.stem,
        },
        context,
      );
      return context.durably("inspect", (signal) => {
        const probeOutput = (url: string) => files.probeStored(encode.encoded.key, url, context, signal);
        return describeOutput(tools, { source, request, ...encode }, probeOutput);
      });
    },

    upload: (source, context) =>
      context.durably("upload", async (signal) => {
        const { destination } = tools;
        let key = await tools.key(source.url);
        if (destination) {
          if (key === null) {
            key = sourceKey(context.run_id);
            await files.copyInput(await inputs.open(source.url, signal), key, context, signal);
          }
          return uploadOutput(source, key, destination, tools, context, signal);
        }
        const info = key === null ? null : await storage.head(key);
        if (key === null || !info) throw storageErrors.encodedFileGone("upload");
        return {
          ...source,
          url: await tools.url(key),
          mime: info.mime,
          filesize: source.filesize ?? info.size,
          etag: info.etag,
        };
      }),
  };
}

/** Creates the functions that open, store and probe the input of a run's steps. */
function createInputFiles(tools: StepTools, standalone: boolean) {
  const { storage, inputs } = tools;
  const inputKey = (run_id: string) => sourceKey(tools.shared?.id ?? run_id);

  async function copyInput(input: OpenInput, key: string, context: StepContext, signal: AbortSignal) {
    const progress = throttle((received: number, size: number | null) =>
      context.progress(size ? (received / size) * 100 : null),
    );
    try {
      await tools.ensureRoom?.(input.file.size ?? 0);
    } catch (thrown) {
      await input.file.close();
      throw thrown;
    }
    return runIngest({ open: async () => input.file, storage, key, signal, progress });
  }

  async function pinInput({ pin }: OpenInput): Promise<boolean> {
    if (standalone || !pin) return false;
    return (await tools.pin?.(pin)) ?? false;
  }

  function probe(
    reader: ByteReader,
    url: string,
    mime: string | null,
    context: StepContext,
    signal: AbortSignal,
  ) {
    return tools.probe(reader, { url, ...(mime && { mime }) }, signal, reportWaiting(context));
  }

  async function probeInput(url: string, context: StepContext, signal: AbortSignal): Promise<Source> {
    const input = await inputs.open(url, signal);
    const key = inputKey(context.run_id);
    try {
      // Probing through the pin caches the ranges for the encode.
      const pinned = await pinInput(input);
      const reader = pinned ? await tools.open(key) : input.reader;
      if (reader) {
        const source = await probe(reader, url, input.mime, context, signal);
        const etag = bareEtag(input);
        return { ...source, ...(etag && { etag }) };
      }
      await copyInput(input, key, context, signal);
      return await probeStored(key, url, context, signal);
    } finally {
      await input.file.close();
    }
  }

  async function probeStored(
    key: string,
    url: string,
    context: StepContext,
    signal: AbortSignal,
  ): Promise<Source> {
    const info = await storage.head(key);
    return probe(await tools.open(key), url, info?.mime ?? null, context, signal);
  }

  /** Returns the storage key of a probed input, which must still be the same. */
  function storeProbed(source: Source, context: StepContext): Promise<string> {
    return context.durably("open", async (signal) => {
      checkDuration(source, tools.max_seconds);
      const stored = await tools.key(source.url);
      if (stored !== null) return stored;
      const key = inputKey(context.run_id);
      if (await storage.head(key)) return key;
      const input = await inputs.open(source.url, signal);
      try {
        if (bareEtag(input) !== source.etag || (input.file.size ?? source.filesize) !== source.filesize)
          throw errors.inputChanged();
        if (!(input.pin && (await tools.pin?.(input.pin)))) await copyInput(input, key, context, signal);
      } finally {
        await input.file.close();
      }
      return key;
    });
  }

  return { inputKey, copyInput, probeInput, probeStored, storeProbed };
}

interface FactsTools {
  tools: StepTools;
  decide: Decide;
  /** Returns the storage key of the source. */
  open(): Promise<string>;
}

async function makePlaceholder(
  source: Source,
  key: string,
  request: EncodeRequest,
  options: ProbeOptions,
  { tools, decide }: FactsTools,
  context: StepContext,
) {
  const out = `${runFolder("work", context.run_id)}placeholder/`;
  const id = `${context.run_id}-look`;
  const encode = { key, source, request, extra: [], decide, id, out, name: "small" };
  const { encoded } = await encodeInput(tools, encode, context);
  return context.durably("look", async (signal) => {
    const reader = await tools.open(encoded.key);
    return readPlaceholder(await reader.read({ start: 0, end: reader.size }, signal), options);
  });
}

/** Adds the facts that the options of a probe ask for, which need the media themselves. */
async function addFacts(
  source: Source,
  options: ProbeOptions,
  needs: FactsTools,
  context: StepContext,
): Promise<Source> {
  const { tools, open } = needs;
  const request = options.thumbhash || options.dominant_color ? placeholderRequest(source) : null;
  const lists = options.entries === true && source.kind === "video";
  if (!request && !lists) return source;
  const key = await open();
  return {
    ...source,
    ...(request && (await makePlaceholder(source, key, request, options, needs, context))),
    ...(lists && {
      entries: await context.durably("entries", async (signal) =>
        listEntries(await tools.open(key), source, signal),
      ),
    }),
  };
}

/** Returns the Source of an encoded output, with how it was encoded and what it lacks of its input. */
async function describeOutput(
  tools: StepTools,
  {
    source,
    request,
    plan,
    choice,
    encoded,
    measured,
    fallback,
  }: EncodedInput & {
    source: Source;
    request: EncodeRequest;
  },
  probe: (url: string) => Promise<Source>,
): Promise<Source> {
  const { storage } = tools;
  const url = await tools.url(encoded.key);
  const output =
    plan.kind === "adaptive_video"
      ? await describeStream(encoded.key, encoded.size, plan, storage, tools.url, measured?.rungs)
      : plan.image?.sheet
        ? await describeSprites(encoded.key, encoded.size, plan, storage, tools.url)
        : encoded.waveform
          ? await describeWaveform(encoded.key, encoded.waveform, plan, storage, tools.url)
          : await probe(url);
  const { options } = request;
  const dropped = listDropped(plan, source, options);
  const hasCover = output.streams?.some(({ kind }) => kind === "cover") ?? false;
  if (plan.cover !== undefined && !hasCover)
    dropped.push({ kind: "cover", index: plan.cover, reason: "not_supported" });
  for (const index of encoded.lost_subtitles ?? []) {
    const language = plan.subtitles?.find(({ stream }) => stream === index)?.language;
    dropped.push({ kind: "subtitle", index, ...(language && { language }), reason: "not_supported" });
  }
  const { counts } = encoded;
  if (counts.pictures?.crowded && !dropped.some(({ kind }) => kind === "pictures")) {
    const index = mainStream(source, "video")?.index;
    const reason = "fps" in options && options.fps !== undefined ? "asked" : "not_supported";
    dropped.push({ kind: "pictures", ...(index !== undefined && { index }), reason });
  }
  // Audio formats state the duration without priming, or only estimate it; the count is exact.
  const duration = plan.video ? output.duration : (counts.sound?.output ?? output.duration);
  checkSeconds(encodedSeconds(output, plan, counts, source.fps), tools.max_seconds * DURATION_TOLERANCE + 1);
  const copies = "mode" in options && options.mode === "copy" && !plan.concat && !encoded.cuts;
  const isCopy = copies && duration !== undefined;
  const cut = isCopy && { start: plan.start, end: Number((plan.start + duration).toFixed(6)) };
  const larger = isLargerAtNoGain({ ...output, duration }, source, request.options);
  return {
    ...output,
    url,
    ...choice,
    ...(measured && { rate: measured.rate, ...(measured.score !== null && { score: measured.score }) }),
    ...((counts.pictures || counts.sound) && { counts }),
    ...(cut && { cut }),
    ...(encoded.cuts && { cuts: encoded.cuts }),
    ...(fallback && { fallback: { code: fallback.fault, reason: describeSpliceFault(fallback) } }),
    ...(larger && { larger_than_source: true as const }),
    ...(dropped.length > 0 && { dropped }),
  };
}

function bareEtag({ file }: OpenInput): string | undefined {
  return file.etag?.replaceAll('"', "") || undefined;
}

function totalSeconds(source: Source, { options }: EncodeRequest, extra: readonly Source[]): number {
  const parts = extraInputs({ options }).flatMap(({ role }, at) =>
    role === "concat" ? (extra[at] ?? []) : [],
  );
  const ranges = "parts" in options ? (options.parts ?? []) : [];
  const own = mediaSeconds(source);
  const rangeSeconds = ranges.reduce((sum, { start = 0, end = own }) => sum + Math.min(end, own) - start, 0);
  return parts.reduce((sum, part) => sum + mediaSeconds(part), Math.max(rangeSeconds, own));
}

const DURATION_TOLERANCE = 1.01;

// A header may state less than the file contains, so the encoded counts are checked too.
function encodedSeconds(output: Source, plan: Plan, { sound, pictures }: Counts, rate?: number): number {
  const fps = constantFps(plan) ?? rate ?? null;
  const seconds = [
    output.duration ?? 0,
    sound?.output ?? 0,
    plan.kind === "adaptive_video" && pictures && fps !== null ? pictures.output / fps : 0,
  ];
  return Math.max(...seconds) * (plan.speed ?? 1);
}

function checkDuration(source: Source, maxSeconds: number): void {
  checkSeconds(mediaSeconds(source), maxSeconds);
}

function checkSeconds(seconds: number, maxSeconds: number): void {
  if (seconds > maxSeconds) throw errors.inputTooLong({ seconds, maxSeconds });
}

/**
 * Describes a storyboard or a series of stills: a Source whose URL is that of the WebVTT file or the first still, with a list of all
 * files.
 */
async function describeSprites(
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
async function describeStream(
  key: string,
  filesize: number,
  plan: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
  rungs: ChosenRate["rungs"] = [],
): Promise<Source> {
  const { body, mime } = requireEncoded(await storage.read(key));
  const text = await new Response(body).text();
  const name = key.slice(key.lastIndexOf("/") + 1);
  const entries = lacksHls(plan.format)
    ? parseDash(text).map((entry) => ({ uri: name, ...entry }))
    : parseMasterPlaylist(text);
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const renditions = await Promise.all(
    entries.map(async ({ uri, id = uri.slice(0, uri.indexOf("/")), ...facts }) => {
      const rung = rungs.find(({ name }) => name === id);
      const measured = rung && { score: rung.score, rate: rung.crf };
      return { ...facts, ...measured, url: await url(folder + uri) };
    }),
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
async function describeWaveform(
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
function placeholderRequest({ kind, width = 0, height = 0, duration }: Source): EncodeRequest | null {
  if (kind !== "video" && kind !== "image") return null;
  const scale = Math.min(1, MAX_SIDE / Math.max(1, width, height));
  const scaled = (side: number) => Math.max(1, Math.round(side * scale));
  const size = scale < 1 && { width: scaled(width), height: scaled(height), fit: "fill" as const };
  const start = kind === "video" && duration ? Number((duration * FRAME_SHARE).toFixed(3)) : 0;
  return { kind: "image", options: { format: LOSSLESS_FORMAT.image, ...size, ...(start > 0 && { start }) } };
}

/**
 * Returns whether an output of the source's kind has more bytes than the source, but no more pixels, frames, channels, samples or
 * seconds, and includes no other inputs.
 */
export function isLargerAtNoGain(output: Source, source: Source, options: EncodeRequest["options"]): boolean {
  const { kind, files, filesize: bytes = 0 } = output;
  const isComparable = kind === source.kind && kind !== "adaptive_video" && files === undefined;
  if (!isComparable || source.filesize === undefined || bytes <= source.filesize) return false;
  if (extraInputs({ options }).length > 0 || drawsOver(options)) return false;
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
