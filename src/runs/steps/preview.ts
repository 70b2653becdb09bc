import type { ChunkJob } from "../../encoders/encoder.ts";
import { roundTime } from "../../media/clock.ts";
import { extraInputs } from "../../media/extra-inputs.ts";
import { DEFAULT_FPS } from "../../media/features/fps.ts";
import { spriteName } from "../../media/ffmpeg/output-files.ts";
import { DEFAULT_FORMAT, FORMATS, LOSSLESS_FORMAT } from "../../media/formats.ts";
import { drawsOver, mapTimedDrawings, untimed } from "../../media/option-groups.ts";
import type { EncodeRequest } from "../../media/options.ts";
import {
  type Geometry,
  type ImagePlan,
  type Plan,
  pictureSize,
  rangeAt,
  sourceEnd,
} from "../../media/plan.ts";
import { isAutoQuality, isMeasured } from "../../media/quality-search.ts";
import type { Source } from "../../media/source.ts";
import { GROUP_SECONDS } from "../../media/timeline.ts";
import { isCopy } from "../../media/video-plan.ts";
import { blobOf, createBlobReader, storageReader } from "../../storage/readers.ts";
import type { ByteReader, Storage } from "../ports.ts";
import type { FilmstripPicture, Preview, PreviewPart, PreviewView } from "../samples.ts";
import * as errors from "./errors.ts";
import { joinSegment } from "./measure-quality.ts";
import { picturesOf, requestOfPart } from "./parts.ts";
import {
  type OpenedInput,
  openSample,
  SAMPLE_FOLDER,
  type Sample,
  type SampleChanges,
  type SampleOutput,
} from "./sample.ts";
import type { StepTools } from "./step-tools.ts";

/** The input of a preview, its encode, and the moment to show in seconds of the source. */
export interface PreviewRequest {
  url: string;
  request: EncodeRequest;
  /** The moment to show, in seconds of the source; by default the middle of the trimmed source. */
  at?: number | undefined;
  /** The part of a picture to show first; default: only the whole. */
  view?: PreviewView | undefined;
}

/** The plan of a still, and the name of the encoder that was decided for it. */
export interface StillPlan {
  plan: Plan;
  image: ImagePlan;
  source: Source;
  encoder: string;
}

/** Decoded pictures of a source, as media that its encoder reads instead. */
export interface DecodedSpan extends OpenedInput {
  /** Draws the picture shown at the moment, once, as a JPEG. */
  draw(image: ImagePlan): Promise<Blob>;
}

/** The tools of a host that decodes and draws pictures faster than its encoders. A tool that cannot do the work returns null. */
export interface PictureTools {
  /** Encodes a still exactly as its encoder does, and its original from the same decoded picture. */
  encodeStill(
    still: StillPlan,
    reader: ByteReader,
    signal: AbortSignal,
  ): Promise<Pick<Preview, "original" | "output">> | null;
  /** Draws a frame of a video as a JPEG. */
  draw(still: StillPlan, reader: ByteReader, signal: AbortSignal): Promise<Blob | null>;
  /**
   * Draws the pictures visible at ascending times of a video, in seconds of the source, as JPEGs in the geometry of a still. Ends early
   * at a picture that it cannot draw.
   */
  drawEach(
    still: StillPlan,
    times: readonly number[],
    reader: ByteReader,
    signal: AbortSignal,
  ): AsyncGenerator<Blob, void>;
  /** Decodes the pictures from `start` to `end`; the moment `at` lies between them. */
  decode(
    source: Source,
    reader: ByteReader,
    span: { start: number; end: number; at: number },
    signal: AbortSignal,
  ): Promise<DecodedSpan | null>;
}

/** The tools of a preview. */
export interface PreviewTools {
  /** Creates the tools for one sample, each with its own storage. */
  createTools(): StepTools;
  /** Absent when the host's encoders do everything. */
  pictures?: PictureTools | undefined;
}

/**
 * Encodes a preview with the task's settings. Yields the visible part of a picture, then returns the whole. Rejects with the errors of
 * {@link openSample} and its encodes.
 */
export async function* previewOutput(
  tools: PreviewTools,
  { url, request, at, view }: PreviewRequest,
  signal: AbortSignal,
): AsyncGenerator<PreviewPart, Preview> {
  if (request.kind === "waveform") throw errors.noPreview();
  const own = tools.createTools();
  const first = { url, request: request.kind === "image" ? atMoment(request, at) : request };
  const sample = await openSample(own, first, signal);
  const { reader, source } = sample;
  const drawable = tools.pictures !== undefined;
  const open = (other: EncodeRequest) =>
    openSample(tools.createTools(), { url, request: other, input: { reader, source }, drawable }, signal);
  const opened: OpenPreview = { ...tools, sample, open };
  if (request.kind === "image") return yield* previewPicture(opened, view);
  const moment = placeMoment(sample, at);
  if (request.kind === "storyboard" || request.kind === "animation")
    return yield* previewPicture({ ...opened, sample: await open(stillRequest(sample, moment)) }, view);
  if (!sample.plan.video) return previewSound(opened, moment);
  return previewFrame(opened, moment, own.storage);
}

type Open = (request: EncodeRequest) => Promise<Sample>;

interface OpenPreview extends PreviewTools {
  sample: Sample;
  /** Opens another sample of the same input. */
  open: Open;
}

function atMoment({ kind, options }: EncodeRequest, at: number | undefined): EncodeRequest {
  const { interval: _, count: __, ...one } = Object(options);
  return { kind, options: at === undefined ? one : { ...one, start: at } } as EncodeRequest;
}

function placeMoment(sample: Sample, at: number | undefined): number {
  const { plan, source } = sample;
  const until = plan.concat ? source.duration : (sourceEnd(plan) ?? source.duration);
  const middle = plan.start + ((until ?? plan.start) - plan.start) / 2;
  const { start, end } = shownRange(sample, at ?? middle);
  const length = Math.max(0, (end ?? source.duration ?? start) - start - 1 / (source.fps ?? DEFAULT_FPS));
  return Math.min(Math.max(start, at ?? middle), start + length);
}

/** Returns the range of the source that contains a moment; for joined files, the range of the first. */
function shownRange({ plan, source: { duration } }: Sample, moment: number) {
  return plan.concat ? { start: plan.start, end: duration ?? null } : rangeAt(plan, moment);
}

// Joined files cannot be trimmed, so the first is encoded alone, with the rates of the whole. A search in the whole would take too long.
function sampleOfPart({ sample, open }: OpenPreview, part: EncodeRequest): Promise<Sample> {
  const { concat: _, transition: __, ...options }: Record<string, unknown> = { ...part.options };
  return sample.plan.concat || isMeasured(part.options)
    ? open({ kind: part.kind, options } as EncodeRequest)
    : Promise.resolve(sample);
}

async function* previewPicture(
  { sample, open, pictures }: OpenPreview,
  view: PreviewView | undefined,
): AsyncGenerator<PreviewPart, Preview> {
  const { plan, source } = sample;
  const { image } = plan;
  if (!image) throw errors.noPreview();
  const at = source.kind === "image" && !source.animated ? null : roundTime(plan.start);
  if (view && !image.sheet && isBare(sample.request)) {
    const geometry = geometryOfView(image.geometry, source, view);
    const { width, height } = geometry;
    const area = { ...image, geometry };
    yield { ...(await encodeBoth({ sample, open, pictures }, area, { at, geometry })), at, width, height };
  }
  const whole = await encodeBoth({ sample, open, pictures }, image, { at, geometry: null });
  return { ...whole, bytes: whole.output.size, seconds: null, at, ...pictureSize(image) };
}

/** Encodes a picture and its original; with `geometry`, only that part of both. */
async function encodeBoth(
  { sample, open, pictures }: Pick<OpenPreview, "sample" | "open" | "pictures">,
  image: ImagePlan,
  { at, geometry }: { at: number | null; geometry: Geometry | null },
): Promise<Pick<Preview, "original" | "output">> {
  const { plan, source, reader, signal, exact, decision } = sample;
  const still = { plan: { ...plan, image }, image, source, encoder: decision.encoder };
  const mayDraw = exact && !isAutoQuality(sample.request.options);
  const both = mayDraw ? await pictures?.encodeStill(still, reader, signal) : null;
  if (both) return both;
  const changes = geometry && { plan: (whole: Plan) => ({ ...whole, image: { ...image, geometry } }) };
  const size = pictureSize(plan.image ?? image);
  const [output, original] = await Promise.all([
    encodeBlob(sample, undefined, changes ?? {}),
    drawOriginal({ open, pictures }, sample.request, size, { at, alpha: image.alpha, geometry }),
  ]);
  return { output: output.blob, original };
}

/** Returns the geometry of the visible part of a picture, no larger than on the screen. */
export function geometryOfView(whole: Geometry, source: Source, view: PreviewView): Geometry {
  const { crop, scale, pad, rotate } = whole;
  const sideways = rotate % 180 !== 0;
  const { coded_width, coded_height, width = 1, height = 1 } = source;
  const stored = { width: coded_width ?? width, height: coded_height ?? height };
  const turned = sideways ? { width: stored.height, height: stored.width } : stored;
  const area = crop ?? { x: 0, y: 0, ...turned };
  const inner = { x: pad?.x ?? 0, y: pad?.y ?? 0, ...(scale ?? { width: area.width, height: area.height }) };
  const left = clamp(view.x, inner.x, inner.x + inner.width - 1);
  const top = clamp(view.y, inner.y, inner.y + inner.height - 1);
  const right = clamp(view.x + view.width, left + 1, inner.x + inner.width);
  const bottom = clamp(view.y + view.height, top + 1, inner.y + inner.height);
  const [across, down] = [area.width / inner.width, area.height / inner.height];
  const x = Math.round(area.x + (left - inner.x) * across);
  const y = Math.round(area.y + (top - inner.y) * down);
  const part = {
    x,
    y,
    width: clamp(Math.round((right - left) * across), 1, area.x + area.width - x),
    height: clamp(Math.round((bottom - top) * down), 1, area.y + area.height - y),
  };
  const shrink = Math.min(1, view.scale ?? 1);
  const size = {
    width: Math.max(1, Math.round((right - left) * shrink)),
    height: Math.max(1, Math.round((bottom - top) * shrink)),
  };
  return { ...whole, crop: part, scale: size, pad: null, ...size };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

// The options that determine which pictures are read, and which part of them is visible.
const FRAMING = ["partial", "rotate", "flip", "crop", "fit", "position", "background"] as const;

// PNG takes six times as long, so only transparent pictures use it.
const OPAQUE = { format: DEFAULT_FORMAT.image, quality: "very_high" } as const;
const TRANSPARENT = { format: LOSSLESS_FORMAT.image } as const;

interface OriginalNeeds {
  at: number | null;
  alpha: boolean;
  /** The geometry of a part; null or absent for the whole. */
  geometry?: Geometry | null;
  /** The picture, if it is already decoded. */
  decoded?: DecodedSpan | null;
}

/** Draws the original in the shape and size of its output. */
async function drawOriginal(
  { open, pictures }: Pick<OpenPreview, "open" | "pictures">,
  { options }: EncodeRequest,
  size: { width: number; height: number },
  { at, alpha, geometry, decoded }: OriginalNeeds,
): Promise<Blob> {
  const values: Record<string, unknown> = { ...options };
  const framing = Object.fromEntries(
    FRAMING.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
  const start = at !== null && at > 0 ? { start: at } : {};
  const request = {
    kind: "image",
    options: { ...framing, ...size, ...start, ...(alpha ? TRANSPARENT : OPAQUE) },
  };
  const sample = await open(request as EncodeRequest);
  const { image } = sample.plan;
  if (decoded && image) return decoded.draw(image);
  const changes = geometry && {
    plan: (whole: Plan) => ({ ...whole, image: whole.image && { ...whole.image, geometry } }),
  };
  return changes ? (await encodeBlob(sample, undefined, changes)).blob : drawFrame(sample, pictures);
}

/** Encodes a JPEG of the picture of a sample. */
async function drawFrame(sample: Sample, pictures: PictureTools | undefined): Promise<Blob> {
  const { plan, source, reader, decision, signal } = sample;
  const { image } = plan;
  const still = image && { plan, image, source, encoder: decision.encoder };
  return (still && (await pictures?.draw(still, reader, signal))) || (await encodeBlob(sample)).blob;
}

async function encodeBlob(
  sample: Sample,
  part?: EncodeRequest,
  changes?: SampleChanges,
): Promise<SampleOutput & { blob: Blob }> {
  const output = await sample.encode(part, changes);
  const bytes = await blobOf(output.reader, sample.signal);
  return { ...output, blob: new Blob([bytes], { type: output.mime }) };
}

/** Returns the request for a still in the format and size of a storyboard or animation, with what is drawn over it at that moment. */
function stillRequest({ plan, request }: Sample, start: number): EncodeRequest {
  const { width, height } = plan.image?.geometry ?? {};
  const values: Record<string, unknown> = { ...request.options };
  const entries = ["quality", ...FRAMING].flatMap((name) =>
    values[name] === undefined ? [] : [[name, values[name]] as const],
  );
  const options = { ...Object.fromEntries(entries), format: plan.format, width, height, start };
  return { kind: "image", options: { ...options, ...drawingsAt(plan, request, start) } } as EncodeRequest;
}

function drawingsAt(plan: Plan, { kind, options }: EncodeRequest, moment: number): object {
  const range = rangeAt(plan, moment);
  const time = range.at + moment - range.start;
  const drawings = mapTimedDrawings(kind, options, (drawing) => {
    const { start = 0, end = Number.POSITIVE_INFINITY } = drawing;
    return start <= time && time < end ? untimed(drawing) : null;
  });
  const hasFonts = drawings.text !== undefined && "fonts" in options;
  return { ...drawings, ...(hasFonts && { fonts: options.fonts }) };
}

const SOUND_SECONDS = 4;

async function previewSound(opened: OpenPreview, moment: number): Promise<Preview> {
  const { sample, open } = opened;
  const { plan, request } = sample;
  const range = shownRange(sample, moment);
  const until = range.end ?? Number.POSITIVE_INFINITY;
  const start = Math.max(range.start, Math.min(moment, until - SOUND_SECONDS));
  const end = Math.min(start + SOUND_SECONDS, until);
  const partRequest = requestOfPart(soundOf(request), plan, { start, end });
  const { track, partial } = Object(request.options);
  const wav = {
    format: LOSSLESS_FORMAT.audio,
    start,
    end,
    ...(track !== undefined && { track }),
    ...(partial !== undefined && { partial }),
  };
  const [output, original] = await Promise.all([
    sampleOfPart(opened, partRequest).then((partSample) =>
      encodeBlob(partSample, plan.concat ? undefined : partRequest),
    ),
    open({ kind: "audio", options: wav } as EncodeRequest).then((other) => encodeBlob(other)),
  ]);
  return {
    original: original.blob,
    output: output.blob,
    bytes: output.size,
    seconds: output.plan.duration === null ? null : roundTime(output.plan.duration),
    at: roundTime(start),
    width: null,
    height: null,
  };
}

// With two pictures on each side, the SSIM of a picture differs by less than 0.001 from that of its neighbors in the whole video, on
// average over three films; with three before it and two after it, by 0.003 to 0.007.
const AROUND = { before: 2, after: 2 } as const;

async function previewFrame(opened: OpenPreview, moment: number, storage: Storage): Promise<Preview> {
  const { sample, open, pictures, createTools } = opened;
  const { plan, request, signal, source, reader } = sample;
  const size = sizeOf(sample);
  const span = spanAround(sample, moment);
  const partRequest = requestOfPart(picturesOf(request), plan, span);
  const partSample = await sampleOfPart(opened, partRequest);
  const decoded = isDecodable(partSample)
    ? await pictures?.decode(source, reader, { ...span, at: moment }, signal)
    : null;
  const needs = { at: moment, alpha: false, ...(decoded && { decoded }) };
  const original = drawOriginal({ open, pictures }, request, size, needs);
  original.catch(() => {});
  if (isCopy(plan)) {
    const same = await original;
    return { original: same, output: same, bytes: 0, seconds: 0, at: roundTime(moment), ...size };
  }
  const part = await partSample.encode(plan.concat ? undefined : partRequest, {
    plan: firstRendition,
    ...(decoded && { job: (job: ChunkJob) => readDecoded(job, decoded) }),
  });
  const folder = `${SAMPLE_FOLDER}${plan.renditions[0]?.name}/`;
  const file =
    plan.kind === "adaptive_video"
      ? await new Response(joinSegment(storage, folder)).blob()
      : await blobOf(part.reader, signal);
  const partReader = createBlobReader(new Blob([file], { type: "video/mp4" }));
  const first = await openStill(0);
  // A part that ends with a long picture, as in a slide show, may end before the moment at which that picture is visible.
  const end = first.source.duration ?? Number.POSITIVE_INFINITY;
  const start = Math.min((moment - span.start) / (plan.speed ?? 1), end - EPSILON);
  const output = await drawFrame(start > 0 ? await openStill(start, first) : first, pictures);
  return {
    original: await original,
    output,
    bytes: part.size,
    seconds: part.plan.duration === null ? null : roundTime(part.plan.duration),
    at: roundTime(moment),
    ...size,
  };

  function openStill(time: number, input?: OpenedInput): Promise<Sample> {
    const options = { ...OPAQUE, ...(time > 0 && { start: roundTime(time) }) };
    return openSample(
      { ...createTools(), ...inputsOf(partReader, part.mime) },
      {
        url: PART_URL,
        request: { kind: "image", options } as EncodeRequest,
        ...(input && { input }),
        drawable: pictures !== undefined,
      },
      signal,
    );
  }
}

function firstRendition(plan: Plan): Plan {
  return plan.renditions.length > 1 ? { ...plan, renditions: plan.renditions.slice(0, 1) } : plan;
}

// The browser's own encoders read the source themselves.
const CORES: ReadonlySet<string> = new Set(["fast", "wasm", "wasm-mt"]);

/** Returns whether the encoder can read decoded pictures instead of the source. */
function isDecodable({ plan: { kind, video, concat }, request, decision }: Sample): boolean {
  if (kind !== "video" || video?.mode !== "encode" || video.deinterlace || concat) return false;
  return CORES.has(decision.encoder) && isBare(request);
}

/** Returns whether an output shows nothing but its input. */
function isBare(request: EncodeRequest): boolean {
  return extraInputs(request).length === 0 && !drawsOver(request.options);
}

function readDecoded(job: ChunkJob, { reader, source }: DecodedSpan): ChunkJob {
  const { plan, chunk } = job;
  const { index, track, start, end } = chunk;
  const length = end === null ? null : end - start;
  return {
    ...job,
    plan: { ...plan, start: 0, end: length },
    chunk: { index, track, start: 0, end: length },
    source,
    input: reader,
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

// A cover may be larger than the sound.
function soundOf({ kind, options }: EncodeRequest): EncodeRequest {
  const bare = kind === "audio" ? { ...options, metadata: "strip" } : options;
  return { kind, options: bare } as EncodeRequest;
}

function sizeOf({ plan: { renditions, video }, source }: Sample): { width: number; height: number } {
  const geometry = renditions[0]?.geometry ?? (video?.mode === "encode" ? video.geometry : null);
  const { width = 0, height = 0 } = geometry ?? source;
  return { width, height };
}

/** Returns a few pictures around a moment; for adaptive video, its group of pictures from the start. */
function spanAround(sample: Sample, moment: number): { start: number; end: number } {
  const { plan, source } = sample;
  const { speed = 1 } = plan;
  const { start: from, end: last } = shownRange(sample, moment);
  const until = last ?? from + (source.duration ?? 0);
  if (plan.kind === "adaptive_video") {
    const start = from + Math.floor((moment - from) / GROUP_SECONDS) * GROUP_SECONDS;
    const end = moment + (1 + AROUND.after) / frameRate(plan, source);
    return { start, end: Math.min(end, start + GROUP_SECONDS, until) };
  }
  const fps = frameRate(plan, source) / speed;
  const frame = Math.floor((moment - from) * fps + EPSILON);
  const start = roundTime(from + Math.max(0, frame - AROUND.before) / fps);
  const end = roundTime(from + (frame + 1 + AROUND.after) / fps);
  return { start, end: Math.min(end, until) };
}

const EPSILON = 0.001;

function frameRate({ video }: Plan, source: Source): number {
  return (video?.mode === "encode" ? video.fps : null) ?? source.fps ?? DEFAULT_FPS;
}

/** The input of a filmstrip, and the request for a series of JPEG stills. */
export interface FilmstripRequest {
  url: string;
  request: EncodeRequest;
}

// Above this interval, seeking to each picture is faster than decoding the whole video.
const SEEK_SECONDS = 5;

/**
 * Draws evenly spaced pictures of a video and yields them in order. The host's own decoder draws as many as it can, and an encoder the
 * rest. Rejects with the errors of {@link openSample} and its encodes.
 */
export async function* drawFilmstrip(
  tools: PreviewTools,
  { url, request }: FilmstripRequest,
  signal: AbortSignal,
): AsyncGenerator<FilmstripPicture, void> {
  const stepTools = tools.createTools();
  const sample = await openSample(
    stepTools,
    { url, request, drawable: tools.pictures !== undefined },
    signal,
  );
  const { plan, source, reader, decision } = sample;
  const { image } = plan;
  if (!image?.sheet) throw errors.notSeries();
  const { tiles, interval } = image.sheet;
  const { width, height } = image.geometry;
  const times = Array.from({ length: tiles }, (_, index) => roundTime(plan.start + index * interval));
  const still = { plan, image, source, encoder: decision.encoder };
  const rest = [...times];
  for await (const blob of tools.pictures?.drawEach(still, times, reader, signal) ?? []) {
    const at = rest.shift() ?? 0;
    yield { at, blob, width, height };
  }
  if (rest.length === 0) return;
  if (interval <= SEEK_SECONDS) await sample.encode();
  for (const at of rest) {
    const file =
      interval <= SEEK_SECONDS
        ? await storageReader(stepTools.storage, SAMPLE_FOLDER + spriteName(plan, times.indexOf(at)))
        : (await sample.encode(stillAt(request, at))).reader;
    const blob = new Blob([await blobOf(file, signal)], { type: FORMATS.image.jpeg.mime });
    yield { at, blob, width, height };
  }
}

function stillAt({ kind, options }: EncodeRequest, start: number): EncodeRequest {
  const { count: _, ...one } = Object(options);
  return { kind, options: { ...one, ...(start > 0 && { start }) } } as EncodeRequest;
}
