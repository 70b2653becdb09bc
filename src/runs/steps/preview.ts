import { roundTime } from "../../media/clock.ts";
import { DEFAULT_FPS } from "../../media/features/fps.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { type Plan, pictureSize, rangeAt, sourceEnd } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { GROUP_SECONDS } from "../../media/timeline.ts";
import { isCopy } from "../../media/video-plan.ts";
import { blobOf, createBlobReader, storageReader } from "../../storage/readers.ts";
import type { ByteReader, Storage } from "../ports.ts";
import type { Preview } from "../preview.ts";
import * as errors from "./errors.ts";
import { openSample, requestOfPart, SAMPLE_FOLDER, type Sample, type SampleOutput } from "./sample.ts";
import type { StepTools } from "./step-tools.ts";

/** The input of a preview, its encode, and the moment to show in seconds of the source. */
export interface PreviewRequest {
  url: string;
  request: EncodeRequest;
  /** The moment to show, in seconds of the source; by default the middle of the trimmed source. */
  at?: number | undefined;
}

/**
 * Encodes a preview with the task's settings. `createTools` returns tools for one sample, each with its own storage. Rejects with the
 * errors of {@link openSample} and its encodes.
 */
export async function previewOutput(
  createTools: () => StepTools,
  { url, request, at }: PreviewRequest,
  signal: AbortSignal,
): Promise<Preview> {
  if (request.kind === "waveform") throw errors.noPreview();
  const tools = createTools();
  const first = { url, request: request.kind === "image" ? atMoment(request, at) : request };
  const sample = await openSample(tools, first, signal);
  const { reader, source } = sample;
  const open = (other: EncodeRequest) =>
    openSample(createTools(), { url, request: other, opened: { reader, source } }, signal);
  if (request.kind === "image") return previewPicture(sample, open);
  const moment = placeMoment(sample, at);
  if (request.kind === "storyboard" || request.kind === "animation")
    return previewPicture(await open(stillRequest(sample, moment)), open);
  if (!sample.plan.video) return previewSound(sample, moment, open);
  return previewFrame(sample, moment, open, tools.storage, createTools);
}

type Open = (request: EncodeRequest) => Promise<Sample>;

function atMoment({ kind, options }: EncodeRequest, at: number | undefined): EncodeRequest {
  const { interval: _, count: __, ...one } = Object(options);
  return { kind, options: at === undefined ? one : { ...one, start: at } } as EncodeRequest;
}

function placeMoment({ plan, source }: Sample, at: number | undefined): number {
  const middle = plan.start + ((sourceEnd(plan) ?? source.duration ?? plan.start) - plan.start) / 2;
  const { start, end } = rangeAt(plan, at ?? middle);
  const length = Math.max(0, (end ?? source.duration ?? start) - start - 1 / (source.fps ?? DEFAULT_FPS));
  return Math.min(Math.max(start, at ?? middle), start + length);
}

async function previewPicture(sample: Sample, open: Open): Promise<Preview> {
  const { plan, source } = sample;
  if (!plan.image) throw errors.noPreview();
  const { width, height } = pictureSize(plan.image);
  const still = source.kind === "image";
  const moment = still ? null : plan.start;
  const [output, original] = await Promise.all([
    encodeBlob(sample),
    drawOriginal(sample.request, { width, height }, { at: moment, alpha: plan.image.alpha }, open),
  ]);
  return { original, output: output.blob, bytes: output.size, seconds: null, at: moment, width, height };
}

const FRAMING = ["rotate", "flip", "crop", "fit", "position", "background"] as const;

// PNG takes six times as long, so only transparent pictures use it.
const OPAQUE = { format: "jpeg", quality: "very_high" } as const;
const TRANSPARENT = { format: "png" } as const;

/** Draws the original in the shape and size of its output. */
async function drawOriginal(
  { options }: EncodeRequest,
  size: { width: number; height: number },
  { at, alpha }: { at: number | null; alpha: boolean },
  open: Open,
): Promise<Blob> {
  const given: Record<string, unknown> = { ...options };
  const framing = Object.fromEntries(
    FRAMING.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  );
  const start = at !== null && at > 0 ? { start: at } : {};
  const request = {
    kind: "image",
    options: { ...framing, ...size, ...start, ...(alpha ? TRANSPARENT : OPAQUE) },
  };
  return (await encodeBlob(await open(request as EncodeRequest))).blob;
}

async function encodeBlob(sample: Sample, part?: EncodeRequest): Promise<SampleOutput & { blob: Blob }> {
  const output = await sample.encode(part);
  const bytes = await blobOf(output.reader, sample.signal);
  return { ...output, blob: new Blob([bytes], { type: output.mime }) };
}

/** Returns the request for a still in the format and size of a storyboard or animation. */
function stillRequest({ plan, request }: Sample, start: number): EncodeRequest {
  const { width, height } = plan.image?.geometry ?? {};
  const given: Record<string, unknown> = { ...request.options };
  const kept = ["quality", ...FRAMING].flatMap((name) =>
    given[name] === undefined ? [] : [[name, given[name]] as const],
  );
  const options = { ...Object.fromEntries(kept), format: plan.format, width, height, start };
  return { kind: "image", options } as EncodeRequest;
}

const SOUND_SECONDS = 4;

async function previewSound(sample: Sample, moment: number, open: Open): Promise<Preview> {
  const { plan, request } = sample;
  const range = rangeAt(plan, moment);
  const until = range.end ?? Number.POSITIVE_INFINITY;
  const start = Math.max(range.start, Math.min(moment, until - SOUND_SECONDS));
  const end = Math.min(start + SOUND_SECONDS, until);
  const { track } = Object(request.options);
  const wav = { format: "wav", start, end, ...(track !== undefined && { track }) };
  const [output, original] = await Promise.all([
    encodeBlob(sample, requestOfPart(request, plan, { start, end })),
    open({ kind: "audio", options: wav } as EncodeRequest).then((other) => encodeBlob(other)),
  ]);
  return {
    original: original.blob,
    output: output.blob,
    bytes: output.size,
    seconds: output.plan.duration,
    at: start,
    width: null,
    height: null,
  };
}

const AROUND_SECONDS = { before: 0.2, after: 0.3 } as const;

async function previewFrame(
  sample: Sample,
  moment: number,
  open: Open,
  storage: Storage,
  createTools: () => StepTools,
): Promise<Preview> {
  const { plan, request, signal } = sample;
  const size = sizeOf(sample);
  const span = spanAround(sample, moment);
  const original = drawOriginal(request, size, { at: moment, alpha: false }, open);
  original.catch(() => {});
  if (isCopy(plan)) {
    const same = await original;
    return { original: same, output: same, bytes: 0, seconds: 0, at: moment, ...size };
  }
  const part = await sample.encode(requestOfPart(picturesOf(request), plan, span));
  const file =
    plan.kind === "adaptive_video" ? await joinSegment(storage, plan) : await blobOf(part.reader, signal);
  const reader = createBlobReader(new Blob([file], { type: "video/mp4" }));
  const start = (moment - span.start) / (plan.speed ?? 1);
  const still = { ...OPAQUE, ...(start > 0 && { start: Number(start.toFixed(6)) }) };
  const tools = { ...createTools(), ...inputsOf(reader, part.mime) };
  const frame = await openSample(
    tools,
    { url: PART_URL, request: { kind: "image", options: still } as EncodeRequest },
    signal,
  );
  const output = (await encodeBlob(frame)).blob;
  return {
    original: await original,
    output,
    bytes: part.size,
    seconds: part.plan.duration,
    at: moment,
    ...size,
  };
}

const PART_URL = "https://part.invalid/";

function inputsOf(reader: ByteReader, mime: string): Pick<StepTools, "inputs"> {
  const file = { url: PART_URL, size: reader.size, etag: null, version: null, mime, ranges: true, reader };
  const stream = () => new ReadableStream<Uint8Array>();
  return {
    inputs: { open: async () => ({ reader, mime, file: { ...file, stream, close: async () => {} } }) },
  };
}

function sizeOf({ plan: { renditions, video }, source }: Sample): { width: number; height: number } {
  const geometry = renditions[0]?.geometry ?? (video?.mode === "encode" ? video.geometry : null);
  const { width = 0, height = 0 } = geometry ?? source;
  return { width, height };
}

// Sound, text tracks, covers and chapters do not show in a frame.
function picturesOf({ kind, options }: EncodeRequest): EncodeRequest {
  const more = kind === "video" ? { mute: true, metadata: "strip" } : { mute: true };
  return { kind, options: { ...options, ...more } } as EncodeRequest;
}

/** Returns half a second around a moment; for adaptive video, the group of pictures that the output has there. */
function spanAround({ plan, source }: Sample, moment: number): { start: number; end: number } {
  const { speed = 1 } = plan;
  const { start: from, end } = rangeAt(plan, moment);
  const until = end ?? from + (source.duration ?? 0);
  if (plan.kind === "adaptive_video") {
    const start = from + Math.floor((moment - from) / GROUP_SECONDS) * GROUP_SECONDS;
    return { start, end: Math.min(start + GROUP_SECONDS, until) };
  }
  const fps = frameRate(plan, source) / speed;
  const first = Math.max(0, Math.floor((moment - from - AROUND_SECONDS.before * speed) * fps));
  const start = roundTime(from + first / fps);
  return { start, end: Math.min(Math.max(start, moment) + AROUND_SECONDS.after * speed, until) };
}

function frameRate({ video }: Plan, source: Source): number {
  return (video?.mode === "encode" ? video.fps : null) ?? source.fps ?? DEFAULT_FPS;
}

/** Joins the best rendition's initialization segment with its first segment. */
async function joinSegment(storage: Storage, { renditions }: Plan): Promise<Blob> {
  const folder = `${SAMPLE_FOLDER}${renditions[0]?.name ?? ""}/`;
  const names = ["init_0.mp4", "seg_00000.m4s"];
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const name of names) {
    const reader = await storageReader(storage, folder + name);
    parts.push((await reader.read({ start: 0, end: reader.size })) as Uint8Array<ArrayBuffer>);
  }
  return new Blob(parts);
}
