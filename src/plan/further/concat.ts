import { MediaError } from "../../core/errors.ts";
import { furtherInputs } from "../../core/further/further-inputs.ts";
import type { VideoOptions } from "../../core/options.ts";
import type { Source } from "../../core/source.ts";
import { createGeometry } from "../geometry.ts";
import { movingPicture } from "../image/pictures.ts";
import type { ConcatPart } from "../plan.ts";
import { pictureNeeds } from "../video.ts";

/** Returns the further sources that play after the first, with their indexes among all inputs; none before they are probed. */
export function concatSources(options: VideoOptions, further: readonly Source[] = []) {
  return furtherInputs({ options }).flatMap(({ role }, at) => {
    const source = further[at];
    return role === "concat" && source ? [{ input: at + 1, source }] : [];
  });
}

/**
 * Plans how videos play one after the other, the first as `video` says, which has a constant frame rate. HDR is kept where all have
 * the same. Throws `input_unsupported` when the duration of the source is unknown.
 */
export function createConcat(
  source: Source,
  video: NonNullable<ConcatPart["video"]> & { fps: number },
  options: VideoOptions,
  others: ReturnType<typeof concatSources>,
): ConcatPart[] {
  const all = [{ input: 0, source }, ...others];
  const { transfer } = source.color ?? {};
  const hdr = all.every(({ source: { color } }) => color?.hdr === true && color.transfer === transfer);
  const { width, height } = video.geometry;
  const { background } = options;
  const frame = { width, height, fit: "contain", ...(background !== undefined && { background }) } as const;
  return all.map(({ input, source: each }) => {
    if (!hasLength(each)) throw new MediaError("input_unsupported", NO_LENGTH);
    const geometry =
      input === 0 ? video.geometry : createGeometry(movingPicture(each), frame, { even: true, alpha: false });
    return {
      ...{ input, source: each },
      video: {
        ...video,
        ...pictureNeeds(each, hdr ? video.codec : "h264", { background }, geometry),
        geometry,
      },
      frames: Math.max(1, Math.round((each.duration ?? 0) * video.fps)),
    };
  });
}

/** Returns why a file cannot play after another, as a sentence; null when it can. */
export function concatFault(source: Source): string | null {
  const { kind, format, codecs, width, height } = source;
  if (kind !== "video" || codecs?.video == null || !width || !height) {
    return `It must be a video with pictures; it is ${format}${kind === "audio" ? ", sound alone" : ""}.`;
  }
  return hasLength(source) ? null : NO_LENGTH;
}

function hasLength({ duration, duration_estimated }: Source): boolean {
  return duration !== undefined && duration > 0 && duration_estimated !== true;
}

const NO_LENGTH =
  "Its exact duration is unknown, so it cannot be joined to another; convert it to MP4 first.";
