import type { VideoSample } from "mediabunny";
import { CANVAS_INPUTS, writeCanvas } from "../../encoders/images/canvas.ts";
import {
  type DecodedStill,
  decodeStill,
  drawDecoded,
  drawImage,
  drawSample,
} from "../../encoders/images/draw-image.ts";
import { samplesAt, samplesBetween } from "../../encoders/webcodecs/frames.ts";
import { openInput, openPicturesOf } from "../../encoders/webcodecs/input.ts";
import { EPSILON_SECONDS } from "../../media/clock.ts";
import { DEFAULT_FPS } from "../../media/features/fps.ts";
import { statedColor } from "../../media/ffmpeg/color.ts";
import { DEFAULT_FORMAT, type ImageFormat } from "../../media/formats.ts";
import type { ImagePlan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { RAW_FORMAT, type RawPictures, writeRawMatroska } from "../../mux/raw-matroska.ts";
import type { ByteReader } from "../../runs/ports.ts";
import type { DecodedSpan, PictureTools } from "../../runs/steps/preview.ts";
import { createBlobReader } from "../../storage/readers.ts";
import { MIB } from "../../util/bytes.ts";

/** Creates the tools with which a page decodes and draws pictures for one preview; `close` frees what they hold. */
export function createLocalPictures(): PictureTools & { close(): void } {
  const stills = new Map<ByteReader, Promise<DecodedStill>>();
  const samples = new Set<VideoSample>();

  function decodeOnce(source: Source, reader: ByteReader, signal: AbortSignal): Promise<DecodedStill> {
    const still = stills.get(reader) ?? decodeStill(source, reader, signal);
    stills.set(reader, still);
    return still;
  }

  return {
    encodeStill({ plan, image, source, encoder }, reader, signal) {
      if (encoder !== "canvas" || !CANVAS_INPUTS.has(source.format)) return null;
      const draw = async () => {
        const { canvas } = drawDecoded(image, source, await decodeOnce(source, reader, signal));
        signal.throwIfAborted();
        const [output, original] = await Promise.all([
          writeCanvas(canvas, plan.format as ImageFormat, image.quality ?? 0),
          writeCanvas(canvas, DEFAULT_FORMAT.image, ORIGINAL_QUALITY),
        ]);
        return { output, original };
      };
      return draw();
    },
    async draw({ plan, image, source }, reader, signal) {
      if (!isPlain(source) || image.alpha) return null;
      return orNull(signal, async () => {
        const { canvas } = await drawImage({ plan, image, source }, reader, signal);
        return writeCanvas(canvas, DEFAULT_FORMAT.image, ORIGINAL_QUALITY);
      });
    },
    async *drawEach({ image, source }, times, reader, signal) {
      if (!isReadable(source) || image.alpha) return;
      const input = await openInput(reader, source, signal);
      const stop = () => input.dispose();
      signal.addEventListener("abort", stop, { once: true });
      try {
        const { track, origin } = await openPicturesOf(input, source);
        for await (const sample of samplesAt(
          track,
          times.map((at) => origin + at + STILL_EPSILON),
        )) {
          if (signal.aborted) sample.close();
          signal.throwIfAborted();
          const { canvas } = await drawSample(image, source, sample);
          yield await writeCanvas(canvas, DEFAULT_FORMAT.image, image.quality ?? ORIGINAL_QUALITY);
        }
      } catch {
        // An encoder draws the remaining pictures, or reports the damage more precisely.
        signal.throwIfAborted();
      } finally {
        signal.removeEventListener("abort", stop);
        stop();
      }
    },
    async decode(source, reader, span, signal) {
      return isPlain(source) ? orNull(signal, () => decodeSpan(source, reader, span, samples, signal)) : null;
    },
    close() {
      for (const still of stills.values()) still.then(({ bitmap }) => bitmap.close()).catch(() => {});
      stills.clear();
      for (const sample of samples) sample.close();
      samples.clear();
    },
  };
}

const ORIGINAL_QUALITY = 95;

// Encoders of stills tolerate times that are rounded by this much.
const STILL_EPSILON = 0.001;

// An encoder or a slower decoder reports a damaged file better.
async function orNull<T>(signal: AbortSignal, work: () => Promise<T | null>): Promise<T | null> {
  try {
    return await work();
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Returns whether a browser shows a source's pictures unchanged: {@link isReadable}, upright and not mirrored. */
function isPlain(source: Source): boolean {
  const { rotation = 0, flipped } = source;
  return rotation === 0 && !flipped && isReadable(source);
}

/**
 * Returns whether a browser decodes a source's pictures correctly: progressive, with eight bits in limited range, and at the times of
 * their packets.
 */
function isReadable(source: Source): boolean {
  const { kind, pixel_format, color, interlaced, has_alpha, restarted, edited } = source;
  if (kind !== "video" || interlaced || has_alpha || restarted || edited) return false;
  return pixel_format === "yuv420p" && !color?.hdr && color?.range !== "full";
}

const MAX_BYTES = 192 * MIB;

const CODE_POINTS: Readonly<Record<string, number>> = {
  bt709: 1,
  bt470bg: 5,
  smpte170m: 6,
  smpte240m: 7,
};

async function decodeSpan(
  source: Source,
  reader: ByteReader,
  { start, end, at }: { start: number; end: number; at: number },
  samples: Set<VideoSample>,
  signal: AbortSignal,
): Promise<DecodedSpan | null> {
  const color = codePoints(source);
  if (!color) return null;
  const input = await openInput(reader, source, signal);
  const stop = () => input.dispose();
  signal.addEventListener("abort", stop, { once: true });
  const pictures: RawPictures["pictures"][number][] = [];
  let latest: VideoSample | null = null;
  let shape: Pick<RawPictures, "format" | "width" | "height" | "displaySize"> | null = null;
  let bytes = 0;
  try {
    const { track, origin } = await openPicturesOf(input, source);
    for await (const sample of samplesBetween(track, origin + start, origin + end)) {
      const time = Math.max(0, sample.timestamp - origin - start);
      const duration = sample.duration;
      if (!latest || start + time <= at + EPSILON_SECONDS) {
        latest?.close();
        latest = sample.clone();
      }
      const picture = await copyPicture(sample).finally(() => sample.close());
      signal.throwIfAborted();
      if (!picture || (shape && !isSameShape(shape, picture))) return null;
      shape ??= picture;
      bytes += picture.bytes.length;
      if (bytes > MAX_BYTES) return null;
      pictures.push({ at: time, duration, bytes: picture.bytes });
    }
    if (!shape || !latest) return null;
    const blob = writeRawMatroska({ ...shape, fps: source.fps ?? DEFAULT_FPS, color, pictures });
    const frame = latest;
    latest = null;
    // `close` frees the sample if the caller fails before it draws.
    samples.add(frame);
    return {
      reader: createBlobReader(blob),
      source: rawSource(source, { length: end - start, bytes: blob.size }),
      draw: async (image: ImagePlan) => {
        samples.delete(frame);
        const { canvas } = await drawSample(image, source, frame);
        return writeCanvas(canvas, DEFAULT_FORMAT.image, ORIGINAL_QUALITY);
      },
    };
  } finally {
    latest?.close();
    signal.removeEventListener("abort", stop);
    stop();
  }
}

async function copyPicture(sample: VideoSample) {
  const frame = sample.toVideoFrame();
  try {
    const { format, visibleRect, displayWidth, displayHeight } = frame;
    if ((format !== "I420" && format !== "NV12") || !visibleRect) return null;
    const { width, height } = visibleRect;
    if (width % 2 !== 0 || height % 2 !== 0) return null;
    const bytes = new Uint8Array(frame.allocationSize());
    await frame.copyTo(bytes);
    return { format, width, height, displaySize: { width: displayWidth, height: displayHeight }, bytes };
  } finally {
    frame.close();
  }
}

function isSameShape(
  one: Pick<RawPictures, "format" | "width" | "height">,
  other: Pick<RawPictures, "format" | "width" | "height">,
): boolean {
  return one.format === other.format && one.width === other.width && one.height === other.height;
}

/** Returns the code points of a source's colors; null when it states a color that has no code point in the table. */
function codePoints(source: Source): RawPictures["color"] | null {
  const { primaries, transfer, matrix } = statedColor(source);
  const points = [primaries, transfer, matrix].map((name) =>
    name === null ? null : (CODE_POINTS[name] ?? undefined),
  );
  if (points.includes(undefined)) return null;
  const [first = null, second = null, third = null] = points;
  return { primaries: first, transfer: second, matrix: third };
}

function rawSource(source: Source, { length, bytes }: { length: number; bytes: number }): Source {
  const { object, url, kind, width, height, coded_width, coded_height, fps, color, pixel_format } = source;
  return {
    object,
    url,
    kind,
    format: RAW_FORMAT,
    codecs: { video: "rawvideo" },
    filesize: bytes,
    duration: length,
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
    ...(coded_width !== undefined && { coded_width }),
    ...(coded_height !== undefined && { coded_height }),
    ...(fps !== undefined && { fps }),
    ...(color && { color }),
    ...(pixel_format && { pixel_format }),
  } as Source;
}
