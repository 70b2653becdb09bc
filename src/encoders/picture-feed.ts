import type { Source } from "../core/source.ts";
import type { VideoEncode } from "../ffmpeg/video-args.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import { createBlobReader } from "../storage/blob-reader.ts";
import type { Feed } from "./core-feed.ts";
import { createFeedQueue, type FeedQueue } from "./feed-queue.ts";
import { type RawPictures, rawMatroskaPicture, rawMatroskaStart } from "./raw-matroska.ts";
import { type TimedSample, timedSamples } from "./webcodecs-frames.ts";
import { openInput, openPicturesOf } from "./webcodecs-input.ts";

/** The decoded pictures of a stretch, as a Matroska file of raw pictures whose times begin with the stretch. */
export interface PictureFeed extends Feed {
  /** Resolves when nothing more comes: true when the browser decoded all that there is. */
  readonly whole: Promise<boolean>;
  /** Ends all reading and decoding. */
  close(): void;
}

/** Gives the pictures that a chunk encodes where the browser may decode them for ffmpeg: of 8 bits and limited range, upright, with square pixels; else null. */
export function feedable(plan: Plan, chunk: Chunk, source: Source): VideoEncode | null {
  const { video } = plan;
  if (plan.kind !== "video" || video?.mode !== "encode" || chunk.track === "audio") return null;
  if (chunk.track === "all" && plan.audio !== null) return null;
  const { deinterlace, tone_map, matte, geometry } = video;
  const { pixel_format, coded_width = 1, coded_height = 1, rotation = 0, sample_aspect_ratio } = source;
  const plain = !deinterlace && !tone_map && matte === null && geometry.rotate === 0 && rotation === 0;
  const square = sample_aspect_ratio === undefined || sample_aspect_ratio === "1:1";
  const even = coded_width % 2 === 0 && coded_height % 2 === 0;
  const limited = pixel_format === "yuv420p" && source.color?.range !== "full";
  return plain && square && even && limited ? video : null;
}

// Pictures that are decoded and not read yet.
const AHEAD = 4;
// Seconds of a stretch that may be missing at its end, where the pictures end before the sound.
const MISSING = 0.5;
const DEFAULT_FPS = 30;
// Milliseconds: a decoder that gives nothing in that time gives nothing.
const PATIENCE = 20_000;

/** Has the browser decode the pictures of a chunk, a few ahead of whoever reads them. What goes wrong ends the feed. */
export function startPictureFeed(file: Blob, video: VideoEncode, chunk: Chunk, source: Source): PictureFeed {
  const queue = createFeedQueue(AHEAD);
  const input = openInput(createBlobReader(file), new AbortController().signal);
  const close = () => {
    queue.end();
    input.dispose();
  };

  async function decode(): Promise<boolean> {
    const { track, origin } = await openPicturesOf(input);
    const length = chunk.end === null ? null : chunk.end - chunk.start;
    const add = createAdder(queue, video, source);
    let reached = 0;
    for await (const timed of timedSamples(track, { start: origin + chunk.start, length, fps: video.fps })) {
      if (!(await add(timed))) return false;
      reached = timed.at + timed.duration;
    }
    return reached >= wanted(chunk, source) - MISSING;
  }

  const whole = decode()
    .catch(() => false)
    .finally(close);
  return {
    wait() {
      const waiting = queue.wait();
      if (!waiting) return null;
      const timer = setTimeout(close, PATIENCE);
      return waiting.finally(() => clearTimeout(timer));
    },
    take: queue.take,
    whole,
    close,
  };
}

function createAdder(queue: FeedQueue, video: VideoEncode, source: Source) {
  const { coded_width: width = 0, coded_height: height = 0, fps = DEFAULT_FPS } = source;
  let shape: RawPictures | null = null;
  return async ({ sample, at }: TimedSample): Promise<boolean> => {
    const { format, visibleRect, colorSpace } = sample;
    const same = visibleRect.width === width && visibleRect.height === height;
    if (!same || colorSpace.fullRange === true || (format !== "I420" && format !== "NV12")) throw unlike();
    if (!shape) {
      shape = { width, height, layout: format, fps: video.fps ?? fps };
      if (!(await queue.put(rawMatroskaStart(shape)))) return false;
    }
    if (format !== shape.layout) throw unlike();
    const head = rawMatroskaPicture(Math.round(at * 1e6), (width * height * 3) / 2);
    const bytes = HEAD + (width * height * 3) / 2;
    const spare = queue.reuse();
    const buffer = spare?.byteLength === bytes ? spare : new ArrayBuffer(bytes);
    const start = HEAD - head.length;
    new Uint8Array(buffer, start).set(head);
    await sample.copyTo(new Uint8Array(buffer, HEAD));
    return queue.put(new Uint8Array(buffer, start));
  };
}

// Room for what comes before each picture.
const HEAD = 64;

function wanted({ start, end }: Chunk, source: Source): number {
  const pictures = source.streams?.find(({ kind }) => kind === "video")?.duration;
  const last = Math.min(end ?? Number.POSITIVE_INFINITY, pictures ?? source.duration ?? 0);
  return last - start;
}

function unlike(): RangeError {
  return new RangeError("The pictures are others than the source was said to have.");
}
