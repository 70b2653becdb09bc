import { BOUNDS, type VideoCodec } from "../core/formats.ts";
import type { VideoOptions } from "../core/options.ts";
import type { Source } from "../core/source.ts";
import { containerOf } from "../media/containers.ts";
import { DEFAULT_FPS, exactFps, isEven } from "../media/features/fps.ts";
import { holdsHdr, keepsHdr } from "../media/features/tone-map.ts";
import { needsFeature, planPictures } from "../media/features.ts";
import { BLACK, parseColor } from "./color.ts";
import { createGeometry } from "./geometry.ts";
import type { VideoPlan } from "./plan.ts";
import { videoRate } from "./rate.ts";
import { parsePixelAspect, type Size, type StoredPicture, toRightAngle } from "./size.ts";

const PLAIN_PIXELS: ReadonlySet<string> = new Set(["yuv420p", "yuvj420p"]);
const DEEP_PIXELS: ReadonlySet<string> = new Set([...PLAIN_PIXELS, "yuv420p10le"]);

/** Plans the pictures: copied when no option prevents it and every player accepts them, otherwise encoded. */
export function createVideoPlan(
  source: Source,
  stored: StoredPicture,
  codec: VideoCodec,
  options: VideoOptions,
  trimmed: boolean,
): VideoPlan {
  if (!trimmed && copiesPictures(source, codec, options)) {
    return { mode: "copy", codec, width: stored.width, height: stored.height };
  }
  const geometry = createGeometry(stored, options, { even: true, alpha: false });
  return {
    mode: "encode",
    codec,
    geometry,
    rate: videoRate(codec, options),
    fps: outputFps(source, options),
    ...pictureNeeds(source, codec, options, geometry),
  };
}

// Faster pictures would be more a second than the source has, and than screens show; slower ones keep their own times. Joined videos
// share one rate.
function outputFps({ fps = DEFAULT_FPS }: Source, options: VideoOptions): number | null {
  if (options.fps !== undefined) return exactFps(options.fps);
  if ((options.speed ?? 1) <= 1 && options.concat === undefined) return null;
  // An average rate of uneven pictures is too low for the dense ones.
  const { min, max } = BOUNDS.fps;
  return exactFps(
    isEven(fps) ? Math.min(max, Math.max(min, fps)) : Math.max(DEFAULT_FPS, Math.min(max, fps)),
  );
}

/** Decides what must be fixed in pictures before a codec encodes them. */
export function pictureNeeds(
  source: Source,
  codec: VideoCodec,
  options: { background?: string | undefined },
  size: Size,
) {
  return {
    ...planPictures(options, source, codec, size),
    depth: keepsHdr(source, codec) ? 10 : 8,
    matte: matteFor(source, options.background),
  } as const;
}

/** Returns the background for transparent pictures in an opaque output, black by default; null for an opaque source. */
export function matteFor(source: Source, background: string | undefined): string | null {
  if (source.has_alpha !== true) return null;
  return background === undefined ? BLACK : parseColor(background, false);
}

/** Returns whether no option changes pictures that every player accepts as they are. */
export function copiesPictures(source: Source, codec: VideoCodec, options: VideoOptions): boolean {
  return asksNothing(options) && isPlain(source, codec);
}

function asksNothing(options: VideoOptions): boolean {
  const { quality, bitrate, width, height, fps, fit, background, crop, rotate, flip } = options;
  if (needsFeature(options)) return false;
  const all = [quality, bitrate, width, height, fps, fit, background, crop, rotate, flip];
  return all.every((option) => option === undefined);
}

function isPlain(source: Source, codec: VideoCodec): boolean {
  const pixels = holdsHdr(codec) ? DEEP_PIXELS : PLAIN_PIXELS;
  return (
    source.codecs?.video === codec &&
    containerOf(source).copies === "always" &&
    pixels.has(source.pixel_format ?? "") &&
    (source.color?.hdr !== true || holdsHdr(codec)) &&
    source.interlaced !== true &&
    parsePixelAspect(source.sample_aspect_ratio) === 1 &&
    toRightAngle(source.rotation ?? 0) === 0
  );
}
