import { FORMATS, type ImageFormat } from "../../core/formats.ts";
import type { ImageOptions } from "../../core/options.ts";
import type { Source } from "../../core/source.ts";
import type { GeometryOptions } from "../../media/features/geometry.ts";
import { planPictures } from "../../media/features.ts";
import { createGeometry } from "../geometry.ts";
import type { ImagePlan } from "../plan.ts";
import { imageQuality } from "../rate.ts";
import type { StoredPicture } from "../size.ts";
import { matteFor } from "../video.ts";

/** WebP's longest side in pixels; the other formats go up to the options' limit. */
const WEBP_MAX = 16_383;

/** Plans how the pictures of a source become images of a format. */
export function createImage(
  source: Source,
  stored: StoredPicture,
  format: ImageFormat,
  options: GeometryOptions & Pick<ImageOptions, "quality">,
  even = false,
): Omit<ImagePlan, "animated"> {
  const facts = FORMATS.image[format];
  const rules = {
    even,
    // Transparent padding was not requested, and not every encoder can write it in AVIF.
    alpha: facts.alpha && (format !== "avif" || source.has_alpha === true),
    max: format === "webp" ? WEBP_MAX : Number.POSITIVE_INFINITY,
  };
  const geometry = createGeometry(stored, options, rules);
  const alpha = facts.alpha && (source.has_alpha === true || geometry.pad?.color.length === 10);
  return {
    geometry,
    quality: imageQuality(format, options.quality),
    alpha,
    ...planPictures(options, source, null, geometry),
    matte: alpha ? null : matteFor(source, options.background),
  };
}
