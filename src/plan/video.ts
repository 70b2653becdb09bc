import { BOUNDS, type VideoCodec } from "../core/formats.ts";
import type { VideoOptions } from "../core/options.ts";
import type { Source } from "../core/source.ts";
import { BLACK, parseColor } from "./color.ts";
import { burntInput, planBurn } from "./further/burn.ts";
import { createOverlay } from "./further/overlay.ts";
import { createGeometry } from "./geometry.ts";
import type { VideoPlan } from "./plan.ts";
import { DEFAULT_FPS, exactFps, isEven, videoRate } from "./rate.ts";
import { parsePixelAspect, type StoredPicture, toRightAngle } from "./size.ts";

// These codecs keep HDR, in 10 bits; the others get SDR.
const HDR_CODECS: ReadonlySet<string> = new Set(["h265", "av1"] satisfies VideoCodec[]);

const PLAIN_PIXELS: ReadonlySet<string> = new Set(["yuv420p", "yuvj420p"]);
const DEEP_PIXELS: ReadonlySet<string> = new Set([...PLAIN_PIXELS, "yuv420p10le"]);

// Their packets carry the times that another container needs.
const TIMED_FORMATS: ReadonlySet<string> = new Set(["mp4", "mov", "matroska", "webm", "flv"]);

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
    ...pictureNeeds(source, codec, options.background),
    ...(options.overlay && { overlay: createOverlay(options.overlay, 0, geometry) }),
    ...planBurn(options),
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
export function pictureNeeds(source: Source, codec: VideoCodec, background: string | undefined) {
  const hdr = source.color?.hdr === true;
  const keeps = hdr && HDR_CODECS.has(codec);
  return {
    deinterlace: source.interlaced === true,
    tone_map: hdr && !keeps,
    depth: keeps ? 10 : 8,
    matte: matteFor(source, background),
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
  const { quality, bitrate, width, height, fps, fit, background, crop, rotate, flip, speed = 1 } = options;
  if (speed !== 1 || options.overlay !== undefined || burntInput(options) !== null) return false;
  const all = [quality, bitrate, width, height, fps, fit, background, crop, rotate, flip];
  return all.every((option) => option === undefined);
}

function isPlain(source: Source, codec: VideoCodec): boolean {
  const pixels = HDR_CODECS.has(codec) ? DEEP_PIXELS : PLAIN_PIXELS;
  return (
    source.codecs?.video === codec &&
    TIMED_FORMATS.has(source.format) &&
    pixels.has(source.pixel_format ?? "") &&
    (source.color?.hdr !== true || HDR_CODECS.has(codec)) &&
    source.interlaced !== true &&
    parsePixelAspect(source.sample_aspect_ratio) === 1 &&
    toRightAngle(source.rotation ?? 0) === 0
  );
}
